//go:build unix

package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

var toy = sqlite.Format{ApplicationID: 0x746f7921, Version: 1}

// create makes a database with a mark, and opens it.
func create(t *testing.T, mark string) *sqlite.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, toy.Migrate(path, 0, 1, func(c *sqlite.Conn) error {
		_, err := c.Exec(`CREATE TABLE marks (mark TEXT); CREATE TABLE notes (note BLOB);
			CREATE TABLE history (number INTEGER); INSERT INTO history VALUES (1);
			CREATE TABLE changes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO changes (text) VALUES ('first')`)
		return err
	}))
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	exec(t, db, `INSERT INTO marks VALUES ('`+mark+`')`)
	return db
}

func exec(t *testing.T, db *sqlite.DB, text string) {
	t.Helper()
	must(t, db.Write(func(tx *sqlite.Tx) error {
		_, err := tx.Exec(text + `; INSERT INTO changes (text) VALUES (hex(randomblob(8)))`)
		return err
	}))
}

func marks(c *sqlite.Conn) (marks []string, err error) {
	err = c.Query(`SELECT mark FROM marks`, nil, func(row sqlite.Row) { marks = append(marks, row.Text(0)) })
	return marks, err
}

// content of a toy is a table to which each transaction adds a random text.
var content = guard.Content{Marks: marks, Progress: progress, Renew: func(c *sqlite.Conn) error {
	_, err := c.Exec(`UPDATE history SET number = number + 1`)
	return err
}}

func progress(c *sqlite.Conn, earlier string) (now string, older bool, err error) {
	err = c.QueryRow(`SELECT number || ' ' || max(id) || ' ' || text FROM history, changes`, nil, func(row sqlite.Row) { now = row.Text(0) })
	var history, id int64
	var text string
	if n, _ := fmt.Sscan(earlier, &history, &id, &text); n == 3 && err == nil {
		var same int64
		same, err = c.QueryInt(`SELECT number <> ? OR EXISTS (SELECT 1 FROM changes WHERE id = ? AND text = ?) FROM history`, history, id, text)
		older = same == 0
	}
	return now, older, err
}

// watch runs a guard until the end of the test. lost is closed at a loss.
func watch(t *testing.T, db *sqlite.DB) (g *guard.Guard, lost chan bool, stop func()) {
	t.Helper()
	g, err := guard.New(db, db.Path(), content, slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)))
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	lost, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		g.Run(ctx, func() { close(lost) })
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return g, lost, stop
}

// TestUse: what the service and other programs do with a database is no loss.
func TestUse(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	g, lost, stop := watch(t, db)
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
		for range 50 {
			exec(t, db, `INSERT INTO notes VALUES (randomblob(20000))`)
		}
		exec(t, db, `DELETE FROM notes; UPDATE marks SET mark = mark || '+'`)
		must(t, sqlite.Vacuum(db.Path())) // the file grows smaller, and the -wal empty
	}
	select {
	case <-lost:
		t.Errorf("a loss: %v", g.Loss())
	default:
	}
	stop()
	if g.End() != nil {
		t.Error("a loss at the end")
	}
}

// TestLoss: after a loss nothing reads or writes, and the copy has everything.
func TestLoss(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	g, lost, stop := watch(t, db)
	must(t, os.Remove(db.Path()))
	exec(t, db, `INSERT INTO marks VALUES ('two')`) // goes to the deleted file
	<-lost
	err := db.Write(func(*sqlite.Tx) error { return nil })
	if !errors.Is(err, sqlite.ErrLost) || !errors.Is(db.Read(func(*sqlite.Conn) error { return nil }), sqlite.ErrLost) {
		t.Errorf("writing: %v", err)
	}
	if err := guard.Refuse(db.Path()); err != nil {
		t.Errorf("nobody serves it: %v", err)
	}
	stop()
	loss := g.End()
	if loss == nil || loss.Closable() || !errors.Is(loss, sqlite.ErrLost) || !strings.HasPrefix(loss.Saved, db.Path()+".saved-") {
		t.Fatalf("%+v", loss)
	}
	c, err := sqlite.OpenImmutable(loss.Saved)
	must(t, err)
	defer c.Close()
	if found, err := marks(c); strings.Join(found, " ") != "one two" || err != nil {
		t.Errorf("the copy has %v, %v", found, err)
	}
	if left, _ := filepath.Glob(db.Path() + "*"); len(left) != 3 { // the mark, and the lock that Refuse has made
		t.Errorf("left: %v", left)
	}
}

// TestStopWhileSaving: a service that is stopped while it saves does not say that it
// cannot. The end saves.
func TestStopWhileSaving(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	var log bytes.Buffer
	g, err := guard.New(db, db.Path(), content, slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	must(t, os.Remove(db.Path()))
	ctx, cancel := context.WithCancel(t.Context())
	g.Run(ctx, cancel) // ends at the loss
	guard.Save(g, ctx)
	if loss := g.End(); loss == nil || loss.Saved == "" || strings.Count(log.String(), "ERROR") != 1 {
		t.Errorf("%+v, the log:\n%s", loss, &log)
	}
}

// TestDoubtEnds: a look that finds a loss counts for nothing once a later one finds
// none. The next doubt begins again, and checkpoints are made.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	g, err := guard.New(db, db.Path(), content, slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)))
	must(t, err)
	for range 2 {
		must(t, os.Rename(db.Path(), db.Path()+".away"))
		if guard.Look(g) == "" || g.Loss() != nil {
			t.Fatalf("the first look at a missing file: %v", g.Loss())
		}
		must(t, os.Rename(db.Path()+".away", db.Path()))
		if found := guard.Look(g); found != "" {
			t.Fatal(found)
		}
		time.Sleep(400 * time.Millisecond) // longer than a doubt may last
	}
	exec(t, db, `INSERT INTO notes VALUES (randomblob(20000))`)
	for range 10 {
		must(t, db.CheckpointIdle())
		time.Sleep(20 * time.Millisecond)
	}
	if frames, copied, err := db.Frames(); err != nil || copied != frames {
		t.Errorf("%d of %d frames are in the file, %v", copied, frames, err)
	}
}

// TestDamage: damage that SQLite meets is a loss if it is there when the guard looks. A
// read that the disk refuses once is none: SQLite calls it damage, too.
func TestDamage(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	g, err := guard.New(db, db.Path(), content, slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)))
	must(t, err)
	const corrupt = sqlite.ResultError(11)
	if err := db.Read(func(*sqlite.Conn) error { return corrupt }); err != corrupt {
		t.Fatal(err)
	}
	for range 3 {
		if found := guard.Look(g); found != "" || g.Loss() != nil {
			t.Fatalf("%s: %v", found, g.Loss())
		}
		time.Sleep(200 * time.Millisecond)
	}

	exec(t, db, `INSERT INTO notes VALUES (randomblob(2000000))`)
	must(t, db.Close())
	damage(t, db.Path())
	db, err = sqlite.Open(db.Path(), sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	g, lost, _ := watch(t, db)
	err = db.Read(func(c *sqlite.Conn) error { _, err := marks(c); return err })
	if !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("the damage is not met: %v", err)
	}
	<-lost
	if loss := g.Loss(); !strings.Contains(loss.What, "is damaged") {
		t.Error(loss)
	}
}

// damage overwrites the page of the table marks.
func damage(t *testing.T, path string) {
	t.Helper()
	c, err := sqlite.OpenImmutable(path)
	must(t, err)
	page, err := c.QueryInt(`SELECT rootpage FROM sqlite_schema WHERE name = 'marks'`)
	must(t, errors.Join(err, c.Close()))
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte("damage"), 600), (page-1)*4096)
	must(t, errors.Join(err, file.Close()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
