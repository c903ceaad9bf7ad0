package site

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// maxForm is the size of the largest form, in bytes.
const maxForm = 64 << 10

// readForm reads the fields of a form into v.R.PostForm. The form of a route with Upload
// goes into v.Upload as well.
func (v *Visit) readForm() error {
	mediaType, params, err := mime.ParseMediaType(v.R.Header.Get("Content-Type"))
	if err == nil && mediaType == upload.FormType && v.route.Upload {
		return v.readUpload(params["boundary"])
	}
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return &httpapi.Problem{Kind: httpapi.ContentType}
	}
	body, err := io.ReadAll(http.MaxBytesReader(v.W, v.R.Body, maxForm))
	switch {
	case errors.As(err, new(*http.MaxBytesError)), bytes.Count(body, []byte("&")) >= upload.MaxParts:
		return &httpapi.Problem{Kind: httpapi.TooLarge}
	case err != nil:
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	v.R.PostForm = validForm(form)
	return nil
}

// readUpload reads a form that may have a file. Without a session it throws the
// file away.
func (v *Visit) readUpload(boundary string) (err error) {
	may := v.mayUse(v.route)
	v.Upload, err = upload.ReceiveForm(v.W, v.R, boundary, v.owner(), may)
	if err != nil {
		upload.Ignore(v.W, v.R, may)
		return err
	}
	v.R.PostForm = validForm(v.Upload.Fields)
	return nil
}

// validForm returns a form in valid UTF-8. U+FFFD stands for what is not, as in
// the API.
func validForm(form url.Values) url.Values {
	valid := url.Values{}
	for name, values := range form {
		for _, value := range values {
			valid.Add(strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD"))
		}
	}
	return valid
}
