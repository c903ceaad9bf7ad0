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

// allowUnless returns the part of a filter that allows a system call unless struct seccomp_data
// has value at offset.
func allowUnless(offset, value uint32) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: value},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
}

// withFailing calls do while a system call fails with fault. If content is not nil, the call
// fails only if its second argument is the address of content. withFailing returns an error
// if the system accepts no filter.
func withFailing(number uint32, fault unix.Errno, content []byte, do func()) (err error) {
	filter := allowUnless(0, number)
	if content != nil {
		address := uintptr(unsafe.Pointer(&content[0]))
		filter = append(filter, allowUnless(24, uint32(address))...) // the low half of the second argument
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(fault)})
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
			content := []byte("after")
			var failing []byte
			if tt.number == unix.SYS_WRITE { // the testing package also writes on this thread, to its log of opened files
				failing = content
			}
			var err, linkErr error
			failed := withFailing(tt.number, tt.fault, failing, func() {
				linkErr = os.Link(os.Args[0], filepath.Join(t.TempDir(), "link"))
				err = osutil.WriteFile(path, content, !tt.fresh)
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
