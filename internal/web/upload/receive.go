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
	// MaxFile is the size of the largest file that a client may send, in bytes.
	MaxFile = 10 << 20
	// MaxBody is the size of the largest body: a form has more in it than the file.
	MaxBody = MaxFile + maxFields
	// maxFields is how much a form may have beside the file, in bytes: its fields,
	// and the names and headers of all parts.
	maxFields = 64 << 10
	// MaxParts is how many fields and files a form may have. A list has up to 1,000
	// columns, and a form has a field for each.
	MaxParts = 1200
)

// File is a file that a client has sent.
type File struct {
	Name string // as the client says; may be empty
	file spool
}

// Receive receives the file that is the body of a request, or the only file in a
// form. The error is a *httpapi.Problem. The caller closes the file. owner is whose it
// is: few files of one owner are received at the same time.
func Receive(w http.ResponseWriter, r *http.Request, owner int64) (f *File, err error) {
	if err := httpapi.CheckOneType(r); err != nil {
		return nil, err
	}
	mediaType, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // the content decides what the file is
	coding := r.Header.Get("Content-Encoding")
	switch {
	case mediaType == "application/x-www-form-urlencoded":
		return nil, refuse(httpapi.ContentType, "The body must be the file itself, or a form of the type multipart/form-data with it. "+
			"With curl: --data-binary @FILE -H 'Content-Type: application/octet-stream', or -F file=@FILE.")
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return nil, refuse(httpapi.ContentType, "The body must not be compressed.")
	case r.ContentLength > MaxBody, r.ContentLength > MaxFile && mediaType != FormType:
		return nil, errTooLarge
	}
	extendDeadlines(w)
	f = &File{file: spool{owner: owner}}
	body := http.MaxBytesReader(w, r.Body, MaxBody)
	if mediaType == FormType {
		err = f.receiveForm(body, params["boundary"])
	} else {
		err = failed(copyFile(&f.file, body), "The body could not be read to its end.")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReceiveBody receives the body of a request that is no file of a list, at most limit bytes.
// Otherwise it is as Receive, and a client has no more time than for other requests.
func ReceiveBody(w http.ResponseWriter, r *http.Request, owner int64, limit int64) (*File, error) {
	f := &File{file: spool{owner: owner}}
	_, err := io.Copy(&f.file, http.MaxBytesReader(w, r.Body, limit))
	switch {
	case err == nil:
		return f, nil
	case errors.As(err, new(*http.MaxBytesError)):
		err = refuse(httpapi.TooLarge, fmt.Sprintf("The body may have at most %d bytes.", limit))
	}
	f.Close()
	return nil, failed(err, "The body could not be read to its end.")
}

// FromText returns a small text, which was sent as a field, as a file.
func FromText(owner int64, text string) *File {
	f := &File{file: spool{owner: owner}}
	f.file.memory.WriteString(text)
	f.file.size = int64(len(text))
	return f
}

// FormType is the media type of a form with files.
const FormType = "multipart/form-data"

// Form is a form of a page.
type Form struct {
	Fields url.Values
	File   *File // nil: none
	Text   *File // a field "text" that is too long for Fields; nil: there is none
}

// ReceiveForm receives a form of the type FormType with this boundary. Where keep is
// false it throws the file away, and gives the client no more time than for
// other requests. The error is a *httpapi.Problem. The caller closes the form.
func ReceiveForm(w http.ResponseWriter, r *http.Request, boundary string, owner int64, keep bool) (f *Form, err error) {
	if keep {
		extendDeadlines(w)
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
			return nil, refuse(httpapi.Malformed, "The form must have only one file in it.")
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

// Close erases the files. It does nothing to a nil *Form.
func (f *Form) Close() {
	if f != nil {
		f.File.Close()
		f.Text.Close()
	}
}

// maxIgnored is how much is read of a body that was refused.
const maxIgnored = 4 * MaxBody

// Ignore reads what is left of a body that was refused. Many clients read no answer
// until they have sent everything, and would only see that the connection ends. It
// leaves a body alone that is far too large, and one that the client has not begun.
// Where the client may not send such a body, it has no more time than for others.
func Ignore(w http.ResponseWriter, r *http.Request, may bool) {
	if r.ContentLength > maxIgnored || r.Header.Get("Expect") != "" {
		return
	}
	if may {
		extendDeadlines(w)
	}
	io.CopyN(io.Discard, r.Body, maxIgnored) // after an error nobody waits for the answer
}

// extendDeadlines lets a client take longer than for other requests.
func extendDeadlines(w http.ResponseWriter) {
	control, limit := http.NewResponseController(w), time.Now().Add(timeFor(MaxBody))
	control.SetReadDeadline(limit)
	control.SetWriteDeadline(limit.Add(2 * patience))
}

var errTooLarge = refuse(httpapi.TooLarge, fmt.Sprintf("The file may have at most %d MB.", MaxFile>>20))

func refuse(kind httpapi.Kind, detail string) *httpapi.Problem {
	return &httpapi.Problem{Kind: kind, Detail: detail}
}

// receiveForm keeps the file of a form. A field beside it is refused: somebody
// may take it for an option.
func (f *File) receiveForm(body io.Reader, boundary string) error {
	files := 0
	var faults []httpapi.FieldError
	_, err := readForm(body, boundary, func(part *multipart.Part) (io.Writer, error) {
		if name := part.FormName(); part.FileName() == "" && name != "file" {
			detail := name + " does not belong in the form: options are parameters of the URL."
			faults = append(faults, httpapi.FieldError{Field: name, Code: "unknown", Detail: detail})
			return io.Discard, nil
		}
		if files++; files > 1 {
			faults = append(faults, httpapi.FieldError{Field: "file", Code: "duplicate", Detail: "The form must have only one file in it."})
			return nil, httpapi.InvalidFields(faults...)
		}
		f.Name = part.FileName()
		return &f.file, nil
	})
	if err != nil {
		return err
	}
	if files == 0 {
		faults = append(faults, httpapi.FieldError{Field: "file", Code: "required", Detail: "The form must have a file in it."})
	}
	if len(faults) > 0 {
		return httpapi.InvalidFields(faults...)
	}
	return nil
}

// readForm reads a form to its end. It copies the content of a part to the writer that
// writerFor returns. The parts for which writerFor returns nil are the fields that
// readForm returns. The error is that of writerFor, or a *httpapi.Problem.
func readForm(body io.Reader, boundary string, writerFor func(*multipart.Part) (io.Writer, error)) (url.Values, error) {
	counted := &besideFile{from: body, left: maxFields}
	form, fields := multipart.NewReader(counted, boundary), url.Values{}
	const cutOff = "The form could not be read to its end."
	for parts := 0; ; parts++ {
		part, err := form.NextPart()
		if err == io.EOF {
			// The service learns that a client has gone only after all of its body.
			_, err = io.Copy(io.Discard, counted)
			return fields, failed(err, cutOff)
		}
		if err != nil {
			return fields, failed(err, cutOff)
		}
		if parts == MaxParts {
			return fields, refuse(httpapi.TooLarge, fmt.Sprintf("A form may have at most %d fields.", MaxParts))
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
			return fields, failed(err, cutOff)
		}
	}
}

// besideFile counts what a form has beside the content of its file. Package
// multipart keeps names and headers in memory, and limits them to megabytes for each
// part.
type besideFile struct {
	from   io.Reader
	left   int64 // bytes that the form may still have beside the file
	inFile bool  // the content of the file is being read, which does not count
}

// Read returns a *http.MaxBytesError when there is too much.
func (b *besideFile) Read(p []byte) (n int, err error) {
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

// copyFile copies a file of at most MaxFile bytes.
func copyFile(to io.Writer, from io.Reader) error {
	n, err := io.Copy(to, io.LimitReader(from, MaxFile+1))
	if n > MaxFile {
		return errTooLarge
	}
	return err
}

// failed returns what went wrong with a body as a problem.
func failed(err error, cutOff string) error {
	switch {
	case err == nil, errors.As(err, new(*httpapi.Problem)), errors.As(err, new(*diskError)):
		return err
	case errors.As(err, new(*http.MaxBytesError)):
		return errTooLarge
	}
	return refuse(httpapi.Malformed, cutOff)
}

// Size returns the size of the file, in bytes.
func (f *File) Size() int64 { return f.file.size }

// Content returns the file. Several may ask for it at the same time. After Close the error
// is os.ErrClosed, unless the file was small enough for memory.
func (f *File) Content() ([]byte, error) {
	content := make([]byte, f.file.size)
	_, err := io.ReadFull(f.file.reader(), content)
	return content, err
}

// Hash returns the SHA-256 of the file, which it does not take into memory.
func (f *File) Hash() ([]byte, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, f.file.reader())
	return hash.Sum(nil), err
}

// LeaveLimit has the file no longer count in the limit of temporary files. The caller,
// which keeps the file for longer than a request, has a limit of its own.
func (f *File) LeaveLimit() { f.file.leave() }

// Close erases the file, also while others read it. It does nothing to a nil *File.
func (f *File) Close() {
	if f != nil {
		f.file.Close()
	}
}
