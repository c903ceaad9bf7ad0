package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The tests in this file use a department that is large enough for the index. They run in synctest
// bubbles, where the minimum time between two builds passes at once.

// rest is longer than the minimum time between two builds of the index.
const rest = 2 * time.Second

// newLarge returns a store in which ours has n records.
func newLarge(t *testing.T, n int) *store.Store {
	t.Helper()
	s := openStore(t, newFile(t), time.Now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7", People: people(n)}, {Name: "Ladder 1", People: people(5)}}))
	return s
}

// checkBoth checks the lists right after a change, and again after the index may have been rebuilt.
func checkBoth(t *testing.T, s *store.Store) {
	t.Helper()
	checkLists(t, s)
	time.Sleep(rest)
	checkLists(t, s)
	if !byIndex(t, s) {
		t.Error("the index does not answer")
	}
}

// byIndex reports whether the index answers a search. It changes a record without changing the
// version, so that only SQL would find the record.
func byIndex(t *testing.T, s *store.Store) bool {
	t.Helper()
	const first = ` WHERE row = (SELECT min(row) FROM firefighters WHERE tenant_id = 1 AND deleted_at IS NULL);
		UPDATE tenants SET version = version - 1 WHERE id = 1`
	exec(t, s, `UPDATE firefighters SET search_text = 'qqqq' || search_text`+first)
	defer exec(t, s, `UPDATE firefighters SET search_text = substr(search_text, 5)`+first)
	return list(t, s, ours, "search=qqqq").Total == 0
}

// TestLargeUnderWrites reads lists during concurrent writes.
func TestLargeUnderWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLarge(t, 250)
		var writers, readers sync.WaitGroup
		var stop atomic.Bool
		for i := range 4 {
			writers.Go(func() { writeAtRandom(t, s, uint64(i)) })
			readers.Go(func() {
				for n := i; !stop.Load(); n++ {
					query := []string{"search=ana&sortBy=firstName", "sortBy=email&page=3", "page=11", "search=09&pageSize=100",
						"sortBy=dateOfBirth&page=2&pageSize=100"}[n%5]
					if p, err := s.List(ours, parse(t, query)); err != nil || len(p.Items) == 0 {
						t.Errorf("%s: %d items of %d, %v", query, len(p.Items), p.Total, err)
					}
					time.Sleep(rest / 5) // lets time pass in the bubble
				}
			})
		}
		writers.Wait()
		stop.Store(true)
		readers.Wait()
		checkBoth(t, s)
		checkCounts(t, s)
	})
}

// writeAtRandom creates, replaces and deletes records, with pauses.
func writeAtRandom(t *testing.T, s *store.Store, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	var mine []string
	for n := range 30 {
		fields := record.Fields{FirstName: fmt.Sprint("Ana", n%7), LastName: string(rune('A' + random.IntN(26))), PhoneNumber: fmt.Sprint("09", n)}
		at := random.IntN(len(mine) + 1)
		var err error
		switch action := random.IntN(3); {
		case at == len(mine):
			var f record.Firefighter
			f, err = s.Create(ours, 0, fields, nil)
			mine = append(mine, f.ID)
		case action == 0:
			_, err = s.Replace(ours, 0, mine[at], fields, asIs)
		case action == 1:
			err = s.Delete(ours, 0, mine[at], asIs)
			mine = slices.Delete(mine, at, at+1)
		default:
			time.Sleep(rest / 4)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestLargeAndFullDisk checks that lists contain nothing that was rolled back.
func TestLargeAndFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLarge(t, 220)
		checkLists(t, s)
		limitPages(t, s, "1")
		var callers sync.WaitGroup
		for range 4 { // some share a transaction
			callers.Go(func() {
				for full := 0; full < 3; {
					_, err := s.Create(ours, 0, ana, nil)
					if errors.Is(err, sqlite.ErrFull) {
						full++
					} else if err != nil {
						t.Error(err)
						return
					}
					if _, err := s.List(ours, parse(t, "search=ana")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		callers.Wait()
		checkLists(t, s)
		limitPages(t, s, "1000000")
		create(t, s, ours, ana)
		checkBoth(t, s)
	})
}

// TestLargeAndOtherPrograms checks that lists show writes by other programs at once.
func TestLargeAndOtherPrograms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLarge(t, 220)
		gone, erased := createDeleted(t, s, ours, ana), createDeleted(t, s, ours, ana)
		checkBoth(t, s)
		other := openStore(t, s.DB().Path(), time.Now)
		must(t, other.Undelete(ours, 0, []string{gone.ID}))
		if p := list(t, s, ours, "search=ana@example.com"); p.Total != 1 || p.Items[0] != gone {
			t.Errorf("after a restore: %+v", p)
		}
		_, err := other.Replace(ours, 0, gone.ID, record.Fields{FirstName: "Zzz", LastName: "Q"}, asIs)
		must(t, err)
		if p := list(t, s, ours, "search=ana@example.com"); p.Total != 0 {
			t.Errorf("after a replace: %+v", p)
		}
		checkBoth(t, s)
		_, err = other.Purge(ours, 0, stored(t, other, ours, erased.ID), nil)
		must(t, err)
		exec(t, s, `UPDATE firefighters SET invitation_status = 'sent' WHERE id = ?`, gone.ID)
		if p := list(t, s, ours, "search=zzz"); p.Total != 1 || *p.Items[0].InvitationStatus != "sent" {
			t.Errorf("after the platform's change: %+v", p)
		}
		checkBoth(t, s)
	})
}

// TestDamageInLarge checks that the index does not hide a damaged record.
func TestDamageInLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLarge(t, 220)
		list(t, s, ours, "search=a")
		exec(t, s, `UPDATE firefighters SET checksum = checksum + 1 WHERE row & 0xffffffff = 7; UPDATE tenants SET version = version - 1 WHERE id = 1`)
		if _, err := s.List(ours, parse(t, "sortBy=createdAt&sortDir=asc&page=1&search=a")); !errors.As(err, new(*record.DamagedError)) {
			t.Errorf("the error is %v", err)
		}
		list(t, s, ours, "sortBy=createdAt&sortDir=asc&page=2&search=a")
	})
}
