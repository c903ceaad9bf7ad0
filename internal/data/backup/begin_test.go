package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestRefuseBegin checks that backups prevent an empty database, but not files that only have the name
// of one, and that a restore ends the permission to create it.
func TestRefuseBegin(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 2), t.TempDir()
	missing := filepath.Join(t.TempDir(), "x.db")
	junk, saved := filepath.Join(dir, "x-20261119T120000Z.db"), filepath.Join(dir, "x-20261118T120000Z.db")
	must(t, os.WriteFile(junk, []byte("no database, but a text"), 0o600))
	must(t, backup.RefuseBegin(format, missing, dir))
	makeBackup(t, db, saved)
	if err := backup.RefuseBegin(format, missing, dir); !errors.Is(err, backup.ErrMissing) {
		t.Errorf("with a backup: %v", err)
	}
	makeBackup(t, newDatabase(t, 0), filepath.Join(dir, "x-20261119T130000Z.db"))
	if newest := backup.NewestValid(t.Context(), format, missing, dir); newest == nil || newest.Path != saved {
		t.Errorf("the newest backup with records is %+v", newest)
	}
	must(t, backup.NoteSettings(missing, backup.Options{Dir: dir}))
	if err := backup.RefuseBegin(format, missing, ""); !errors.Is(err, backup.ErrMissing) {
		t.Errorf("in the noted folder: %v", err)
	}
	must(t, backup.WriteNote(missing, backup.NoteNew, true))
	_, err := backup.Restore{Format: format, File: saved, Database: missing}.Run(t.Context())
	must(t, err)
	if must(t, backup.RefuseBegin(format, missing, dir)); backup.ReadNote(missing, backup.NoteNew, new(bool)) {
		t.Error("the note remains after a restore")
	}
}

// looking is a context that calls look when it is asked for its error.
type looking struct {
	context.Context
	look func()
}

func (l looking) Err() error { l.look(); return l.Context.Err() }

// TestVerifyDecryptedFolder checks that a killed check leaves no folder either, and that an error names
// the temporary folder.
func TestVerifyDecryptedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files in use keep their names")
	}
	_, saved, key := encrypted(t)
	temp, looks := t.TempDir(), 0
	t.Setenv("TMPDIR", temp)
	_, err := backup.VerifyDecrypted(looking{t.Context(), func() {
		looks++
		if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
			t.Errorf("the temporary folder has %v, %v", entries, err)
		}
	}}, format, saved, key, func(string) {})
	if must(t, err); looks == 0 {
		t.Error("nothing was looked at")
	}
	gone := filepath.Join(temp, "gone")
	t.Setenv("TMPDIR", gone)
	_, err = backup.VerifyDecrypted(t.Context(), format, saved, key, func(string) {})
	if failed, ok := errors.AsType[*backup.Error](err); !ok || failed.Path != gone {
		t.Errorf("without a temporary folder: %v", err)
	}
}
