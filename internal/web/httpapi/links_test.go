package httpapi_test

import (
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query       string
		page, pages int64
		want        string // <…> stands for the path and "?"
	}{
		{"", 1, 0, `<page=1>; rel="first", <page=1>; rel="last"`},
		{"", 1, 1, `<page=1>; rel="first", <page=1>; rel="last"`},
		{"page=1", 1, 3, `<page=1>; rel="first", <page=2>; rel="next", <page=3>; rel="last"`},
		{"page=2", 2, 3, `<page=1>; rel="first", <page=1>; rel="prev", <page=3>; rel="next", <page=3>; rel="last"`},
		{"page=3", 3, 3, `<page=1>; rel="first", <page=2>; rel="prev", <page=3>; rel="last"`},
		{"page=5", 5, 0, `<page=1>; rel="first", <page=1>; rel="prev", <page=1>; rel="last"`},
		{"page=9223372036854775807&pageSize=1", 9223372036854775807, 2,
			`<pageSize=1&page=1>; rel="first", <pageSize=1&page=2>; rel="prev", <pageSize=1&page=2>; rel="last"`},
		{"page=&%70age=1&x=2&&x=1&a%20b=%3C%22%3E", 1, 1,
			`<a+b=%3C%22%3E&x=2&x=1&page=1>; rel="first", <a+b=%3C%22%3E&x=2&x=1&page=1>; rel="last"`},
	} {
		want := strings.ReplaceAll(tt.want, "<", "</list?")
		if got := httpapi.Links("/list", tt.query, tt.page, tt.pages); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", tt.query, got, want)
		}
	}
}

// TestLongQueries: a query is not sent back many times if it is long.
func TestLongQueries(t *testing.T) {
	t.Parallel()
	for size, linked := range map[int]bool{2000: true, 2001: false} {
		query := strings.Repeat("x", size)
		if got := httpapi.Links("/list", query, 1, 1); (got != "") != linked || linked && strings.Count(got, query) != 2 {
			t.Errorf("%d bytes: %q", size, got)
		}
	}
}

var linkForm = regexp.MustCompile(`^<(/list\?[^<>" ]+)>; rel="[a-z]+"$`)

// FuzzLinks: each link is well-formed and has the parameters of the query.
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
		for _, link := range strings.Split(httpapi.Links("/list", query, 1, 1), ", ") {
			parts := linkForm.FindStringSubmatch(link)
			if parts == nil {
				t.Fatalf("%q gives %q", query, link)
			}
			target, err := url.Parse(parts[1])
			if err != nil || !reflect.DeepEqual(target.Query(), sent) {
				t.Fatalf("%q leads to %q (%v)", query, parts[1], err)
			}
		}
	})
}
