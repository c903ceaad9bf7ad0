package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestUsage pins what a wrong command line is answered with, to the byte.
func TestUsage(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent.db")
	noDatabase := fmt.Sprintf("Error: there is no database at %q\nTry: name the right file with --db, or bring back a backup: firefighters restore FILE --db %s\n", absent, absent)
	create := []string{"keys", "create", "--db", absent}
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"nonsense"}, 2, "Error: there is no command \"nonsense\"\nTry: firefighters --help\n"},
		{[]string{"serve", "--nope"}, 2, "Error: serve: unknown flag: --nope\nTry: firefighters serve --help\n"},
		{[]string{"--nope"}, 2, "Error: serve: unknown flag: --nope\nTry: firefighters serve --help\n"},
		{[]string{"serve", "--db", absent, "--listen", "8080"}, 2,
			"Error: --listen takes an address and a port, not \"8080\"\nTry: firefighters serve --listen 127.0.0.1:8080\n"},
		{[]string{"serve", "--db", absent, "--tls-cert", absent}, 2,
			"Error: --tls-cert and --tls-key go together\nTry: firefighters serve --tls-cert cert.pem --tls-key key.pem\n"},
		{[]string{"serve", "--db", absent, "--tls-key", absent}, 2, ""},
		{[]string{"serve", "--db", absent, "--tls-cert", absent, "--tls-key", absent}, 1, ""},
		{[]string{"serve", "--db", absent, "--rate-limit", "-1"}, 2,
			"Error: --rate-limit takes 0 to 1000000, not -1\nTry: firefighters serve --help\n"},
		{[]string{"serve", "--db", absent, "--rate-limit", "fast"}, 2,
			"Error: serve: --rate-limit may not be \"fast\"\nTry: firefighters serve --help\n"},
		{[]string{"backup", "--db", absent}, 2, "Error: backup: say which file to save to\nTry: firefighters backup --help\n"},
		{[]string{"restore", "--db", absent}, 2, "Error: restore: say which backup to restore\nTry: firefighters restore --help\n"},
		{[]string{"keys"}, 2, ""},
		{[]string{"keys", "steal"}, 2, "Error: keys: there is no command \"steal\"\nTry: firefighters keys --help\n"},
		{create, 2, "Error: keys create: --tenant is required\nTry: firefighters keys create --help\n"},
		{append(create, "--tenant", "a\nb"), 2,
			"Error: keys create: --tenant contains a control character\nTry: firefighters keys create --help\n"},
		{append(create, "--tenant", x100+"x"), 2,
			"Error: keys create: --tenant may have at most 100 characters\nTry: firefighters keys create --help\n"},
		{append(create, "--tenant", "A", "--scope", "admin"), 2,
			"Error: keys create: --scope must be read or write\nTry: firefighters keys create --help\n"},
		{append(create, "--tenant", "A", "--expires", "soon"), 2,
			"Error: keys create: --expires must be like 90d or 2027-01-31, not \"soon\"\nTry: firefighters keys create --help\n"},
		{append(create, "--tenant", "A", "--expires", "2027-02-30"), 2, ""},
		{append(create, "--tenant", "A", "--label", x100+"x"), 2, ""},
		{append(create, "--tenant", "A", "stray"), 2, ""},
		{append(create, "--tenant"), 2, ""},
		{[]string{"keys", "revoke", "--db", absent}, 2, "Error: keys revoke: say which key to revoke, by its id\nTry: firefighters keys revoke --help\n"},
		{[]string{"keys", "list", "--db", filepath.Dir(absent)}, 1,
			fmt.Sprintf("Error: %q is a folder\nTry: name the file in it: --db %s\n", filepath.Dir(absent), filepath.Join(filepath.Dir(absent), "firefighters.db"))},
		{[]string{"keys", "revoke", "first", "--db", absent}, 2, ""},
		{[]string{"keys", "revoke", "1", "--db", absent}, 1, noDatabase},
		{[]string{"keys", "list", "--db", absent}, 1, noDatabase},
		{[]string{"version", "stray"}, 2, ""},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			code, stdout, stderr := command(t, tt.args...)
			if code != tt.code || stdout != "" || tt.want != "" && stderr != tt.want {
				t.Errorf("code %d, stdout %q, stderr:\n%swant %d and:\n%s", code, stdout, stderr, tt.code, tt.want)
			}
			if lines := strings.Count(stderr, "\n"); lines > 2 || !strings.HasPrefix(stderr, "Error: ") {
				t.Errorf("stderr: %q", stderr)
			}
		})
	}
	if _, err := os.Stat(absent); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a wrong command line made a database: %v", err)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"serve", "--help"}, {"backup", "--help"}, {"restore", "--help"}, {"keys", "--help"}, {"keys", "create", "--help"},
		{"keys", "list", "-h"}, {"keys", "revoke", "--help"}, {"version", "--help"}} {
		code, stdout, stderr := command(t, args...)
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: firefighters") || !strings.Contains(stdout, "\n  firefighters") {
			t.Errorf("%q: code %d, stderr %q, stdout:\n%s", args, code, stderr, stdout)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t, "version")
	found := regexp.MustCompile(`^firefighters \S+ \(.*SQLite (\d+)\.(\d+)\.(\d+)\b.*\)\n$`).FindStringSubmatch(stdout)
	if code != 0 || stderr != "" || found == nil {
		t.Fatalf("code %d, stderr %q, stdout %q", code, stderr, stdout)
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(found[i+1])
	}
	// Before 3.51.3 a reset of the WAL could, rarely, damage the database.
	if slices.Compare(n[:], []int{3, 51, 3}) < 0 {
		t.Errorf("SQLite %v is too old", n)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	base := errors.New("it broke")
	tests := []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{errHelp, 0, ""},
		{base, 1, "Error: it broke\n"},
		{hinted{base, "mend it"}, 1, "Error: it broke\nTry: mend it\n"},
		{fmt.Errorf("doing: %w", hinted{base, "mend it"}), 1, "Error: doing: it broke\nTry: mend it\n"},
		{usage("that is wrong.", "this"), 2, "Error: that is wrong\nTry: this\n"},
		{errors.Join(usage("that is wrong", "this"), nil), 2, "Error: that is wrong\nTry: this\n"},
	}
	for _, tt := range tests {
		var stderr strings.Builder
		if code := report(tt.err, &stderr); code != tt.code || stderr.String() != tt.want {
			t.Errorf("%v: code %d, stderr %q", tt.err, code, stderr.String())
		}
	}
}

// TestEnvironment cannot run beside others.
func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db")
	t.Setenv("FIREFIGHTERS_DB", one)
	t.Setenv("FIREFIGHTERS_TENANT", "Engine 7")
	t.Setenv("FIREFIGHTERS_SCOPE", "read")
	t.Setenv("FIREFIGHTERS_LABEL", "from the environment")
	if code, _, errs := command(t, "keys", "create"); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs := command(t, "keys", "create", "--db", two, "--scope=write", "--tenant", "Engine 8"); code != 0 {
		t.Fatal(errs)
	}
	for path, want := range map[string]string{one: "Engine 7 read", two: "Engine 8 write"} {
		var tenant, scope, label string
		scanSQL(t, path, `SELECT name, scope, label FROM keys JOIN tenants t ON t.id = tenant_id`, &tenant, &scope, &label)
		if got := tenant + " " + scope; got != want || label != "from the environment" {
			t.Errorf("%s has %s %q, want %s", path, got, label, want)
		}
	}
	t.Setenv("FIREFIGHTERS_LISTEN", "nowhere")
	for _, args := range [][]string{{}, {"serve"}} {
		if code, _, errs := command(t, args...); code != 2 || !strings.Contains(errs, "nowhere") {
			t.Errorf("%q: code %d, stderr %q", args, code, errs)
		}
	}
}

func TestKeyCommands(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	code, stdout, stderr := command(t, "keys", "create", "--tenant", " Engine 7 ", "--label", "front desk", "--expires", "90d", "--db", db)
	if code != 0 || !keyForm.MatchString(stdout) || len(stdout) != 3+43+6+1 || !strings.Contains(stderr, db) {
		t.Fatalf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	key := strings.TrimSpace(stdout)
	if code, _, stderr := command(t, "keys", "create", "--tenant", "Engine 8", "--scope", "read", "--expires", "2027-01-31", "--db", db); code != 0 || stderr != "" {
		t.Fatalf("code %d, stderr %q", code, stderr)
	}
	var hash []byte
	var in90days, date int64
	scanSQL(t, db, `SELECT hash, expires_at - created_at, (SELECT expires_at FROM keys WHERE id = 2) FROM keys WHERE id = 1`, &hash, &in90days, &date)
	if !bytes.Equal(hash, keyHashOf(key)) {
		t.Error("the hash is not the SHA-256 of the key")
	}
	if end := time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC); date != end.UnixMilli() {
		t.Errorf("a date as expiry became %v", time.UnixMilli(date).UTC())
	}
	if off := time.Duration(in90days)*time.Millisecond - 90*24*time.Hour; off.Abs() > time.Minute {
		t.Errorf("90d is off by %v", off)
	}
	checkKeysList(t, db, key)
}

func checkKeysList(t *testing.T, db, key string) {
	t.Helper()
	_, all, _ := command(t, "keys", "list", "--db", db)
	lines := strings.Split(strings.TrimSpace(all), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "1 ") || !strings.HasPrefix(lines[1], "2 ") ||
		!strings.Contains(lines[0], "Engine 7") || !strings.Contains(lines[0], "front desk") || !strings.Contains(lines[1], "read") {
		t.Errorf("keys list:\n%s", all)
	}
	if strings.Contains(all, key) || strings.Contains(all, fmt.Sprintf("%x", keyHashOf(key))) {
		t.Error("keys list shows a key")
	}
	if _, some, _ := command(t, "keys", "list", "--tenant", "Engine 8", "--db", db); strings.Count(some, "\n") != 1 || !strings.HasPrefix(some, "2 ") {
		t.Errorf("keys list of one department:\n%s", some)
	}
	if code, out, errs := command(t, "keys", "revoke", "1", "--db", db); code != 0 || out != "" || errs != "Key 1 is revoked.\n" {
		t.Errorf("revoking: %d %q %q", code, out, errs)
	}
	if code, _, errs := command(t, "keys", "revoke", "1", "--db", db); code != 0 || errs != "Key 1 was revoked before.\n" {
		t.Errorf("revoking again: %d %q", code, errs)
	}
	if code, _, errs := command(t, "keys", "revoke", "9", "--db", db); code != 1 ||
		errs != "Error: there is no key with the id 9\nTry: firefighters keys list\n" {
		t.Errorf("revoking what is not there: %d %q", code, errs)
	}
	if _, all, _ := command(t, "keys", "list", "--db", db); !strings.Contains(strings.Split(all, "\n")[0], "revoked") {
		t.Errorf("keys list:\n%s", all)
	}
}

// brokenPipe is where output goes to be lost.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestLostOutput: a result that could not be printed is a failure, above all
// a key, which is shown only this once.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	for _, args := range [][]string{{"keys", "create", "--tenant", "A", "--db", db}, {"keys", "list", "--db", db}, {"version"}} {
		var stderr strings.Builder
		if code := report(run(t.Context(), args, strings.NewReader(""), brokenPipe{}, &stderr), &stderr); code != 1 {
			t.Errorf("%q: code %d, stderr %q", args, code, stderr.String())
		}
	}
}

// TestKeysWhileServing: what another process does to keys takes effect.
func TestKeysWhileServing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.list(t, "")
	made := s.as(newKey(t, s.db, "default"))
	soon := s.as(newKey(t, s.db, "default", "--expires", "1s"))
	made.do(t, "GET", collection, "").wants(t, 200)
	if code, _, errs := command(t, "keys", "revoke", "2", "--db", s.db); code != 0 {
		t.Fatal(errs)
	}
	made.refused(t, "revoked")
	soon.refused(t, "expired")
	s.list(t, "")
	execSQL(t, s.db, `UPDATE keys SET expires_at = 1 WHERE id = 1`)
	s.refused(t, "expired")
	execSQL(t, s.db, `DELETE FROM keys WHERE id = 1`)
	s.refused(t, "unknown")
}

// TestForeignKey: whatever hash stands in the table is honoured.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, key := range []string{"secret", "fd_live_0123456789-._~+/==", "ff_" + strings.Repeat("0", 49), strings.Repeat("k", 5000)} {
		execSQL(t, s.db, `INSERT INTO keys (hash, tenant_id, scope, created_at) VALUES (?, 1, 'read', ?)`, keyHashOf(key), i)
		eventually(t, "the key to be known", func() bool { return s.as(key).do(t, "GET", collection, "").status == 200 })
		s.as(key).do(t, "POST", collection, ana).wants(t, 403)
	}
}

func TestLastUse(t *testing.T) {
	t.Parallel()
	s := start(t)
	newKey(t, s.db, "default")
	s.list(t, "")
	eventually(t, "the last use to be written", func() bool {
		var last sql.NullInt64
		scanSQL(t, s.db, `SELECT last_used_at FROM keys WHERE id = 1`, &last)
		return time.Since(time.UnixMilli(last.Int64)).Abs() < time.Minute
	})
	var last sql.NullInt64
	if scanSQL(t, s.db, `SELECT last_used_at FROM keys WHERE id = 2`, &last); last.Valid {
		t.Error("a key that was never used has a last use")
	}
}

// TestPortInUse: a second service on the same file and port names the file,
// one on another file the port.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, address, _ := strings.Cut(s.url, "://")
	_, port, _ := strings.Cut(address, ":")
	code, _, stderr := command(t, "serve", "--db", s.db, "--listen", address)
	if want := fmt.Sprintf("Error: database %q is in use: another firefighters serves it\n", s.db); code != 1 || !strings.HasPrefix(stderr, want) {
		t.Errorf("the same file: code %d, stderr %q", code, stderr)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	code, _, stderr = command(t, "serve", "--db", other, "--listen", address)
	want := fmt.Sprintf("Error: port %s is used by another program\nTry: another port: firefighters serve --db %s --listen 127.0.0.1:8081\n", port, other)
	if code != 1 || stderr != want || len(namesIn(t, filepath.Dir(other))) > 0 {
		t.Errorf("another file: code %d, stderr %q, there is %q", code, stderr, namesIn(t, filepath.Dir(other)))
	}
}
