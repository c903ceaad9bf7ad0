package store_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestDeleteAll checks that several records are deleted at once, and that DeletedBetween returns those
// that are still deleted.
func TestDeleteAll(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a, b, c, other := create(t, s, ours, ana), create(t, s, ours, ana), create(t, s, ours, ana), create(t, s, theirs, ana)
	first, last, err := s.DeleteAll(ours, 0, []string{a.ID, other.ID, b.ID, b.ID, c.ID, "x"})
	if err != nil || last-first != 2 || len(stored(t, s, ours, a.ID, b.ID, c.ID)) != 3 {
		t.Fatalf("changes %d to %d, %v", first, last, err)
	}
	if _, err := s.Get(theirs, other.ID); err != nil {
		t.Errorf("another department: %v", err)
	}
	must(t, s.Undelete(ours, 0, []string{a.ID}))
	if ids, err := s.DeletedBetween(theirs, first, last); err != nil || len(ids) != 0 {
		t.Errorf("another department: %v, %v", ids, err)
	}
	for _, want := range []int{2, 0} {
		ids, err := s.DeletedBetween(ours, first, last)
		if err != nil || len(ids) != want {
			t.Errorf("still deleted: %v, %v, want %d", ids, err, want)
		}
		must(t, s.Undelete(ours, 0, ids))
	}
	for _, id := range []string{a.ID, b.ID, c.ID} {
		if got := actions(history(t, s, ours, id)); got != "create delete undelete" {
			t.Errorf("history: %s", got)
		}
	}
	if first, last, err := s.DeleteAll(ours, 0, []string{"x"}); err != nil || first != 0 || last != -1 {
		t.Errorf("nothing to delete: %d to %d, %v", first, last, err)
	}
	for _, numbers := range [][2]int64{{0, 5}, {1, 1 << 32}} {
		if _, err := s.DeletedBetween(ours, numbers[0], numbers[1]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v: %v", numbers, err)
		}
	}
	checkCounts(t, s)
}

// TestPurge checks that purged records are gone from the deleted records and, except for the purge,
// from the history, and that their row numbers are not reused.
func TestPurge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	kept, live, gone, back := createDeleted(t, s, ours, ana), create(t, s, ours, ana), createDeleted(t, s, ours, ana), createDeleted(t, s, ours, ana)
	_, err := s.Replace(ours, 0, live.ID, eva, asIs)
	must(t, err)
	chosen := stored(t, s, ours, gone.ID, back.ID)
	must(t, s.Undelete(ours, 0, []string{back.ID})) // after the selection
	if erased, err := s.Purge(theirs, 0, chosen, nil); err != nil || erased != 0 {
		t.Errorf("another department purged %d, %v", erased, err)
	}
	for _, want := range []int{1, 0} {
		if erased, err := s.Purge(ours, 0, chosen, nil); err != nil || erased != want {
			t.Errorf("purged %d, %v", erased, err)
		}
	}
	checkHistory(t, history(t, s, ours, gone.ID), "purge | "+gone.ID+" | a command | ")
	if got := actions(history(t, s, ours, back.ID)); got != "create delete undelete" {
		t.Errorf("the history of the restored record: %s", got)
	}
	if got := actions(history(t, s, ours, live.ID)); got != "create replace" {
		t.Errorf("the history of another record: %s", got)
	}
	if err := s.Undelete(ours, 0, []string{gone.ID}); !errors.As(err, new(*store.NotDeletedError)) {
		t.Errorf("undelete: %v", err)
	}
	if left := stored(t, s, ours, gone.ID, kept.ID); len(left) != 1 || left[0].ID != kept.ID {
		t.Errorf("deleted: %+v", left)
	}
	next := create(t, s, ours, ana)
	if seq := scanInt(t, s, `SELECT row & 0xffffffff FROM firefighters WHERE id = ?`, next.ID); seq != 5 {
		t.Errorf("the next record has the number %d", seq)
	}
	checkCounts(t, s)
}

// TestPurgeAfterNewChanges checks that a purge also deletes changes that were made while it waited
// for its transaction.
func TestPurgeAfterNewChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		f := createDeleted(t, s, ours, ana)
		chosen := stored(t, s, ours, f.ID)
		inGroup(t, s,
			func() { s.Undelete(ours, 0, []string{f.ID}) },
			func() { s.Replace(ours, 0, f.ID, eva, asIs) },
			func() { s.Delete(ours, 0, f.ID, asIs) },
			func() {
				if erased, err := s.Purge(ours, 0, chosen, nil); err != nil || erased != 1 {
					t.Errorf("purged %d, %v", erased, err)
				}
			},
			func() { s.Create(ours, 0, ana, nil) })
		if got := actions(history(t, s, ours, "")); got != "purge create" {
			t.Errorf("the history is %s", got)
		}
	})
}

// TestPurgeMany purges records in several transactions.
func TestPurgeMany(t *testing.T) {
	t.Parallel()
	s := openStore(t, newFile(t), time.Now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7", People: people(1203)}}))
	exec(t, s, `UPDATE firefighters SET deleted_at = row, checksum = ~checksum WHERE row & 0xffffffff > 2`)
	all, err := s.Deleted(ours, time.UnixMilli(1<<63-1))
	must(t, err)
	stop := errors.New("stop")
	if erased, err := s.Purge(ours, 0, all, func(done, total int) error {
		if total != 1201 {
			t.Errorf("the total is %d", total)
		}
		if done > 0 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) || erased == 0 || erased == 1201 {
		t.Errorf("stopped after %d, %v", erased, err)
	} else if again, err := s.Purge(ours, 0, all, nil); err != nil || erased+again != 1201 {
		t.Errorf("purged %d, %v", erased+again, err)
	}
	if total := list(t, s, ours, "").Total; total != 2 || len(history(t, s, ours, "")) != 1203 {
		t.Errorf("%d records, %d changes", total, len(history(t, s, ours, "")))
	}
	checkCounts(t, s)
}
