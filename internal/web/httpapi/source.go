package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
)

// sourceOf returns the IPv4 address of a request, or the /64 network of its IPv6 address.
func sourceOf(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64) // a valid length
		return prefix.String()
	}
	return addr.String()
}

// isForwarded reports whether a request has a header that only proxies and gateways add.
func isForwarded(r *http.Request) bool {
	for name := range r.Header {
		if name == "Via" || strings.HasPrefix(name, "Cf-") || strings.HasPrefix(name, "X-Original-") ||
			strings.Contains(name, "Forwarded") || strings.HasSuffix(name, "Client-Ip") || strings.HasSuffix(name, "Real-Ip") {
			return true
		}
	}
	return false
}

// IsLocal reports whether a request comes from this computer: from a loopback address, or from the
// address at which it arrived. A request with forwarding headers of a proxy is not local.
func IsLocal(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || isForwarded(r) {
		return false
	}
	own, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return peer.Addr().Unmap().IsLoopback() || ok && peer.Addr().Unmap() == own.AddrPort().Addr().Unmap()
}

// IsAtThisComputer reports whether a person at this computer sent a request with a browser, from a
// page of this service or by typing its address. IsLocal is not enough for that: a proxy on this
// computer may pass on requests without any trace. The headers Origin and Sec-Fetch-Site come from
// the browser, and name the address that the person sees.
func IsAtThisComputer(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !IsLoopbackHost(r.Host) || isForwarded(r) {
		return false
	}
	if referer := r.Header["Referer"]; referer != nil && !isLoopbackURL(referer) {
		return false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return isLoopbackURL(r.Header["Origin"])
	}
	site := r.Header["Sec-Fetch-Site"]
	return len(site) == 1 && (site[0] == "none" || site[0] == "same-origin")
}

// isLoopbackURL reports whether a header has one value, a URL of this computer.
func isLoopbackURL(values []string) bool {
	if len(values) != 1 {
		return false
	}
	u, err := url.Parse(values[0])
	return err == nil && u.User == nil && (u.Scheme == "http" || u.Scheme == "https") && IsLoopbackHost(u.Host)
}

// maxSources is how many sources are kept, to bound the memory used.
const maxSources = 4096

// Sources keeps a value for each source of requests. At maxSources it discards all values.
type Sources[T any] struct {
	mu  sync.Mutex
	all map[string]*T
}

// Of returns the value of the request's source. It calls new if there is none.
func (s *Sources[T]) Of(r *http.Request, new func() *T) *T {
	name := sourceOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] == nil {
		if s.all == nil || len(s.all) >= maxSources {
			s.all = map[string]*T{}
		}
		s.all[name] = new()
	}
	return s.all[name]
}
