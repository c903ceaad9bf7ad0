package daemon

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

func TestWarnOfExposure(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	for address, key := range map[string]string{"127.0.0.1:8080": "", "[::1]:8080": "", "192.0.2.1:8080": "key.pem", "0.0.0.0:8080": "key.pem"} {
		if got := exposure(t, address, db, key); got != "" {
			t.Errorf("%s with the key %q: %q", address, key, got)
		}
	}
	for _, address := range []string{"0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"} {
		got := exposure(t, address, db, "")
		if !strings.Contains(got, "Warning: other computers reach the service without TLS") || !strings.Contains(got, "Try: --tls-self-signed,") {
			t.Errorf("%s without TLS: %q", address, got)
		}
	}
	if err := os.WriteFile(db, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := exposure(t, "127.0.0.1:8080", db, ""); strings.Contains(got, "chmod 600") != (runtime.GOOS != "windows") {
		t.Errorf("a file that everyone can read: %q", got)
	}
}

func exposure(t *testing.T, address, db, key string) string {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	warnOfExposure(cli.Env{Stderr: &stderr}, addr, db, key)
	return stderr.String()
}

func TestWarnOfBackups(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	warnings := func(o backup.Options) string {
		var stderr strings.Builder
		warnOfBackups(cli.Env{Stderr: &stderr}, o, filepath.Join(folder, "x.db"))
		return stderr.String()
	}
	const readable = "are in a folder of Dropbox"
	for dir, want := range map[string]string{
		"":                               "there are no backups",
		file:                             "is a file",
		filepath.Join(folder, "backups"): "on the same disk",
		filepath.Join(folder, "Dropbox"): readable,
	} {
		if text := warnings(backup.Options{Dir: dir}); !strings.Contains(text, want) {
			t.Errorf("%q: %q lacks %q", dir, text, want)
		}
	}
	if text := warnings(backup.Options{Dir: filepath.Join(folder, "Dropbox"), EncryptTo: make(backup.Recipients, 1)}); strings.Contains(text, readable) {
		t.Errorf("encrypted: %q", text)
	}
}

// TestWarnOfPlainNext checks the warning about a newest backup that is encrypted, unlike the next ones.
func TestWarnOfPlainNext(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	_, recipient, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	to, err := backup.ParseRecipients([]string{recipient})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	format := store.Format(string(text), 1)
	opened, err := database.Schema{Format: format, Quiet: true}.Open(cli.Env{Context: t.Context()}, db, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(opened.AddDepartments([]store.Department{{Name: "A"}}), opened.Close()); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "x-20261118T120000Z.db.age")
	if _, err := (backup.Job{Format: format, Source: db, Target: target, EncryptTo: to}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, to := range []backup.Recipients{nil, to} {
		var stderr strings.Builder
		warnOfBackups(cli.Env{Stderr: &stderr}, backup.Options{Dir: dir, EncryptTo: to}, db)
		if strings.Contains(stderr.String(), "\nTry: --backup-encrypt-to "+recipient+"\n") != (to == nil) {
			t.Errorf("to %v: %s", to, stderr.String())
		}
	}
}

func TestSyncProgram(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/ana/firefighters":                                  "",
		"/home/ana/Dropbox/station":                               "Dropbox",
		"/home/ana/Dropbox (Station 7)":                           "Dropbox",
		"/home/ana/dropboxes":                                     "",
		`C:\Users\Ana\OneDrive - Fire Department\Documents`:       "OneDrive",
		`G:\My Drive\records`:                                     "Google Drive",
		"/Users/ana/Library/CloudStorage/Box-Box":                 "a sync program",
		"/Users/ana/Library/Mobile Documents/com~apple~CloudDocs": "iCloud",
	} {
		if got := syncProgram(path); got != want {
			t.Errorf("syncProgram(%q) = %q, want %q", path, got, want)
		}
	}
}
