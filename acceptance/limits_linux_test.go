package acceptance

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// limitedProcess prepares a service on db under limits that a shell sets.
func limitedProcess(t *testing.T, limits, db string) *exec.Cmd {
	t.Helper()
	cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
	cmd.Args = append([]string{"sh", "-c", limits + `; exec "$0" "$@"`}, cmd.Args...)
	cmd.Path = "/bin/sh"
	return cmd
}

// TestFewFiles checks that under a low limit of open files, idle connections are closed for
// clients with requests.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	files := 40 + 2*max(0, runtime.NumCPU()-4) // each processor has a connection for reading
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

// TestWaitLimit checks that requests that wait for changes leave connections to other
// requests and places to other departments, that a client that disconnects frees its place, and
// that a stop of the service answers all waiting requests.
func TestWaitLimit(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	key, otherKey := newKey(t, db, "default"), newKey(t, db, "other")
	files := 60 + 2*max(0, runtime.NumCPU()-4) // for 25 connections
	cmd := limitedProcess(t, fmt.Sprintf("ulimit -n %d", files), db)
	c := startedProcess(t, cmd).as(key)
	var all []awaiting
	for range 23 {
		all = append(all, c.await(t, "", longWait))
	}
	full := func() bool {
		a := c.do(t, "GET", changesPath+"?wait=1", "")
		return a.status == 429 && a.header.Get("Retry-After") != "" && a.problem(t).Code == "rate_limit"
	}
	for !full() { // full may have used a free place
		all = append(all, c.await(t, "", longWait))
	}
	c.list(t, "")
	c.do(t, "GET", changesPath, "").wants(t, 200)
	c.as(otherKey).do(t, "GET", changesPath+"?wait=1", "").wants(t, 200)
	for _, a := range all[5:10] {
		a.leave()
	}
	eventually(t, "a place to be free", func() bool { return !full() })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	waited := 0
	for _, a := range append(all[:5], all[10:]...) {
		got, ok := <-a.answer
		switch {
		case !ok:
			t.Error("the stop cut off a waiting request")
		case got.status == 200 && strings.HasPrefix(got.body, `{"items":[],`):
			waited++
		case got.status != 429:
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if waited < 10 {
		t.Errorf("only %d requests waited", waited)
	}
	must(t, cmd.Wait())
	if log := fmt.Sprint(cmd.Stdout); strings.Contains(log, "cut off") || strings.Contains(log, "ERROR") {
		t.Errorf("log:\n%s", log)
	}
}

// TestTooFewFiles checks that a limit that is too low for any client is an error before the
// service listens or creates a file.
func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd := limitedProcess(t, "ulimit -n 24", db)
	ended := make(chan error, 1)
	must(t, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		const want = "Error: this program may not open enough files to serve clients\nTry: ulimit -n 1024\n"
		if output := fmt.Sprint(cmd.Stdout); err == nil || output != want || exists(db) {
			t.Errorf("%v, %s", err, output)
		}
	case <-time.After(patience):
		cmd.Process.Kill()
		t.Errorf("the service still runs: %s", cmd.Stdout)
	}
}

// TestFileSizeLimit checks that clients get a full disk as the error while the -wal cannot grow,
// and that writes work again automatically after that.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd := limitedProcess(t, "ulimit -S -f 2000", db)
	c := startedProcess(t, cmd)
	created := 0
	large := fmt.Sprintf(`{"firstName":"Ana","lastName":%q}`, strings.Repeat("x", 100))
	a := c.do(t, "POST", collection, large)
	for ; a.status == 201; a = c.do(t, "POST", collection, large) {
		created++
	}
	a.wants(t, 507)
	if created == 0 || !strings.Contains(a.problem(t).Detail, "The disk is full") {
		t.Errorf("after %d records: %s", created, a.body)
	}
	for range 3 {
		c.do(t, "POST", collection, large).wants(t, 507)
	}
	if total := c.list(t, "").TotalCount; total != int64(created) {
		t.Errorf("%d records, want %d", total, created)
	}
	var limit unix.Rlimit
	must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, nil, &limit))
	limit.Cur = limit.Max
	must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
	c.create(t, large)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())
	if found := namesIn(t, filepath.Dir(db)); !slices.Equal(found, []string{".x.db-notes", "x.db"}) {
		t.Errorf("files: %q", found)
	}
	works(t, "check", "--db", db)
}
