package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// sourceOf returns where a request comes from: an IPv4 address, or the network
// of an IPv6 address, which one machine has to itself.
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

// isForwarding reports whether a header is one by which proxies say for whom they ask.
func isForwarding(name string) bool {
	switch name {
	case "Forwarded", "X-Real-Ip", "X-Client-Ip", "Cf-Connecting-Ip", "Via":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

// IsLocal reports whether a request comes from a program on this machine: from a loopback
// address, or from the address at which it has arrived. A request that a proxy hands on
// comes from elsewhere, as far as the proxy says so.
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

// mostSources is how many sources are told apart, so that no one can fill the memory.
const mostSources = 4096

// Sources keeps a value for each source of requests. When there are mostSources, it begins anew.
type Sources[T any] struct {
	mu  sync.Mutex
	all map[string]*T
}

// Of returns the value of the source of a request. Where the source has none, new makes
// the value.
func (s *Sources[T]) Of(r *http.Request, new func() *T) *T {
	name := sourceOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] == nil {
		if s.all == nil || len(s.all) >= mostSources {
			s.all = map[string]*T{}
		}
		s.all[name] = new()
	}
	return s.all[name]
}
