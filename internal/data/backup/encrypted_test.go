package backup_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// newKey returns a key and its recipients.
func newKey(t *testing.T) (backup.Key, backup.Recipients) {
	t.Helper()
	secret, recipient, err := backup.NewKey()
	must(t, err)
	key, err := backup.ReadKey(strings.NewReader("# for the safe\n\n" + secret + "\n"))
	must(t, err)
	to, err := backup.ParseRecipients([]string{recipient})
	must(t, err)
	return key, to
}

// encrypted is like backedUp, but the backup is encrypted.
func encrypted(t *testing.T) (db, saved string, key backup.Key) {
	t.Helper()
	db, saved = newDatabase(t, 10), filepath.Join(t.TempDir(), "saved.db.age")
	key, to := newKey(t)
	_, err := backup.Job{Format: format, Source: db, Target: saved, EncryptTo: to}.Run(t.Context())
	must(t, err)
	addRecords(t, db, 10)
	return db, saved, key
}

// TestEncryptedBackup checks that the backup folder never contains an unencrypted file, that age
// decrypts the backup with each key, and that a file encrypted by age is restored.
func TestEncryptedBackup(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 10), t.TempDir()
	key, to := newKey(t)
	other, toOther := newKey(t)
	target := filepath.Join(dir, "saved.db.age")
	left := backup.Job{Source: db, Target: target}.Partial() // from a killed unencrypted backup
	for _, suffix := range []string{"", "-journal"} {
		must(t, os.WriteFile(left+suffix, []byte("left"), 0o600))
	}
	copied, err := backup.Job{Format: format, Source: db, Target: target, EncryptTo: append(to, toOther...), Progress: func(int, int) {
		if found := names(t, dir); len(found) > 0 {
			t.Errorf("files during the backup: %q", found)
		}
	}}.Run(t.Context())
	must(t, err)
	if found := names(t, dir); copied.Records != 10 || !slices.Equal(found, []string{"saved.db.age"}) || len(names(t, filepath.Dir(db))) != 1 {
		t.Errorf("%+v; files %q, next to the database %q", copied, found, names(t, filepath.Dir(db)))
	}
	checkModes(t, dir)
	text := contents(t, dir)["saved.db.age"]
	for _, plain := range []string{"SQLite format", "CREATE TABLE"} {
		if strings.Contains(text, plain) {
			t.Errorf("the content is readable: %q", plain)
		}
	}
	var plain []byte
	for _, k := range []backup.Key{key, other} {
		opened, err := age.Decrypt(strings.NewReader(text), k...)
		must(t, err)
		plain, err = io.ReadAll(opened)
		if must(t, err); int64(len(plain)) != copied.Bytes {
			t.Errorf("decrypted %d bytes, want %d", len(plain), copied.Bytes)
		}
	}

	var byAge bytes.Buffer
	sealed, err := age.Encrypt(&byAge, to[0])
	must(t, err)
	_, err = sealed.Write(plain)
	must(t, errors.Join(err, sealed.Close()))
	saved, restored := filepath.Join(t.TempDir(), "by-age"), filepath.Join(t.TempDir(), "new.db")
	must(t, os.WriteFile(saved, byAge.Bytes(), 0o600))
	_, err = backup.Restore{Format: format, File: saved, Database: restored, Key: key}.Run(t.Context())
	if must(t, err); records(t, restored) != 10 {
		t.Errorf("restored from a file of age: %d records", records(t, restored))
	}
}

// TestEncryptedRestore checks that only the right key restores the backup, and that a failure changes
// nothing and leaves no files.
func TestEncryptedRestore(t *testing.T) {
	t.Parallel()
	db, saved, key := encrypted(t)
	wrong, _ := newKey(t)
	text := contents(t, filepath.Dir(saved))["saved.db.age"]
	body := strings.Index(text, "\n--- ") + 100
	plain := filepath.Join(t.TempDir(), "plain.db")
	makeBackup(t, db, plain)
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "x.age")
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	flipped := func(at int) string { return text[:at] + string(text[at]^1) + text[at+1:] }
	release, err := backup.Lock(db)
	must(t, err)
	must(t, release())
	before := contents(t, filepath.Dir(db))
	for _, tt := range []struct {
		name, file string
		key        backup.Key
		want       error
	}{
		{"without a key", saved, nil, backup.ErrEncrypted},
		{"with another key", saved, wrong, &backup.WrongKeyError{}},
		{"a plain one", plain, key, backup.ErrNotEncrypted},
		{"none", saved + "x", key, sqlite.ErrNotExist},
		{"its header changed", file(flipped(strings.Index(text, "firefighters-backup"))), key, sqlite.ErrCorrupt},
		{"its header cut", file(text[:60]), key, sqlite.ErrCorrupt},
		{"its content changed", file(flipped(body)), key, sqlite.ErrCorrupt},
		{"its content cut", file(text[:len(text)-1]), key, sqlite.ErrCorrupt},
		{"with more behind it", file(text + "x"), key, sqlite.ErrCorrupt},
	} {
		_, err := backup.Restore{Format: format, File: tt.file, Database: db, Key: tt.key}.Run(t.Context())
		known, _ := errors.AsType[*backup.Error](err)
		if _, isWrong := tt.want.(*backup.WrongKeyError); known == nil || known.Op != backup.OpRead || known.Path != tt.file ||
			!errors.Is(err, tt.want) && !(isWrong && errors.As(err, new(*backup.WrongKeyError))) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
			t.Fatalf("%s: files %q", tt.name, names(t, filepath.Dir(db)))
		}
	}
	done, err := backup.Restore{Format: format, File: saved, Database: db, Key: append(wrong, key...)}.Run(t.Context())
	if must(t, err); done.Records != 10 || records(t, db) != 10 || len(names(t, filepath.Dir(db))) != 2 {
		t.Errorf("%+v; files %q", done, names(t, filepath.Dir(db)))
	}
	checkModes(t, filepath.Dir(db))
}

// TestEncryptedCutOff checks that a restore killed after any step leaves no decrypted file after the
// next program has run.
func TestEncryptedCutOff(t *testing.T) {
	t.Parallel()
	seen := false
	for steps := range backup.RestoreSteps + 1 {
		db, saved, key := encrypted(t)
		must(t, os.WriteFile(db+"-lock", nil, 0o600))
		must(t, backup.Restore{Format: format, File: saved, Database: db, Key: key}.Begin(t.Context(), steps))
		seen = seen || exists(db+".restoring-decrypted")
		checkModes(t, filepath.Dir(db))
		want := 20
		if steps == backup.RestoreSteps {
			want = 10
		}
		release, err := backup.Lock(db)
		must(t, err)
		must(t, release())
		if records(t, db) != want || exists(db+".restoring-decrypted") || exists(db+".restoring") {
			t.Errorf("after %d steps: %d records, %q", steps, records(t, db), names(t, filepath.Dir(db)))
		}
	}
	if !seen {
		t.Error("no step created a decrypted file")
	}
}

// TestEncryptedKilled checks that a killed backup leaves nothing in its folder, and nothing next to
// the database after the next startup.
func TestEncryptedKilled(t *testing.T) {
	t.Parallel()
	_, to := newKey(t)
	for _, step := range []string{"Progress 1", "Check 1"} {
		db, target := newDatabase(t, 10), filepath.Join(t.TempDir(), "x.age")
		kill(t, program("encrypted backup", step, db, target), step)
		left := backup.Job{Source: db, Target: target, EncryptTo: to}.Partial()
		if len(names(t, filepath.Dir(target))) > 0 || !exists(left) {
			t.Fatalf("%s: files %q, next to the database %q", step, names(t, filepath.Dir(target)), names(t, filepath.Dir(db)))
		}
		release, err := backup.Lock(db)
		must(t, err)
		must(t, release())
		addRecords(t, db, 1) // removes the -wal of the killed program
		if found := names(t, filepath.Dir(db)); !slices.Equal(found, []string{"x.db"}) {
			t.Errorf("%s: files next to the database: %q", step, found)
		}
	}
}

// TestEncryptedSchedule checks that encrypted and unencrypted backups are pruned together, that one
// unencrypted copy stays next to the database, and that damage is detected without the key.
func TestEncryptedSchedule(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 10), t.TempDir(), noon.AddDate(-1, 0, 0)
	_, to := newKey(t)
	keptCopies := func() (kept []string) {
		return slices.DeleteFunc(names(t, filepath.Dir(db)), func(name string) bool { return !strings.HasPrefix(name, "x.db.backup-") })
	}
	turn := func(to backup.Recipients, keep int) *backup.Scheduler {
		s, _ := newScheduler(t, db, dir, keep, &now)
		s.Encrypt(to)
		s.Begin(t.Context())
		s.Turn(t.Context())
		if state := s.State(); !state.OK || !state.Last.Equal(now) {
			t.Fatalf("%+v", state)
		}
		now = now.Add(day)
		return s
	}
	stranger := filepath.Join(t.TempDir(), "x.db")
	copyOf(t, newDatabase(t, 3), stranger)
	_, err := backup.Job{Format: format, Source: stranger, Target: filepath.Join(dir, "x-20200101T000000Z.db.age"), EncryptTo: to}.Run(t.Context())
	must(t, err)

	turn(nil, 4)
	turn(to, 4)
	if found := keptCopies(); !slices.Equal(found, []string{"x.db.backup-20251121T120000Z"}) || records(t, filepath.Join(filepath.Dir(db), found[0])) != 10 {
		t.Fatalf("copies next to the database: %q", found)
	}
	checkModes(t, filepath.Dir(db))
	checkModes(t, dir)
	for range 8 {
		turn(to, 4)
	}
	var found []string
	for _, f := range backup.Files(format, db, dir) {
		if filepath.Dir(f.Path) == dir {
			found = append(found, filepath.Base(f.Path))
		}
	}
	// The newest, and the last of the day and of the week before; there is no month before.
	want := []string{"x-20251129T120000Z.db.age", "x-20251128T120000Z.db.age", "x-20251127T120000Z.db.age", "x-20251123T120000Z.db.age"}
	if !slices.Equal(found, want) || len(names(t, dir)) != len(found)+1 {
		t.Fatalf("backups %q, files %q", found, names(t, dir))
	}
	newest := filepath.Join(dir, found[0])
	if valid := backup.NewestValid(t.Context(), format, db, dir); valid == nil || valid.Encrypted {
		t.Errorf("newest valid file: %+v", valid)
	}

	text, err := os.ReadFile(newest)
	must(t, err)
	text[len(text)-1] ^= 1
	must(t, os.WriteFile(newest, text, 0o600))
	s, _ := newScheduler(t, db, dir, 4, &now)
	if s.Begin(t.Context()); s.State().Last == nil || !s.State().Last.Equal(now.AddDate(0, 0, -2)) {
		t.Errorf("state with a damaged newest backup: %+v", s.State())
	}

	turn(nil, 4)
	if found := keptCopies(); len(found) > 0 {
		t.Errorf("copies next to the database without encryption: %q", found)
	}
	if !exists(filepath.Join(dir, "x-20200101T000000Z.db.age")) {
		t.Error("the backup of another database was deleted")
	}
}

// TestDecryptedBeside checks that a backup decrypted in its folder does not count as another backup.
func TestDecryptedBeside(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 1), t.TempDir(), noon
	_, to := newKey(t)
	s, _ := newScheduler(t, db, dir, 8, &now)
	s.Encrypt(to)
	for range 2 {
		s.Turn(t.Context())
		saveAs(t, db, dir, now)
		now = now.Add(day)
	}
	s.Turn(t.Context())
	if found := backup.Files(format, db, dir); len(found) != 6 { // including the copy next to the database
		t.Errorf("files %q", names(t, dir))
	}
}

// TestRecipientsChange checks that a scheduler with other recipients creates a backup at once, that the
// state counts the unencrypted backups, and that DeletePlain deletes them only after an encrypted one.
func TestRecipientsChange(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 1), t.TempDir(), noon
	_, to := newKey(t)
	_, other := newKey(t)
	start := func(to backup.Recipients, backups int) *backup.Scheduler {
		t.Helper()
		now = now.Add(time.Hour)
		s, log := newScheduler(t, db, dir, 9, &now)
		s.Encrypt(to)
		s.SetPlace(func(a, b string) bool { return a == b })
		s.Begin(t.Context())
		s.Step(t.Context())
		if files, err := backup.List(db, dir); err != nil || !s.State().OK || len(files) != backups {
			t.Fatalf("files %+v, %+v, log %s", files, s.State(), log)
		}
		return s
	}
	deletePlain := func() (int, error) {
		return backup.DeletePlain(t.Context(), format, db, dir, backup.PlainIn(db, dir))
	}
	if s := start(nil, 1); s.State().Trouble != "" {
		t.Errorf("without encryption: %+v", s.State())
	}
	if deleted, err := deletePlain(); deleted > 0 || !errors.Is(err, backup.ErrNotEncrypted) {
		t.Errorf("without an encrypted backup: deleted %d, %v", deleted, err)
	}
	s := start(append(to, other...), 2)
	detail := "backups that are not encrypted: 1; see firefighters backup delete-plain"
	if state := s.State(); state.Trouble != backup.Plain || state.Detail != detail {
		t.Errorf("with an unencrypted backup: %+v", state)
	}
	start(append(other, to...), 2)
	start(other, 3)
	s = start(other, 3)
	inUse := backup.PlainIn(db, dir)[0].Path + "-wal"
	must(t, os.WriteFile(inUse, nil, 0o600))
	if deleted, err := deletePlain(); deleted > 0 || err != nil {
		t.Errorf("in use: deleted %d, %v", deleted, err)
	}
	must(t, os.Remove(inUse))
	must(t, os.Rename(db, db+"-away"))
	if deleted, err := deletePlain(); deleted > 0 || err == nil {
		t.Errorf("without the database: deleted %d, %v", deleted, err)
	}
	must(t, os.Rename(db+"-away", db))
	if deleted, err := deletePlain(); deleted != 1 || err != nil || len(backup.PlainIn(db, dir)) > 0 {
		t.Errorf("deleted %d, %v, files %q", deleted, err, names(t, dir))
	}
	if s.Step(t.Context()); s.State().Trouble != "" {
		t.Errorf("without unencrypted backups: %+v", s.State())
	}
	start(nil, 3)
}

// TestRecipients checks that invalid recipients are rejected, and that the error does not contain
// the text.
func TestRecipients(t *testing.T) {
	t.Parallel()
	secret, recipient, err := backup.NewKey()
	must(t, err)
	for text, want := range map[string]error{
		recipient: nil, " " + recipient + "\n": nil,
		secret: backup.ErrSecret, strings.ToLower(secret): backup.ErrSecret, "key:" + secret: backup.ErrSecret,
		"": backup.ErrNotRecipient, "age1": backup.ErrNotRecipient, recipient[:60]: backup.ErrNotRecipient, "ssh-ed25519 AAAA": backup.ErrNotRecipient,
	} {
		if _, err := backup.ParseRecipients([]string{text}); err != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := backup.ParseRecipients([]string{"#", "public", "key:", recipient, secret}); err != backup.ErrSecret {
		t.Errorf("a whole key file: %v", err)
	}
	for _, text := range []string{"", "# nothing\n", recipient, secret[:70] + "\n", "SQLite format 3\x00"} {
		if _, err := backup.ReadKey(strings.NewReader(text)); err != backup.ErrNotKey {
			t.Errorf("%q: %v", text, err)
		}
	}
}
