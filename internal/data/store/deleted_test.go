package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestUndelete: all records come back as they were, or none.
func TestUndelete(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	gone := []record.Firefighter{createDeleted(t, s, ours, ana), createDeleted(t, s, ours, eva), createDeleted(t, s, ours, ana)}
	live, another := create(t, s, ours, ana), createDeleted(t, s, theirs, ana)
	for _, stranger := range []string{nobody, live.ID, another.ID, gone[0].ID} {
		var not *store.NotDeletedError
		if err := s.Undelete(ours, 0, []string{gone[0].ID, stranger, gone[1].ID}); !errors.As(err, &not) || not.ID != stranger {
			t.Errorf("the error is %v", err)
		}
	}
	if p := list(t, s, ours, ""); p.Total != 1 || len(history(t, s, ours, "")) != 7 {
		t.Errorf("a refusal has brought something back: %+v", p)
	}
	must(t, s.Undelete(ours, 0, []string{gone[0].ID, gone[2].ID}))
	for _, f := range []record.Firefighter{gone[0], gone[2]} {
		if got, err := s.Get(ours, f.ID); err != nil || got != f {
			t.Errorf("brought back as %+v, %v", got, err)
		}
	}
	if p := list(t, s, ours, "sortDir=asc"); !slices.Equal(ids(p.Items), []string{gone[0].ID, gone[2].ID, live.ID}) {
		t.Errorf("the list is %+v", p.Items)
	}
	checkCounts(t, s)
}

// TestGetDeleted: only a deleted record of the department is found.
func TestGetDeleted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	gone, live, another := createDeleted(t, s, ours, ana), create(t, s, ours, ana), createDeleted(t, s, theirs, ana)
	f, err := s.GetDeleted(ours, gone.ID)
	if err != nil || f.Firefighter != gone || f.Damaged || f.DeletedAt == 0 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, id := range []string{live.ID, another.ID, nobody} {
		if f, err := s.GetDeleted(ours, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

// TestDeleted: those deleted first are at the top.
func TestDeleted(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(2e12)
	s := newStoreAt(t, func() time.Time { return now })
	first, second, third := create(t, s, ours, ana), create(t, s, ours, eva), create(t, s, ours, ana)
	create(t, s, ours, ana)
	createDeleted(t, s, theirs, ana)
	for _, f := range []record.Firefighter{third, first, second} {
		now = now.Add(time.Hour)
		must(t, s.Delete(ours, 0, f.ID, asIs))
	}
	exec(t, s, `UPDATE firefighters SET last_name = 'C' WHERE id = ?`, second.ID)
	began := time.UnixMilli(2e12)
	for until, want := range map[time.Time][]string{
		began.Add(time.Hour):                      nil,
		began.Add(time.Hour + time.Millisecond):   {third.ID},
		began.Add(3 * time.Hour):                  {third.ID, first.ID},
		time.UnixMilli(1<<63 - 1):                 {third.ID, first.ID, second.ID},
		began.Add(3*time.Hour + time.Millisecond): {third.ID, first.ID, second.ID},
	} {
		all, err := s.Deleted(ours, until)
		must(t, err)
		var got []string
		for i, f := range all {
			if got = append(got, f.ID); f.DeletedAt != began.Add(time.Duration(i+1)*time.Hour).UnixMilli() || f.Damaged != (f.ID == second.ID) {
				t.Errorf("deleted: %+v", f)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("until %v: %v, not %v", until, got, want)
		}
	}
}

// TestPurge: what is erased is in no list of deleted records and in no history,
// but for the purge itself. Its row number is not used again.
func TestPurge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	kept, live, gone, back := createDeleted(t, s, ours, ana), create(t, s, ours, ana), createDeleted(t, s, ours, ana), createDeleted(t, s, ours, ana)
	_, err := s.Replace(ours, 0, live.ID, eva, asIs)
	must(t, err)
	chosen := stored(t, s, ours, gone.ID, back.ID)
	must(t, s.Undelete(ours, 0, []string{back.ID})) // after they were chosen
	if erased, err := s.Purge(theirs, 0, chosen); err != nil || erased != 0 {
		t.Errorf("another department has erased %d, %v", erased, err)
	}
	for _, want := range []int{1, 0} {
		if erased, err := s.Purge(ours, 0, chosen); err != nil || erased != want {
			t.Errorf("erased %d, %v", erased, err)
		}
	}
	checkHistory(t, history(t, s, ours, gone.ID), "purge | "+gone.ID+" | a command | ")
	if got := actions(history(t, s, ours, back.ID)); got != "create delete undelete" {
		t.Errorf("the history of the one that came back: %s", got)
	}
	if got := actions(history(t, s, ours, live.ID)); got != "create replace" {
		t.Errorf("the history of a record beside it: %s", got)
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

// TestPurgeAfterNewChanges: changes that are made while a purge waits for the
// writer are erased, too.
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
				if erased, err := s.Purge(ours, 0, chosen); err != nil || erased != 1 {
					t.Errorf("erased %d, %v", erased, err)
				}
			},
			func() { s.Create(ours, 0, ana, nil) })
		if got := actions(history(t, s, ours, "")); got != "purge create" {
			t.Errorf("the history is %s", got)
		}
	})
}

// TestPurgeOfLast: the number of the newest record is not used again either.
func TestPurgeOfLast(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, err := s.Purge(ours, 0, stored(t, s, ours, createDeleted(t, s, ours, ana).ID))
	must(t, err)
	create(t, s, ours, ana)
	if seq := scanInt(t, s, `SELECT row & 0xffffffff FROM firefighters`); seq != 2 {
		t.Errorf("the next record has the number %d", seq)
	}
}

// TestPurgeMany takes several transactions.
func TestPurgeMany(t *testing.T) {
	t.Parallel()
	s := openStore(t, newFile(t), time.Now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7", People: people(1203)}}))
	exec(t, s, `UPDATE firefighters SET deleted_at = row, checksum = ~checksum WHERE row & 0xffffffff > 2`)
	all, err := s.Deleted(ours, time.UnixMilli(1<<63-1))
	must(t, err)
	if erased, err := s.Purge(ours, 0, all); err != nil || erased != 1201 {
		t.Errorf("erased %d, %v", erased, err)
	}
	if total := list(t, s, ours, "").Total; total != 2 || len(history(t, s, ours, "")) != 1203 {
		t.Errorf("%d records, %d changes", total, len(history(t, s, ours, "")))
	}
	checkCounts(t, s)
}

// TestPurgeLeavesNothing: no byte of an erased record is left in the file or
// its -wal, and the others are whole.
func TestPurgeLeavesNothing(t *testing.T) {
	t.Parallel()
	s := openStore(t, newFile(t), time.Now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7", People: people(300)}}))
	canary := func(i int, pad string) record.Fields {
		return record.Fields{FirstName: fmt.Sprintf("Canary%dfirst%s", i, pad), LastName: "CANARY", PhoneNumber: fmt.Sprintf("0998877%03d", i),
			Email: fmt.Sprintf("canary%d@mail.example", i)}
	}
	var all []string
	for i := range 40 { // beside others, and longer and shorter again and again
		key := &store.IdempotencyKey{By: 1, Key: fmt.Sprint(i), Hash: []byte{1}}
		f, err := s.Create(ours, 0, canary(i, ""), key)
		must(t, err)
		all = append(all, f.ID)
		create(t, s, ours, ana)
	}
	for i, id := range all {
		for _, pad := range []string{strings.Repeat("x", i), strings.Repeat("é", 40-i)} {
			_, err := s.Replace(ours, 0, id, canary(i, pad), asIs)
			must(t, err)
		}
		if i%2 == 0 {
			_, err := s.Replace(ours, 0, id, eva, asIs)
			must(t, err)
		}
		must(t, s.Delete(ours, 0, id, asIs))
	}
	erased, err := s.Purge(ours, 0, stored(t, s, ours, all...))
	must(t, err)
	must(t, s.Vacuum())
	if found := list(t, s, ours, "search=canary").Total; erased != 40 || found != 0 {
		t.Errorf("erased %d, a search finds %d", erased, found)
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(s.DB().Path() + suffix)
		must(t, err)
		for _, trace := range []string{"canary", "0998877"} {
			if n := bytes.Count(bytes.ToLower(content), []byte(trace)); n > 0 {
				t.Errorf("%q is %d times in the file%s", trace, n, suffix)
			}
		}
	}
	checkLists(t, s)
	checkCounts(t, s)
}
