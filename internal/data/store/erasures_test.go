package store_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestErasures checks that each permanent deletion marks the file as one with traces, until a rewrite
// that began after it has succeeded.
func TestErasures(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	hasTraces := func(want bool) {
		t.Helper()
		_, traces, err := s.Erasures()
		must(t, err)
		read(t, s, func(c *sqlite.Conn) error {
			if found, err := store.HasTraces(c); err != nil || found != want || traces != want {
				t.Errorf("traces: %t and %t, %v", traces, found, err)
			}
			return nil
		})
	}
	hasTraces(false)
	gone := createDeleted(t, s, ours, record.Fields{FirstName: "Canary", LastName: "B"})
	hasTraces(false)
	purge(t, s, ours, gone.ID)
	hasTraces(true)
	if erased, err := s.Purge(ours, 0, []record.Stored{{Firefighter: gone}}, nil); erased != 0 || err != nil {
		t.Errorf("purged %d, %v", erased, err)
	}
	must(t, s.DB().ReadTx(func(c *sqlite.Conn) error {
		_, err := c.QueryInt(`SELECT count(*) FROM firefighters`)
		if again := s.Rewrite(t.Context()); again == nil {
			t.Error("rewrote the file while a reader used the old one")
		}
		return err
	}))
	hasTraces(true)
	must(t, s.Rewrite(t.Context()))
	hasTraces(false)
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(s.DB().Path() + suffix)
		if must(t, err); bytes.Contains(content, []byte("Canary")) {
			t.Errorf("the file%s contains the name", suffix)
		}
	}
	must(t, s.AddDepartments([]store.Department{{Name: "Ladder 1"}}))
	other, err := s.Tenant("Ladder 1")
	must(t, err)
	_, err = s.RemoveTenant(other)
	must(t, err)
	hasTraces(true)
	again := openStore(t, s.DB().Path(), time.Now)
	must(t, again.Rewrite(t.Context()))
	hasTraces(false)
}
