package upload

import (
	"io"
	"net/http"
)

// Attachment is a file for a client to keep.
type Attachment struct {
	Name        string // in ASCII
	ContentType string
}

// Describe sets the headers of a response that is the file.
func (a Attachment) Describe(h http.Header) {
	h.Set("Content-Type", a.ContentType)
	h.Set("Content-Disposition", `attachment; filename="`+a.Name+`"`)
}

// Send answers with a file that write writes when few enough requests are being worked
// on, as Work does. To a HEAD request it makes no file. After an error nothing was sent.
func Send(w http.ResponseWriter, r *http.Request, owner int64, a Attachment, write func(io.Writer) error) error {
	if r.Method == http.MethodHead {
		a.Describe(w.Header())
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return Work(w, r, owner, 0, func(w http.ResponseWriter) error {
		if err := write(w); err != nil {
			return err
		}
		a.Describe(w.Header())
		w.WriteHeader(http.StatusOK)
		return nil
	})
}
