//go:build unix

package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestBackupForOthersAsRoot: root makes the copy for another user's folder next to the
// database. If the database is in such a folder as well, root makes the copy in a temporary
// folder that only root can change. The next backup removes what a killed one has left there.
func TestBackupForOthersAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to somebody else")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	give := func(folder string) { must(t, os.Chown(folder, 12345, 12345)) }
	db, dir := newDatabase(t, 20), t.TempDir()
	give(dir)
	target := filepath.Join(dir, "x.db")
	save := func(work string) error {
		var there []string
		job := backup.Job{Content: toy{}, Source: db, Target: target, Force: true}
		job.Progress = func(int, int) {
			must(t, filepath.WalkDir(work, func(path string, _ os.DirEntry, _ error) error {
				there = append(there, filepath.Base(path))
				return nil
			}))
		}
		_, err := job.Run(t.Context())
		if name := filepath.Base(job.Partial()); err == nil && !slices.Contains(there, name) {
			t.Errorf("in %s there was %q", work, there)
		}
		return err
	}
	left := backup.Job{Source: db, Target: db}.Partial()
	must(t, os.WriteFile(left, []byte("left"), 0o600))
	if err := save(filepath.Dir(db)); err != nil || records(t, target) != 20 || exists(left) || len(names(t, dir)) != 1 {
		t.Errorf("%v; there is %q", err, names(t, dir))
	}

	give(filepath.Dir(db))
	own := filepath.Join(temporary, "firefighters-"+strings.Trim(filepath.Base(left), "."))
	must(t, os.Mkdir(own, 0o700))
	must(t, os.WriteFile(filepath.Join(own, filepath.Base(left)+"-journal"), []byte("left"), 0o600))
	if err := save(temporary); err != nil || records(t, target) != 20 || len(names(t, temporary)) > 0 {
		t.Errorf("%v; there is %q", err, names(t, temporary))
	}

	give(temporary)
	var failure *backup.Error
	if err := save(temporary); !errors.Is(err, osutil.ErrShared) || !errors.As(err, &failure) || filepath.Dir(failure.Path) != temporary {
		t.Errorf("with a folder for temporary files of another user: %v", err)
	}
	must(t, os.Chown(temporary, 0, 0))
	must(t, os.Mkdir(own, 0o755))
	give(own)
	if err := save(temporary); !errors.Is(err, osutil.ErrShared) {
		t.Errorf("with a folder of another user in its place: %v", err)
	}
}

// TestPlainCopyStaysAsRoot: where root makes an encrypted backup for the service, whose folder
// has the plain copy, the plain copy of the last backup stays until there is another.
func TestPlainCopyStaysAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to somebody else")
	}
	db, dir, now := newDatabase(t, 3), t.TempDir(), noon
	s, log := newScheduler(t, db, dir, 9, &now)
	_, to := newKey(t)
	s.Encrypt(to)
	s.Turn(t.Context())
	kept := db + ".backup-20261120T120000Z"
	if !exists(kept) {
		t.Fatalf("there is %q, log %s", names(t, filepath.Dir(db)), log)
	}
	must(t, os.Chown(filepath.Dir(db), 12345, 12345))
	now = now.Add(day)
	if s.Turn(t.Context()); len(backup.Files(toy{}, db, dir)) != 3 || !exists(kept) {
		t.Errorf("beside the database is %q, in the folder %q, log %s", names(t, filepath.Dir(db)), names(t, dir), log)
	}
	must(t, os.Chown(filepath.Dir(db), 0, 0))
	now = now.Add(day)
	if s.Turn(t.Context()); exists(kept) || !exists(db+".backup-20261122T120000Z") {
		t.Errorf("then there is %q, log %s", names(t, filepath.Dir(db)), log)
	}
}
