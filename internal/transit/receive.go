package transit

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/httpapi"
	"github.com/firefighter-records/firefighters/internal/record"
)

const (
	// MaxUpload is the size of the largest file that a client may send, in bytes.
	MaxUpload = 10 << 20
	// MaxBody is that of the largest body: a form has more in it than the file.
	MaxBody = MaxUpload + 64<<10
)

// Upload is a file that a client has sent.
type Upload struct {
	Name string // as the client says; may be empty
	file spool
}

// Receive receives the file that is the body of a request, or the only file in a
// form. The error is a *httpapi.Problem or record.FieldErrors. The caller closes
// the upload.
func Receive(w http.ResponseWriter, r *http.Request) (u *Upload, err error) {
	mediaType, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // the content decides what the file is
	coding := r.Header.Get("Content-Encoding")
	switch {
	case mediaType == "application/x-www-form-urlencoded":
		return nil, refuse(httpapi.ContentType, "The body must be the file itself, or a form of the type multipart/form-data with it. "+
			"With curl: --data-binary @FILE -H 'Content-Type: application/octet-stream', or -F file=@FILE.")
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return nil, refuse(httpapi.ContentType, "The body must not be compressed.")
	case r.ContentLength > MaxBody, r.ContentLength > MaxUpload && mediaType != formType:
		return nil, errTooLarge
	}
	extendDeadlines(w)
	u = &Upload{}
	body := http.MaxBytesReader(w, r.Body, MaxBody)
	if mediaType == formType {
		err = u.receiveForm(multipart.NewReader(body, params["boundary"]))
	} else {
		err = u.receive(body)
	}
	if err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

// maxIgnored is how much is read of a body that was refused.
const maxIgnored = 4 * MaxBody

// Ignore reads what is left of a body that was refused. Many clients read no answer
// until they have sent everything, and would only see that the connection ends. It
// leaves a body alone that is far too large, and one that the client has not begun.
func Ignore(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength <= maxIgnored && r.Header.Get("Expect") == "" {
		extendDeadlines(w)
		io.CopyN(io.Discard, r.Body, maxIgnored) // after an error nobody waits for the answer
	}
}

const formType = "multipart/form-data"

// extendDeadlines lets a client take longer than for other requests.
func extendDeadlines(w http.ResponseWriter) {
	control, limit := http.NewResponseController(w), time.Now().Add(timeFor(MaxBody))
	control.SetReadDeadline(limit)
	control.SetWriteDeadline(limit.Add(2 * patience))
}

var errTooLarge = refuse(httpapi.TooLarge, fmt.Sprintf("The file may have at most %d MB.", MaxUpload>>20))

func refuse(kind httpapi.Kind, detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: kind, Detail: detail}
}

// receive keeps the file.
func (u *Upload) receive(file io.Reader) error {
	_, err := io.Copy(&u.file, io.LimitReader(file, MaxUpload+1))
	switch {
	case u.file.size > MaxUpload, errors.As(err, new(*http.MaxBytesError)):
		return errTooLarge
	case errors.As(err, new(*httpapi.Problem)), errors.As(err, new(*diskError)):
		return err
	case err != nil:
		return refuse(httpapi.Malformed, "The body could not be read to its end.")
	}
	return nil
}

// receiveForm keeps the file of a form. A field beside it is refused: somebody
// may take it for an option.
func (u *Upload) receiveForm(form *multipart.Reader) error {
	files := 0
	var errs record.FieldErrors
	for {
		part, err := form.NextPart()
		switch {
		case err == io.EOF:
			if files == 0 {
				errs.Add("file", record.Required, "The form must have a file in it.")
			}
			return errs.Err()
		case errors.As(err, new(*http.MaxBytesError)):
			return errTooLarge
		case err != nil:
			return refuse(httpapi.Malformed, "The form could not be read to its end.")
		case part.FileName() == "" && part.FormName() != "file":
			errs.Add(part.FormName(), record.Unknown, "%s does not belong in the form: options are parameters of the URL.", part.FormName())
			continue
		}
		if files++; files > 1 {
			errs.Add("file", record.Duplicate, "The form must have only one file in it.")
			return errs
		}
		u.Name = part.FileName()
		if err := u.receive(part); err != nil {
			return err
		}
	}
}

// Content returns the file.
func (u *Upload) Content() ([]byte, error) {
	content := make([]byte, u.file.size)
	from, err := u.file.reader()
	if err == nil {
		_, err = io.ReadFull(from, content)
	}
	return content, err
}

// Close erases what was kept.
func (u *Upload) Close() { u.file.Close() }
