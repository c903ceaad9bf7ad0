package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// The limits of wrong tries in a minute.
const (
	mostTriesEach = 10 // of one source
	mostTries     = 60 // of all
	triesWindow   = time.Minute
)

// tries counts the wrong tries to sign in of the last minute. A try counts as
// wrong until it is known to be right, so that many at once are no way around.
type tries struct {
	now    func() time.Time
	mu     sync.Mutex
	recent []*try // oldest first
}

type try struct {
	source string
	at     time.Time
}

// begin counts a try. If there were too many it returns how long to wait.
func (t *tries) begin(source string) (counted *try, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.recent = slices.DeleteFunc(t.recent, func(old *try) bool { return now.Sub(old.at) >= triesWindow })
	var same []*try
	for _, old := range t.recent {
		if old.source == source {
			same = append(same, old)
		}
	}
	switch {
	case len(same) >= mostTriesEach:
		return nil, triesWindow - now.Sub(same[len(same)-mostTriesEach].at)
	case len(t.recent) >= mostTries:
		return nil, triesWindow - now.Sub(t.recent[len(t.recent)-mostTries].at)
	}
	counted = &try{source, now}
	t.recent = append(t.recent, counted)
	return counted, 0
}

// forget takes back a try that was right.
func (t *tries) forget(right *try) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent = slices.DeleteFunc(t.recent, func(old *try) bool { return old == right })
}

// sourceOf returns where a request comes from: an IPv4 address, or the network
// of an IPv6 address, which one machine has to itself.
func sourceOf(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	addr, err := netip.ParseAddr(host)
	if addr = addr.Unmap(); err == nil && addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64)
		return prefix.String()
	}
	return host
}
