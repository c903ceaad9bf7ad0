package web

import (
	"net/http"
	"testing"
	"time"
)

func TestTries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	l := tries{now: func() time.Time { return now }}
	wrong := func(source string, want time.Duration) *try {
		t.Helper()
		counted, wait := l.begin(source)
		if wait != want || (counted == nil) != (wait > 0) {
			t.Errorf("%s has to wait %v, not %v", source, wait, want)
		}
		return counted
	}
	for range mostTriesEach {
		wrong("a", 0)
		now = now.Add(time.Second)
	}
	wrong("a", 50*time.Second) // until the first of its ten is a minute old
	for range 50 {
		l.forget(wrong("b", 0)) // right ones do not count
	}
	for _, source := range []string{"c", "d", "e", "f", "g"} {
		for range mostTriesEach {
			wrong(source, 0)
		}
	}
	wrong("b", 50*time.Second) // 60 of all
	now = now.Add(50 * time.Second)
	wrong("a", 0)
	wrong("c", 10*time.Second)
}

func TestSourceOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7:1234":              "192.0.2.7",
		"[::ffff:192.0.2.7]:1234":     "::ffff:192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1234": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1234":         "fe80::/64",
		"@":                           "",
	} {
		if got := sourceOf(&http.Request{RemoteAddr: address}); got != want {
			t.Errorf("%s comes from %q, not %q", address, got, want)
		}
	}
}
