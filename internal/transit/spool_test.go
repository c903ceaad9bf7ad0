package transit

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// TestSpool: what is written comes back, and nothing stays.
func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
	for _, size := range []int{0, 1, inMemory, inMemory + 1, 3*inMemory + 7} {
		want := bytes.Repeat([]byte("firefighters\n"), size/13+1)[:size]
		var s spool
		for rest := want; len(rest) > 0; rest = rest[min(len(rest), 60_000):] {
			if n, err := s.Write(rest[:min(len(rest), 60_000)]); n == 0 || err != nil {
				t.Fatal(n, err)
			}
		}
		if s.size != int64(size) || (s.file != nil) != (size > inMemory) {
			t.Errorf("%d bytes: the size is %d, the file %v", size, s.size, s.file)
		}
		from, err := s.reader()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d came back, %v", size, len(got), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 || len(files) > 0 {
		t.Errorf("left are %v, %v, and %d files are counted", left, err, len(files))
	}
}

// TestSpoolRefuses: only so many files may be on the disk, and a folder that is
// not there is said.
func TestSpoolRefuses(t *testing.T) {
	large := []byte(strings.Repeat("x", inMemory+1))
	spools := make([]spool, onDisk+1)
	for i := range spools {
		defer spools[i].Close()
		if _, err := spools[i].Write(large); (err == errBusy) != (i == onDisk) || i < onDisk && err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	spools[0].Close()
	if _, err := spools[onDisk].Write(large); err != nil {
		t.Error(err)
	}
	spools[1].Close()
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	if _, err := spools[1].Write(large); err == nil || len(files) != onDisk-1 {
		t.Errorf("%v, and %d files are counted", err, len(files))
	}
}
