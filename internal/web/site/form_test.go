package site

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// multipartBody returns a form with fields, given as name, value, and a file.
func multipartBody(t *testing.T, file string, content []byte, fields ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for pair := range slices.Chunk(fields, 2) {
		if err := w.WriteField(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", file)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func TestUpload(t *testing.T) {
	t.Parallel()
	full := bytes.Repeat([]byte("x"), upload.MaxFile)
	for _, tt := range []struct {
		name, path string
		content    []byte
		text       string
		status     int
		want       string
	}{
		{"a file", "/office/upload", []byte("Ana"), "typed", 200, "people.csv Ana typed"},
		{"bytes that are no text", "/office/upload", []byte{0xff}, "\xff", 200, "people.csv \xff \uFFFD"},
		{"an empty file", "/office/upload", nil, "", 200, "people.csv"},
		{"the largest file", "/office/upload", full, "typed", 200, "people.csv xxx"},
		{"a larger file", "/office/upload", append(full, 'x'), "", 413, ""},
		{"a much larger file", "/office/upload", append(full, full[:maxForm+1]...), "", 413, ""},
		{"a text that is longer than a form", "/office/upload", nil, string(full[:maxForm+1]), 200, "people.csv"},
		{"a file for another form", "/office/form", []byte("Ana"), "", 415, ""},
		{"a file without a session", "/office/import", full, "typed", 401, "/office/import text=typed "},
		{"a text that is too large to carry", "/office/import", full, strings.Repeat("ü", maxForm/6), 401, "/office/import "},
	} {
		body, contentType := multipartBody(t, "people.csv", tt.content, "text", tt.text)
		response := visitSite("POST", tt.path, body, "Content-Type", contentType)
		got := bodyOf(t, response)
		if response.StatusCode != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d %.300s", tt.name, response.StatusCode, got)
		}
	}
	for _, contentType := range []string{"multipart/form-data", "multipart/form-data; boundary=x"} {
		if response := visitSite("POST", "/office/upload", "no parts", "Content-Type", contentType); response.StatusCode != 400 {
			t.Errorf("%s: %d", contentType, response.StatusCode)
		}
	}
	form := url.Values{"text": {"typed"}}
	if got := bodyOf(t, visitSite("POST", "/office/upload", form.Encode())); !strings.Contains(got, "no file  typed") {
		t.Errorf("a form without a file: %s", got)
	}
}
