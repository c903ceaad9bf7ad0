package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// figures are the members of /readyz for authorized clients.
type figures struct {
	Version         *string `json:"version"`
	Uptime          *int64  `json:"uptimeSeconds"`
	DatabaseBytes   *int64  `json:"databaseBytes"`
	Free            *int64  `json:"diskFreeBytes"`
	BackupFree      *int64  `json:"backupDiskFreeBytes"`
	BackupAge       *int64  `json:"backupAgeSeconds"`
	CertificateDays *int64  `json:"certificateDays"`
}

// isBetween reports whether a figure exists and is within these bounds.
func isBetween(figure *int64, low, high int64) bool {
	return figure != nil && *figure >= low && *figure <= high
}

// anotherDisk returns a folder for backups, and whether it is on a different disk than the database.
// Only Linux always has another disk.
func anotherDisk(t *testing.T, db string) (backups string, apart bool) {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "firefighters-")
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return filepath.Join(folder, "backups"), !osutil.SameDisk(folder, filepath.Dir(db))
}

// TestFigures checks the figures for monitoring on this computer.
func TestFigures(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	backups, apart := anotherDisk(t, db)
	s := startWith(t, db, "serve", "--db", db, "--tls-self-signed", "--backup-dir", backups)
	s.trust(t)
	var f figures
	eventually(t, "a backup", func() bool { f = s.as("").readyz(t).figures; return f.BackupAge != nil })
	space, err := osutil.SpaceOf(filepath.Dir(db))
	must(t, err)
	if f.Version == nil || *f.Version == "" || !isBetween(f.Uptime, 0, int64(patience/time.Second)) || !isBetween(f.DatabaseBytes, 8192, 1<<26) ||
		!isBetween(f.Free, 1, space.Total) || isBetween(f.BackupFree, 1, 1<<62) != apart || !isBetween(f.BackupAge, 0, int64(patience/time.Second)) ||
		!isBetween(f.CertificateDays, 30, 1000) {
		t.Errorf("/readyz: %s", s.do(t, "GET", "/readyz", "").body)
	}
	plain := start(t)
	if f := plain.readyz(t).figures; f.BackupFree != nil || f.BackupAge != nil || f.CertificateDays != nil || f.Free == nil {
		t.Errorf("/readyz without backups and TLS: %s", plain.do(t, "GET", "/readyz", "").body)
	}
}

// TestFiguresNeedKey checks that clients on other hosts need a key of any scope to read the
// figures and times. Without a valid key they get the short answer and no error. Invalid keys count against
// the limit.
func TestFiguresNeedKey(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	backups, _ := anotherDisk(t, db)
	s := startWith(t, db, "serve", "--db", db, "--rate-limit", "100", "--backup-dir", backups)
	eventually(t, "a backup", func() bool { r := s.as("").readyz(t); return r.Backup.OK && r.Backup.Last != nil })
	elsewhere := func(key string, headers ...string) string {
		t.Helper()
		return s.as(key).do(t, "GET", "/readyz", "", append(headers, "X-Forwarded-For", "192.0.2.7")...).wants(t, 200).body
	}
	const short = `{"status":"ready","backup":{"ok":true}}`
	revoked := newKey(t, s.db, "default")
	works(t, "keys", "revoke", "2", "--db", s.db)
	s.as(revoked).refused(t, "revoked")
	expired := newExpiredKey(t, s.db)
	s.as(expired).refused(t, "expired")
	for _, key := range []string{"", "ff_wrong", revoked, expired} {
		if got := elsewhere(key); got != short {
			t.Errorf("/readyz with the key %q: %s", key, got)
		}
	}
	if got := elsewhere("", "Authorization", "Basic "+s.key); got != short {
		t.Errorf("/readyz with Basic authentication: %s", got)
	}
	s.logs(t, `"code":"key_missing"}`) // of the last request
	for _, scope := range []string{"read", "write", "admin", "phone", "calendar"} {
		got := elsewhere(newKey(t, s.db, "default", "--scope", scope))
		if !strings.Contains(got, `"uptimeSeconds":`) || !strings.Contains(got, `"ok":true,"last":"`) {
			t.Errorf("/readyz with the scope %s: %s", scope, got)
		}
	}
	if got := s.as("ff_wrong").do(t, "GET", "/readyz", "").wants(t, 200).body; !strings.Contains(got, `"diskFreeBytes":`) {
		t.Errorf("/readyz on this computer with a wrong key: %s", got)
	}

	const shortest = `{"status":"ready"}`
	limited := start(t, "--rate-limit", "1") // without backups
	for _, key := range []string{"ff_a", "ff_b", "ff_c", "ff_d"} {
		got := limited.as(key).do(t, "GET", "/readyz", "", "X-Forwarded-For", "192.0.2.7").wants(t, 200)
		if got.body != shortest || got.header.Get("RateLimit") != "" {
			t.Errorf("/readyz with a wrong key: %v %s", got.header, got.body)
		}
	}
	limited.as("ff_e").do(t, "GET", collection, "").wants(t, 429)
}
