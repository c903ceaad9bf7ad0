package upload

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// TestSpool checks that a spool returns its content and leaves no files.
func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
	for _, size := range []int{0, 1, maxInMemory, maxInMemory + 1, 3*maxInMemory + 7} {
		want := bytes.Repeat([]byte("firefighters\n"), size/13+1)[:size]
		var s spool
		for rest := want; len(rest) > 0; rest = rest[min(len(rest), 10_000):] {
			if n, err := s.Write(rest[:min(len(rest), 10_000)]); n == 0 || err != nil {
				t.Fatal(n, err)
			}
		}
		if s.size != int64(size) || (s.file != nil) != (size > maxInMemory) {
			t.Errorf("%d bytes: size %d, file %v", size, s.size, s.file)
		}
		if got, err := io.ReadAll(s.reader()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
}

// TestSpoolRefuses checks the limit on files of an owner. A file that cannot be created does not count.
func TestSpoolRefuses(t *testing.T) {
	large := []byte(strings.Repeat("x", maxInMemory+1))
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	for range maxOnDiskEach + 1 {
		if _, err := (&spool{owner: 99}).Write(large); codeOf(err) != "temp_files" {
			t.Fatalf("without a disk: %v", err)
		}
	}
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
	spools := make([]spool, maxOnDiskEach+1)
	for i := range spools {
		spools[i].owner = 99
		defer spools[i].Close()
		if _, err := spools[i].Write(large); i < maxOnDiskEach && err != nil || i == maxOnDiskEach && err != errBusy {
			t.Fatalf("%d: %v", i, err)
		}
	}
	spools[0].Close()
	if _, err := spools[maxOnDiskEach].Write(large); err != nil {
		t.Errorf("after closing one: %v", err)
	}
}

// TestReadAfterClose checks that reading a closed file returns os.ErrClosed, even if it is closed
// during the read.
func TestReadAfterClose(t *testing.T) {
	t.Parallel()
	f := &File{file: spool{owner: 12}}
	if _, err := f.file.Write(make([]byte, maxInMemory+1)); err != nil {
		t.Fatal(err)
	}
	reader := f.file.reader()
	if _, err := reader.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	others.Go(func() {
		for range 1000 { // lets the race detector check Close
			io.ReadFull(f.file.reader(), make([]byte, 1))
		}
	})
	f.Close()
	others.Wait()
	if _, err := io.ReadAll(reader); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed during the read: %v", err)
	}
	if _, err := f.Content(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed before the read: %v", err)
	}
}

// codeOf returns the code of a problem.
func codeOf(err error) string {
	p, _ := errors.AsType[*httpapi.Problem](err)
	if p == nil {
		return ""
	}
	return p.Code
}
