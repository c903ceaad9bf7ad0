package service

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestCertOwnerAsRoot checks that the file has only the certificate, and that it belongs to the owner
// of its folder even if root writes it.
func TestCertOwnerAsRoot(t *testing.T) {
	t.Parallel()
	db, folder := newAuthority(t), t.TempDir()
	want := uint32(os.Geteuid())
	if want == 0 {
		want = 12345
		must(t, os.Chown(folder, 12345, 23456))
	}
	file := filepath.Join(folder, "ca.crt")
	if code, _, stderr := runCert(t, "--db", db, "--output", file); code != 0 || !strings.Contains(stderr, "Wrote "+cli.Quote(file)) {
		t.Errorf("%d, %q", code, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "-----BEGIN CERTIFICATE-----\n") || strings.Count(string(text), "-----") != 4 {
		t.Errorf("%v\n%s", err, text)
	}
	if code, _, stderr := runCert(t, "--db", db, "-o", file); code != 1 || !strings.Contains(stderr, "already exists\n") {
		t.Errorf("existing file: code %d, stderr %q", code, stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Sys().(*syscall.Stat_t).Uid != want {
		t.Errorf("%v, %v", info, err)
	}
	if code, _, stderr := runCert(t, "--db", db, "--output", filepath.Join(folder, "gone", "ca.crt")); code != 1 || strings.Contains(stderr, "Wrote") {
		t.Errorf("missing folder: code %d, stderr %q", code, stderr)
	}
}
