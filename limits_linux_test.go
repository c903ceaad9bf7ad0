package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// limitedProcess prepares a service on db in a process of its own, under
// limits as a shell sets them.
func limitedProcess(t *testing.T, limits, db string) *exec.Cmd {
	t.Helper()
	cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
	args := append([]string{"sh", "-c", limits + `; exec "$0" "$@"`}, cmd.Args...)
	shell, err := exec.LookPath("sh")
	must(t, err)
	cmd.Path, cmd.Args = shell, args
	return cmd
}

// TestFewFiles: under a low limit of open files, idle connections make room for
// clients with requests.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	files := 40 + 2*max(0, runtime.NumCPU()-4) // each processor has a connection that reads
	c := startedProcess(t, limitedProcess(t, fmt.Sprintf("ulimit -n %d", files), filepath.Join(t.TempDir(), "x.db")))
	idle := c.dial(t)
	for range 99 {
		c.dial(t)
	}
	for range 20 {
		c.create(t, ana)
		c.CloseIdleConnections()
	}
	if total := c.list(t, "").TotalCount; total != 20 {
		t.Errorf("%d records", total)
	}
	if rest, err := io.ReadAll(idle); len(rest) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the idle connection: %q, %v", rest, err)
	}
}
