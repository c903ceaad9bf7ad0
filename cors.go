package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Other sites' pages may use the service only from origins that it is told
// (CORS, in the Fetch standard).

const (
	corsMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS"
	corsHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id"
	corsExposed = "Content-Encoding, Date, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, " +
		"Retry-After, Sunset, WWW-Authenticate, X-Request-Id"
	corsMaxAge = "600" // seconds
)

// checkOrigins refuses what no browser would send as Origin.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		if !isOrigin(origin) {
			return usage(fmt.Sprintf("--cors-origin takes an origin like https://roster.example.org, not %q", origin), "firefighters serve --help")
		}
	}
	return nil
}

// isOrigin wants a scheme, a host in lower-case ASCII, and a port only where it
// is not the scheme's own.
func isOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return false
	}
	odd := func(c rune) bool { return c <= ' ' || c > '~' || c == '*' || 'A' <= c && c <= 'Z' }
	usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return origin == u.Scheme+"://"+u.Host && !strings.ContainsFunc(origin, odd) &&
		u.Port() != usual && !strings.HasSuffix(origin, ":")
}

// cors says what a page from another origin may do, and reports whether the
// request only asked that.
func (s *server) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(s.origins) == 0 {
		return false
	}
	h := w.Header()
	h["Vary"] = []string{"Origin"}
	origin := r.Header.Get("Origin")
	if !slices.Contains(s.origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", corsExposed)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
	return true
}
