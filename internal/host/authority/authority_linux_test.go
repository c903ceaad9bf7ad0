package authority

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withoutLinks calls do while the system makes no hard links, as on a disk that has
// none. It returns why the system cannot be told that.
func withoutLinks(do func()) (err error) {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_LINKAT},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
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

// TestWithoutLinks: on a disk without hard links an authority is made, too.
func TestWithoutLinks(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	err := withoutLinks(func() {
		if err := os.Link(os.Args[0], filepath.Join(t.TempDir(), "link")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("links can be made: %v", err)
		}
		if _, err := Open(s.options()); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Skip("this system takes no filter: ", err)
	}
	must(t, s.trusted(t, "station-pc", s.now))
	if left, err := filepath.Glob(filepath.Join(s.folder, unfinished+"*")); err != nil || left != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
