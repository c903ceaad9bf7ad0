package acceptance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMoving: one file and two commands bring the records, the settings and the authority
// to another PC.
func TestMoving(t *testing.T) {
	t.Parallel()
	s := start(t)
	old, folder, stick := s.db, t.TempDir(), t.TempDir()
	s.create(t, ana)
	key := newKey(t, old, "default", "--scope", "admin")
	s.signIn(t, key, "en")
	works(t, "cert", "--new", "--yes", "--db", old)
	must(t, os.WriteFile(filepath.Join(filepath.Dir(old), "service.conf"),
		[]byte("# comment\n--listen=127.0.0.1:0\n--backup-dir=E:\\firefighters\n--db=C:\\x.db\n--lissen=x\n--tls-cert=/missing/cert.pem\n"), 0o600))
	file, db := filepath.Join(stick, "move.tar"), filepath.Join(folder, "firefighters.db")

	stdout, stderr := works(t, "backup", "--with-settings", file, "--db", old)
	if !strings.HasPrefix(stdout, "Saved 1 record of 1 department in "+file) || !strings.Contains(stderr, "With it: 5 settings and the authority of the certificate.\n") ||
		!strings.Contains(stderr, "Warning: who has "+file+" has all records, and the key of the authority that other machines trust.\n") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	checkModes(t, stick)
	refuses(t, 1, fmt.Sprintf("Error: %q is there already\nTry: another name, or --force to replace it\n", file), "backup", "--with-settings", file, "--db", old)

	refuses(t, 1, fmt.Sprintf("Error: %q is a backup with settings; nothing was changed\nTry: firefighters restore --with-settings %s --db %s\n", file, file, db), "restore", file, "--db", db)
	text, err := os.ReadFile(file)
	must(t, err)
	damaged, plain := filepath.Join(stick, "damaged.tar"), filepath.Join(stick, "plain.db")
	must(t, os.WriteFile(damaged, text[:len(text)-4000], 0o600))
	works(t, "backup", plain, "--db", old)
	if code, _, stderr := runCommand(t, "restore", "--with-settings", damaged, "--db", db); code != 1 || !strings.HasPrefix(stderr, fmt.Sprintf("Error: the backup %q is damaged; nothing was changed\n", damaged)) {
		t.Errorf("a damaged one: %d, %q", code, stderr)
	}
	refuses(t, 1, fmt.Sprintf("Error: %q is a backup without settings; nothing was changed\nTry: firefighters restore %s --db %s\n", plain, plain, db), "restore", "--with-settings", plain, "--db", db)
	left := contents(t, folder)
	if delete(left, "firefighters.db-lock"); len(left) > 0 {
		t.Errorf("there is %q", left)
	}

	stdout, stderr = works(t, "restore", "--with-settings", file, "--db", db)
	for _, want := range []string{"Restored " + db + " from " + file + ": 1 record of 1 department, ", "\nEverybody must sign in again on the page. Keys and phones stay valid.\n",
		"\n  --listen=127.0.0.1:0\n  --tls-cert=/missing/cert.pem\n", "\nMachines that trusted the other PC trust this one.\n", "\nNext: firefighters serve --db " + db + " --listen="} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q: %s", want, stdout)
		}
	}
	for _, want := range []string{`left out: --backup-dir=E:\firefighters: there is no such folder on this PC`, `left out: --db=C:\x.db: `, "left out: --lissen=x: this version does not know it", "missing: --tls-cert=/missing/cert.pem"} {
		if !strings.Contains(stderr, "Warning: "+want) {
			t.Errorf("stderr lacks %q: %s", want, stderr)
		}
	}
	its, err := os.ReadFile(filepath.Join(filepath.Dir(old), "firefighters-tls", "authority.pem"))
	must(t, err)
	if here, err := os.ReadFile(filepath.Join(folder, "firefighters-tls", "authority.pem")); err != nil || string(here) != string(its) {
		t.Errorf("the authority: %v", err)
	}
	open := 0
	scanSQL(t, db, `SELECT count(*) FROM keys WHERE session_lifetime IS NOT NULL AND revoked_at IS NULL`, &open)
	if conf, err := os.ReadFile(filepath.Join(folder, "service.conf")); err != nil || open > 0 || !strings.HasSuffix(string(conf), "\n--listen=127.0.0.1:0\n--tls-cert=/missing/cert.pem\n") {
		t.Errorf("%d sessions, settings %q, %v", open, conf, err)
	}
	moved := startOn(t, db)
	if l := moved.as(key).list(t, ""); l.TotalCount != 1 {
		t.Errorf("%d records", l.TotalCount)
	}
	before := contents(t, filepath.Join(folder, "firefighters-tls"))
	if code, _, stderr := runCommand(t, "restore", "--with-settings", file, "--db", db); code != 1 || !strings.Contains(stderr, "is in use: another firefighters serves it") ||
		!maps.Equal(before, contents(t, filepath.Join(folder, "firefighters-tls"))) {
		t.Errorf("while it is served: %d, %q", code, stderr)
	}
}
