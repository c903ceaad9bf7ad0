package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStartOnFullDisk: a service starts although nothing can be written, serves
// what is there, and writes when there is room. A limit on the size of files
// stands for the full disk: the -shm cannot grow, and no file can.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	before := start(t)
	id := before.create(t, ana)
	before.stop(t)

	cmd, output := process(t, "--db", before.db, "--listen", "127.0.0.1:0")
	cmd.Args = append([]string{"sh", "-c", `ulimit -S -f 1; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	var err error
	cmd.Path, err = exec.LookPath("sh")
	must(t, err)
	s := startedProcess(t, cmd).as(before.key)
	s.do(t, "GET", collection+"/"+id, "").wants(t, 200)
	s.list(t, "search=ana")
	s.do(t, "POST", collection, ana).wants(t, 507)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 507)
	works(t, "check", "--db", before.db)
	if log := output.String(); strings.Count(log, "Warning: the disk of the database is full") != 1 ||
		strings.Count(log, `"msg":"nothing can be written: the disk is full"`) != 1 {
		t.Errorf("the log: %s", log)
	}

	room := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &room, nil))
	eventually(t, "room to be found", func() bool { return s.do(t, "POST", collection, ana).status == 201 })
	if l := s.list(t, ""); l.TotalCount != 2 {
		t.Errorf("%d records", l.TotalCount)
	}
	eventually(t, "the address to be known", func() bool {
		stdout, _ := works(t, "invite", "--db", before.db, "--tenant", "default", "--name", "Ana")
		return strings.HasPrefix(stdout, "Link: "+s.url+"/office/")
	})
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v: %s", err, output)
	}
	works(t, "check", "--db", before.db)
}
