package httpapi

import "sync"

// Bound limits how many things exist at the same time, in total and for each owner.
type Bound struct {
	all, each int // maximum in total and for each owner

	mu    sync.Mutex
	total int
	of    map[int64]int // by owner
}

// NewBound returns a Bound that allows all things in total and each things for one owner.
func NewBound(all, each int) *Bound { return &Bound{all: all, each: each, of: map[int64]int{}} }

// Add counts one more thing of an owner. At a limit, it returns false and counts nothing.
func (b *Bound) Add(owner int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total >= b.all || b.of[owner] >= b.each {
		return false
	}
	b.total++
	b.of[owner]++
	return true
}

// Remove counts one thing less of an owner.
func (b *Bound) Remove(owner int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total--
	if b.of[owner]--; b.of[owner] == 0 {
		delete(b.of, owner)
	}
}
