package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var linkForm = regexp.MustCompile(`^<([^<>" ]+)>; rel="([a-z]+)"$`)

// links gives the targets of an answer's Link header by their relation.
func (a answer) links(t *testing.T) map[string]string {
	t.Helper()
	targets := map[string]string{}
	for _, link := range strings.Split(strings.Join(a.header["Link"], ", "), ", ") {
		parts := linkForm.FindStringSubmatch(link)
		if parts == nil || targets[parts[2]] != "" {
			t.Fatalf("Link: %q", a.header["Link"])
		}
		targets[parts[2]] = parts[1]
	}
	return targets
}

// TestLinks walks through whole lists, there and back, by nothing but links.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 7 {
		s.create(t, fmt.Sprintf(`{"firstName":"Änne %d","lastName":"O'B & Co"}`, i))
	}
	const odd = `search=%C3%A4nne+b%20%26&x=1&x=2&X&=v&odd=%3C%22%3E%2C%3B&a;b=%FF&sortDir=asc&pageSize=3`
	for _, tt := range []struct{ query, page string }{
		{"pageSize=3", ""},
		{odd, ""},
		{odd, "page=&"},
		{odd, "%70age=1&"},
		{`search=O'B&q="<>\^{}|` + "`&pageSize=3&sortBy=lastName", "page=1&"},
		{"&&search=änne&pageSize=3", ""},
	} {
		t.Run(tt.page+tt.query, func(t *testing.T) {
			first := s.do(t, "GET", collection+"?"+tt.page+tt.query, "").wants(t, 200)
			s.walkLinks(t, first, given(t, tt.query))
		})
	}
}

// given are the parameters of a query as they are to stay, but for page.
func given(t *testing.T, query string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B"))
	must(t, err)
	values.Del("page")
	return values
}

// walkLinks goes from the first of three pages to the last by next, and back
// by prev.
func (s *service) walkLinks(t *testing.T, first answer, want url.Values) {
	t.Helper()
	at := func(a answer) (rels string) {
		links := a.links(t)
		for _, rel := range []string{"first", "prev", "next", "last"} {
			target, ok := links[rel]
			if !ok {
				continue
			}
			u, err := url.Parse(target)
			must(t, err)
			page := u.Query().Get("page")
			if rest := given(t, u.RawQuery); u.Path != collection || u.IsAbs() || fmt.Sprint(rest) != fmt.Sprint(want) {
				t.Errorf("%s leads to %s, whose parameters are %v, not %v", rel, target, rest, want)
			}
			rels += rel + page + " "
		}
		return rels
	}
	var bodies []string
	a := first
	for _, want := range []string{"first1 next2 last3 ", "first1 prev1 next3 last3 ", "first1 prev2 last3 "} {
		if bodies = append(bodies, a.body); at(a) != want {
			t.Fatalf("the links of page %d are %s, not %s", len(bodies), at(a), want)
		}
		if next := a.links(t)["next"]; next != "" {
			a = s.do(t, "GET", next, "").wants(t, 200)
		}
	}
	for i := 1; i >= 0; i-- {
		if a = s.do(t, "GET", a.links(t)["prev"], "").wants(t, 200); a.body != bodies[i] {
			t.Errorf("page %d is another on the way back: %s, was %s", i+1, a.body, bodies[i])
		}
	}
	for rel, i := range map[string]int{"first": 0, "last": 2} {
		if b := s.do(t, "GET", a.links(t)[rel], "").wants(t, 200); b.body != bodies[i] {
			t.Errorf("%s leads to %s", rel, b.body)
		}
	}
	var seen []string
	for _, body := range bodies {
		var l wireList
		decode(t, body, &l)
		for _, f := range l.Data.Items {
			seen = append(seen, f.ID)
		}
	}
	if slices.Sort(seen); len(slices.Compact(seen)) != 7 {
		t.Errorf("%d records in all", len(seen))
	}
}

func TestLinksAtTheEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	const first, two = `</api/v1/firefighters?page=1>; rel="first"`, `</api/v1/firefighters?pageSize=1&page=2>; rel="last"`
	want := func(query, want string) {
		t.Helper()
		for _, method := range []string{"GET", "HEAD"} {
			if got := strings.Join(s.do(t, method, collection+query, "").wants(t, 200).header["Link"], ", "); got != want {
				t.Errorf("%s %q: %s, not %s", method, query, got, want)
			}
		}
	}
	want("", first+`, </api/v1/firefighters?page=1>; rel="last"`)
	want("?page=5", first+`, </api/v1/firefighters?page=1>; rel="prev", </api/v1/firefighters?page=1>; rel="last"`)
	s.create(t, ana)
	s.create(t, ana)
	want("?page=9223372036854775807&pageSize=1", `</api/v1/firefighters?pageSize=1&page=1>; rel="first", `+
		`</api/v1/firefighters?pageSize=1&page=2>; rel="prev", `+two)
	want("?pageSize=1&page=3", `</api/v1/firefighters?pageSize=1&page=1>; rel="first", `+
		`</api/v1/firefighters?pageSize=1&page=2>; rel="prev", `+two)
	one := s.do(t, "GET", collection+"/"+s.create(t, ana), "")
	if refused := s.do(t, "GET", collection+"?page=0", ""); refused.header["Link"] != nil || one.header["Link"] != nil {
		t.Errorf("links where there is no list: %v, %v", refused.header, one.header)
	}
}

// TestLongQueries: what is not ours in a query is not sent back again and again.
func TestLongQueries(t *testing.T) {
	t.Parallel()
	s := start(t)
	for range 3 {
		s.create(t, ana)
	}
	query := func(size int) string {
		return collection + "?page=2&pageSize=1&" + strings.Repeat("unknown=x&", size/10)
	}
	if a := s.do(t, "GET", query(1000), "").wants(t, 200); strings.Count(a.header.Get("Link"), "unknown=x") != 400 {
		t.Errorf("Link: %q", a.header.Get("Link"))
	}
	if a := s.do(t, "GET", query(60_000), "").wants(t, 200); a.header["Link"] != nil {
		t.Errorf("Link of %d bytes", len(a.header.Get("Link")))
	}
	s.do(t, "GET", query(300_000), "").wants(t, 431)
}
