package daemon

import (
	"net/http"
	"sync"
	"time"
)

// door passes requests to a handler. While it is closed, new requests wait.
type door struct {
	passing sync.RWMutex // locked while the door is closed
	handler http.Handler
	inside  *sync.WaitGroup // requests of the handler

	mu     sync.Mutex
	closed bool
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.passing.RLock()
	handler, inside := d.handler, d.inside
	inside.Add(1)
	d.passing.RUnlock()
	defer inside.Done()
	handler.ServeHTTP(w, r)
}

// close closes the door. Requests inside continue.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.passing.Lock()
		d.closed = true
	}
}

// open lets requests pass to a handler.
func (d *door) open(handler http.Handler) {
	d.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handler, d.inside, d.closed = handler, new(sync.WaitGroup), false
	d.passing.Unlock()
}

// await waits until the requests inside have finished, at most for some seconds. The door is closed.
func (d *door) await() {
	done := make(chan struct{})
	go func() { d.inside.Wait(); close(done) }()
	await(done)
}

// await waits until done is closed, at most for some seconds: a client or a disk may hang.
func await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(10 * time.Second):
	}
}
