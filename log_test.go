package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// breakUpdates has each PUT of a record fail by a fault of the service.
func breakUpdates(t *testing.T, db string) {
	t.Helper()
	execSQL(t, db, `CREATE TRIGGER fails BEFORE UPDATE ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`)
}

// startLogging serves a new database with another standard error.
func startLogging(t *testing.T, stderr io.Writer) *testService {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	return serving(t, db, func(ctx context.Context, s *testService) error {
		return run(ctx, []string{"--db", db, "--listen", "127.0.0.1:0"}, strings.NewReader(""), s.stdout, stderr)
	})
}

// TestLogThatNobodyReads: requests that are logged are answered, and the
// service ends when it is told to.
func TestLogThatNobodyReads(t *testing.T) {
	t.Parallel()
	unread, stderr := io.Pipe()
	defer unread.Close()
	s := startLogging(t, stderr)
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

// fullDisk takes nothing while it is full.
type fullDisk struct {
	syncBuffer
	full    atomic.Bool
	refused atomic.Int64
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.full.Load() {
		d.refused.Add(1)
		return 0, syscall.ENOSPC
	}
	return d.syncBuffer.Write(p)
}

// TestLogOnFullDisk: the log says how many lines it has lost.
func TestLogOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{}
	s := startLogging(t, disk)
	one := collection + "/" + s.create(t, ana)
	breakUpdates(t, s.db)
	disk.full.Store(true)
	for range 20 {
		s.do(t, "PUT", one, ana).wants(t, 500)
	}
	eventually(t, "a line to be lost", func() bool { return disk.refused.Load() > 0 })
	disk.full.Store(false)
	eventually(t, "the count", func() bool {
		logged, lost := 0, 0
		for line := range strings.Lines(disk.String()) {
			var entry struct {
				Msg   string
				Count int
			}
			json.Unmarshal([]byte(line), &entry) // a note is no JSON
			switch entry.Msg {
			case "request failed":
				logged++
			case "log lines were lost":
				lost += entry.Count
			}
		}
		return lost > 0 && logged+lost == 20
	})
	sawLog(t.Name(), disk.String())
}

// TestOutputOnFullDisk: the service goes on without the line that says where it
// listens. A key that cannot be shown is not made.
func TestOutputOnFullDisk(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	disk := &fullDisk{}
	disk.full.Store(true)
	args := []string{"--db", db, "--listen", "127.0.0.1:0"}
	err := run(t.Context(), args, strings.NewReader(""), disk, io.Discard)
	var keys int
	if scanSQL(t, db, `SELECT count(*) FROM keys`, &keys); keys > 0 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%d keys, %v", keys, err)
	}
	key := newKey(t, db, "A")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr, done := &syncBuffer{}, make(chan error, 1)
	go func() { done <- run(ctx, args, strings.NewReader(""), disk, stderr) }()
	address := regexp.MustCompile(`"level":"WARN","msg":"standard output could not be written","listening":"([^"]+)"`)
	eventually(t, "the address in the log", func() bool { return address.MatchString(stderr.String()) })
	newClient(t, address.FindStringSubmatch(stderr.String())[1], key).create(t, ana)
	stop()
	must(t, <-done)
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
