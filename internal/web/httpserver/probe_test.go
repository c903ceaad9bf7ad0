package httpserver_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpserver"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "nginx/1.26 (Debian)")
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	})
	secure, plain := httptest.NewTLSServer(answer), httptest.NewServer(answer)
	defer secure.Close()
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	for _, authority := range [][]byte{nil, own} {
		if program, err := httpserver.Probe(t.Context(), secure.URL, authority); program != "nginx" || err != nil {
			t.Errorf("%q, %v", program, err)
		}
	}
	if _, err := httpserver.Probe(t.Context(), secure.URL, []byte("another")); err == nil {
		t.Error("no error for a certificate that the device does not trust")
	}
	for _, s := range []*httptest.Server{secure, plain} {
		at, _ := url.Parse(s.URL)
		if program := httpserver.ProgramAt(t.Context(), at.Port()); program != "nginx" {
			t.Errorf("%s: %q", s.URL, program)
		}
	}
	plain.Close()
	if program, err := httpserver.Probe(t.Context(), plain.URL, nil); program != "" || err == nil {
		t.Errorf("a closed port: %q", program)
	}
}
