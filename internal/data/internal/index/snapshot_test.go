package index

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestOldSnapshot: a snapshot can be read on after a later one was made of it.
func TestOldSnapshot(t *testing.T) {
	t.Parallel()
	table := newTenant(300)
	s, err := newSnapshot(State{1, 300}, table)
	if err != nil {
		t.Fatal(err)
	}
	before := s.order(record.ByLastName)
	row := s.row(0)
	row.SearchText = "zz\nzz"
	s.next(2, 1, map[int64]*Row{row.Number: &row})
	if !s.mu.TryLock() {
		t.Fatal("the older snapshot is locked for ever")
	}
	s.mu.Unlock()
	if after := s.order(record.ByLastName); before.at(0, false) != after.at(0, false) || s.row(0).SearchText == "zz\nzz" {
		t.Error("the older snapshot has changed")
	}
}
