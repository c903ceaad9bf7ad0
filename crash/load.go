package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// load is a number of clients that write and read. Each client uses only the records that
// it created, so the expected content is known.
type load struct {
	c       *check
	at      *service
	truths  []*truth
	own     [][]string  // ids of the records of each client
	over    atomic.Bool // requests may fail from now on
	writes  atomic.Int64
	reads   atomic.Int64
	unknown atomic.Int64 // writes without an answer
	working sync.WaitGroup
}

// startLoad starts one client for each element of own, which holds its records.
// They work until end.
func (c *check) startLoad(at *service, truths []*truth, own [][]string) *load {
	l := &load{c: c, at: at, truths: truths, own: own}
	for i := range own {
		r := rand.New(rand.NewPCG(c.rand.Uint64(), uint64(i)))
		l.working.Go(func() {
			for !l.over.Load() && l.step(i, r) {
			}
		})
	}
	return l
}

// end calls stop, during which requests may fail, and waits for the clients.
func (l *load) end(stop func()) {
	l.over.Store(true)
	stop()
	l.working.Wait()
}

// step sends one request of a client. It reports whether the service answered.
func (l *load) step(i int, r *rand.Rand) bool {
	t := l.truths[i%len(l.truths)]
	if len(l.own[i]) > 0 && r.IntN(5) == 0 {
		return l.read(t, l.own[i][r.IntN(len(l.own[i]))], r)
	}
	status, err := t.change(l.at.client, &l.own[i], r)
	switch {
	case err != nil || status >= 300:
		l.unknown.Add(1)
		if !l.over.Load() {
			l.c.wrong("a write under load returned %d %v", status, err)
		}
	default:
		l.writes.Add(1)
	}
	return err == nil
}

// read gets a record of the client, or a page of the list.
func (l *load) read(t *truth, id string, r *rand.Rand) bool {
	var err error
	what := ""
	if r.IntN(2) == 0 {
		var status int
		var p person
		status, p, err = l.at.client.get(t.key, id)
		t.mu.Lock()
		must := t.possible[id]
		t.mu.Unlock()
		if err == nil && len(must) == 1 && (status != statusOf(must[0]) || must[0] != nil && *must[0] != p) {
			what = fmt.Sprintf("GET of %s returned %d %q, want %s", id, status, p, describe(must...))
		}
	} else {
		var p page
		p, err = l.at.client.list(t.key, orders[r.IntN(len(orders))], 1+r.IntN(3))
		if err == nil && p.TotalCount != p.Data.TotalCount {
			what = fmt.Sprintf("the totals %d and %d differ", p.TotalCount, p.Data.TotalCount)
		}
	}
	if err != nil && !l.over.Load() {
		what = err.Error()
	}
	if what != "" {
		l.c.wrong("a read under load: %s", what)
	}
	l.reads.Add(1)
	return err == nil
}

func (c *check) pause(from, to time.Duration) {
	time.Sleep(from + time.Duration(c.rand.Int64N(int64(to-from))))
}

// prune removes from own the records that may have been deleted.
func prune(truths []*truth, own [][]string) {
	for i := range own {
		t := truths[i%len(truths)]
		kept := own[i][:0]
		for _, id := range own[i] {
			if states := t.possible[id]; len(states) == 1 && states[0] != nil {
				kept = append(kept, id)
			}
		}
		own[i] = kept
	}
}
