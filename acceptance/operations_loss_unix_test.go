//go:build unix

package acceptance

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This file has what docs/operations.md says of files next to the database, and of those
// that were deleted, moved or replaced while the service ran.

var lossStatements = []statement{
	{"| `firefighters.db-lock` | empty; shows that a service is running. It can stay |", []string{"0 bytes"},
		func(t *testing.T) string {
			s := start(t)
			s.stop(t)
			info, err := os.Stat(s.db + "-lock")
			must(t, err)
			return fmt.Sprint(info.Size(), " bytes")
		}},
	{`**"the database was lost" in the log, answers 503.**`,
		[]string{"the database was lost", "GET 503 "}, deletedWhileServed},
	{"saves what it still has open as `firefighters.db.saved-…`, if it can; the log names the copy. Stop the service: it prints the command to type.",
		[]string{"what was in the database ", ".saved-", "Try: firefighters restore "}, deletedWhileServed},
	{`**"has not been restored".**`,
		[]string{"has not been restored", "firefighters serve --new --db "}, startAfterLoss},
	{`**"the database is older than what was served before".** An older copy was put in place while no service was running, or another database.`,
		[]string{"the database is older than what was served before"}, olderCopy},
	{"If `check` does not say \"sound\", make a backup.",
		[]string{"The database is sound."},
		func(t *testing.T) string { db, _, _ := backedUp(t); return prints(t, "check", "--db", db) }},
}

// lose deletes a database that a service serves, and returns what the service prints until
// its end.
func lose(t *testing.T, db string) string {
	t.Helper()
	cmd, output := process(t, "--db", db, "--listen", "127.0.0.1:0")
	s := startedProcess(t, cmd)
	s.do(t, "GET", "/readyz", "").wants(t, 200)
	must(t, os.Remove(db))
	eventually(t, "the loss to be noticed", func() bool { return s.do(t, "GET", "/readyz", "").status == http.StatusServiceUnavailable })
	eventually(t, "the copy", func() bool { return strings.Contains(output.String(), "what was in the database ") })
	answer := "GET " + s.do(t, "GET", "/readyz", "").shows()
	must(t, interrupt(cmd.Process))
	cmd.Wait()
	return output.String() + answer
}

func newLostDatabase(t *testing.T) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "default")
	return db
}

func deletedWhileServed(t *testing.T) string { return lose(t, newLostDatabase(t)) }

func startAfterLoss(t *testing.T) string {
	db := newLostDatabase(t)
	lose(t, db)
	return serveRefused(t, db, t.TempDir())
}

func olderCopy(t *testing.T) string {
	db, kept := newLostDatabase(t), filepath.Join(t.TempDir(), "kept.db")
	copyOf(t, db, kept)
	startOn(t, db).stop(t)
	copyOf(t, kept, db)
	again := startOn(t, db)
	again.logs(t, "the database is older than what was served before")
	return again.stderr.String()
}

// loseFiles leaves the files of a loss next to a database.
func loseFiles(t *testing.T, db string) {
	t.Helper()
	lose(t, db)
	saved, err := filepath.Glob(db + ".saved-*")
	must(t, err)
	works(t, "restore", saved[0], "--db", db)
	cmd, s := startProcess(t, db)
	s.do(t, "GET", "/readyz", "").wants(t, 200)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	must(t, os.Truncate(db, 0))
	startOn(t, db).stop(t) // which keeps the -wal
	lose(t, db)
}
