package store_test

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// keyFor returns the idempotency key of a create with this body.
func keyFor(by store.KeyID, key, body string) *store.IdempotencyKey {
	hash := sha256.Sum256([]byte(body))
	return &store.IdempotencyKey{By: by, Key: key, Hash: hash[:]}
}

// createWith creates a record with an idempotency key.
func createWith(t *testing.T, s *store.Store, tenant record.TenantID, key *store.IdempotencyKey) record.Firefighter {
	t.Helper()
	f, err := s.Create(tenant, key.By, ana, key)
	must(t, err)
	return f
}

// checkStored checks that the replay is the response to the creation of f, or that there is none if
// f is zero.
func checkStored(t *testing.T, s *store.Store, tenant record.TenantID, key *store.IdempotencyKey, f record.Firefighter) {
	t.Helper()
	body := ""
	if f.ID != "" {
		body = string(f.AppendJSON(nil))
	}
	gotID, got, err := s.Replay(tenant, key)
	if err != nil || gotID != f.ID || string(got) != body || (got == nil) != (body == "") {
		t.Errorf("the replay is %q %s, %v", gotID, got, err)
	}
}

// TestReplayScope checks that an idempotency key belongs to one API key and one department.
func TestReplayScope(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := createWith(t, s, ours, keyFor(1, "a", "x"))
	for _, key := range []*store.IdempotencyKey{keyFor(2, "a", "x"), keyFor(1, "A", "x"), keyFor(1, "a ", "x"), keyFor(11, "", "x")} {
		checkStored(t, s, ours, key, record.Firefighter{})
	}
	checkStored(t, s, theirs, keyFor(1, "a", "x"), record.Firefighter{})
	second := createWith(t, s, ours, keyFor(2, "a", "y"))
	checkStored(t, s, ours, keyFor(1, "a", "x"), f)
	checkStored(t, s, ours, keyFor(2, "a", "y"), second)
}

// TestRepeatedCreate checks that concurrent repetitions of a create add one record, even after that
// is changed or deleted.
func TestRepeatedCreate(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(2e12)
	s := newStoreAt(t, func() time.Time { return now })
	created := make(chan string, 20)
	found := make(chan string, 20)
	var wg sync.WaitGroup
	repeat := func(hash string) error {
		f, err := s.Create(ours, 1, ana, keyFor(1, "a", hash))
		if repeated, ok := errors.AsType[*store.RepeatedError](err); ok {
			found <- repeated.ID
			return nil
		} else if err == nil {
			created <- f.ID
		}
		return err
	}
	for range 10 {
		wg.Go(func() {
			if err := repeat("x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	id := <-created
	must(t, s.Delete(ours, 0, id, asIs))
	must(t, repeat("x"))
	for range 10 {
		if got := <-found; got != id {
			t.Errorf("the error names the record %s, want %s", got, id)
		}
	}
	if err := repeat("y"); !errors.Is(err, store.ErrReused) {
		t.Errorf("with another body: %v", err)
	}
	if n := scanInt(t, s, `SELECT count(*) FROM firefighters`); n != 1 || len(created) != 0 {
		t.Errorf("%d records", n)
	}
	now = now.Add(24 * time.Hour)
	must(t, repeat("y"))
	if second := <-created; second == id {
		t.Error("the key creates no record after a day")
	}
}

// TestRefusalStoresNothing checks that the key of a rejected create can be used again.
func TestRefusalStoresNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := keyFor(1, "a", "x")
	if _, err := s.Create(ours, 1, record.Fields{}, key); err == nil {
		t.Error("a record without a name was created")
	}
	if _, err := s.Create(99, 1, ana, key); err == nil {
		t.Error("a record was added to a department that does not exist")
	}
	checkStored(t, s, ours, key, record.Firefighter{})
}

// TestReplayLifetime checks that a key can be used again after a day.
func TestReplayLifetime(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(2e12)
	s := newStoreAt(t, func() time.Time { return now })
	stored := func() int64 { return scanInt(t, s, `SELECT count(*) FROM replays`) }
	first, second := keyFor(1, "a", "x"), keyFor(1, "b", "x")
	f := createWith(t, s, ours, first)
	now = now.Add(24*time.Hour - time.Millisecond)
	other := createWith(t, s, ours, second)
	must(t, s.EraseOldReplays())
	checkStored(t, s, ours, first, f)
	now = now.Add(time.Millisecond)
	checkStored(t, s, ours, first, record.Firefighter{})
	checkStored(t, s, ours, keyFor(1, "a", "y"), record.Firefighter{})
	f = createWith(t, s, ours, keyFor(1, "a", "y"))
	checkStored(t, s, ours, keyFor(1, "a", "y"), f)
	checkStored(t, s, ours, second, other)
	if n := stored(); n != 2 {
		t.Errorf("%d replays are stored, want 2", n)
	}
	now = now.Add(24*time.Hour - time.Millisecond)
	must(t, s.EraseOldReplays())
	if n := stored(); n != 1 {
		t.Errorf("%d replays are stored, want 1", n)
	}
	checkStored(t, s, ours, keyFor(1, "a", "y"), f)
	now = now.Add(time.Millisecond)
	must(t, s.EraseOldReplays())
	if n := stored(); n != 0 || list(t, s, ours, "").Total != 3 {
		t.Errorf("%d replays are stored", n)
	}
}

// TestReplayAfterPurge checks that a purge deletes the replays of a record.
func TestReplayAfterPurge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	gone, kept := createWith(t, s, ours, keyFor(1, "a", "x")), createWith(t, s, ours, keyFor(1, "b", "x"))
	must(t, s.Delete(ours, 0, gone.ID, asIs))
	_, err := s.Purge(ours, 0, stored(t, s, ours, gone.ID), nil)
	must(t, err)
	checkStored(t, s, ours, keyFor(1, "a", "x"), record.Firefighter{})
	checkStored(t, s, ours, keyFor(1, "b", "x"), kept)
	if n := scanInt(t, s, `SELECT count(*) FROM replays`); n != 1 {
		t.Errorf("%d replays are stored", n)
	}
}
