package httpapi

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// mostAddresses is how many clients are told apart at the same time. Further
	// ones share an entry, so that nobody can fill the memory.
	mostAddresses = 256
	otherClients  = "others"

	betweenRefusals = time.Second // from a line to the next about the same client
)

// Refusals logs refused requests by the address of the client: the first one at
// once, then one line a second with the number of those since, as long as more
// come. Of a request the log has only the address.
type Refusals struct {
	log *slog.Logger

	mu      sync.Mutex
	clients map[string]*refused // by address
}

// refused counts the requests of a client that were refused since the last line about it.
type refused struct {
	count int
	code  string // of the last one
}

// NewRefusals returns a count for a log.
func NewRefusals(log *slog.Logger) *Refusals {
	return &Refusals{log: log, clients: map[string]*refused{}}
}

// Add counts a request that was refused with a problem of this code.
func (l *Refusals) Add(r *http.Request, code string) {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[address] == nil && len(l.clients) >= mostAddresses {
		address = otherClients
	}
	if client := l.clients[address]; client != nil {
		client.count, client.code = client.count+1, code
		return
	}
	l.clients[address] = &refused{1, code}
	l.write(address)
	l.writeLater(address)
}

// write logs the requests of a client since the last line, if there are any. The caller
// holds the mutex.
func (l *Refusals) write(address string) {
	client := l.clients[address]
	if client.count > 0 {
		l.log.Warn("requests were refused", "address", address, "count", client.count, "code", client.code)
	}
	client.count = 0
}

// writeLater logs the requests of a client that come within a second, and so on until none do.
func (l *Refusals) writeLater(address string) {
	time.AfterFunc(betweenRefusals, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.clients[address].count == 0 {
			delete(l.clients, address)
			return
		}
		l.write(address)
		l.writeLater(address)
	})
}

// Finish logs what is left after the last request.
func (l *Refusals) Finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for address := range l.clients {
		l.write(address)
	}
}
