package acceptance

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// works runs a command that must succeed.
func works(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := runCommand(t, args...)
	if code != 0 {
		t.Fatalf("%q: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// refuses runs a command that must fail with this exit code and this error.
func refuses(t *testing.T, code int, words string, args ...string) {
	t.Helper()
	if got, stdout, stderr := runCommand(t, args...); got != code || stdout != "" || stderr != words {
		t.Errorf("%q: code %d, stdout %q, stderr:\n%swant %d and:\n%s", args, got, stdout, stderr, code, words)
	}
}

// noDatabase is the error of commands for a database that does not exist.
func noDatabase(path string) string {
	return fmt.Sprintf("Error: there is no database %q\nTry: name another file with --db\n", path)
}

// TestUsage checks a usage error that the script usage cannot cover: a line break in an
// argument.
func TestUsage(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent.db")
	refuses(t, 2, "Error: --department contains a control character\n", "keys", "create", "--db", absent, "--tenant", "a\nb")
	if exists(absent) {
		t.Error("a wrong command line created a database")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"version", "--version", "-v"} {
		stdout, stderr := works(t, arg)
		if form := regexp.MustCompile(`^firefighters \S+ \(.*SQLite \d+\.\d+\.\d+\b.*\)\n$`); stderr != "" || !form.MatchString(stdout) {
			t.Errorf("%s: stderr %q, stdout %q", arg, stderr, stdout)
		}
	}
	stdout, stderr := works(t, "version", "--licences")
	if stderr != "" || !strings.Contains(stdout, "modernc.org/sqlite v") || !strings.Contains(stdout, "SQLite Is Public Domain") || !strings.Contains(stdout, "The Go Authors") {
		t.Errorf("stderr %q, stdout %q", stderr, stdout)
	}
}

func hashOf(key string) []byte {
	hash := sha256.Sum256([]byte(key))
	return hash[:]
}

func TestKeyCommands(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	stdout, stderr := works(t, "keys", "create", "--tenant", " Engine 7 ", "--label", "front desk", "--expires", "90d", "--db", db)
	if !keyForm.MatchString(stdout) || len(stdout) != 3+43+6+1 || !strings.Contains(stderr, db) {
		t.Fatalf("stdout %q, stderr %q", stdout, stderr)
	}
	key := strings.TrimSpace(stdout)
	if _, stderr := works(t, "keys", "create", "--tenant", "Engine 8", "--new", "--scope", "read", "--expires", "2099-01-31", "--db", db); stderr != "Created the department \"Engine 8\".\n" {
		t.Errorf("stderr %q", stderr)
	}
	var hash []byte
	var in90days, date int64
	scanSQL(t, db, `SELECT hash, expires_at - created_at, (SELECT expires_at FROM keys WHERE id = 2) FROM keys WHERE id = 1`, &hash, &in90days, &date)
	if !bytes.Equal(hash, hashOf(key)) {
		t.Error("the hash is not the SHA-256 of the key")
	}
	if end := time.Date(2099, 2, 1, 0, 0, 0, 0, time.UTC); date != end.UnixMilli() {
		t.Errorf("the expiry date became %v", time.UnixMilli(date).UTC())
	}
	if off := time.Duration(in90days)*time.Millisecond - 90*24*time.Hour; off.Abs() > time.Minute {
		t.Errorf("90d is off by %v", off)
	}
	checkKeysList(t, db, key)
}

func checkKeysList(t *testing.T, db, key string) {
	t.Helper()
	all, _ := works(t, "keys", "list", "--db", db)
	lines := strings.Split(strings.TrimSpace(all), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "1 ") || !strings.HasPrefix(lines[1], "2 ") ||
		!strings.Contains(lines[0], "Engine 7") || !strings.Contains(lines[0], "front desk") || !strings.Contains(lines[1], "read") {
		t.Errorf("keys list:\n%s", all)
	}
	if strings.Contains(all, key) || strings.Contains(all, fmt.Sprintf("%x", hashOf(key))) {
		t.Error("keys list shows a key")
	}
	if some, _ := works(t, "keys", "list", "--tenant", "Engine 8", "--db", db); strings.Count(some, "\n") != 1 || !strings.HasPrefix(some, "2 ") {
		t.Errorf("keys list of one department:\n%s", some)
	}
	for _, want := range []string{"Revoked key 1.\n", "Key 1 was already revoked.\n"} {
		if stdout, stderr := works(t, "keys", "revoke", "1", "--db", db); stdout != "" || stderr != want {
			t.Errorf("revoking: stdout %q, stderr %q", stdout, stderr)
		}
	}
	refuses(t, 1, "Error: there is no key with the id 9\nTry: firefighters keys list --db "+db+"\n", "keys", "revoke", "9", "--db", db)
	if all, _ := works(t, "keys", "list", "--db", db); !strings.Contains(strings.Split(all, "\n")[0], "revoked") {
		t.Errorf("keys list:\n%s", all)
	}
}

// brokenPipe returns a pipe without a reader.
func brokenPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, errors.Join(err, r.Close()))
	t.Cleanup(func() { w.Close() })
	return w
}

// TestLostOutput checks that a closed pipe is no error for a command that only prints, and
// that no key is created if it cannot be printed.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "A")
	for _, args := range [][]string{{"keys", "create", "--tenant", "A", "--db", db}, {"keys", "list", "--db", db}, {"export", "--tenant", "A", "--db", db}, {"version", "--licences"}} {
		cmd, stderr := process(t, args...)
		cmd.Stdout = brokenPipe(t)
		want := 0
		if args[1] == "create" {
			want = 1
		}
		if code := exitCode(t, cmd.Run()); code != want {
			t.Errorf("%q: code %d, stderr %q", args, code, stderr)
		}
	}
	var keys int
	if scanSQL(t, db, `SELECT count(*) FROM keys`, &keys); keys != 1 {
		t.Error("a key was created that was not printed")
	}
	list, report := filepath.Join(t.TempDir(), "bad.csv"), filepath.Join(t.TempDir(), "report.csv")
	must(t, os.WriteFile(list, []byte("first name,last name,e-mail\nAna,Horvat,ana@\n"), 0o600))
	cmd, stderr := process(t, "import", list, "--report", report, "--db", db)
	cmd.Stdout = brokenPipe(t)
	if code := exitCode(t, cmd.Run()); code != 1 || !exists(report) {
		t.Errorf("a refused row: code %d, stderr %q", code, stderr)
	}
}

// TestKeysWhileServing checks that changes to keys by another process take effect.
func TestKeysWhileServing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.list(t, "")
	revoked := s.as(newKey(t, s.db, "default"))
	soon := s.as(newKey(t, s.db, "default", "--expires", "1s"))
	revoked.do(t, "GET", collection, "").wants(t, 200)
	works(t, "keys", "revoke", "2", "--db", s.db)
	revoked.refused(t, "revoked")
	soon.refused(t, "expired")
	s.list(t, "")
	execSQL(t, s.db, `UPDATE keys SET expires_at = 1 WHERE id = 1`)
	s.refused(t, "expired")
	execSQL(t, s.db, `DELETE FROM keys WHERE id = 1`)
	s.refused(t, "unknown")
}

// TestRevokeWaits checks that a key is revoked although another program locks the database
// for longer than other commands wait, for writes or completely.
func TestRevokeWaits(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "A")
	other := openSQL(t, db)
	other.SetMaxOpenConns(1)
	_, err := other.Exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE tenants SET version = version + 1`)
	must(t, err)
	cmd, stderr := process(t, "keys", "revoke", "1", "--db", db)
	must(t, cmd.Start())
	const note = "Another program has locked the database. Trying for up to a minute.\n"
	eventually(t, "the note", func() bool { return stderr.String() == note })
	time.Sleep(time.Second) // for another attempt
	_, err = other.Exec(`COMMIT`)
	must(t, errors.Join(err, other.Close()))
	if err := cmd.Wait(); err != nil || stderr.String() != note+"Revoked key 1.\n" {
		t.Errorf("%v, stderr %q", err, stderr)
	}
}

// TestForeignKey checks that a key created by another program works, in any form.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, key := range []string{"secret", "fd_live_0123456789-._~+/==", "ff_" + strings.Repeat("0", 49), strings.Repeat("k", 5000)} {
		execSQL(t, s.db, `INSERT INTO keys (hash, tenant_id, scope, created_at) VALUES (?, 1, 'read', ?)`, hashOf(key), i)
		eventually(t, "the key to work", func() bool { return s.as(key).do(t, "GET", collection, "").status == 200 })
		s.as(key).do(t, "POST", collection, ana).wants(t, 403)
	}
}

func lastUse(t *testing.T, db, key string) (last sql.NullInt64) {
	t.Helper()
	scanSQL(t, db, `SELECT last_used_at FROM keys WHERE id = `+key, &last)
	return last
}

// TestLastUse checks that the last use of a key is written soon, and at the latest when the
// service stops.
func TestLastUse(t *testing.T) {
	t.Parallel()
	s := start(t)
	second := s.as(newKey(t, s.db, "default"))
	s.list(t, "")
	eventually(t, "the last use to be written", func() bool {
		return time.Since(time.UnixMilli(lastUse(t, s.db, "1").Int64)).Abs() < time.Minute
	})
	if lastUse(t, s.db, "2").Valid {
		t.Error("a key that was never used has a last use")
	}
	second.list(t, "")
	s.stop(t)
	if !lastUse(t, s.db, "2").Valid {
		t.Error("a use just before the stop is lost")
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "kept.db")
	s := startWith(t, db, "demo", "--db", db, "--departments", "3", "--people", "500")
	l := s.list(t, "sortBy=lastName&sortDir=asc&page=2&pageSize=100")
	if l.TotalCount < 160 || len(l.Data.Items) < 60 {
		t.Errorf("%d people, %d of them on the second page", l.TotalCount, len(l.Data.Items))
	}
	s.stop(t)
	checkIntro(t, s, fmt.Sprintf("Serving 500 invented people in 3 departments. They stay in %s when demo stops.", db))
	works(t, "check", "--db", db)
	refuses(t, 1, fmt.Sprintf("Error: demo creates a new file, but %q already exists\nTry: firefighters serve --db %s\n", db, db),
		"demo", "--db", db, "--listen", "127.0.0.1:0")
	missing := filepath.Join(db+"-missing", "x.db")
	refuses(t, 1, fmt.Sprintf("Error: the folder of %q does not exist\nTry: mkdir %s\n", missing, filepath.Dir(missing)), "demo", "--db", missing)
}

// TestImportStopped checks that an interrupted import into a new database removes the
// database, unless a server already uses it.
func TestImportStopped(t *testing.T) {
	t.Parallel()
	people := list(t, "people.csv", "Vorname,Nachname\n"+strings.Repeat("Ana,Horvat\nIvo,Kos\nEva,Novak\n", 20000))
	for _, isServed := range []bool{false, true} {
		db := filepath.Join(t.TempDir(), "x.db")
		if isServed {
			release, err := sqlite.LockDatabase(db)
			must(t, err)
			defer release()
		}
		cmd, output := process(t, "import", people, "--apply", "--db", db)
		must(t, cmd.Start())
		eventually(t, "the database", func() bool { return exists(db + "-wal") })
		must(t, interrupt(cmd.Process))
		if code := exitCode(t, cmd.Wait()); code != 1 || output.String() != "Stopped. Nothing was changed.\n" {
			t.Errorf("code %d: %s", code, output)
		}
		if exists(db) != isServed || exists(db+"-lock") != isServed {
			t.Errorf("left behind: %q", namesIn(t, filepath.Dir(db)))
		}
	}
}

// TestDemoStopped checks that an interrupted demo stops at once while it invents people, and
// removes its files.
func TestDemoStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, output := process(t, "demo", "--db", filepath.Join(dir, "x.db"), "--people", "300000", "--listen", "127.0.0.1:0")
	must(t, cmd.Start())
	eventually(t, "the database", func() bool { return exists(filepath.Join(dir, "x.db-wal")) })
	began := time.Now()
	must(t, interrupt(cmd.Process))
	code := exitCode(t, cmd.Wait())
	if took := time.Since(began); code != 1 || took > 5*time.Second ||
		!strings.Contains(output.String(), "Stopped. No database was created.") || strings.Contains(output.String(), "Created") {
		t.Errorf("code %d after %v: %s", code, took, output)
	}
	if left := namesIn(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// checkIntro checks that a demo prints what it serves and a whole key.
func checkIntro(t *testing.T, s *testService, first string) {
	t.Helper()
	out := s.stdout.String()
	if !strings.HasPrefix(out, first+"\n") || !strings.Contains(out, "\n\nListening on "+s.url+"\n") ||
		regexp.MustCompile(`ff_[0-9A-Za-z]*`).FindString(out) != s.key || len(s.key) != 52 {
		t.Errorf("stdout:\n%s", out)
	}
}

// TestDemoPort checks that demo uses another port if the default port is in use, unless a flag
// names the port, and that it leaves no files behind.
func TestDemoPort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:8080")
	if err == nil { // otherwise another program already uses the port
		defer taken.Close()
	}
	cmd, _ := process(t, "demo")
	cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	s := serving(t, "", cmd)
	checkIntro(t, s, "Serving 40 invented people in 1 department. They are deleted when demo stops.")
	if !strings.HasPrefix(s.stderr.String(), "Port 8080 is in use, so demo uses another one.\n") || s.list(t, "").TotalCount != 40 {
		t.Errorf("stderr %q", s.stderr)
	}
	address := strings.TrimPrefix(s.url, "http://")
	_, port, _ := strings.Cut(address, ":")
	text := fmt.Sprintf("Error: port %s is used by another program\nTry: another port: firefighters demo", port)
	refuses(t, 1, text+" --people 3 --listen 127.0.0.1:8081\n", "demo", "--listen", address, "--people", "3")
	kept := filepath.Join(t.TempDir(), "kept.db")
	refuses(t, 1, text+" --db "+kept+" --listen 127.0.0.1:8081\n", "demo", "--db", kept, "--listen", address)
	s.stop(t)
	if left := namesIn(t, dir); len(left) > 0 && runtime.GOOS != "windows" {
		t.Errorf("left behind: %q", left)
	}
}

// TestCompletion checks that the installed shells accept the completion scripts, and the
// completions that the program returns.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, _ := works(t, "completion", shell)
		path, err := exec.LookPath(shell)
		if err != nil || shell == "powershell" {
			continue
		}
		check := exec.Command(path, "-n")
		check.Env = append(os.Environ(), "LC_ALL=C")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	for line, want := range map[string]string{
		"keys re":               "revoke\t",
		"keys create --sc":      "--scope\t",
		"keys create --scope a": "read\nwrite\nadmin\n",
	} {
		if stdout, _ := works(t, append([]string{"__complete"}, strings.Fields(line)...)...); !strings.HasPrefix(stdout, want) {
			t.Errorf("%s completes to %q", line, stdout)
		}
	}
}
