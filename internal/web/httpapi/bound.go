package httpapi

import "sync"

// Bound limits how many of something all owners together have at the same time, and how many each
// owner has.
type Bound struct {
	all, each int // at most

	mu    sync.Mutex
	total int
	of    map[int64]int // by owner
}

// NewBound returns a limit for all owners together and for each owner.
func NewBound(all, each int) *Bound { return &Bound{all: all, each: each, of: map[int64]int{}} }

// Add counts one more of an owner. It reports whether that is within the limit; otherwise nothing
// is counted.
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

// Remove counts one less of an owner.
func (b *Bound) Remove(owner int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total--
	if b.of[owner]--; b.of[owner] == 0 {
		delete(b.of, owner)
	}
}
