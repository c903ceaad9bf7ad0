package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestProgress: nothing that the program does makes a database older, whatever was
// read before. Each earlier state is older.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var past []string // what Progress has said
	var copies []string
	look := func(what string) {
		t.Helper()
		read(t, s, func(c *sqlite.Conn) (err error) {
			now, older, err := store.Progress(c, "")
			if older {
				t.Errorf("%s: older than nothing", what)
			}
			for i, earlier := range past {
				_, older, olderErr := store.Progress(c, earlier)
				if older || olderErr != nil {
					t.Errorf("%s: older than state %d, %s: %s, %v", what, i, earlier, now, olderErr)
				}
			}
			past = append(past, now)
			return err
		})
		path := filepath.Join(t.TempDir(), "x.db")
		must(t, os.WriteFile(path, nil, 0o600))
		read(t, s, func(c *sqlite.Conn) error { return c.CopyTo(t.Context(), path, nil) })
		copies = append(copies, path)
	}
	look("at first")
	kept, erased := create(t, s, ours, ana), create(t, s, ours, ana)
	last := create(t, s, theirs, ana)
	look("three records")
	must(t, s.Delete(ours, 0, erased.ID, asIs))
	look("one is deleted")
	deleted, err := s.Deleted(ours, time.Now().Add(time.Hour))
	must(t, err)
	count, err := s.Purge(ours, 0, deleted)
	must(t, errors.Join(err, s.Vacuum()))
	if count != 1 {
		t.Fatalf("%d were purged", count)
	}
	look("it is purged")
	createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	look("a key")
	must(t, s.Delete(theirs, 0, last.ID, asIs))
	look("another department is empty")
	deleted, err = s.Deleted(theirs, time.Now().Add(time.Hour))
	must(t, err)
	_, err = s.Purge(theirs, 0, deleted)
	must(t, err)
	look("and purged")
	_, err = s.RemoveTenant(theirs)
	must(t, err)
	look("and removed, with the newest entries of the history")
	_, err = s.Replace(ours, 0, kept.ID, ana, asIs)
	must(t, err)
	look("a change, with the number of one that went")
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 9"}}))

	for i, path := range copies[:len(copies)-1] {
		c, err := sqlite.OpenImmutable(path)
		must(t, err)
		_, older, err := store.Progress(c, past[len(past)-1])
		if !older || err != nil {
			t.Errorf("state %d is not older than the last: %v", i, err)
		}
		must(t, c.Close())
	}
}

// TestProgressOfOthers: an older state that goes on stays older, and a restored
// database is another one.
func TestProgressOfOthers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	create(t, s, ours, ana)
	path := newFile(t)
	read(t, s, func(c *sqlite.Conn) error { return c.CopyTo(t.Context(), path, nil) })
	must(t, sqlite.FinishCopy(path, nil))
	create(t, s, ours, ana)
	var now string
	read(t, s, func(c *sqlite.Conn) (err error) { now, _, err = store.Progress(c, "no progress"); return err })
	old := openStore(t, path, time.Now)
	check := func(what string, want bool) {
		t.Helper()
		read(t, old, func(c *sqlite.Conn) error {
			if _, older, err := store.Progress(c, now); older != want || err != nil {
				t.Errorf("%s: older is %v, %v", what, older, err)
			}
			return nil
		})
	}
	check("as it was", true)
	for range 3 {
		create(t, old, ours, ana)
	}
	check("longer than the other", true)
	must(t, old.DB().Write(func(tx *sqlite.Tx) error { return store.Renew(tx.Conn) }))
	check("restored", false)
}
