package httpapi

import (
	"context"
	"net/http"
	"slices"
	"sync"
)

// WaitingRoom has places for requests that wait. Any owner may have all of them. When they
// are taken, an owner with fewer gets one of the owner with the most, whose longest waiting
// request goes. A nil *WaitingRoom has a place for everybody.
type WaitingRoom struct {
	mu     sync.Mutex
	free   int
	closed bool
	places map[int64][]*place // by owner, the one taken first at the front
}

// place is where a request waits, until it is told to go.
type place struct{ goNow context.CancelFunc }

// NewWaitingRoom returns one with so many places.
func NewWaitingRoom(places int) *WaitingRoom {
	return &WaitingRoom{free: places, places: map[int64][]*place{}}
}

var errNoPlace = &Problem{Kind: TooMany, Header: http.Header{"Retry-After": {"5"}},
	Detail: "Too many requests of this department wait already. Ask again later, or without waiting."}

// Enter takes a place. The request waits until ctx or the context that Enter returns has
// ended: then somebody else needs the place, or the room is closed. The caller calls leave
// when it has waited. The error is a *Problem: there is no place.
func (w *WaitingRoom) Enter(ctx context.Context, owner int64) (waiting context.Context, leave func(), err error) {
	waiting, goNow := context.WithCancel(ctx)
	if w == nil {
		return waiting, goNow, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free == 0 && !w.makeRoom(owner) {
		goNow()
		return nil, nil, errNoPlace
	}
	if w.closed {
		goNow()
	}
	p := &place{goNow}
	w.free--
	w.places[owner] = append(w.places[owner], p)
	return waiting, func() {
		goNow()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.vacate(owner, p)
	}, nil
}

// makeRoom has a request of the owner with the most places go, unless that one would then
// have fewer than the other, with this request.
func (w *WaitingRoom) makeRoom(owner int64) bool {
	most := owner
	for other, places := range w.places {
		if len(places) > len(w.places[most]) {
			most = other
		}
	}
	if len(w.places[most]) <= len(w.places[owner])+1 {
		return false
	}
	first := w.places[most][0]
	first.goNow()
	w.vacate(most, first)
	return true
}

// vacate gives back a place, unless it was given to another request.
func (w *WaitingRoom) vacate(owner int64, p *place) {
	places := w.places[owner]
	at := slices.Index(places, p)
	if at < 0 {
		return
	}
	w.free++
	if w.places[owner] = slices.Delete(places, at, at+1); len(places) == 1 {
		delete(w.places, owner)
	}
}

// Close has all requests go, also those that come later.
func (w *WaitingRoom) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, places := range w.places {
		for _, p := range places {
			p.goNow()
		}
	}
}
