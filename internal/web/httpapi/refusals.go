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
	now func() time.Time

	mu      sync.Mutex
	clients map[string]*refused // by address
}

// refused counts the requests of a client that were refused since the last line about it.
type refused struct {
	count  int
	code   string // of the last one
	logged time.Time
}

// NewRefusals returns a count for a log, by the clock now.
func NewRefusals(log *slog.Logger, now func() time.Time) *Refusals {
	return &Refusals{log: log, now: now, clients: map[string]*refused{}}
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
	client := l.clients[address]
	if client == nil {
		client = &refused{}
		l.clients[address] = client
	}
	client.count++
	client.code = code
	if l.now().Sub(client.logged) >= betweenRefusals {
		l.write(address, client)
	}
}

// Flush logs what is due. It must be called a few times a second. The last call
// logs all that is left.
func (l *Refusals) Flush(last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for address, client := range l.clients {
		due := last || l.now().Sub(client.logged) >= betweenRefusals
		switch {
		case due && client.count > 0:
			l.write(address, client)
		case due:
			delete(l.clients, address)
		}
	}
}

func (l *Refusals) write(address string, client *refused) {
	l.log.Warn("requests were refused", "address", address, "count", client.count, "code", client.code)
	client.count, client.logged = 0, l.now()
}
