package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"
)

// unzipped is the answer as it was before it was compressed.
func (a answer) unzipped(t *testing.T) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(a.body))
	must(t, err)
	text, err := io.ReadAll(r)
	must(t, err)
	return string(text)
}

// acceptCases are values of Accept-Encoding, and whether they ask for gzip.
var acceptCases = []struct {
	accept string
	gzip   bool
}{
	{"gzip", true},
	{"GZip", true},
	{"x-gzip", true},
	{"deflate, gzip;q=0.5, br", true},
	{"br;q=1.0,gzip ; Q=0.001", true},
	{"*", true},
	{"*;q=0.1", true},
	{"gzip, *;q=0", true},
	{"", false},
	{"identity", false},
	{"br, deflate", false},
	{"gzip;q=0", false},
	{"gzip; q=0.000", false},
	{"*;q=0", false},
	{"*, gzip;q=0", false},
	{"gzip;q=0, *", false},
	{"gzip;q=x", false},
	{"gzipped", false},
	{"gzip;q=", false},
}

func TestCompression(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 25 {
		s.create(t, fmt.Sprintf(`{"firstName":"A%d","lastName":"Б"}`, i))
	}
	plain := s.do(t, "GET", collection, "", "X-Request-Id", "same").wants(t, 200)
	if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("not asked: %v", plain.header)
	}
	for _, tt := range acceptCases {
		t.Run(tt.accept, func(t *testing.T) {
			a := s.do(t, "GET", collection, "", "X-Request-Id", "same", "Accept-Encoding", tt.accept).wants(t, 200)
			if a.header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
				t.Errorf("Content-Length %s of %d bytes", a.header.Get("Content-Length"), len(a.body))
			}
			if !tt.gzip {
				sameHeaders(t, a, plain)
				if a.body != plain.body {
					t.Errorf("another body: %s", a.body)
				}
				return
			}
			if a.header.Get("Content-Encoding") != "gzip" || len(a.body) > len(plain.body)/3 || a.unzipped(t) != plain.body {
				t.Errorf("%v, %d bytes of %d", a.header, len(a.body), len(plain.body))
			}
			head := s.do(t, "HEAD", collection, "", "X-Request-Id", "same", "Accept-Encoding", tt.accept).wants(t, 200)
			sameHeaders(t, a, head)
			a.header.Del("Content-Encoding")
			a.header.Set("Content-Length", plain.header.Get("Content-Length"))
			sameHeaders(t, a, plain)
		})
	}
	two := s.do(t, "GET", collection, "", "Accept-Encoding", "br", "Accept-Encoding", "gzip")
	if two.unzipped(t) != plain.body {
		t.Error("the second of two headers is not read")
	}
}

// sameHeaders compares all headers but the time.
func sameHeaders(t *testing.T, a, b answer) {
	t.Helper()
	x, y := maps.Clone(a.header), maps.Clone(b.header)
	x.Del("Date")
	y.Del("Date")
	if fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("headers %v and %v", x, y)
	}
}

// TestNotWorthCompressing: what is small, one record and an error are sent as
// they are.
func TestNotWorthCompressing(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for _, path := range []string{collection, collection + "?search=nothing", collection + "/" + id, collection + "/x", "/api/v1/whoami", "/healthz"} {
		a := s.do(t, "GET", path, "", "Accept-Encoding", "gzip", "X-Request-Id", "same")
		plain := s.do(t, "GET", path, "", "X-Request-Id", "same")
		if sameHeaders(t, a, plain); a.header.Get("Content-Encoding") != "" || a.body != plain.body {
			t.Errorf("%s: %v", path, a.header)
		}
		if lists := path == collection || strings.Contains(path, "search"); lists != (a.header.Get("Vary") != "") {
			t.Errorf("%s: Vary: %q", path, a.header.Get("Vary"))
		}
	}
	s.do(t, "GET", collection, "", "Accept-Encoding", "identity;q=0, br").wants(t, 200)
}

func FuzzAcceptsGzip(f *testing.F) {
	for _, tt := range acceptCases {
		f.Add(tt.accept)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := acceptsGzip([]string{header})
		if lower := strings.ToLower(header); got && !strings.Contains(lower, "gzip") && !strings.Contains(header, "*") {
			t.Errorf("%q names neither gzip nor *", header)
		}
		if got != acceptsGzip([]string{"br;q=0", header, "deflate"}) {
			t.Errorf("%q means something else beside others", header)
		}
		if acceptsGzip([]string{header, "gzip;q=0"}) {
			t.Errorf("%q, and not gzip in the end, is gzip", header)
		}
	})
}
