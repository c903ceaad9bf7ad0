package managers

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if s, err := ReadSettings(data); s != nil || err != nil {
		t.Fatalf("without a file: %q, %v", s, err)
	}
	old := Settings{"--listen=127.0.0.1:8080", "--cors-origin=a", "--cors-origin=b", "--no-office=true"}
	merged := old.Merge(Settings{"--cors-origin=c", "--tls-cert=/a b=c.pem"}, "no-office")
	want := Settings{"--listen=127.0.0.1:8080", "--cors-origin=c", "--tls-cert=/a b=c.pem"}
	if !slices.Equal(merged, want) {
		t.Fatalf("merged %q", merged)
	}
	must(t, old.Write(data))
	must(t, merged.Write(data))
	read, err := ReadSettings(data)
	if err != nil || !slices.Equal(read, want) {
		t.Errorf("read %q, %v", read, err)
	}
	if read.Get("tls-cert") != "/a b=c.pem" || read.Get("tls") != "" {
		t.Errorf("%q, %q", read.Get("tls-cert"), read.Get("tls"))
	}
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
	if info, err := os.Stat(SettingsIn(data)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	must(t, os.WriteFile(SettingsIn(data), []byte("\ufeff# text\r\n\r\n --listen=x:1 \r\n"), 0o600)) // as Notepad writes it
	if read, err := ReadSettings(data); err != nil || !slices.Equal(read, Settings{"--listen=x:1"}) {
		t.Errorf("after editing by hand: %q, %v", read, err)
	}
}

// TestCopyProgram checks that the program is replaced and the previous version kept.
func TestCopyProgram(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	from, to := filepath.Join(folder, "download"), filepath.Join(folder, "bin", "firefighters")
	for number, want := range []string{"", to + keptSuffix, to + keptSuffix} {
		must(t, os.WriteFile(from, []byte(strconv.Itoa(number)), 0o600))
		copied, kept, err := CopyProgram(from, to)
		text, readErr := os.ReadFile(to)
		if err != nil || !copied || readErr != nil || kept != want || string(text) != strconv.Itoa(number) {
			t.Errorf("%d: kept %q, %v; the program is %q, %v", number, kept, err, text, readErr)
		}
	}
	if text, err := os.ReadFile(to + keptSuffix); err != nil || string(text) != "1" {
		t.Errorf("the kept program is %q, %v", text, err)
	}
	if info, err := os.Stat(to); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if copied, kept, err := CopyProgram(to, to); err != nil || copied || kept != "" {
		t.Errorf("copied to itself: kept %q, %v", kept, err)
	}
	must(t, os.WriteFile(from, []byte("2"), 0o600))
	if copied, kept, err := CopyProgram(from, to); err != nil || copied || kept != "" {
		t.Errorf("copied the same content: kept %q, %v", kept, err)
	}
	if text, err := os.ReadFile(to + keptSuffix); err != nil || string(text) != "1" {
		t.Errorf("after copying the same content, the kept program is %q, %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(to)); err != nil || len(entries) != 2 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
	if _, _, err := CopyProgram(filepath.Join(folder, "missing"), to); err == nil {
		t.Error("no error for a missing program")
	}
	if text, err := os.ReadFile(to); err != nil || string(text) != "2" {
		t.Errorf("after a failure, the program is %q, %v", text, err)
	}
}

func TestErrorInLog(t *testing.T) {
	t.Parallel()
	for log, want := range map[string][2]string{
		"nothing": {},
		`{"level":"ERROR","msg":"one","try":"x","exitCode":1}` + "\n" + `{"level":"ERROR","msg":"two","try":"y\nz","exitCode":1}` + "\n" +
			`{"level":"ERROR","msg":"request failed"}` + "\n": {"two", "y"},
		`{"level":"ERROR","msg":"request failed","try":"x"}` + "\n" + `{"level":"WARN",` + "\n": {},
	} {
		if got, hint := errorInLog(log); got != want[0] || hint != want[1] {
			t.Errorf("errorInLog(%q) = %q, %q", log, got, hint)
		}
	}
}
