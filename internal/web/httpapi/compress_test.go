package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// acceptCases maps values of Accept-Encoding to whether they accept gzip.
var acceptCases = []struct {
	accept string
	gzip   bool
}{
	{"gzip", true},
	{"GZip", true},
	{"deflate, gzip;q=0.5, br", true},
	{"br;q=1.0,gzip ; Q=0.001", true},
	{"", false},
	{"br, deflate", false},
	{"gzip;q=0", false},
	{"gzip; q=0.000", false},
	{"gzipped", false},
}

var largeBody = []byte(strings.Repeat("large ", 300))

// compress returns the body that a client with these Accept-Encoding headers receives.
func compress(body []byte, accept ...string) (sent []byte, coding string) {
	r := newRequest()
	r.Header["Accept-Encoding"] = accept
	h := http.Header{}
	sent = httpapi.Compress(h, r, body)
	return sent, h.Get("Content-Encoding")
}

func TestCompress(t *testing.T) {
	t.Parallel()
	for _, tt := range acceptCases {
		sent, coding := compress(largeBody, tt.accept)
		switch {
		case (coding == "gzip") != tt.gzip:
			t.Errorf("%q: Content-Encoding %q", tt.accept, coding)
		case tt.gzip:
			z, err := gzip.NewReader(bytes.NewReader(sent))
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(z); err != nil || !bytes.Equal(body, largeBody) || len(sent) > len(body)/2 {
				t.Errorf("%q: %d bytes are %q, %v", tt.accept, len(sent), body, err)
			}
		case !bytes.Equal(sent, largeBody):
			t.Errorf("%q: %q", tt.accept, sent)
		}
	}
	if _, coding := compress(largeBody, "br", "gzip"); coding != "gzip" {
		t.Error("the second header was ignored")
	}
	if _, coding := compress(largeBody); coding != "" {
		t.Error("compressed without Accept-Encoding")
	}
}

func TestCompressSmall(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{0: "", 1399: "", 1400: "gzip"} {
		if _, coding := compress(make([]byte, size), "gzip"); coding != want {
			t.Errorf("%d bytes: Content-Encoding %q", size, coding)
		}
	}
}

// TestCompressTo checks that a body written in parts arrives and that an error sets no header.
func TestCompressTo(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut off")
	for accept, coding := range map[string]string{"": "", "gzip": "gzip"} {
		for _, outcome := range []error{nil, cut} {
			r, h := newRequest(), http.Header{}
			r.Header.Set("Accept-Encoding", accept)
			var sent bytes.Buffer
			err := httpapi.CompressTo(h, r, &sent, func(to io.Writer) error {
				io.WriteString(to, "first ")
				to.Write(largeBody)
				return outcome
			})
			if err != outcome {
				t.Error(err)
			}
			if err != nil {
				if len(h) > 0 {
					t.Errorf("after an error: %v", h)
				}
				continue
			}
			var body io.Reader = &sent
			if coding != "" {
				body, err = gzip.NewReader(&sent)
			}
			if err != nil || h.Get("Content-Encoding") != coding {
				t.Fatalf("%v, %v", h, err)
			}
			if got, err := io.ReadAll(body); err != nil || string(got) != "first "+string(largeBody) {
				t.Errorf("%q: %.20q, %v", accept, got, err)
			}
		}
	}
}
