//go:build unix

package guard_test

import (
	"bytes"
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
)

// TestMark: after a loss no new database is made in the place of the lost one, until
// somebody wants that.
func TestMark(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	g, lost, stop := watch(t, db)
	must(t, guard.RefuseNew(db.Path()))
	must(t, os.Remove(db.Path()))
	<-lost
	stop()
	g.End()
	guard.RemoveLeftovers(db.Path())
	must(t, guard.Refuse(db.Path())) // nobody serves it
	if err := guard.RefuseNew(db.Path()); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("a new one: %v", err)
	}
	must(t, guard.Forget(db.Path()))
	must(t, guard.Forget(db.Path()))
	must(t, guard.RefuseNew(db.Path()))
}

// TestMarkInOtherFolder: a service whose folder has gone leaves alone what is in
// another folder of that name.
func TestMarkInOtherFolder(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	folder := filepath.Dir(db.Path())
	g, lost, stop := watch(t, db)
	must(t, os.Rename(folder, folder+".old"))
	must(t, os.Mkdir(folder, 0o700))
	<-lost
	stop()
	g.End()
	if _, err := os.Stat(db.Path() + sqlite.LostSuffix); err == nil {
		t.Error("there is a mark in the new folder")
	}
	must(t, os.RemoveAll(folder+".old"))
}

// TestMarkInFolderMade: where the folder has gone the copy makes it again, with the mark.
func TestMarkInFolderMade(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	folder := filepath.Dir(db.Path())
	g, lost, stop := watch(t, db)
	for os.RemoveAll(folder) != nil { // the guard has just written its note there
	}
	<-lost
	stop()
	if loss := g.End(); loss == nil || loss.Saved == "" {
		t.Errorf("%+v", loss)
	}
	if err := guard.RefuseNew(db.Path()); !errors.Is(err, sqlite.ErrNotBack) {
		t.Errorf("a new one: %v", err)
	}
}

// TestShared: a -shm that was cut is noticed, and everything is in the database after.
func TestShared(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	g, lost, stop := watch(t, db)
	must(t, os.Truncate(db.Path()+"-shm", 0))
	<-lost
	stop()
	loss := g.End()
	if loss == nil || !loss.Closable() || !strings.Contains(loss.What, "-shm of the database was cut off") {
		t.Fatalf("%+v", loss)
	}
	must(t, db.Close())
	must(t, guard.RefuseNew(db.Path()))
	c, err := sqlite.OpenImmutable(db.Path())
	must(t, err)
	defer c.Close()
	if found, err := marks(c); strings.Join(found, " ") != "one" || err != nil {
		t.Errorf("it has %v, %v", found, err)
	}
}

// TestOlderAtStart: an older copy that is put in the place of a database while nobody
// serves it gets another history at the next start, once.
func TestOlderAtStart(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	path, kept := db.Path(), filepath.Join(t.TempDir(), "kept")
	history := func() (number int64, log string) {
		var text bytes.Buffer
		db, err := sqlite.Open(path, sqlite.Options{})
		must(t, err)
		g, err := guard.New(db, path, content, slog.New(slog.NewTextHandler(&text, nil)))
		must(t, err)
		must(t, db.Read(func(c *sqlite.Conn) (err error) { number, err = c.QueryInt(`SELECT number FROM history`); return err }))
		exec(t, db, `SELECT 1`) // a change
		if g.End() != nil {
			t.Error("a loss")
		}
		must(t, db.Close())
		return number, text.String()
	}
	must(t, db.Close())
	copyOver := func(from, to string) {
		content, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(to, content, 0o600))
	}
	for _, step := range []struct {
		what   string
		before func()
		want   int64
	}{
		{"the first", func() {}, 1},
		{"the same", func() { copyOver(path, kept) }, 1},
		{"an older one", func() { copyOver(kept, path) }, 2},
		{"the same again", func() {}, 2},
	} {
		step.before()
		number, log := history()
		if number != step.want || strings.Contains(log, "older") != (step.what == "an older one") {
			t.Errorf("%s: the history is %d; the log: %s", step.what, number, log)
		}
	}
}

// TestReplaced: the -wal is set aside where another file is in the place of the
// database, since SQLite would write it into that. The -wal of the other file stays.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for what, both := range map[string]bool{"the database": false, "with a -wal of its own": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			db, other := create(t, "one"), filepath.Join(t.TempDir(), "other")
			_, lost, _ := watch(t, db)
			must(t, os.WriteFile(other, []byte("another file"), 0o600))
			must(t, os.WriteFile(other+"-wal", []byte("its -wal"), 0o600))
			if both {
				must(t, os.Rename(other+"-wal", db.Path()+"-wal"))
			}
			must(t, os.Rename(other, db.Path()))
			<-lost
			_, err := os.Stat(db.Path() + guard.AsideSuffix)
			if aside := err == nil; aside == both {
				t.Errorf("it is set aside: %v", aside)
			}
			if left, _ := os.ReadFile(db.Path() + "-wal"); both && string(left) != "its -wal" {
				t.Errorf("the other -wal is %q", left)
			}
		})
	}
}

// TestLeftovers: of saved copies only those that are not complete are removed.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	for _, suffix := range []string{".saved-20261120T093000Z", ".saved-20261120T094000Z.partial", ".other.partial"} {
		must(t, os.WriteFile(db+suffix, nil, 0o600))
	}
	guard.RemoveLeftovers(db)
	left, err := filepath.Glob(db + "*")
	must(t, err)
	if want := []string{db + ".other.partial", db + ".saved-20261120T093000Z"}; !slices.Equal(left, want) {
		t.Errorf("left: %v", left)
	}
}

// TestUnsaved: what cannot be saved is said once, and is tried again until it can be.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	var log bytes.Buffer
	g, err := guard.New(db, db.Path(), content, slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	folder := filepath.Dir(db.Path())
	must(t, os.Rename(folder, folder+".old"))
	must(t, os.WriteFile(folder, nil, 0o600)) // so that no folder can be made there
	for deadline := time.Now().Add(time.Minute); g.Loss() == nil; time.Sleep(10 * time.Millisecond) {
		if guard.Look(g); time.Now().After(deadline) {
			t.Fatal("no loss")
		}
	}
	guard.Save(g, t.Context())
	guard.Save(g, t.Context())
	if loss := g.Loss(); loss.Saved != "" || loss.Err == nil || strings.Count(log.String(), "could not be saved") != 1 {
		t.Errorf("%+v, the log: %s", loss, &log)
	}
	must(t, os.Remove(folder))
	if loss := g.End(); loss.Saved == "" || loss.Err != nil {
		t.Errorf("with a folder: %+v", loss)
	}
	must(t, os.RemoveAll(folder+".old"))
}
