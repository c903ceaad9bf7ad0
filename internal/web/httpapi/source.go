package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
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

// isForwarding reports whether a header is one in which proxies name the client.
func isForwarding(name string) bool {
	names := []string{"Forwarded", "X-Real-Ip", "X-Client-Ip", "Cf-Connecting-Ip", "Via"}
	return strings.HasPrefix(name, "X-Forwarded-") || slices.Contains(names, name)
}

// IsLocal reports whether a request comes from this computer: from a loopback address, or from the
// address at which it arrived. A request with forwarding headers of a proxy is not local.
func IsLocal(r *http.Request) bool {
	for name := range r.Header {
		if isForwarding(name) {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	own, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return peer.Addr().Unmap().IsLoopback() || ok && peer.Addr().Unmap() == own.AddrPort().Addr().Unmap()
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
