//go:build linux || darwin

package managers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReopen: after a rotation what a process writes goes to the new file.
func TestReopen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(name)
	must(t, err)
	defer file.Close()
	write := func(text string) {
		_, err := file.WriteString(text)
		must(t, err)
	}
	write("one ")
	must(t, reopen(file, name))
	write("two")
	must(t, os.Rename(name, name+".0"))
	if err := reopen(file, name); !os.IsNotExist(err) {
		t.Errorf("before there is a new file: %v", err)
	}
	must(t, os.WriteFile(name, []byte("turned over "), 0o600))
	must(t, reopen(file, name))
	write("three")
	for name, want := range map[string]string{name + ".0": "one two", name: "turned over three"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestTailOf: of a large log only the end is read.
func TestTailOf(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	if text := tailOf(name); text != "" {
		t.Errorf("without a log: %q", text)
	}
	must(t, os.WriteFile(name, []byte("short"), 0o600))
	if text := tailOf(name); text != "short" {
		t.Errorf("a short one: %q", text)
	}
	must(t, os.WriteFile(name, []byte(strings.Repeat("x", 1<<20)+"end"), 0o600))
	if text := tailOf(name); len(text) != 64<<10 || !strings.HasSuffix(text, "xend") {
		t.Errorf("a long one has %d bytes", len(text))
	}
}

// TestFollow: all files of a process go on in the new log.
func TestFollow(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(name, nil, 0o600))
	var files []*os.File
	for range 2 { // as standard output and standard error
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		defer file.Close()
		files = append(files, file)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() { follow(ctx, time.Millisecond, name, files...); close(ended) }()
	must(t, os.Rename(name, name+".0"))
	must(t, os.WriteFile(name, nil, 0o600))
	now, err := os.Stat(name)
	must(t, err)
	for _, file := range files {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if info, err := file.Stat(); err == nil && os.SameFile(info, now) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("it goes on in the old one")
			}
		}
	}
	end()
	<-ended
}
