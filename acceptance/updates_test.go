package acceptance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestUpdates: the service asks once, says nothing of itself, tells those who may manage
// access, and asks nobody again after a restart.
func TestUpdates(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.ContentLength, " ", r.Header))
		w.Header().Set("Location", "/releases/tag/v987.6.5")
		w.WriteHeader(http.StatusFound)
	}))
	defer releases.Close()
	s := start(t, "--look-for-updates="+releases.URL+"/releases/latest")
	b := s.signIn(t, s.key, "en")
	const line = "Version 987.6.5 of this program is out."
	eventually(t, "the line on the page", func() bool { return strings.Contains(b.get(t, "/office/").text(), line) })
	s.signIn(t, newKey(t, s.db, "default"), "en").get(t, "/office/").lacks(t, "987.6.5")
	eventually(t, "the note", func() bool {
		text, _ := os.ReadFile(s.db + "-updates")
		return strings.Contains(string(text), "\n987.6.5\n")
	})
	s.stop(t)

	again := startWith(t, s.db, "serve", "--db", s.db, "--look-for-updates="+releases.URL+"/releases/latest")
	b = again.signIn(t, s.key, "de")
	eventually(t, "the line after a restart", func() bool {
		return strings.Contains(b.get(t, "/office/").text(), "Version 987.6.5 dieses Programms ist erschienen.")
	})
	again.stop(t)
	off := startWith(t, s.db, "serve", "--db", s.db)
	off.signIn(t, s.key, "en").get(t, "/office/").lacks(t, "987.6.5")
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked[0] != "HEAD /releases/latest 0 map[Connection:[close] User-Agent:[firefighters]]" {
		t.Errorf("asked %q", asked)
	}
}

// TestUpdatesFail: what is no answer leaves no line on the page and none in the log.
func TestUpdatesFail(t *testing.T) {
	t.Parallel()
	releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/releases/tag/v9.9.9%3Cb%3E")
		w.WriteHeader(http.StatusFound)
	}))
	defer releases.Close()
	s := start(t, "--look-for-updates="+releases.URL)
	eventually(t, "the note", func() bool {
		text, _ := os.ReadFile(s.db + "-updates")
		return strings.HasSuffix(string(text), "Z\n\n")
	})
	s.signIn(t, s.key, "en").get(t, "/office/").lacks(t, "9.9.9")
	s.stop(t)
	if log := s.stderr.String(); strings.Contains(log, "version") || strings.Contains(log, "9.9.9") {
		t.Errorf("the log: %s", log)
	}
}

// TestUpdatesHint: a hint that repeats what was typed can be typed. A switch takes no
// further word as its value.
func TestUpdatesHint(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"--look-for-updates":                     "--look-for-updates",
		"--look-for-updates=true":                "--look-for-updates",
		"--look-for-updates=false":               "--look-for-updates=false",
		"--look-for-updates=https://example.org": "--look-for-updates=https://example.org",
	} {
		_, _, stderr := runCommand(t, "serve", flag, "--no-docs", "--listen", "nowhere")
		if !strings.HasSuffix(stderr, "\nTry: firefighters serve "+want+" --no-docs --listen 127.0.0.1:8080\n") {
			t.Errorf("%s: %s", flag, stderr)
		}
	}
}
