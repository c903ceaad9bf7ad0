package httpapi

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxAddresses is how many clients are counted separately. The others share an entry.
	maxAddresses = 256
	otherClients = "others"

	refusalInterval = time.Second // between two log lines about one client
)

// Refusals logs rejected requests by client address: the first at once, then at most one line per
// second with the number of requests since the last line. It logs nothing else about a request.
type Refusals struct {
	log *slog.Logger

	mu      sync.Mutex
	clients map[string]*refused // by address
}

// refused counts a client's rejected requests since the last log line.
type refused struct {
	count int
	code  string // of the latest request
}

// NewRefusals returns a Refusals that writes to log.
func NewRefusals(log *slog.Logger) *Refusals {
	return &Refusals{log: log, clients: map[string]*refused{}}
}

// Add counts a request that was rejected with the problem code.
func (l *Refusals) Add(r *http.Request, code string) {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[address] == nil && len(l.clients) >= maxAddresses {
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

// write logs the requests of a client since the last line, if any. The caller must hold the mutex.
func (l *Refusals) write(address string) {
	client := l.clients[address]
	if client.count > 0 {
		l.log.Warn("requests were refused", "address", address, "count", client.count, "code", client.code)
	}
	client.count = 0
}

// writeLater calls write every second until a second passes without requests of the client.
func (l *Refusals) writeLater(address string) {
	time.AfterFunc(refusalInterval, func() {
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

// Finish logs the remaining counts at shutdown.
func (l *Refusals) Finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for address := range l.clients {
		l.write(address)
	}
}
