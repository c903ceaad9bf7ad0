package site

import (
	"errors"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// plainFrame contains the minimum that pages need.
var plainFrame = fstest.MapFS{
	"templates/layout.html": {Data: []byte(`<html lang="{{.Lang}}"><link href="{{asset "office.css"}}">` +
		`<h1>{{.Title}}</h1>{{template "main" .}}`)},
	"templates/partials.html": {Data: []byte(`{{define "count"}}{{n "list.count" .}}{{end}}` +
		`{{define "kept"}}{{range $name, $values := .}}{{$name}}={{index $values 0}} {{end}}{{end}}`)},
	"assets/office.css": {Data: []byte("body{}" + strings.Repeat(" ", 2000))},
}

// plainPages contains the minimum that a room needs: a page, and messages in every language.
var plainPages = fstest.MapFS{
	"templates/plain.html": {Data: []byte(`{{define "main"}}{{t "list.caption" .Data}} ` +
		`{{template "count" 2}} {{block "part" .}}<i>{{.Data}}</i>{{end}}{{end}}`)},
	"messages/list.json": {Data: officeMessages()},
}

// officeMessages are some messages in every language of the program.
func officeMessages() []byte {
	text, err := os.ReadFile("../office/people/messages/list.json")
	if err != nil {
		panic(err)
	}
	return text
}

// plainSite is a site of two public pages without a database. No visitor has a session.
func plainSite() *Site {
	explain := func(_ http.ResponseWriter, _ *http.Request, _ string, err error) *httpapi.Problem {
		if p, ok := errors.AsType[*httpapi.Problem](err); ok {
			return p
		}
		return &httpapi.Problem{Kind: httpapi.Internal}
	}
	say := func(v *Visit) error {
		return v.Render(http.StatusOK, "plain", Page{Title: "<Title>", Data: "<b>you</b>"})
	}
	upload := func(v *Visit) error {
		name, content := "no file", []byte(nil)
		if v.Upload != nil && v.Upload.File != nil {
			name = v.Upload.File.Name
			content, _ = v.Upload.File.Content()
		}
		return v.Render(http.StatusOK, "plain", Page{Data: template.HTML(name + " " + string(content) + " " + v.R.PostForm.Get("text"))})
	}
	log := slog.New(slog.DiscardHandler)
	return New(Service{Port: "80", Loss: func() string { return "" }, Log: log, Callers: callers.New(nil, log, nil)},
		explain, plainFrame, Room{plainPages, map[string]Route{
			"GET /office/{$}":     {Handle: say},
			"POST /office/form":   {Handle: say},
			"GET /office/secret":  {Scope: "read", Handle: say},
			"POST /office/upload": {Handle: upload, Upload: true},
			"POST /office/import": {Scope: "write", Handle: upload, Upload: true, Form: "/office/import"},
			"POST /office/typed":  {Scope: "write", Handle: say, Form: "/office/typed#form"},
			"GET /office/part": {Handle: func(v *Visit) error {
				return v.Render(http.StatusOK, "plain", Page{Part: "part", Data: "\u202e<b>\u2067“\u2069"})
			}},
			"GET /office/panic": {Handle: func(*Visit) error { panic("oh") }},
			"POST /office/busy": {Handle: func(*Visit) error { return &httpapi.Problem{Kind: httpapi.Busy} }, Form: "/office/"},
			"POST /office/gone": {Handle: func(*Visit) error { return &httpapi.Problem{Kind: httpapi.Path} }, Form: "/office/"},
		}})
}

// visitSite sends a request with further headers as name, value, ...
func visitSite(method, path, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	plainSite().ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestRender(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":               `<html lang="en">`,
		"de-AT, en":      `<h1>&lt;Title&gt;</h1>Personen von &lt;b&gt;you&lt;/b&gt; 2 Personen <i>&lt;b&gt;you&lt;/b&gt;</i>`,
		"hr":             "Osobe: ",
		"ja, fr;q=0.5":   "Personnes – ",
		"no such header": "People of ",
	} {
		response := visitSite("GET", "/office/", "", "Accept-Language", accept)
		if body := bodyOf(t, response); !strings.Contains(body, want) || response.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("Accept-Language %q: %s", accept, body)
		}
	}
	if body := bodyOf(t, visitSite("GET", "/office/part", "")); body != "<i>&lt;b&gt;“</i>" {
		t.Errorf("part of a page: %s", body)
	}
}

func TestChosenLanguage(t *testing.T) {
	t.Parallel()
	response := visitSite("POST", "/office/language", "language=es&next=/office/%3Fsearch=x")
	cookies := response.Cookies()
	if response.StatusCode != 303 || response.Header.Get("Location") != "/office/?search=x" || len(cookies) != 1 {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != Root || c.MaxAge < 300*24*3600 {
		t.Errorf("cookie: %v", c)
	}
	again := visitSite("GET", "/office/", "", "Cookie", cookies[0].Name+"="+cookies[0].Value, "Accept-Language", "de")
	if body := bodyOf(t, again); !strings.Contains(body, "Personas de ") {
		t.Errorf("the chosen language was lost: %s", body)
	}
	if cookies := visitSite("POST", "/office/language", "language=tlh").Cookies(); len(cookies) > 0 {
		t.Errorf("an unknown language was stored: %v", cookies)
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	page := bodyOf(t, visitSite("GET", "/office/", ""))
	path := regexp.MustCompile(`/office/assets/office-[0-9a-f]{16}\.css`).FindString(page)
	response := visitSite("GET", path, "", "Accept-Encoding", "gzip")
	h := response.Header
	if response.StatusCode != 200 || !strings.Contains(h.Get("Cache-Control"), "immutable") ||
		h.Get("Content-Type") != "text/css; charset=utf-8" || h.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s: %d %v", path, response.StatusCode, h)
	}
	if response := visitSite("GET", strings.Replace(path, "-", "-0", 1), ""); response.StatusCode != 404 {
		t.Errorf("asset with another hash: status %d", response.StatusCode)
	}
}

func TestRefusedVisits(t *testing.T) {
	t.Parallel()
	large := "x=" + strings.Repeat("x", MaxForm)
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		header, want             string
	}{
		{"no page", "GET", "/office/nothing", "", nil, 404, "", ""},
		{"no asset", "GET", "/office/assets/x", "", nil, 404, "", ""},
		{"the wrong method", "POST", "/office/", "", nil, 405, "Allow", "GET, HEAD, OPTIONS"},
		{"an unclean path", "GET", "/office//form", "", nil, 404, "Location", ""},
		{"an unclean path", "POST", "/office/./form", "", nil, 404, "Location", ""},
		{"a path to another host", "POST", "/office/../api/v1/firefighters", "", nil, 404, "Location", ""},
		{"a path to another host", "GET", "/office/%2e%2e//evil.example", "", nil, 404, "Location", ""},
		{"the wrong method", "DELETE", "/office/form", "", nil, 405, "Allow", "POST, OPTIONS"},
		{"the methods", "OPTIONS", "/office/form", "", nil, 204, "Allow", "POST, OPTIONS"},
		{"no methods", "OPTIONS", "/office/nothing", "", nil, 404, "Allow", ""},
		{"a form from elsewhere", "POST", "/office/form", "", []string{"Sec-Fetch-Site", "cross-site"}, 403, "", ""},
		{"a form from a neighbour", "POST", "/office/form", "", []string{"Sec-Fetch-Site", "same-site"}, 403, "", ""},
		{"a form from another origin", "POST", "/office/form", "", []string{"Origin", "http://evil.example"}, 403, "", ""},
		{"a form without an Origin to name", "POST", "/office/form", "", []string{"Origin", "null"}, 403, "", ""},
		{"a form from this origin", "POST", "/office/form", "", []string{"Origin", "http://example.com"}, 200, "", ""},
		{"JSON", "POST", "/office/form", "{}", []string{"Content-Type", "application/json"}, 415, "", ""},
		{"too large", "POST", "/office/form", large, nil, 413, "", ""},
		{"not a form", "POST", "/office/form", "%zz", nil, 400, "", ""},
		{"a panic", "GET", "/office/panic", "", nil, 500, "", ""},
		{"a busy service", "POST", "/office/busy", "name=Ana", nil, 503, "", ""},
		{"without a session", "GET", "/office/secret?a=b", "", nil, 303, "Location", "/office/sign-in?next=%2Foffice%2Fsecret%3Fa%3Db"},
		{"without a session, typed", "POST", "/office/typed", "name=Ana&key=k", nil, 401, "", ""},
	} {
		response := visitSite(tt.method, tt.path, tt.body, tt.headers...)
		body := bodyOf(t, response)
		if response.StatusCode != tt.status || response.Header.Get(tt.header) != tt.want {
			t.Errorf("%s: %d %v %s", tt.name, response.StatusCode, response.Header, body)
		}
		if csp := response.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("%s: %q", tt.name, csp)
		}
	}
	if body := bodyOf(t, visitSite("POST", "/office/typed", "name=Ana&key=k")); !strings.Contains(body, `value="/office/language?form=form&amp;next=%2Foffice%2Ftyped">name=Ana `) {
		t.Errorf("form input was lost: %s", body)
	}
}

// TestTypedTextAfterFaults checks that a submitted form can be resent after a server error, but not
// after a client error.
func TestTypedTextAfterFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path  string
		kept  bool
		extra []string
	}{
		{"/office/busy", true, nil},
		{"/office/gone", false, nil},
		{"/office/busy", false, []string{"Sec-Fetch-Site", "cross-site"}},
	} {
		body := bodyOf(t, visitSite("POST", tt.path, "name=Ana&key=k", tt.extra...))
		if strings.Contains(body, tt.path+`">name=Ana `) != tt.kept || strings.Contains(body, "key=k") {
			t.Errorf("%s %v: %s", tt.path, tt.extra, body)
		}
	}
}

// TestPages checks that the pages of all rooms of the program can be read in each language. The
// service reads a page when someone opens it.
func TestPages(t *testing.T) {
	t.Parallel()
	rooms := []Room{ownRoom()}
	folders, _ := filepath.Glob("../office/*/templates")
	for _, folder := range folders {
		rooms = append(rooms, Room{Files: os.DirFS(filepath.Dir(folder))})
	}
	pages := newLook(os.DirFS("../office"), rooms).pages
	if len(pages) < 20*len(lang.All()) {
		t.Errorf("%d pages", len(pages))
	}
	for _, page := range pages {
		page() // panics if it is invalid
	}
}

// TestWhole checks that numbers and dates are marked, and other values are not.
func TestWhole(t *testing.T) {
	const text = "+385 (0)91 820 / 8279, 021 555 / 1000 · a&b@example.com · 20 September 1974"
	const want = `<span class="whole">+385 (0)91 820 / 8279,</span> <span class="whole">021 555 / 1000</span>` +
		` · a&amp;b@example.com · <span class="whole">20 September 1974</span>`
	if got := whole(text); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
