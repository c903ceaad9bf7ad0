package service

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/authority"
)

func runCert(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return execute(t, Service{}, append([]string{"cert"}, args...)...)
}

// newAuthority creates an authority and returns the path of its database, which is missing.
func newAuthority(t *testing.T) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	_, err := authority.Open(authority.Options{Folder: authority.Folder(db), Listen: "0.0.0.0:8443", Log: slog.New(slog.DiscardHandler),
		Machine: func() authority.Machine {
			return authority.Machine{Host: "STATION-PC", Names: []string{"station-pc"}, Addresses: []netip.Addr{netip.MustParseAddr("192.168.1.20")}}
		}})
	must(t, err)
	return db
}

func TestCert(t *testing.T) {
	t.Parallel()
	db := newAuthority(t)
	d, err := authority.Describe(authority.Folder(db))
	must(t, err)
	code, stdout, stderr := runCert(t, "--db", db)
	for _, want := range []string{d.Name, d.Fingerprint, d.File, "for station-pc\n", "and 192.168.1.20\n", "-delstore Root " + strings.ReplaceAll(d.SHA1, ":", "") + "\n",
		"Windows", "macOS", "Debian", "Fedora", "Firefox", "Chromium", "Android", "iPhone"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing:\n%s", want, stdout)
		}
	}
	if code != 0 || stderr != "" || strings.Contains(stdout, "PRIVATE") {
		t.Errorf("code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	}
	code, stdout, _ = runCert(t, "--db", db, "--json")
	var got struct {
		Authority   struct{ Name, SHA256, SHA1, ExpiresAt, File string }
		Certificate struct {
			Names, Addresses []string
			ExpiresAt        string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("%d, %v: %s", code, err, stdout)
	}
	if got.Authority.SHA256 != d.Fingerprint || got.Authority.SHA1 != d.SHA1 || got.Certificate.Addresses[0] != "192.168.1.20" || !strings.HasSuffix(got.Certificate.ExpiresAt, "Z") {
		t.Errorf("%+v", got)
	}
}

func TestCertNew(t *testing.T) {
	t.Parallel()
	db := newAuthority(t)
	folder := authority.Folder(db)
	before, err := authority.Describe(folder)
	must(t, err)
	for _, tt := range []struct {
		code  int
		args  string
		words string
	}{
		{2, "--new", "Try: add --yes"},
		{2, "--name records.example", "--name requires --new"},
		{1, "--new --yes --name two\twords", "is not the name of a computer"},
		{2, "stray", "Try: firefighters cert"},
	} {
		code, _, stderr := runCert(t, append(strings.Split(tt.args, " "), "--db", db)...)
		if code != tt.code || !strings.Contains(stderr, tt.words) {
			t.Errorf("%s: code %d, stderr %q", tt.args, code, stderr)
		}
	}
	if after, err := authority.Describe(folder); err != nil || after.Fingerprint != before.Fingerprint {
		t.Errorf("the authority has changed: %v", err)
	}
	code, stdout, stderr := runCert(t, "--db", db, "--new", "--yes", "--name", "records.example")
	after, err := authority.Describe(folder)
	if code != 0 || err != nil || after.Fingerprint == before.Fingerprint || !strings.Contains(stdout, "records.example") {
		t.Errorf("code %d, %v, stderr %q, stdout:\n%s", code, err, stderr, stdout)
	}
}

// TestCertPermission checks the hint for a user who may not read the folder.
func TestCertPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() <= 0 {
		t.Skip("this user may read everything, or the system is Windows")
	}
	db := newAuthority(t)
	folder := authority.Folder(db)
	must(t, os.Chmod(folder, 0))
	t.Cleanup(func() { os.Chmod(folder, 0o700) })
	want := "Error: this needs administrator rights\nTry: " + cli.AsAdministrator(cli.Typed()+" cert --db "+cli.Quote(db)) + "\n"
	if code, _, stderr := runCert(t, "--db", db); code != 1 || stderr != want {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

func TestNoCert(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	want := "Error: there is no local authority yet\nTry: firefighters serve --tls-self-signed --listen 0.0.0.0:8443 --db " + cli.Quote(db) + "\n"
	if code, stdout, stderr := runCert(t, "--db", db); code != 1 || stdout != "" || stderr != want {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if code, _, stderr := runCert(t, "--db", db, "--new"); code != 0 { // without an authority there is no question
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}
