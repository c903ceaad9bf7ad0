package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// holds tests that these names and no others are in a folder.
func holds(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("in the folder are %q, not %q", names, want)
	}
}

// TestWriteFile: a file is private, replaced only if that is wanted, and what cannot be
// written leaves nothing.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	for _, tt := range []struct {
		text    string
		replace bool
		want    string
	}{{"one", false, "one"}, {"two", false, "one"}, {"three", true, "three"}, {"", true, ""}} {
		err := osutil.WriteFile(path, []byte(tt.text), tt.replace)
		if tt.text == tt.want && err != nil || tt.text != tt.want && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%q: %v", tt.text, err)
		}
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(text) != tt.want || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%q: there is %q, %v, %v, %v", tt.text, text, err, info, statErr)
		}
		holds(t, dir, "x")
	}
	inFile, inNothing := filepath.Join(path, "y"), filepath.Join(dir, "missing", "y")
	for _, replace := range []bool{false, true} {
		for _, path := range []string{inFile, inNothing} {
			err := osutil.WriteFile(path, nil, replace)
			if known, ok := errors.AsType[*fs.PathError](err); !ok || known.Op != "open" {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	must(t, os.MkdirAll(filepath.Join(dir, "folder", "inner"), 0o700))
	for _, replace := range []bool{false, true} {
		if osutil.WriteFile(filepath.Join(dir, "folder"), nil, replace) == nil {
			t.Error("it replaces a folder")
		}
	}
	holds(t, dir, "folder", "x")
	holds(t, filepath.Join(dir, "folder"), "inner")
}
