//go:build unix

package acceptance

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// On Windows, an open file cannot be deleted or replaced.

// goneCase is a way in which the files of a database are lost.
type goneCase struct {
	act  func(t *testing.T, db string)
	what string // in the log
	ends string // completed: the database is complete after the stop; saved: a copy is; mixed: a copy may be; lost: neither
}

// TestLostFiles checks that a service whose files are deleted, moved, replaced or truncated
// returns 503, and that it saves the data if it can still read them.
func TestLostFiles(t *testing.T) {
	t.Parallel()
	other, larger := invented(t, 1, 3), invented(t, 1, 30)
	remove := func(suffix string) func(*testing.T, string) {
		return func(t *testing.T, db string) { must(t, os.Remove(db+suffix)) }
	}
	cut := func(suffix string, size int64) func(*testing.T, string) {
		return func(t *testing.T, db string) { must(t, os.Truncate(db+suffix, size)) }
	}
	for name, tt := range map[string]goneCase{
		"deleted":         {remove(""), "was deleted or moved away", "saved"},
		"moved":           {func(t *testing.T, db string) { must(t, os.Rename(db, db+".old")) }, "was deleted or moved away", "saved"},
		"folder moved":    {func(t *testing.T, db string) { must(t, os.Rename(filepath.Dir(db), t.TempDir()+"/x")) }, "was deleted or moved away", "saved"},
		"-wal deleted":    {remove("-wal"), "the -wal of the database was deleted", "completed"},
		"-shm deleted":    {remove("-shm"), "the -shm of the database was deleted", "completed"},
		"replaced":        {func(t *testing.T, db string) { copyOver(t, other, db+".new"); must(t, os.Rename(db+".new", db)) }, "was replaced by another file", "saved"},
		"copied over":     {func(t *testing.T, db string) { copyOver(t, other, db) }, "overwrote the database file", "mixed"},
		"larger copied":   {func(t *testing.T, db string) { copyOver(t, larger, db) }, "overwrote the database file", "lost"},
		"backup over":     {backupOver, "overwrote the database file", "mixed"},
		"emptied":         {cut("", 0), "was truncated", "lost"},
		"cut":             {cut("", 3*4096), "was truncated", "lost"},
		"-wal cut":        {cut("-wal", 100), "the -wal of the database was truncated", "lost"},
		"-wal written on": {func(t *testing.T, db string) { blankWAL(t, db) }, "the -wal of the database was truncated", "lost"},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); tt.test(t) })
	}
}

func (tt goneCase) test(t *testing.T) {
	cmd, output := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
	s, db := startedProcess(t, cmd), cmd.Args[2]
	ids := map[string]bool{}
	for range 5 {
		ids[s.create(t, ana)] = true
	}
	tt.act(t, db)
	if a := s.do(t, "POST", collection, ana); a.status == 201 { // before the service notices
		var record wireRecord
		decode(t, a.body, &record)
		ids[record.ID] = true
	}
	noticed := func(a answer) bool {
		return a.status == 503 && strings.Contains(a.body, "deleted the database files")
	}
	eventually(t, "the service to notice", func() bool { return noticed(s.do(t, "GET", "/readyz", "")) })
	for _, a := range []answer{s.do(t, "POST", collection, ana), s.do(t, "GET", collection, ""), s.do(t, "GET", "/readyz", "")} {
		if !noticed(a) {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	eventually(t, "the copy", func() bool { return strings.Contains(output.String(), "the lost database ") })
	if code, _, stderr := runCommand(t, "keys", "list", "--db", db); code != 1 || strings.Count(stderr, "\n") != 2 {
		t.Errorf("another command uses the database: %s", stderr)
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	log := output.String()
	if strings.Count(log, `"level":"ERROR","msg":"the database was lost`) != 1 || !strings.Contains(log, tt.what) {
		t.Errorf("log: %s", log)
	}
	if checkEnd(t, db, tt.ends, log, cmd.ProcessState.ExitCode()) {
		holds(t, db, s.key, ids)
	}
}

// TestLostWhileIdle checks that a service without requests notices the loss.
func TestLostWhileIdle(t *testing.T) {
	t.Parallel()
	cmd, output := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
	startedProcess(t, cmd)
	time.Sleep(3 * time.Second) // after two, the service looks less often
	must(t, os.Remove(cmd.Args[2]))
	eventually(t, "the service to notice", func() bool { return strings.Contains(output.String(), "the database was lost") })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
}

// TestLostFilesAtStop checks that a service that is stopped before it notices the loss does not
// report success.
func TestLostFilesAtStop(t *testing.T) {
	t.Parallel()
	other := invented(t, 1, 3)
	for name, act := range map[string]func(t *testing.T, db string){
		"saved, deleted":     func(t *testing.T, db string) { must(t, os.Remove(db)) },
		"saved, replaced":    func(t *testing.T, db string) { copyOver(t, other, db+".new"); must(t, os.Rename(db+".new", db)) },
		"mixed, copied over": func(t *testing.T, db string) { copyOver(t, other, db) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends, _, _ := strings.Cut(name, ",")
			cmd, output := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
			s, db := startedProcess(t, cmd), cmd.Args[2]
			ids := map[string]bool{s.create(t, ana): true}
			act(t, db)
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			cmd.Wait()
			if checkEnd(t, db, ends, output.String(), cmd.ProcessState.ExitCode()) {
				holds(t, db, s.key, ids)
			}
		})
	}
}

// TestWALKept checks that a new database keeps the -wal of another one, which may be its only
// remaining file.
func TestWALKept(t *testing.T) {
	t.Parallel()
	cmd, c := startProcess(t, filepath.Join(t.TempDir(), "x.db"))
	db := cmd.Args[2]
	c.create(t, ana)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	wal, err := os.ReadFile(db + "-wal")
	must(t, err)
	must(t, os.Truncate(db, 0))
	s := startOn(t, db)
	s.logs(t, "Warning: the -wal file of another database was in the way and is kept as "+db+"-wal.lost\n")
	if kept, err := os.ReadFile(db + "-wal.lost"); !bytes.Equal(kept, wal) || err != nil {
		t.Errorf("%d of %d bytes are kept: %v", len(kept), len(wal), err)
	}
}

// TestLostWithBackup checks that the hint names the newest backup if no data can be saved.
func TestLostWithBackup(t *testing.T) {
	t.Parallel()
	cmd, output := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0",
		"--backup-dir", filepath.Join(t.TempDir(), "backups"))
	s, db, dir := startedProcess(t, cmd), cmd.Args[2], cmd.Args[6]
	s.create(t, ana)
	saved := ""
	eventually(t, "a backup", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "x-*.db"))
		saved = strings.Join(found, " ")
		return saved != ""
	})
	must(t, os.Truncate(db, 3*4096))
	eventually(t, "the service to notice", func() bool { return strings.Contains(output.String(), "could not be saved") })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	if log := output.String(); !strings.Contains(log, "then: firefighters restore "+saved+" --db "+db+
		"; or, to continue without the lost changes: firefighters serve --new --db "+db+"\n") {
		t.Errorf("log: %s", log)
	}
}

// TestLinkChanged checks that a change of the link to a served database does not affect the
// database.
func TestLinkChanged(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), invented(t, 1, 3)
	db, link := filepath.Join(dir, "real.db"), filepath.Join(dir, "x.db")
	must(t, os.Symlink(db, link))
	cmd, output := process(t, "--db", link, "--listen", "127.0.0.1:0")
	s := startedProcess(t, cmd)
	ids := map[string]bool{s.create(t, ana): true}
	must(t, os.Symlink(other, link+".new"))
	must(t, os.Rename(link+".new", link))
	eventually(t, "the service to notice", func() bool { return s.do(t, "GET", "/readyz", "").status == 503 })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	if log := output.String(); cmd.ProcessState.ExitCode() != 0 || !strings.Contains(log, "the link to the database was changed") {
		t.Errorf("log: %s", log)
	}
	holds(t, db, s.key, ids)
}

// TestMovedBack checks that a database that is moved away and back is complete at the end.
func TestMovedBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	must(t, os.Mkdir(dir, 0o700))
	cmd, output := process(t, "--db", filepath.Join(dir, "x.db"), "--listen", "127.0.0.1:0")
	s, db := startedProcess(t, cmd), cmd.Args[2]
	ids := map[string]bool{s.create(t, ana): true}
	must(t, os.Rename(dir, dir+".old"))
	eventually(t, "the copy", func() bool { return strings.Contains(output.String(), "the lost database ") })
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(dir+".old", dir))
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	if checkEnd(t, db, "completed", output.String(), cmd.ProcessState.ExitCode()) {
		holds(t, db, s.key, ids)
	}
}

// checkEnd follows the final hint of the service. It reports whether all records must be in the
// database after that.
func checkEnd(t *testing.T, db, ends, log string, code int) bool {
	t.Helper()
	ending := map[string]string{"saved": "Z", "mixed": "Z-mixed"}[ends]
	saved, _ := filepath.Glob(db + ".saved-*" + ending)
	switch ends {
	case "lost":
		if code != 1 || len(saved) != 0 || !strings.Contains(log, ": "+db) || !strings.Contains(log, "\nTry: first copy ") {
			t.Errorf("code %d, saved %v: %s", code, saved, log)
		}
		return false
	case "completed":
		if code != 0 || !strings.Contains(log, db+" is complete again") {
			t.Errorf("code %d: %s", code, log)
		}
		return true
	}
	_, hint, _ := strings.Cut(strings.TrimSpace(log), "\nTry: ")
	if code != 1 || len(saved) != 1 || !strings.Contains(hint, "firefighters restore "+saved[0]+" --db "+db) {
		t.Fatalf("code %d, saved %v: %s", code, saved, log)
	}
	works(t, "restore", saved[0], "--db", db)
	return true
}

// holds checks that a database is sound and contains exactly these records.
func holds(t *testing.T, db, key string, ids map[string]bool) {
	t.Helper()
	works(t, "check", "--db", db)
	got := map[string]bool{}
	for _, r := range startOn(t, db).as(key).list(t, "").Data.Items {
		got[r.ID] = true
	}
	if !maps.Equal(got, ids) {
		t.Errorf("records %v, want %v", got, ids)
	}
}

// copyOver writes the content of a file over another file, like cp.
func copyOver(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	must(t, err)
	defer source.Close()
	target, err := os.Create(to)
	must(t, err)
	_, err = io.Copy(target, source)
	must(t, err)
	must(t, target.Close())
}

// backupOver copies a backup over the database.
func backupOver(t *testing.T, db string) {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", db)
	copyOver(t, saved, db)
}

// blankWAL truncates the -wal and extends it with zeros, like a writer that continues at its
// old offset.
func blankWAL(t *testing.T, db string) {
	t.Helper()
	info, err := os.Stat(db + "-wal")
	must(t, err)
	must(t, os.Truncate(db+"-wal", 0))
	must(t, os.Truncate(db+"-wal", info.Size()))
}

// TestUnreportedLoss checks that commands name the saved copy after a service that lost its files
// was killed, until the copy is restored.
func TestUnreportedLoss(t *testing.T) {
	t.Parallel()
	cmd, c := startProcess(t, filepath.Join(t.TempDir(), "x.db"))
	db := cmd.Args[2]
	id := c.create(t, ana)
	must(t, os.Remove(db+"-wal"))
	saved := ""
	eventually(t, "the copy", func() bool {
		found, _ := filepath.Glob(db + ".saved-*Z")
		saved = strings.Join(found, " ")
		return saved != ""
	})
	must(t, cmd.Process.Kill())
	cmd.Wait()
	for _, args := range [][]string{{"check"}, {"keys", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		code, stdout, stderr := runCommand(t, append(args, "--db", db)...)
		if stderr = inWords(stderr); code != 1 || stdout != "" || !strings.Contains(stderr, "is incomplete") || !strings.Contains(stderr, "firefighters restore "+saved+" --db "+db) {
			t.Errorf("%v: %d %s%s", args, code, stdout, stderr)
		}
	}
	works(t, "restore", saved, "--db", db)
	works(t, "check", "--db", db)
	startOn(t, db).as(c.key).do(t, "GET", collection+"/"+id, "").wants(t, 200)
}

// TestOfficeLost checks that the page explains what to do without the database, and that the
// log has one entry about the loss.
func TestOfficeLost(t *testing.T) {
	t.Parallel()
	cmd, output := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
	s := startedProcess(t, cmd)
	b := s.signIn(t, s.key, "en")
	b.lets(t)
	must(t, os.Remove(cmd.Args[2]))
	eventually(t, "the service to notice", func() bool { return s.do(t, "GET", "/readyz", "").status == http.StatusServiceUnavailable })
	for path, status := range map[string]int{"/office/": 503, "/office/people/new": 503, "/office/access": 503, "/office/sign-in": 503, "/office/nothing": 404} {
		p := b.get(t, path).wants(t, status)
		p.says(t, p.header.Get("X-Request-Id"), "Sign out")
	}
	b.get(t, "/office/").says(t, "The data file was deleted or moved", "press Ctrl-C in its window")
	b.post(t, "/office/people", url.Values{"firstName": {"Ana"}, "lastName": {"Payload"}}).wants(t, 503).says(t, "The data is not available")
	b.post(t, "/office/sign-out", url.Values{}).wants(t, 503)
	b.get(t, "/office/").wants(t, 303)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	if log := output.String(); strings.Count(log, `"level":"ERROR"`) != 1 || strings.Contains(log, "Payload") {
		t.Errorf("log: %s", log)
	}
}

// TestOlderCopyServed checks that a service notices when an older copy is written over its
// database, and that the next start rejects later positions.
func TestOlderCopyServed(t *testing.T) {
	t.Parallel()
	cmd, output := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
	s, db, kept := startedProcess(t, cmd), cmd.Args[2], filepath.Join(t.TempDir(), "x.db")
	s.create(t, ana)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		copyOver(t, db+suffix, kept+suffix)
	}
	s.create(t, ana)
	var feed struct {
		Items []any
		Next  string
		More  bool
	}
	decode(t, s.do(t, "GET", "/api/v1/changes", "").wants(t, 200).body, &feed)
	eventually(t, "a note of the number of commits", func() bool {
		var noted store.Mark
		return backup.ReadNote(db, backup.NoteMark, &noted) && noted.Commits == commitsOf(t, db)
	})
	for size := int64(-1); ; time.Sleep(500 * time.Millisecond) { // waits for the end of all writes, which would look like a truncated -wal
		info, err := os.Stat(db + "-wal")
		must(t, err)
		if info.Size() == size {
			break
		}
		size = info.Size()
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		copyOver(t, kept+suffix, db+suffix)
	}
	eventually(t, "the service to notice", func() bool { return s.do(t, "GET", "/readyz", "").status == 503 })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	if log := output.String(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(log, " while it was served") {
		t.Errorf("log: %s", log)
	}
	if code, _, stderr := runCommand(t, "serve", "--db", db, "--listen", "127.0.0.1:0"); code != 1 || !strings.Contains(stderr, "has not been restored") {
		t.Errorf("a start after the loss: code %d, %s", code, stderr)
	}
	again := startWith(t, db, "serve", "--new", "--db", db)
	again.as(s.key).do(t, "GET", "/api/v1/changes?after="+feed.Next, "").wants(t, 410)
	again.logs(t, "the database is older than what was served before")
}

// commitsOf returns the number of commits of a database.
func commitsOf(t *testing.T, db string) (commits int64) {
	t.Helper()
	scanSQL(t, db, `SELECT commits FROM service`, &commits)
	return commits
}

// TestLostNotCreatedAgain checks that after a loss no command creates an empty database until the
// database is restored or --new is used.
func TestLostNotCreatedAgain(t *testing.T) {
	t.Parallel()
	cmd, _ := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
	s, db := startedProcess(t, cmd), cmd.Args[2]
	id := s.create(t, ana)
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", db)
	must(t, os.Remove(db))
	eventually(t, "the service to notice", func() bool { return s.do(t, "GET", "/readyz", "").status == 503 })
	must(t, cmd.Process.Kill()) // prevents saving at the end
	cmd.Wait()
	copies, err := filepath.Glob(db + ".saved-*")
	must(t, err)
	for _, path := range copies {
		must(t, os.Remove(path))
	}
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"keys", "create", "--tenant", "default"}} {
		code, stdout, stderr := runCommand(t, append(args, "--db", db)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "has not been restored") || !strings.Contains(stderr, "firefighters serve --new --db "+db) {
			t.Errorf("%v: %d %s %s", args, code, stdout, stderr)
		}
	}
	works(t, "restore", saved, "--db", db)
	startOn(t, db).as(s.key).do(t, "GET", collection+"/"+id, "").wants(t, 200)

	other := db + ".other"
	must(t, backup.WriteNote(other, backup.NoteLost, map[string]string{"what": "it was deleted"}))
	startWith(t, other, "serve", "--new", "--db", other).create(t, ana)
	if backup.ReadNote(other, backup.NoteLost, &map[string]any{}) {
		t.Error("the note about the loss still exists")
	}
}
