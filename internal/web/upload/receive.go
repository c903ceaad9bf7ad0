package upload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	// MaxFile is the maximum size of an uploaded file, in bytes.
	MaxFile = 10 << 20
	// MaxBody is the maximum size of a request body, in bytes: a file and the rest of its form.
	MaxBody = MaxFile + maxFields
	// maxFields is the maximum size of a form without the content of its files, in bytes.
	maxFields = 64 << 10
	// MaxParts is the maximum number of fields and files. The form for a list has a field per column.
	MaxParts = 1200
)

// File is an uploaded file.
type File struct {
	Name string // from the client; may be empty
	file spool
}

// Receive receives the file that is the body of a request, or the only file in a form. It limits how
// many files of one owner exist at the same time. The error is a *httpapi.Problem. The caller must
// close the file.
func Receive(w http.ResponseWriter, r *http.Request, owner int64) (f *File, err error) {
	if err := httpapi.CheckOneType(r); err != nil {
		return nil, err
	}
	mediaType, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // the format is detected from the content
	coding := r.Header.Get("Content-Encoding")
	switch {
	case mediaType == "application/x-www-form-urlencoded":
		return nil, refuse(httpapi.ContentType, "The body must be the file itself, or a multipart/form-data form that contains it. "+
			"With curl: --data-binary @FILE -H 'Content-Type: application/octet-stream', or -F file=@FILE.")
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return nil, refuse(httpapi.ContentType, "The body must not be compressed.")
	case r.ContentLength > MaxBody, r.ContentLength > MaxFile && mediaType != FormType:
		return nil, errTooLarge
	}
	f = &File{file: spool{owner: owner}}
	body := http.MaxBytesReader(w, r.Body, MaxBody)
	if mediaType == FormType {
		err = f.receiveForm(body, params["boundary"])
	} else {
		err = failed(copyFile(&f.file, body))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReceiveBody receives a request body of at most limit bytes that is not an imported file. Unlike
// Receive, it does not extend the deadlines of the request.
func ReceiveBody(w http.ResponseWriter, r *http.Request, owner int64, limit int64) (*File, error) {
	f := &File{file: spool{owner: owner}}
	_, err := io.Copy(&f.file, http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.As(err, new(*http.MaxBytesError)) {
		err = refuse(httpapi.TooLarge, fmt.Sprintf("The body must not exceed %d bytes.", limit))
	}
	return nil, failed(err)
}

// FromText returns a File with a short text that was sent as a form field.
func FromText(owner int64, text string) *File {
	f := &File{file: spool{owner: owner}}
	f.file.memory.WriteString(text)
	f.file.size = int64(len(text))
	return f
}

// FormType is the media type of forms with files.
const FormType = "multipart/form-data"

// Form is a form submitted by a page.
type Form struct {
	Fields url.Values
	File   *File // may be nil
	Text   *File // the field "text" if it is too long for Fields; otherwise nil
}

// ReceiveForm receives a form of the type FormType with the given boundary. If keep is false, it
// discards files and does not extend the deadlines of the request. The error is a *httpapi.Problem.
// The caller must close the form.
func ReceiveForm(w http.ResponseWriter, r *http.Request, boundary string, owner int64, keep bool) (f *Form, err error) {
	if keep {
		ExtendDeadlines(w)
	}
	f = &Form{}
	f.Fields, err = readForm(http.MaxBytesReader(w, r.Body, MaxBody), boundary, func(part *multipart.Part) (io.Writer, error) {
		switch {
		case part.FileName() == "" && (part.FormName() != "text" || !keep || f.Text != nil):
			return nil, nil
		case !keep:
			return io.Discard, nil
		case part.FileName() == "":
			f.Text = &File{file: spool{owner: owner}}
			return &f.Text.file, nil
		case f.File != nil:
			return nil, refuse(httpapi.Malformed, "The form must contain only one file.")
		}
		f.File = &File{part.FileName(), spool{owner: owner}}
		return &f.File.file, nil
	})
	if f.Text != nil && f.Text.file.file == nil {
		f.Fields["text"], f.Text = slices.Insert(f.Fields["text"], 0, f.Text.file.memory.String()), nil
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close deletes the files. It does nothing to a nil *Form.
func (f *Form) Close() {
	if f != nil {
		f.File.Close()
		f.Text.Close()
	}
}

const (
	maxIgnored  = 4 * MaxBody // bytes that are read of a rejected body
	maxStranger = 1 << 20     // the same without a valid key, the default limit of nginx
)

// Ignore reads the rest of a rejected body before the response, because many clients and proxies
// read the response only after they have sent everything. authorized is whether the request has a
// valid key. Ignore does not read a larger body, or one whose client waits for "100 Continue".
func Ignore(r *http.Request, authorized bool) {
	limit := int64(maxStranger)
	if authorized {
		limit = maxIgnored
	}
	if r.ContentLength <= limit && r.Header.Get("Expect") == "" {
		io.CopyN(io.Discard, r.Body, limit) // after an error, the response cannot be sent anyway
	}
}

// ExtendDeadlines gives a client the time that a large upload takes.
func ExtendDeadlines(w http.ResponseWriter) {
	control, limit := http.NewResponseController(w), time.Now().Add(timeFor(MaxBody))
	control.SetReadDeadline(limit)
	control.SetWriteDeadline(limit.Add(2 * patience))
}

var errTooLarge = refuse(httpapi.TooLarge, fmt.Sprintf("The file must not exceed %d MB.", MaxFile>>20))

func refuse(kind httpapi.Kind, detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: kind, Detail: detail}
}

// receiveForm stores the file of a form. It rejects other fields, which may be meant as options.
func (f *File) receiveForm(body io.Reader, boundary string) error {
	files := 0
	var faults []httpapi.FieldError
	_, err := readForm(body, boundary, func(part *multipart.Part) (io.Writer, error) {
		if name := part.FormName(); part.FileName() == "" && name != "file" {
			detail := name + " is not allowed in the form. Options are parameters of the URL."
			faults = append(faults, httpapi.FieldError{Field: name, Code: "unknown", Detail: detail})
			return io.Discard, nil
		}
		if files++; files > 1 {
			faults = append(faults, httpapi.FieldError{Field: "file", Code: "duplicate", Detail: "The form must contain only one file."})
			return nil, httpapi.InvalidFields(faults...)
		}
		f.Name = part.FileName()
		return &f.file, nil
	})
	if err != nil {
		return err
	}
	if files == 0 {
		faults = append(faults, httpapi.FieldError{Field: "file", Code: "required", Detail: "The form must contain a file."})
	}
	if len(faults) > 0 {
		return httpapi.InvalidFields(faults...)
	}
	return nil
}

// readForm reads a whole form. It copies the content of each part to the writer that writerFor
// returns, or adds it to the returned fields if the writer is nil.
func readForm(body io.Reader, boundary string, writerFor func(*multipart.Part) (io.Writer, error)) (url.Values, error) {
	counted := &overheadReader{from: body, left: maxFields}
	form, fields := multipart.NewReader(counted, boundary), url.Values{}
	for parts := 0; ; parts++ {
		part, err := form.NextPart()
		if err == io.EOF {
			// net/http detects that a client has disconnected only after the end of the body.
			_, err = io.Copy(io.Discard, counted)
			return fields, failed(err)
		}
		if err != nil {
			return fields, failed(err)
		}
		if parts == MaxParts {
			return fields, refuse(httpapi.TooLarge, fmt.Sprintf("A form must not have more than %d fields.", MaxParts))
		}
		to, err := writerFor(part)
		if err != nil {
			return fields, err
		}
		if to != nil {
			counted.inFile = true
			err = copyFile(to, part)
			counted.inFile = false
		} else {
			var text []byte
			text, err = io.ReadAll(part)
			fields.Add(part.FormName(), string(text))
		}
		if err != nil {
			return fields, failed(err)
		}
	}
}

// overheadReader limits the size of a form without the content of its files. Package multipart keeps
// names and headers in memory, and its own limit is several megabytes for each part.
type overheadReader struct {
	from   io.Reader
	left   int64 // bytes left outside files
	inFile bool  // whether the content of a file is being read, which does not count
}

// Read returns a *http.MaxBytesError at the limit.
func (b *overheadReader) Read(p []byte) (n int, err error) {
	if b.inFile {
		return b.from.Read(p)
	}
	if b.left <= 0 {
		return 0, &http.MaxBytesError{Limit: maxFields}
	}
	n, err = b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// copyFile copies a file. The error is errTooLarge for more than MaxFile bytes.
func copyFile(to io.Writer, from io.Reader) error {
	n, err := io.Copy(to, io.LimitReader(from, MaxFile+1))
	if n > MaxFile {
		return errTooLarge
	}
	return err
}

// failed returns the problem of an error in reading a body.
func failed(err error) error {
	switch {
	case err == nil, errors.As(err, new(*httpapi.Problem)):
		return err
	case errors.As(err, new(*http.MaxBytesError)):
		return errTooLarge
	}
	return refuse(httpapi.Malformed, "The body ended early or could not be read.")
}

// Size returns the size of the file, in bytes.
func (f *File) Size() int64 { return f.file.size }

// Content returns the file. It is safe for concurrent use, and may return os.ErrClosed after Close.
func (f *File) Content() ([]byte, error) {
	content := make([]byte, f.file.size)
	_, err := io.ReadFull(f.file.reader(), content)
	return content, err
}

// Hash returns the SHA-256 of the file without loading it into memory.
func (f *File) Hash() ([]byte, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, f.file.reader())
	return hash.Sum(nil), err
}

// LeaveLimit removes the file from the limit on temporary files. The caller must have its own limit.
func (f *File) LeaveLimit() { f.file.leave() }

// Close deletes the file, even while it is being read. It does nothing to a nil *File.
func (f *File) Close() {
	if f != nil {
		f.file.Close()
	}
}
