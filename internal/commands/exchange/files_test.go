package exchange

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestTarget checks that a file is replaced completely or not at all, without temporary files.
func TestTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	write := func(force bool, text string, end error) error {
		to := target{flag: "--report", path: path, force: force}
		return to.write(filepath.Join(dir, "x.db"), func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, end)
		})
	}
	check := func(want string) {
		t.Helper()
		text, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		if string(text) != want || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("the file is %q with mode %v, want %q", text, info.Mode(), want)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			t.Errorf("the folder contains %v, %v", names, err)
		}
	}
	must(t, write(false, "one", nil))
	check("one")
	if err := write(false, "two", nil); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("without --force: %v", err)
	}
	check("one")
	broken := errors.New("it broke")
	if err := write(true, "two", broken); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	check("one")
	must(t, write(true, strings.Repeat("two", 1e5), nil))
	check(strings.Repeat("two", 1e5))
}

// TestTargetLink checks that the target of a link is replaced, not the link.
func TestTargetLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link, path := filepath.Join(dir, "link.csv"), filepath.Join(dir, "x.csv")
	if err := os.Symlink(path, link); err != nil {
		if runtime.GOOS != "windows" { // where links need a privilege
			t.Error(err)
		}
		return
	}
	to := target{path: link, force: true}
	must(t, to.write(filepath.Join(dir, "x.db"), func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }))
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

// TestReadFile checks a file, standard input, and the size limit.
func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader("input")}
	for name, want := range map[string]string{path: "text", standardInput: "input"} {
		if content, err := readFile(env, nil, name); err != nil || string(content) != want {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
	env.Stdin = zeros{}
	if content, err := readFile(env, nil, standardInput); content != nil || !isTooLarge(err) {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// TestReadFileStops checks that a command can stop while it reads an endless pipe.
func TestReadFileStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, out := io.Pipe()
	defer out.Close()
	if content, err := readFile(cli.Env{Context: ctx, Stdin: in}, nil, standardInput); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", content, err)
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func isTooLarge(err error) bool {
	e, ok := errors.AsType[*sheet.FileError](err)
	return ok && e.Code == sheet.FileTooLarge
}
