package daemon

import (
	"net/http"
	"sync"
	"time"
)

// door passes requests to a handler. While it is closed, new requests wait. One goroutine opens and
// closes it.
type door struct {
	passing sync.RWMutex // locked while the door is closed
	closed  bool
	handler http.Handler
	inside  *sync.WaitGroup // requests
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
	if !d.closed {
		d.passing.Lock()
		d.closed = true
	}
}

// open lets new requests pass to a handler.
func (d *door) open(handler http.Handler) {
	d.close()
	d.handler, d.closed = handler, false
	d.passing.Unlock()
}

// empty closes the door and waits until the requests inside have finished, at most for some seconds.
func (d *door) empty() {
	d.close()
	inside, done := d.inside, make(chan struct{})
	d.inside = new(sync.WaitGroup)
	go func() { inside.Wait(); close(done) }()
	await(done)
}

const (
	answerTime = 10 * time.Second // how long an end or a restore waits for a client or a disk that may hang
	slowDisk   = 2 * time.Second  // how long a change of the settings waits for a disk
)

// await waits until done is closed, at most for answerTime.
func await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(answerTime):
	}
}
