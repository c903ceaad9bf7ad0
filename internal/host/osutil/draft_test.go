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

// holds checks the names of all files in a folder.
func holds(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("the folder contains %q, want %q", names, want)
	}
}

// TestWriteFile checks that a file is private, that only replace replaces it, and that a failure
// leaves no temporary file.
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
			t.Errorf("%q: the file is %q, %v, %v, %v", tt.text, text, err, info, statErr)
		}
		holds(t, dir, "x")
	}
	inFile, inNothing := filepath.Join(path, "y"), filepath.Join(dir, "missing", "y")
	for _, replace := range []bool{false, true} {
		for _, path := range []string{inFile, inNothing} {
			err := osutil.WriteFile(path, nil, replace)
			if pathErr, ok := errors.AsType[*fs.PathError](err); !ok || pathErr.Op != "open" {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	must(t, os.MkdirAll(filepath.Join(dir, "folder", "inner"), 0o700))
	for _, replace := range []bool{false, true} {
		if osutil.WriteFile(filepath.Join(dir, "folder"), nil, replace) == nil {
			t.Error("WriteFile replaced a folder")
		}
	}
	holds(t, dir, "folder", "x")
	holds(t, filepath.Join(dir, "folder"), "inner")
}
