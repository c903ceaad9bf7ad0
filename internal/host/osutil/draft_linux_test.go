package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// withFailing calls do while a system call fails with an error. It returns why the
// system cannot be told that.
func withFailing(number uint32, fault unix.Errno, do func()) (err error) {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(fault)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and the thread ends with the goroutine
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return
		}
		if err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err == nil {
			do()
		}
	}()
	<-done
	return err
}

// TestWriteFileFails: whatever the system refuses, the file that was there stays as it
// was, and nothing else is left. A disk without hard links is no failure.
func TestWriteFileFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		number uint32
		fault  unix.Errno
		want   error // nil: it is written
		fresh  bool  // there is no file yet
	}{
		"no room":              {number: unix.SYS_WRITE, fault: unix.ENOSPC, want: unix.ENOSPC},
		"no sync":              {number: unix.SYS_FSYNC, fault: unix.EIO, want: unix.EIO},
		"no sync of a new one": {number: unix.SYS_FSYNC, fault: unix.EIO, want: unix.EIO, fresh: true},
		"no name":              {number: unix.SYS_RENAMEAT, fault: unix.EACCES, want: unix.EACCES},
		"no links":             {number: unix.SYS_LINKAT, fault: unix.EPERM, fresh: true},
		"no links, and a file": {number: unix.SYS_LINKAT, fault: unix.EPERM},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "x")
			var left []string
			before := "none"
			if !tt.fresh {
				before, left = "before", []string{"x"}
				must(t, os.WriteFile(path, []byte(before), 0o600))
			}
			var err, linkErr error
			failed := withFailing(tt.number, tt.fault, func() {
				linkErr = os.Link(os.Args[0], filepath.Join(t.TempDir(), "link"))
				err = osutil.WriteFile(path, []byte("after"), !tt.fresh)
			})
			if failed != nil {
				t.Skip("this system takes no filter: ", failed)
			}
			want := before
			if tt.want == nil {
				want, left = "after", []string{"x"}
			}
			if tt.number == unix.SYS_LINKAT && !errors.Is(linkErr, fs.ErrPermission) {
				t.Errorf("links can be made: %v", linkErr)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("the error is %v", err)
			}
			holds(t, dir, left...)
			if text, err := os.ReadFile(path); want != "none" && (err != nil || string(text) != want) {
				t.Errorf("there is %q, %v", text, err)
			}
		})
	}
}
