package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestMarkOfCommits checks that each commit of each Store replaces the mark, and that no Store
// takes the commits of another for a loss.
func TestMarkOfCommits(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	service, command := openStore(t, path, time.Now), openStore(t, path, time.Now)
	service.BeginEpoch()
	must(t, command.AddDepartments([]store.Department{{Name: "Engine 7"}}))
	seen := map[int64]bool{}
	for i := range 20 {
		s := service
		if i%3 == 0 {
			s = command
		}
		create(t, s, ours, ana)
		mark := s.Mark()
		if seen[mark.Nonce] || mark.Epoch != service.Mark().Epoch {
			t.Errorf("the mark is %+v", mark)
		}
		seen[mark.Nonce] = true
		must(t, service.DB().Read(service.CheckMark))
	}
	if commits := scanInt(t, service, `SELECT commits FROM service`); commits != 21 {
		t.Errorf("%d commits", commits)
	}
	err := service.Delete(ours, 0, nobody, func(record.Firefighter) error { return nil })
	if !errors.Is(err, store.ErrNotFound) || scanInt(t, service, `SELECT commits FROM service`) != 21 {
		t.Errorf("a write without changes: %v", err)
	}
	exec(t, service, `UPDATE firefighters SET first_name = 'Anb', first_key = 'anb'`) // a person using SQL
	must(t, service.DB().Read(service.CheckMark))
}

// TestMarkSetBack sets the database back in each way that SQLite allows while a service uses it,
// and checks that no write succeeds after that.
func TestMarkSetBack(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"fewer commits":  `UPDATE service SET commits = commits - 1`,
		"another commit": `UPDATE service SET nonce = nonce + 1`,
		"another epoch":  `UPDATE service SET epoch = epoch + 1, commits = commits + 10`,
		"another file":   `UPDATE service SET history = history + 1, commits = commits + 10`,
		"no row":         `DELETE FROM service`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t)
			s := openStore(t, path, time.Now)
			must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}}))
			s.BeginEpoch()
			create(t, s, ours, ana)
			execFile(t, path, change)
			for range 2 {
				if _, err := s.Create(ours, 0, ana, nil); !errors.Is(err, sqlite.ErrLost) {
					t.Errorf("a create: %v", err)
				}
			}
			if _, err := s.Get(ours, nobody); !errors.Is(err, sqlite.ErrLost) {
				t.Errorf("a read: %v", err)
			}
		})
	}
}

// TestMarkNoticed checks that a database that was set back is detected without a write.
func TestMarkNoticed(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	s := openStore(t, path, time.Now)
	s.BeginEpoch()
	kept := filepath.Join(t.TempDir(), "kept.db")
	must(t, s.DB().Read(func(c *sqlite.Conn) error {
		createEmpty(t, kept)
		return c.CopyTo(t.Context(), kept, nil)
	}))
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}}))
	c, err := sqlite.Peek(kept)
	must(t, err)
	defer c.Close()
	old, err := store.ReadMark(c)
	must(t, err)
	if old.Follows(s.Mark()) || !s.Mark().Follows(old) || !old.Follows(old) {
		t.Errorf("%+v, and later %+v", old, s.Mark())
	}
	if err := s.CheckMark(c); !errors.Is(err, sqlite.ErrLost) {
		t.Errorf("an earlier state: %v", err)
	}
	must(t, s.DB().Read(s.CheckMark))
}

// execFile changes a database the way another program does.
func execFile(t *testing.T, path, text string) {
	t.Helper()
	other, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	must(t, other.Write(func(tx *sqlite.Tx) error { _, err := tx.Exec(text); return err }))
	must(t, other.Close())
}
