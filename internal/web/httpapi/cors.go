package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	allowedHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id"
	exposedHeaders = "Accept-Patch, Content-Disposition, Content-Encoding, Date, ETag, Idempotency-Replayed, Link, Location, " +
		"RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
	preflightMaxAge = "600" // seconds
)

// AllowOrigins sets the CORS headers (Fetch standard) that let pages of the given origins read the
// response. It answers preflight requests from these origins itself and then returns true.
func AllowOrigins(w http.ResponseWriter, r *http.Request, origins []string) (answered bool) {
	if len(origins) == 0 {
		return false
	}
	h := w.Header()
	addVary(h, "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", preflightMaxAge)
	w.WriteHeader(http.StatusNoContent)
	return true
}

// ValidOrigin reports whether origin has the form that browsers send: a scheme, a host in lower-case
// ASCII, and a port unless it is the default port of the scheme.
func ValidOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return false
	}
	_, err = strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16)
	invalid := func(c rune) bool { return c <= ' ' || c > '~' || c == '*' || 'A' <= c && c <= 'Z' }
	defaultPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return err == nil && origin == u.Scheme+"://"+u.Host && !strings.ContainsFunc(origin, invalid) &&
		u.Port() != defaultPort && !strings.HasSuffix(origin, ":")
}
