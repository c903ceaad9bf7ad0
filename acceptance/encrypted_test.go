package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// newIdentity creates a key for encrypted backups in a file, with the command backup-key.
func newIdentity(t *testing.T) (file, recipient, secret string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key.txt")
	stdout, _ := works(t, "backup-key", "--output", file)
	text, err := os.ReadFile(file)
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return file, strings.TrimSpace(stdout), lines[len(lines)-1]
}

// TestBackupKey checks that backup-key creates an identity file with the matching recipient.
func TestBackupKey(t *testing.T) {
	t.Parallel()
	file, recipient, secret := newIdentity(t)
	printed, _ := works(t, "backup-key")
	written, err := os.ReadFile(file)
	must(t, err)
	for text, recipient := range map[string]string{printed: "", string(written): recipient} {
		identities, err := age.ParseIdentities(strings.NewReader(text))
		must(t, err)
		own := identities[0].(*age.X25519Identity).Recipient().String()
		if len(identities) != 1 || !strings.Contains(text, "\n# "+own+"\n") || recipient != "" && recipient != own {
			t.Errorf("recipient %q, want %s:\n%s", recipient, own, text)
		}
	}
	if !strings.Contains(printed, "█") || strings.Contains(printed, secret) {
		t.Errorf("backup-key prints\n%s", printed)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if code, _, stderr := runCommand(t, "backup-key", "--output", file); code != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("over another key: %d %s", code, stderr)
	}
}

// TestEncryptedBackup checks that an encrypted backup can be checked and restored with its
// key, and that the error without the key names the flag to add.
func TestEncryptedBackup(t *testing.T) {
	t.Parallel()
	db, dir := invented(t, 1, 40), t.TempDir()
	key, recipient, secret := newIdentity(t)
	other, _, _ := newIdentity(t)
	saved, plain, restored := filepath.Join(dir, "monday.db.age"), filepath.Join(dir, "plain.db"), filepath.Join(dir, "new.db")
	works(t, "backup", plain, "--db", db)
	stdout, stderr := works(t, "backup", saved, "--db", db, "--backup-encrypt-to", recipient)
	if found := savedForm.FindStringSubmatch(stdout); stderr != "" || found == nil || found[1] != "40" {
		t.Fatalf("stdout %q, stderr %q", stdout, stderr)
	}
	const withKey = "Try: add --identity KEYFILE, the file with the secret key\n"
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"restore", saved, "--db", restored}, 1, fmt.Sprintf("Error: the backup %q is encrypted\n", saved) + withKey},
		{[]string{"restore", saved, "--db", restored, "--identity", other}, 1,
			fmt.Sprintf("Error: the key of --identity does not open the backup %q\nTry: use the key of %s\n", saved, recipient)},
		{[]string{"restore", plain, "--db", restored, "--identity", key}, 1,
			fmt.Sprintf("Error: reading the backup %q: the backup is not encrypted\n", plain)},
		{[]string{"restore", saved, "--db", restored, "--identity", plain}, 1,
			"Error: --identity " + plain + ": not an age identity file: no valid line begins with AGE-SECRET-KEY-1\n"},
		{[]string{"check", "--db", saved}, 1, fmt.Sprintf("Error: %q is an encrypted backup, not a database\n", saved) +
			"Try: to check it: firefighters check --identity KEYFILE --db " + saved + "\nTry: to restore it: firefighters restore " + saved + " --identity KEYFILE\n"},
		{[]string{"check", "--db", saved, "--identity", key, "--repair"}, 2,
			"Error: --identity and --repair cannot be combined\nTry: firefighters check --help\n"},
		{[]string{"backup", filepath.Join(dir, "x"), "--db", db, "--backup-encrypt-to", "age1nobody"}, 2,
			"Error: --backup-encrypt-to: not an age recipient (age1 and 58 more characters)\nTry: to create a key and its recipient: firefighters backup-key\n"},
	} {
		if code, stdout, stderr := runCommand(t, tt.args...); code != tt.code || stdout != "" || stderr != tt.want {
			t.Errorf("%q: %d %s%s\nwant\n%s", tt.args, code, stdout, stderr, tt.want)
		}
	}
	for _, args := range [][]string{{"serve", "--backup-dir", dir}, {"service", "install"}, {"backup", filepath.Join(dir, "x"), "--db", db}} {
		code, stdout, stderr := runCommand(t, append(args, "--backup-encrypt-to", secret)...)
		if code != 2 || strings.Contains(stdout+stderr, secret[20:]) || !strings.Contains(stderr, "it is the secret key of a recipient, which must not be on this computer") {
			t.Errorf("%q with the secret key: %d %s%s", args, code, stdout, stderr)
		}
	}
	if found := namesIn(t, dir); !slices.Equal(found, []string{"monday.db.age", "plain.db"}) {
		t.Fatalf("files in the folder: %q", found)
	}

	works(t, "check", "--db", saved, "--identity", key)
	code, stdout, stderr := runWith(t, secret+"\n", "restore", saved, "--db", restored, "--identity", "-")
	if code != 0 || !strings.HasPrefix(stdout, "Restored "+restored+" from "+saved+": 40 records of 2 departments") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	if found := namesIn(t, dir); !slices.Equal(found, []string{"monday.db.age", "new.db", "plain.db"}) || recordsIn(t, restored) != 40 {
		t.Errorf("files in the folder: %q", found)
	}
	text, err := os.ReadFile(saved)
	must(t, err)
	must(t, os.WriteFile(saved, text[:len(text)-1], 0o600))
	for _, args := range [][]string{{"check", "--db", saved}, {"restore", saved, "--db", db}} {
		code, _, stderr := runCommand(t, append(args, "--identity", key)...)
		if code != 1 || !strings.HasPrefix(stderr, fmt.Sprintf("Error: the backup %q is damaged\n", saved)) {
			t.Errorf("%q: %d %s", args, code, stderr)
		}
	}
}

// TestServiceEncrypts checks that the folder of backups contains only encrypted files, and
// that a damaged database can be restored from the newest plain copy next to the database.
func TestServiceEncrypts(t *testing.T) {
	t.Parallel()
	db, dir := invented(t, 1, 40), filepath.Join(t.TempDir(), "backups")
	key, recipient, _ := newIdentity(t)
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir, "--backup-every", "1s", "--backup-keep", "2", "--backup-encrypt-to", recipient)
	newest := func() string {
		var found []string
		for _, name := range namesIn(t, dir) {
			if strings.HasSuffix(name, ".db.age") {
				found = append(found, name)
			}
		}
		return slices.Max(append(found, ""))
	}
	eventually(t, "a backup", func() bool { return osutil.Exists(dir) && newest() != "" })
	first := newest()
	eventually(t, "another backup", func() bool { return newest() > first })
	s.logs(t, "the backups are on the same disk")
	s.stop(t)
	for name, content := range contents(t, dir) {
		if !strings.HasSuffix(name, ".db.age") || strings.Contains(content, "SQLite format") {
			t.Errorf("the folder contains %q", name)
		}
	}
	checkModes(t, dir)
	found, err := filepath.Glob(db + ".backup-*")
	if must(t, err); len(found) == 0 || len(found) > 2 { // an older copy may remain if the service stops early
		t.Fatalf("plain copies: %q", found)
	}
	kept := found[len(found)-1]
	if recordsIn(t, kept) != 40 {
		t.Errorf("the copy %s does not have all records", kept)
	}
	works(t, "check", "--db", filepath.Join(dir, newest()), "--identity", key)
	otherKey, _, _ := newIdentity(t)
	verify := []string{"check", "--db", db, "--backup-dir", dir}
	if stdout, stderr := works(t, append(verify, "--identity", key)...); stdout != sound || stderr != "" {
		t.Errorf("with the key: %s%s", stdout, stderr)
	}
	newestSound := fmt.Sprintf("The newest backup %q is sound.\n", filepath.Join(dir, newest()))
	if stdout, stderr := works(t, verify...); stdout != newestSound || !strings.Contains(stderr, "Its header and length are right") {
		t.Errorf("without the key: %s%s", stdout, stderr)
	}
	code, stdout, stderr := runCommand(t, append(verify, "--identity", otherKey)...)
	if code != 1 || !strings.Contains(stderr, "Try: use the key of "+recipient) {
		t.Errorf("with another key: %d %s%s", code, stdout, stderr)
	}

	plain := backupOf(dir, -time.Minute)
	works(t, "backup", plain, "--db", db)
	warning := fmt.Sprintf("Warning: everyone who can open %s can read 1 unencrypted backup, the newest %s\n"+
		"Try: firefighters backup delete-plain --db %s --backup-dir %[1]s\n", dir, filepath.Base(plain), db)
	if stdout, stderr := works(t, append(verify, "--identity", key)...); stdout != sound || stderr != warning {
		t.Errorf("with a newer unencrypted backup: %s%s", stdout, stderr)
	}
	code, stdout, stderr = runCommand(t, append(verify, "--identity", otherKey)...)
	if code != 1 || !strings.Contains(stderr, "Try: use the key of "+recipient) {
		t.Errorf("with another key and a newer unencrypted backup: %d %s%s", code, stdout, stderr)
	}
	removal := []string{"backup", "delete-plain", "--db", db, "--yes"}
	refuses(t, 1, fmt.Sprintf("%s\nError: reading the backup %q: the backup is not encrypted\n", plain, plain), removal...)
	older := backupOf(dir, time.Hour)
	must(t, os.Rename(plain, older))
	if stdout, stderr := works(t, removal...); stdout != "Deleted 1 unencrypted backup.\n" || stderr != older+"\n" || osutil.Exists(older) {
		t.Errorf("delete-plain: %s%s", stdout, stderr)
	}
	empty := t.TempDir()
	works(t, "backup", backupOf(empty, 0), "--db", db)
	refuses(t, 1, fmt.Sprintf("Error: looking for a backup of %q in %q: there is no encrypted backup\n", db, empty),
		"check", "--db", db, "--backup-dir", empty, "--identity", key)

	must(t, os.WriteFile(db, []byte("no longer a database"), 0o600))
	_, _, stderr = runCommand(t, "check", "--db", db)
	if !strings.Contains(stderr, "firefighters restore "+kept+" --db "+db) {
		t.Errorf("the advice is\n%s", stderr)
	}
	must(t, os.Remove(kept))
	_, _, stderr = runCommand(t, "serve", "--db", db, "--backup-dir", dir)
	if !strings.Contains(stderr, "firefighters restore "+filepath.Join(dir, newest())+" --identity KEYFILE --db "+db) {
		t.Errorf("the advice without the plain copy is\n%s", stderr)
	}
}
