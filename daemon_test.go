package main

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

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

// TestLogOnFullDisk checks that requests are answered while the log cannot be written.
func TestLogOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{}
	db := filepath.Join(t.TempDir(), "x.db")
	s := serving(t, disk, func(ctx context.Context, stdout, stderr io.Writer) error {
		return run(ctx, []string{"--db", db, "--listen", "127.0.0.1:0"}, strings.NewReader(""), stdout, stderr)
	})
	s.key = newKey(t, db, "default")
	one := collection + "/" + s.create(t, ana)
	execSQL(t, db, `CREATE TRIGGER fails BEFORE UPDATE ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`)
	disk.full.Store(true)
	for range 20 {
		s.do(t, "PUT", one, ana).wants(t, 500)
	}
	disk.full.Store(false)
	s.do(t, "PUT", one, ana).wants(t, 500)
	if disk.refused.Load() == 0 || strings.Count(disk.String(), `"request failed"`) != 1 {
		t.Errorf("%d lines were refused, and the log has %s", disk.refused.Load(), disk.String())
	}
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
	if scanSQL(t, db, `SELECT count(*) FROM keys`, &keys); keys > 0 || err == nil || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		t.Errorf("%d keys, %v", keys, err)
	}
	key := newKey(t, db, "A")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr, done := &syncBuffer{}, make(chan error, 1)
	go func() { done <- run(ctx, args, strings.NewReader(""), disk, stderr) }()
	address := regexp.MustCompile(`"level":"WARN","msg":"cannot write to standard output","listening":"([^"]+)"`)
	eventually(t, "the address in the log", func() bool { return address.MatchString(stderr.String()) })
	client{address.FindStringSubmatch(stderr.String())[1], key}.create(t, ana)
	stop()
	must(t, <-done)
}
