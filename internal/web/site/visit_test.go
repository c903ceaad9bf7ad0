package site

import (
	"bytes"
	"compress/gzip"
	"errors"
	"html/template"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// siteOf returns a site with these routes and no database. Its page "long" contains the results of
// the functions in its Data.
func siteOf(routes map[string]Route) *Site {
	pages := maps.Clone(plainPages)
	pages["templates/long.html"] = &fstest.MapFile{Data: []byte(`{{define "main"}}{{range .Data}}{{call .}}{{end}}{{end}}`)}
	s := plainSite()
	return New(s.Service, s.explain, plainFrame, Room{pages, routes})
}

// longPage is a site with a page of n large parts. last is the last part.
func longPage(n int, last func() (template.HTML, error)) *Site {
	piece := template.HTML(strings.Repeat("x", 16<<10))
	data := make([]func() (template.HTML, error), n)
	for i := range data {
		data[i] = func() (template.HTML, error) { return piece, nil }
	}
	data[n-1] = last
	return siteOf(map[string]Route{"GET /office/long": {Large: true, Handle: func(v *Visit) error {
		return v.Render(http.StatusAccepted, "long", Page{Data: data})
	}}})
}

// TestLongPageInPieces checks that a long page is never in memory as a whole.
func TestLongPageInPieces(t *testing.T) {
	const pieces = 2000 // 32 MB
	for _, accept := range []string{"", "gzip"} {
		var before, after runtime.MemStats
		site := longPage(pieces, func() (template.HTML, error) {
			runtime.ReadMemStats(&after)
			return "the end", nil
		})
		site.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/office/sign-in", nil)) // reads the templates
		r := httptest.NewRequest("GET", "/office/long", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		runtime.ReadMemStats(&before)
		site.ServeHTTP(w, r)
		if took := after.TotalAlloc - before.TotalAlloc; took > pieces<<14/2 {
			t.Errorf("the page needs %d MB of memory", took>>20)
		}
		if w.Code != http.StatusAccepted || w.Header().Get("Content-Encoding") != accept || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		body, err := io.Reader(w.Body), error(nil)
		if accept == "gzip" {
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if err != nil || len(text) < pieces<<14-1<<14 || !strings.HasSuffix(string(text), "xthe end") {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
}

// TestLongPageFails checks that an error in the middle of a long page sends only the error page.
func TestLongPageFails(t *testing.T) {
	t.Parallel()
	site := longPage(10, func() (template.HTML, error) { return "", errors.New("damaged") })
	r := httptest.NewRequest("GET", "/office/long", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || w.Header().Get("Content-Encoding") != "" ||
		strings.Contains(body, "xx") || !strings.Contains(body, "Status 500.") {
		t.Errorf("%d %v %.200s", w.Code, w.Header(), body)
	}
}

// TestLongPageAgain checks that a long page is not filled, which needs all of it in memory.
func TestLongPageAgain(t *testing.T) {
	t.Parallel()
	site := longPage(2000, func() (template.HTML, error) { return "the end", nil })
	r := httptest.NewRequest("POST", formPath("find", "/office/long"), strings.NewReader("language=de"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if site.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge || strings.Contains(w.Body.String(), "xx") {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
}

// multipartBody returns a form with a file and with fields as name, value, ...
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
		{"a much larger file", "/office/upload", append(full, full[:MaxForm+1]...), "", 413, ""},
		{"a text that is longer than a form", "/office/upload", nil, string(full[:MaxForm+1]), 200, "people.csv"},
		{"a file for another form", "/office/form", []byte("Ana"), "", 415, ""},
		{"a file without a session", "/office/import", full, "typed", 401, `/office/import">text=typed `},
		{"a text that is too large to carry", "/office/import", full, strings.Repeat("ü", MaxForm/6), 401, `/office/import">`},
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
		t.Errorf("form without a file: %s", got)
	}
}
