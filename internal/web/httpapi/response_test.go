package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

func TestRespond(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]string{"": "application/json; charset=utf-8", "text/x": "text/x"} {
		w := httptest.NewRecorder()
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		httpapi.Respond(w, 201, []byte(`{"a":1}`))
		if got := fmt.Sprint(w.Code, w.Header(), w.Body); got != fmt.Sprintf(`201 map[Content-Length:[7] Content-Type:[%s]] {"a":1}`, want) {
			t.Errorf("got %s", got)
		}
	}
}

// TestRespondJSON checks that a value that is not JSON returns an error and sends nothing.
func TestRespondJSON(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if err := httpapi.RespondJSON(w, 201, map[string]string{"a": "<&>\u2028"}); err != nil || w.Code != 201 || w.Body.String() != `{"a":"<&>\u2028"}` {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
	w = httptest.NewRecorder()
	if err := httpapi.RespondJSON(w, 201, make(chan int)); err == nil || len(w.Header()) > 0 || w.Body.Len() > 0 {
		t.Errorf("%v %s, %v", w.Header(), w.Body, err)
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	want := http.Header{
		"Cache-Control":                {"no-store"},
		"X-Content-Type-Options":       {"nosniff"},
		"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"X-Frame-Options":              {"DENY"},
	}
	for _, tls := range []bool{false, true} {
		if tls {
			want.Set("Strict-Transport-Security", "max-age=31536000")
		}
		h := http.Header{}
		httpapi.SetSecurityHeaders(h, tls)
		if fmt.Sprint(h) != fmt.Sprint(want) {
			t.Errorf("TLS %t: %v", tls, h)
		}
		for name := range h { // must not affect the next response
			h.Add(name, "changed")
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query       string
		page, pages int64
		cursor      string
		want        string // <…> means the path and "?"
	}{
		{"", 1, 0, "", `<page=1>; rel="first", <page=1>; rel="last"`},
		{"", 1, 1, "", `<page=1>; rel="first", <page=1>; rel="last"`},
		{"page=1", 1, 3, "c", `<page=1>; rel="first", <cursor=c&page=2>; rel="next", <page=3>; rel="last"`},
		{"page=2&cursor=b&", 2, 3, "c", `<page=1>; rel="first", <page=1>; rel="prev", <cursor=c&page=3>; rel="next", <page=3>; rel="last"`},
		{"page=3&cursor=c", 3, 3, "", `<page=1>; rel="first", <page=2>; rel="prev", <page=3>; rel="last"`},
		{"page=3&cursor=c&x", 3, 3, "d", `<x=&page=1>; rel="first", <x=&page=2>; rel="prev", <x=&cursor=d&page=4>; rel="next", <x=&page=3>; rel="last"`},
		{"page=5", 5, 0, "", `<page=1>; rel="first", <page=1>; rel="prev", <page=1>; rel="last"`},
		{"page=9007199254740991&pageSize=1", 9007199254740991, 2, "",
			`<pageSize=1&page=1>; rel="first", <pageSize=1&page=2>; rel="prev", <pageSize=1&page=2>; rel="last"`},
		{"page=&%70age=1&x=2&&x=1&a%20b=%3C%22%3E", 1, 1, "",
			`<a+b=%3C%22%3E&x=2&x=1&page=1>; rel="first", <a+b=%3C%22%3E&x=2&x=1&page=1>; rel="last"`},
	} {
		want := strings.ReplaceAll(tt.want, "<", "</list?")
		if got := httpapi.Links("/list", tt.query, tt.page, tt.pages, tt.cursor); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", tt.query, got, want)
		}
	}
}

// TestLongQueries checks that all links together have at most 2500 bytes, except for a longer next.
func TestLongQueries(t *testing.T) {
	t.Parallel()
	most := 0
	for size := range 3000 {
		got := httpapi.Links("/list", strings.Repeat("x", size), 1, 2, "c")
		switch links := strings.Count(got, "rel="); {
		case links == 3 && len(got) <= 2500:
			most = max(most, len(got))
		case links != 1 || !strings.Contains(got, `rel="next"`) || most == 0:
			t.Fatalf("%d bytes: %q", size, got)
		}
	}
	if most < 2500-3 { // one byte more for each link
		t.Errorf("%d bytes at most", most)
	}
}

var linkForm = regexp.MustCompile(`^<(/list\?[^<>" ]+)>; rel="[a-z]+"$`)

// FuzzLinks checks that each link is well-formed and has the parameters of the query.
func FuzzLinks(f *testing.F) {
	for _, seed := range []string{`search=%C3%A4nne+b%20%26&x=1&x=2&X&=v&odd=%3C%22%3E%2C%3B&a;b=%FF&sortDir=asc`,
		`search=O'B&q="<>\^{}|` + "`&sortBy=lastName", "&&search=änne&pageSize=3", "page=1", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		sent, err := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B"))
		if err != nil || len(query) > 2000 {
			return
		}
		sent.Set("page", "1")
		sent.Del("cursor")
		for _, link := range strings.Split(httpapi.Links("/list", query, 1, 1, ""), ", ") {
			parts := linkForm.FindStringSubmatch(link)
			if parts == nil {
				t.Fatalf("query %q: link %q", query, link)
			}
			target, err := url.Parse(parts[1])
			if err != nil || !reflect.DeepEqual(target.Query(), sent) {
				t.Fatalf("query %q: link to %q (%v)", query, parts[1], err)
			}
		}
	})
}
