//go:build unix

package guard_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const ours = record.TenantID(1)

var ana = record.Fields{FirstName: "Ana", LastName: "Čović", Email: "ana@example.com"}

// newStore creates and serves a database with a department.
func newStore(t *testing.T) *store.Store {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	s := open(t, path)
	s.BeginEpoch()
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}}))
	return s
}

func open(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.Open(path, time.Now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func create(t *testing.T, s *store.Store) (id string) {
	t.Helper()
	f, err := s.Create(ours, 0, ana, nil)
	must(t, err)
	return f.ID
}

// exec changes a database like another program. It waits while others write.
func exec(t *testing.T, path, text string) {
	t.Helper()
	other, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	err = sqlite.ErrBusy
	for errors.Is(err, sqlite.ErrBusy) {
		err = other.Write(func(tx *sqlite.Tx) error { _, err := tx.Exec(text); return err })
	}
	must(t, err)
	must(t, other.Close())
}

// watched is a running Guard.
type watched struct {
	*guard.Guard
	path string
	log  *bytes.Buffer // read it only after stop
	lost chan bool     // closed after a loss
	stop func()
}

func newGuard(t *testing.T, s *store.Store) *watched {
	t.Helper()
	w := &watched{path: s.DB().Path(), log: &bytes.Buffer{}, lost: make(chan bool)}
	g, err := guard.New(s, w.path, slog.New(slog.NewTextHandler(w.log, nil)))
	must(t, err)
	w.Guard = g
	return w
}

func pause(bool) { time.Sleep(200 * time.Millisecond) }

func watch(t *testing.T, s *store.Store) *watched {
	t.Helper()
	w := newGuard(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		w.Run(ctx, pause, func() { close(w.lost) })
	}()
	w.stop = func() { cancel(); <-ended }
	t.Cleanup(w.stop)
	return w
}

// holds checks that a file is a valid database with these records.
func holds(t *testing.T, path string, ids ...string) {
	t.Helper()
	c, err := sqlite.Peek(path)
	must(t, err)
	defer c.Close()
	must(t, c.CheckStructure(t.Context()))
	var found []string
	must(t, c.Query(`SELECT id FROM firefighters ORDER BY row`, nil, func(row sqlite.Row) { found = append(found, row.Text(0)) }))
	if !slices.Equal(found, ids) {
		t.Errorf("%s has the records %v, want %v", path, found, ids)
	}
}

// TestLoss checks that nothing reads or writes after a loss, and that the saved copy is complete.
func TestLoss(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := watch(t, s)
	first := create(t, s)
	must(t, os.Remove(w.path))
	second := create(t, s) // written to the deleted file
	<-w.lost
	if _, err := s.Create(ours, 0, ana, nil); !errors.Is(err, sqlite.ErrLost) {
		t.Errorf("a write: %v", err)
	}
	if _, err := s.Get(ours, first); !errors.Is(err, sqlite.ErrLost) {
		t.Errorf("a read: %v", err)
	}
	w.stop()
	loss := w.End()
	if loss == nil || loss.Closable() || loss.Kind() != "gone" || !errors.Is(loss, sqlite.ErrLost) || !strings.HasPrefix(loss.Saved, w.path+".saved-") {
		t.Fatalf("%+v", loss)
	}
	holds(t, loss.Saved, first, second)
	if err := guard.Refuse(w.path); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("a command: %v", err)
	}
	must(t, guard.Forget(w.path))
	must(t, guard.Forget(w.path))
	must(t, guard.Refuse(w.path))
}

// TestLossStays checks that a database without its last commits is rejected until they are back.
func TestLossStays(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := watch(t, s)
	kept := filepath.Join(t.TempDir(), "kept")
	create(t, s)
	copyFiles(t, w.path, kept, "", "-wal")
	create(t, s)
	must(t, os.Truncate(w.path+"-wal", 0))
	<-w.lost
	w.stop()
	loss := w.End()
	if loss == nil || loss.Saved != "" || loss.Kind() != "cut" {
		t.Fatalf("%+v", loss)
	}
	if err := guard.RefuseLost(w.path); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("without the -wal: %v", err)
	}
	copyFiles(t, kept, w.path, "", "-wal")
	if err := guard.RefuseLost(w.path); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("an older copy: %v", err)
	}
}

// TestMovedBack checks that a database is accepted again after it was moved away and back.
func TestMovedBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := watch(t, s)
	id := create(t, s)
	elsewhere := filepath.Join(t.TempDir(), "away")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		must(t, os.Rename(w.path+suffix, elsewhere+suffix))
	}
	<-w.lost
	w.stop()
	w.End()
	if err := guard.RefuseLost(w.path); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("moved away: %v", err)
	}
	for _, suffix := range []string{"", "-wal"} {
		must(t, os.Rename(elsewhere+suffix, w.path+suffix))
	}
	must(t, guard.RefuseLost(w.path))
	holds(t, w.path, id)
}

// TestOtherFolder checks that a service whose folder was removed changes nothing in a new folder with
// the same path.
func TestOtherFolder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	folder := filepath.Dir(s.DB().Path())
	w := watch(t, s)
	must(t, os.Rename(folder, folder+".old"))
	must(t, os.Mkdir(folder, 0o700))
	<-w.lost
	w.stop()
	w.End()
	if err := guard.RefuseLost(w.path); err != nil {
		t.Errorf("note in the new folder: %v", err)
	}
	must(t, os.RemoveAll(folder+".old"))
}

// TestFolderCreated checks that saving creates a removed folder again, with the note.
func TestFolderCreated(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := watch(t, s)
	for os.RemoveAll(filepath.Dir(w.path)) != nil { // the guard has just written its note there
	}
	<-w.lost
	w.stop()
	if loss := w.End(); loss == nil || loss.Saved == "" {
		t.Errorf("%+v", loss)
	}
	if err := guard.RefuseLost(w.path); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("a new database: %v", err)
	}
}

// TestOlderAtStart checks that an older copy, put in place while no service runs, gets a new history
// at the next start, and only then.
func TestOlderAtStart(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	path, kept := s.DB().Path(), filepath.Join(t.TempDir(), "kept")
	must(t, s.Close())
	history := func() (int64, string) {
		s := open(t, path)
		w := newGuard(t, s)
		s.BeginEpoch()
		create(t, s)
		for frames, copied := int64(1), int64(0); frames != copied; { // wait until the file has the new mark
			must(t, s.DB().CheckpointIdle())
			var err error
			frames, copied, err = s.DB().Frames()
			must(t, err)
		}
		for range 15 {
			guard.Look(w.Guard)
		}
		if loss := w.End(); loss != nil {
			t.Errorf("loss %v", loss)
		}
		must(t, s.Close())
		return s.Mark().History, w.log.String()
	}
	first, _ := history()
	copyFiles(t, path, kept, "")
	if same, log := history(); same != first || log != "" {
		t.Errorf("the same file: %d and %d, %s", first, same, log)
	}
	copyFiles(t, kept, path, "")
	second, log := history()
	if second == first || !strings.Contains(log, "older than what was served before") {
		t.Errorf("an older file: %d and %d, %s", first, second, log)
	}
	if same, log := history(); same != second || log != "" {
		t.Errorf("the same file again: %d and %d, %s", second, same, log)
	}
}

// TestReplaced checks that the -wal is set aside if another file has the path of the database, because
// SQLite would write the -wal into it. The -wal of the other file stays.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for name, both := range map[string]bool{"database": false, "database and -wal": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := filepath.Join(t.TempDir(), "other")
			w := watch(t, newStore(t))
			must(t, os.WriteFile(other, []byte("another file"), 0o600))
			must(t, os.WriteFile(other+"-wal", []byte("other -wal"), 0o600))
			if both {
				must(t, os.Rename(other+"-wal", w.path+"-wal"))
			}
			must(t, os.Rename(other, w.path))
			<-w.lost
			if _, err := os.Stat(w.path + guard.AsideSuffix); (err == nil) == both {
				t.Errorf("-wal set aside: %v", err == nil)
			}
			if left, _ := os.ReadFile(w.path + "-wal"); both && string(left) != "other -wal" {
				t.Errorf("the other -wal is %q", left)
			}
		})
	}
}

// TestLeftovers checks that only incomplete copies are removed.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	for _, suffix := range []string{".saved-20261120T093000Z", ".saved-20261120T094000Z.partial", ".saved-20261120T094000Z-mixed.partial", ".other.partial"} {
		must(t, os.WriteFile(db+suffix, nil, 0o600))
	}
	guard.RemoveLeftovers(db)
	left, err := filepath.Glob(db + "*")
	must(t, err)
	if want := []string{db + ".other.partial", db + ".saved-20261120T093000Z"}; !slices.Equal(left, want) {
		t.Errorf("left: %v", left)
	}
}

// TestUnsaved checks that a failure to save is logged once and saving is tried again.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	w := newGuard(t, newStore(t))
	folder := filepath.Dir(w.path)
	must(t, os.Rename(folder, folder+".old"))
	must(t, os.WriteFile(folder, nil, 0o600)) // keeps the folder from being created
	for range 5 {
		guard.Look(w.Guard)
	}
	guard.Save(w.Guard, t.Context())
	guard.Save(w.Guard, t.Context())
	if loss := w.Loss(); loss == nil || loss.Saved != "" || loss.Err == nil || strings.Count(w.log.String(), "could not be saved") != 1 {
		t.Errorf("%+v, the log: %s", loss, w.log)
	}
	must(t, os.Remove(folder))
	if loss := w.End(); loss.Saved == "" || loss.Err != nil {
		t.Errorf("with a folder: %+v", loss)
	}
	must(t, os.RemoveAll(folder+".old"))
}

// TestStopWhileSaving checks that a service that is stopped while saving reports no failure, and that
// End saves.
func TestStopWhileSaving(t *testing.T) {
	t.Parallel()
	w := newGuard(t, newStore(t))
	must(t, os.Remove(w.path))
	ctx, cancel := context.WithCancel(t.Context())
	w.Run(ctx, pause, cancel) // returns after the loss
	guard.Save(w.Guard, ctx)
	if loss := w.End(); loss == nil || loss.Saved == "" || strings.Count(w.log.String(), "ERROR") != 1 {
		t.Errorf("%+v, the log:\n%s", loss, w.log)
	}
}

// TestDoubtEnds checks that a check without a finding resets the count of findings.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()
	w := newGuard(t, newStore(t))
	for range 3 {
		must(t, os.Rename(w.path, w.path+".away"))
		if guard.Look(w.Guard) == "" || w.Loss() != nil {
			t.Fatalf("the first look at a missing file: %v", w.Loss())
		}
		must(t, os.Rename(w.path+".away", w.path))
		if found := guard.Look(w.Guard); found != "" {
			t.Fatal(found)
		}
	}
}

// TestDamage checks that damage found by SQLite is a loss only if it persists. To SQLite, a single
// failed read also looks like damage.
func TestDamage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := newGuard(t, s)
	const corrupt = sqlite.ResultError(11)
	if err := s.DB().Read(func(*sqlite.Conn) error { return corrupt }); err != corrupt {
		t.Fatal(err)
	}
	for range 3 {
		if found := guard.Look(w.Guard); found != "" || w.Loss() != nil {
			t.Fatalf("%s: %v", found, w.Loss())
		}
	}
	for range 2000 {
		create(t, s)
	}
	if loss := w.End(); loss != nil { // closes the connection of the guard, so that the store merges the -wal
		t.Fatal(loss)
	}
	must(t, s.Close())
	c, err := sqlite.OpenImmutable(w.path)
	must(t, err)
	page, err := c.QueryInt(`SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_imports_1'`)
	must(t, errors.Join(err, c.Close()))
	file, err := os.OpenFile(w.path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte("damage"), 600), (page-1)*4096)
	must(t, errors.Join(err, file.Close()))
	s = open(t, w.path)
	w = watch(t, s)
	if _, err := s.Imports(ours); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("the damage was not read: %v", err)
	}
	<-w.lost
	if loss := w.Loss(); loss.Kind() != "damaged" {
		t.Error(loss)
	}
}

// copyFiles copies the files with these suffixes to another database, like cp: existing
// files keep their inodes.
func copyFiles(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		content, err := os.ReadFile(from + suffix)
		must(t, err)
		must(t, os.WriteFile(to+suffix, content, 0o600))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
