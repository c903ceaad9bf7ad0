package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
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
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || origin != u.Scheme+"://"+u.Host ||
			origin != strings.ToLower(origin) || strings.Contains(origin, "*") || !isASCII(origin) ||
			u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
			return usage(fmt.Sprintf("--cors-origin takes an origin like https://roster.example.org, not %q", origin), "firefighters serve --help")
		}
	}
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > unicode.MaxASCII })
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
