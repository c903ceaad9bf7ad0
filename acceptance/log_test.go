package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// breakUpdates has each PUT of a record fail by a fault of the service.
func breakUpdates(t *testing.T, db string) {
	t.Helper()
	execSQL(t, db, `CREATE TRIGGER fails BEFORE UPDATE ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`)
}

// TestLogThatNobodyReads: requests that are logged are answered, and the
// service ends when it is told to.
func TestLogThatNobodyReads(t *testing.T) {
	t.Parallel()
	unread, stderr, err := os.Pipe()
	must(t, err)
	defer unread.Close()
	defer stderr.Close()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
	cmd.Stderr = stderr
	s := serving(t, db, cmd)
	one := collection + "/" + s.create(t, ana)
	breakUpdates(t, s.db)
	for range 1100 { // more than can wait
		s.do(t, "PUT", one, ana).wants(t, 500)
	}
	s.stop(t)
}

// TestPipeThatNobodyReads is the same with a pipe of the system, which is full
// from the start.
func TestPipeThatNobodyReads(t *testing.T) {
	t.Parallel()
	unread, stderr, err := os.Pipe()
	must(t, err)
	defer unread.Close()
	defer stderr.Close()
	for _, size := range []int{1 << 16, 1} {
		if err := stderr.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Skipf("a pipe has no deadlines here: %v", err)
		}
		for err = nil; err == nil; {
			_, err = stderr.Write(make([]byte, size))
		}
	}
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
	cmd.Stderr = stderr
	c := startedProcess(t, cmd)
	one := collection + "/" + c.create(t, ana)
	breakUpdates(t, db)
	for range 10 {
		c.do(t, "PUT", one, ana).wants(t, 500)
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())
	if exists(db + "-wal") {
		t.Error("the database was not closed")
	}
}

// TestRefusedKeys: the log says from where requests without a valid key came,
// and why they were refused. No request is missing at the end.
func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	revoked := newKey(t, s.db, "default")
	s.as(revoked).list(t, "")
	works(t, "keys", "revoke", "2", "--db", s.db)
	s.as(revoked).refused(t, "revoked")
	s.logs(t, `"address":"127.0.0.1","count":1,"code":"key_revoked"}`)
	expired := newKey(t, s.db, "default", "--expires", "1h")
	execSQL(t, s.db, `UPDATE keys SET expires_at = 1 WHERE id = 3`)
	s.as(expired).refused(t, "expired")
	s.logs(t, `"code":"key_expired"}`)
	for range 50 {
		s.as("").do(t, "GET", collection, "").wants(t, 401)
	}
	s.logs(t, `"code":"key_missing"}`)
	for range 20 {
		s.as("ff_wrong").do(t, "GET", collection, "").wants(t, 401)
	}
	s.as("").do(t, "GET", "/healthz", "").wants(t, 200)
	s.do(t, "GET", collection+"/"+nobody, "").wants(t, 404)
	s.stop(t)
	log, total := s.stderr.String(), 0
	for line := range strings.Lines(log) {
		var entry struct {
			Msg   string
			Count int
		}
		if json.Unmarshal([]byte(line), &entry); entry.Msg == "requests were refused" {
			total += entry.Count
		}
	}
	if total != 72 || !strings.HasSuffix(log, `"code":"key_unknown"}`+"\n") {
		t.Errorf("%d refusals in the log:\n%s", total, log)
	}
}
