package upload

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	// atOnce is how many requests work on files or long pages at the same time. Each
	// needs memory, and one of the few connections that read the database.
	atOnce = 2
	// largeFile is the size of a file, in bytes, from which on only one is worked on: its
	// rows take more than a hundred megabytes. An archive counts as large.
	largeFile = 1 << 20
	// patience is how long a request waits until it may work.
	patience = time.Minute
)

// working is the queue of the service.
var working = newQueue(atOnce)

var errBusy = &httpapi.Problem{Kind: httpapi.Busy, Header: httpapi.RetryLater,
	Detail: "Too many files are being imported or exported at this moment."}

// queue hands out places to work, in the order in which requests come. An owner has
// at most one, so that none keeps the others out.
type queue struct {
	mu        sync.Mutex
	free      int            // places
	largeBusy bool           // a request with a large file has a place
	busy      map[int64]bool // owners with a place
	waiting   []*turn        // the one that has waited longest is first
}

// turn is a request that waits for a place.
type turn struct {
	owner int64
	large bool          // it works on a large file
	come  chan struct{} // closed when the request has a place
}

func newQueue(places int) *queue {
	return &queue{free: places, busy: map[int64]bool{}}
}

// begin waits for a place to work on a file of this size. The caller calls done when
// it has worked. The error is a *httpapi.Problem, or that of ctx.
func (q *queue) begin(ctx context.Context, owner int64, size int64) (done func(), err error) {
	t := &turn{owner, size >= largeFile, make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	q.next()
	q.mu.Unlock()
	done = func() { q.leave(t) }
	select {
	case <-t.come: // also if ctx has ended
		return done, nil
	default:
	}
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	select {
	case <-t.come:
		return done, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-tooLong.C:
		err = errBusy
	}
	done()
	return nil, err
}

// leave takes a request out of the queue, or gives its place back.
func (q *queue) leave(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-t.come:
		delete(q.busy, t.owner)
		q.largeBusy = q.largeBusy && !t.large
		q.free++
	default:
		q.waiting = slices.DeleteFunc(q.waiting, func(other *turn) bool { return other == t })
	}
	q.next()
}

// next gives the free places to those who have waited longest. It is called with
// the mutex.
func (q *queue) next() {
	q.waiting = slices.DeleteFunc(q.waiting, func(t *turn) bool {
		if q.free == 0 || q.busy[t.owner] || q.largeBusy && t.large {
			return false
		}
		q.free--
		q.busy[t.owner] = true
		q.largeBusy = q.largeBusy || t.large
		close(t.come)
		return true
	})
}
