package upload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	list = "First name,Last name\nAna,Horvat\n"
	form = "multipart/form-data; boundary=b"
)

// inForm returns a form with these parts, each a disposition and content.
func inForm(parts ...string) string {
	var b strings.Builder
	w := multipart.NewWriter(&b)
	w.SetBoundary("b")
	for i := 0; i < len(parts); i += 2 {
		part, _ := w.CreatePart(map[string][]string{"Content-Disposition": {"form-data; " + parts[i]}})
		io.WriteString(part, parts[i+1])
	}
	w.Close()
	return b.String()
}

// what returns the code of an error, or the codes of its fields.
func what(err error) string {
	var problem *httpapi.Problem
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &problem):
		return err.Error()
	}
	fields, ok := problem.Errors.([]httpapi.FieldError)
	if !ok {
		return problem.Code
	}
	var codes []string
	for _, f := range fields {
		codes = append(codes, f.Field+" "+f.Code)
	}
	return strings.Join(codes, ", ")
}

func TestReceive(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxFile)
	for _, tt := range []struct {
		name, contentType string
		body              io.Reader
		file, content     string
		wrong             string
	}{
		{"a file", "text/csv", strings.NewReader(list), "", list, ""},
		{"no type", "", strings.NewReader(list), "", list, ""},
		{"no file", "", strings.NewReader(""), "", "", ""},
		{"the largest", "", strings.NewReader(long), "", long, ""},
		{"too large", "", strings.NewReader(long + "x"), "", "", "too_large"},
		{"too large, and undeclared", "", io.MultiReader(strings.NewReader(long + "x")), "", "", "too_large"},
		{"cut off", "", io.MultiReader(strings.NewReader(list), iotest.ErrReader(io.ErrUnexpectedEOF)), "", "", "malformed"},
		{"curl -d", "application/x-www-form-urlencoded", strings.NewReader(list), "", "", "content_type"},
		{"a form", form, strings.NewReader(inForm(`name="x"; filename="a č.csv"`, list)), "a č.csv", list, ""},
		{"a form, no name of a file", form, strings.NewReader(inForm(`name="file"`, list)), "", list, ""},
		{"the largest in a form", form, strings.NewReader(inForm(`name="file"; filename="a"`, long)), "a", long, ""},
		{"too large in a form", form, strings.NewReader(inForm(`name="file"; filename="a"`, long+"x")), "", "", "too_large"},
		{"a form too large", form, io.MultiReader(strings.NewReader(inForm(`name="more"`, long+long))), "", "", "too_large"},
		{"an empty form", form, strings.NewReader(inForm()), "", "", "file required"},
		{"another field", form, strings.NewReader(inForm(`name="apply"`, "true", `name="file"; filename="a"`, list)), "", "", "apply unknown"},
		{"another field alone", form, strings.NewReader(inForm(`name="apply"`, "true")), "", "", "apply unknown, file required"},
		{"two files", form, strings.NewReader(inForm(`name="a"; filename="a"`, list, `name="b"; filename="b"`, list)), "", "", "file duplicate"},
		{"a form cut off", form, strings.NewReader(inForm(`name="file"; filename="a"`, list)[:80]), "", "", "malformed"},
		{"no form", form, strings.NewReader(list), "", "", "malformed"},
	} {
		r := httptest.NewRequest("POST", "/", tt.body)
		r.Header.Set("Content-Type", tt.contentType)
		u, err := Receive(httptest.NewRecorder(), r, 1)
		if got := what(err); got != tt.wrong {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.wrong)
		}
		if err != nil {
			continue
		}
		content, err := u.Content()
		if err != nil || u.Name != tt.file || string(content) != tt.content {
			t.Errorf("%s: %q with %d bytes, %v", tt.name, u.Name, len(content), err)
		}
		u.Close()
	}
}

// TestReceiveBody checks that any media type is accepted up to the size limit.
func TestReceiveBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxInMemory+1)
	for _, tt := range []struct {
		body   io.Reader
		length int
		wrong  string
	}{
		{strings.NewReader(""), 0, ""},
		{strings.NewReader(long), len(long), ""},
		{strings.NewReader(long + "x"), 0, "too_large"},
		{io.MultiReader(strings.NewReader(long), iotest.ErrReader(io.ErrUnexpectedEOF)), 0, "malformed"},
	} {
		r := httptest.NewRequest("REPORT", "/", tt.body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		f, err := ReceiveBody(httptest.NewRecorder(), r, 12, int64(len(long)))
		if got := what(err); got != tt.wrong {
			t.Errorf("got %s, want %s", got, tt.wrong)
		}
		if err != nil {
			continue
		}
		if content, err := f.Content(); err != nil || string(content) != long[:tt.length] {
			t.Errorf("%d bytes, %v", len(content), err)
		}
		f.Close()
	}
}

// TestDeclared checks that a body is not read if it is declared too large or compressed.
func TestDeclared(t *testing.T) {
	t.Parallel()
	for contentType, limit := range map[string]int64{"text/csv": MaxFile, form: MaxBody} {
		r := httptest.NewRequest("POST", "/", iotest.ErrReader(errors.New("was read")))
		r.Header.Set("Content-Type", contentType)
		r.ContentLength = limit + 1
		if _, err := Receive(httptest.NewRecorder(), r, 1); what(err) != "too_large" {
			t.Errorf("%s: %v", contentType, err)
		}
	}
	r := httptest.NewRequest("POST", "/", iotest.ErrReader(errors.New("was read")))
	r.Header.Set("Content-Encoding", "gzip")
	if _, err := Receive(httptest.NewRecorder(), r, 1); what(err) != "content_type" {
		t.Errorf("compressed: %v", err)
	}
}

// FuzzReceive checks that any form yields one file of at most MaxFile bytes, or an error.
func FuzzReceive(f *testing.F) {
	f.Add(inForm(`name="file"; filename="a.csv"`, list), form)
	f.Add(inForm(`name="apply"`, "true"), form)
	f.Add("--b\r\n\r\n--b--", form)
	f.Add(list, "text/csv")
	f.Fuzz(func(t *testing.T, body, contentType string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {contentType}}
		u, err := Receive(httptest.NewRecorder(), r, 1)
		if err != nil {
			if what(err) == err.Error() {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		defer u.Close()
		content, err := u.Content()
		if err != nil || !bytes.Contains([]byte(body), content) {
			t.Fatalf("received %q as %q, %v", body, content, err)
		}
	})
}

// received is a received form as text.
func received(f *Form) string {
	text := f.Fields.Encode()
	for name, file := range map[string]*File{" file ": f.File, " text ": f.Text} {
		if file != nil {
			content, err := file.Content()
			text += fmt.Sprint(name, file.Name, " ", len(content), err)
		}
	}
	return text
}

func TestReceiveForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxFile)
	many := func(count int) (parts []string) {
		for range count {
			parts = append(parts, "", "")
		}
		return parts
	}
	file := func(content string) []string { return []string{`name="file"; filename="a.csv"`, content} }
	for _, tt := range []struct {
		name  string
		keep  bool
		parts []string
		want  string // or the code of the error
	}{
		{"fields", true, []string{`name="a"`, "1", `name="b"`, "2", `name="a"`, "3"}, "a=1&a=3&b=2"},
		{"a file", true, append(file(list), `name="a"`, "1"), "a=1 file a.csv 32 <nil>"},
		{"the largest file", true, append(file(long), `name="a"`, "1"), "a=1 file a.csv 10485760 <nil>"},
		{"no file chosen", true, []string{`name="file"; filename=""`, "", `name="text"`, ""}, "file=&text="},
		{"a short text", true, []string{`name="text"`, list}, "text=First+name%2CLast+name%0AAna%2CHorvat%0A"},
		{"two texts", true, []string{`name="text"`, "a", `name="text"`, "b"}, "text=a&text=b"},
		{"a long text", true, []string{`name="text"`, long}, " text  10485760 <nil>"},
		{"a file too large", true, file(long + "x"), "too_large"},
		{"two files", true, append(file("a"), file("b")...), "malformed"},
		{"another long field", true, []string{`name="b"`, long}, "too_large"},
		{"long fields", true, []string{`name="a"`, long[:40_000], `name="b"`, long[:40_000]}, "too_large"},
		{"long names", true, []string{`name="` + long[:40_000] + `"`, "", `name="` + long[:40_001] + `"`, ""}, "too_large"},
		{"long names after a file", true, append(file("a"), `name="`+long[:70_000]+`"`, ""), "too_large"},
		{"as many parts as may be", true, many(MaxParts), strings.Repeat("=&", MaxParts-1) + "="},
		{"one more", true, many(MaxParts + 1), "too_large"},
		{"a file that is not kept", false, append(file(long), `name="a"`, "1"), "a=1"},
		{"a text that is not kept", false, []string{`name="text"`, long}, "too_large"},
		{"a text to carry", false, []string{`name="text"`, "a"}, "text=a"},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(inForm(tt.parts...)))
		f, err := ReceiveForm(httptest.NewRecorder(), r, "b", 1, tt.keep)
		got := what(err)
		if err == nil {
			got = received(f)
		}
		if got != tt.want {
			t.Errorf("%s: %.200s", tt.name, got)
		}
		f.Close()
	}
}

// TestReceiveToTheEnd checks that the whole body is read, because net/http detects a disconnected
// client only afterwards.
func TestReceiveToTheEnd(t *testing.T) {
	t.Parallel()
	body := strings.NewReader(inForm(`name="a"`, "1") + strings.Repeat(" ", 20_000))
	f, err := ReceiveForm(httptest.NewRecorder(), httptest.NewRequest("POST", "/", body), "b", 1, true)
	if err != nil || body.Len() > 0 {
		t.Errorf("%v, %d bytes unread", err, body.Len())
	}
	f.Close()
}
