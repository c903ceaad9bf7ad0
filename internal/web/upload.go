package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/httpapi"
)

// MaxUpload is the size of the largest file that a form may have, in bytes.
const MaxUpload = 10 << 20

const (
	// uploadTime is how long an upload may take. A station with a slow line needs
	// minutes for ten megabytes.
	uploadTime = 5 * time.Minute
	// drained is how much of an upload that is too large is read and thrown away.
	// A browser that meets the end of the connection while it sends shows that, and
	// not the page that says why.
	drained = 64 << 20
)

// File is a file that a form has.
type File struct {
	Name    string
	Content []byte
}

// readUpload reads a form with a file into v.File and v.R.PostForm. Without a
// session it throws the file away and keeps what was typed, as far as it can be
// carried.
func (v *Visit) readUpload(boundary string) error {
	body := v.R.Body
	limit := int64(maxForm)
	if v.mayUse(v.route) {
		limit += MaxUpload
		v.allowTime(uploadTime)
	}
	form, file, err := readParts(multipart.NewReader(body, boundary), limit)
	switch {
	case errors.Is(err, errTooLarge):
		io.CopyN(io.Discard, body, drained) // an error means that the client has gone
		return &httpapi.Problem{Kind: httpapi.TooLarge}
	case err != nil:
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	v.R.PostForm, v.File = validForm(form), file
	return nil
}

// allowTime lets the client take so long, and as long again for the answer.
func (v *Visit) allowTime(d time.Duration) {
	c := http.NewResponseController(v.W) // what it cannot set stays as it is
	c.SetReadDeadline(time.Now().Add(d))
	c.SetWriteDeadline(time.Now().Add(2 * d))
}

var errTooLarge = errors.New("too large")

// readParts reads all parts of a form. They may have so many bytes together, but
// a file that does not fit is only thrown away where nothing larger than a form is
// allowed.
func readParts(r *multipart.Reader, limit int64) (form url.Values, file *File, err error) {
	form = url.Values{}
	for {
		part, err := r.NextPart()
		if err == io.EOF {
			return form, file, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if part.FileName() != "" && limit <= maxForm {
			if _, err := io.CopyN(io.Discard, part, drained); err != io.EOF {
				return nil, nil, errTooLarge
			}
			continue
		}
		content, err := io.ReadAll(io.LimitReader(part, limit+1))
		if err != nil {
			return nil, nil, err
		}
		if limit -= int64(len(content)); limit < 0 {
			return nil, nil, errTooLarge
		}
		switch name := part.FormName(); {
		case part.FileName() != "" && len(content) > MaxUpload:
			return nil, nil, errTooLarge
		case part.FileName() != "":
			file = &File{strings.ToValidUTF8(part.FileName(), "\uFFFD"), content}
		case name != "":
			form.Add(name, string(content))
		}
	}
}
