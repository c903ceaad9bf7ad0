package acceptance

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStartOnFullDisk checks that a service starts although it cannot write, serves existing
// records, and writes once there is space. A limit on the size of files simulates the full
// disk: neither the -shm nor any other file can grow.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	before := start(t)
	id := before.create(t, ana)
	before.stop(t)

	cmd, output := startOnFullDisk(t, before.db)
	s := startedProcess(t, cmd).as(before.key)
	s.do(t, "GET", collection+"/"+id, "").wants(t, 200)
	s.list(t, "search=ana")
	s.do(t, "POST", collection, ana).wants(t, 507)
	s.do(t, "PUT", collection+"/"+id, ana).wants(t, 507)
	s.do(t, "PATCH", collection+"/"+id, `{"lastName":"B"}`).wants(t, 507)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 507)
	const unwritten = `{"status":"ready","writing":{"ok":false,"detail":"nothing can be written: the disk is full"},"version":`
	if a := s.do(t, "GET", "/readyz", "").wants(t, 200); !strings.HasPrefix(a.body, unwritten) {
		t.Errorf("/readyz: %s", a.body)
	}
	works(t, "check", "--db", before.db)
	if log := output.String(); strings.Count(log, "Warning: the disk of the database is full") != 1 ||
		strings.Count(log, `"msg":"nothing can be written: the disk is full"`) != 1 {
		t.Errorf("log: %s", log)
	}

	room := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &room, nil))
	eventually(t, "the service to find free space", func() bool { return s.do(t, "POST", collection, ana).status == 201 })
	if a := s.do(t, "GET", "/readyz", "").wants(t, 200); !strings.HasPrefix(a.body, `{"status":"ready","version":`) {
		t.Errorf("/readyz with free space: %s", a.body)
	}
	if l := s.list(t, ""); l.TotalCount != 2 {
		t.Errorf("%d records", l.TotalCount)
	}
	eventually(t, "the address to be saved", func() bool {
		stdout, _ := works(t, "invite", "--db", before.db, "--tenant", "default", "--name", "Ana")
		return strings.HasPrefix(stdout, "Link: "+s.url+"/office/")
	})
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v: %s", err, output)
	}
	works(t, "check", "--db", before.db)
}

// TestExportOnFullDisk checks that missing space for temporary files is a problem with the
// status 507, and that small exports need no such space.
func TestExportOnFullDisk(t *testing.T) {
	t.Parallel()
	before := startInvented(t, 6000)
	first := before.importPeople(t, "", csvOf(2))
	before.stop(t)
	cmd, _ := startOnFullDisk(t, before.db)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Dir(before.db))
	s := startedProcess(t, cmd).as(before.key)
	if p := s.do(t, "GET", exportPath+"?format=jsonl", "").wants(t, 507).problem(t); !strings.Contains(p.Detail, "temporary files") {
		t.Errorf("%+v", p)
	}
	s.do(t, "GET", exportPath+"?search=ana", "").wants(t, 200)
	s.do(t, "POST", importsPath+"?apply=true", csvOf(3)).wants(t, 507)
	s.do(t, "GET", fmt.Sprint(importsPath, "/", first+1), "").wants(t, 404)
	s.do(t, "DELETE", fmt.Sprint(importsPath, "/", first), "").wants(t, 507)
	if a := s.do(t, "GET", fmt.Sprint(importsPath, "/", first), ""); !strings.Contains(a.body, `"takenBackAt":null`) {
		t.Errorf("the import was not undone, but the answer is %s", a.body)
	}
}

// startOnFullDisk prepares a service that cannot write to files. A limit on their size
// simulates the full disk.
func startOnFullDisk(t *testing.T, db string) (cmd *exec.Cmd, output *syncBuffer) {
	t.Helper()
	cmd = limitedProcess(t, "ulimit -S -f 1", db)
	return cmd, cmd.Stdout.(*syncBuffer)
}

// TestCrashOnFullDisk checks the error of a service that was killed and cannot start without
// free space.
func TestCrashOnFullDisk(t *testing.T) {
	t.Parallel()
	before, s := startProcess(t, filepath.Join(t.TempDir(), "x.db"))
	s.create(t, ana)
	must(t, before.Process.Kill())
	before.Wait()
	cmd, output := startOnFullDisk(t, before.Args[2])
	if code := exitCode(t, cmd.Run()); code != 1 || !strings.HasSuffix(output.String(), ": the disk is full\n") {
		t.Errorf("exit code %d: %s", code, output)
	}
}

// TestLogOnFullDisk checks that requests are answered while the log cannot be written. For a
// while the log is longer than the limit on the size of files, and the database is not.
func TestLogOnFullDisk(t *testing.T) {
	t.Parallel()
	const length = 64 << 20
	log, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	must(t, err)
	defer log.Close()
	must(t, log.Truncate(length))
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
	cmd.Stderr = log
	s := serving(t, db, cmd)
	one := collection + "/" + s.create(t, ana)
	breakUpdates(t, db)
	limit := unix.Rlimit{Cur: length / 2, Max: unix.RLIM_INFINITY}
	must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
	for range 20 {
		s.do(t, "PUT", one, ana).wants(t, 500)
	}
	limit.Cur = unix.RLIM_INFINITY
	must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
	s.do(t, "PUT", one, ana).wants(t, 500)
	text, err := io.ReadAll(io.NewSectionReader(log, length, length))
	must(t, err)
	if strings.Count(string(text), `"request failed"`) != 1 {
		t.Errorf("the log contains %s", text)
	}
}

// TestOutputOnFullDisk checks that the service continues if it cannot print its address, and
// that a key that cannot be printed is not created.
func TestOutputOnFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must(t, err)
	defer full.Close()
	db := filepath.Join(t.TempDir(), "x.db")
	serve := func() (*exec.Cmd, *syncBuffer) {
		cmd, output := process(t, "--db", db, "--listen", "127.0.0.1:0")
		cmd.Stdout = full
		return cmd, output
	}
	cmd, output := serve()
	code := exitCode(t, cmd.Run())
	var keys int
	if scanSQL(t, db, `SELECT count(*) FROM keys`, &keys); keys > 0 || code != 1 || !strings.Contains(output.String(), syscall.ENOSPC.Error()) {
		t.Errorf("%d keys, code %d: %s", keys, code, output)
	}
	key := newKey(t, db, "A")
	cmd, output = serve()
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	address := regexp.MustCompile(`"level":"WARN","msg":"cannot write to standard output","listening":"([^"]+)"`)
	eventually(t, "the address in the log", func() bool { return address.MatchString(output.raw()) })
	newClient(t, address.FindStringSubmatch(output.raw())[1], key).create(t, ana)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	must(t, cmd.Wait())
}
