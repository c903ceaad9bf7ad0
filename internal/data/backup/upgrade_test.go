package backup_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// upgrade locks a database, upgrades it by step and returns the announced path.
func upgrade(t *testing.T, db string, step func(*sqlite.Conn) error) (kept string, err error) {
	t.Helper()
	release, err := backup.Lock(db)
	must(t, err)
	defer release()
	err = backup.Upgrade{Format: next, Database: db, Steps: []func(*sqlite.Conn) error{step},
		Announce: func(path string) { kept = path }}.Run(t.Context())
	return kept, err
}

// keptBefore returns the copies created before upgrades.
func keptBefore(t *testing.T, db string) []string {
	t.Helper()
	found, err := filepath.Glob(db + ".before-upgrade-*")
	must(t, err)
	return found
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, 10)
	kept, err := upgrade(t, db, upgradeTo2)
	must(t, err)
	if found := keptBefore(t, db); !slices.Equal(found, []string{kept}) || next.HeaderVersion(db) != 2 || next.HeaderVersion(kept) != 1 ||
		records(t, db) != 10 || records(t, kept) != 10 {
		t.Errorf("kept %q", found)
	}
	if kept, err := upgrade(t, db, upgradeTo2); kept != "" || err != nil {
		t.Errorf("upgrading a current database: %q, %v", kept, err)
	}
	// Restore the copy.
	if _, err := (backup.Restore{Format: next, File: kept, Database: db}).Run(t.Context()); err != nil || next.HeaderVersion(db) != 1 {
		t.Error(err)
	}
}

// TestUpgradeDamaged checks that a damaged database is neither changed nor copied.
func TestUpgradeDamaged(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, 100)
	damageEnd(t, db)
	before := contents(t, filepath.Dir(db))
	kept, err := upgrade(t, db, upgradeTo2)
	if !errors.Is(err, sqlite.ErrCorrupt) || kept != "" || !maps.Equal(before, contents(t, filepath.Dir(db))) {
		t.Errorf("kept %q, %v; files %q", kept, err, names(t, filepath.Dir(db)))
	}
	release, err := backup.Lock(db)
	must(t, err)
	must(t, release())
}

// TestUpgradeFails checks that a failed upgrade leaves no copy.
func TestUpgradeFails(t *testing.T) {
	t.Parallel()
	db, broken := newDatabase(t, 1), errors.New("it broke")
	_, err := upgrade(t, db, func(*sqlite.Conn) error { return broken })
	var failure *sqlite.FileError
	if !errors.Is(err, broken) || !errors.As(err, &failure) || failure.Op != "upgrading" || len(keptBefore(t, db)) > 0 {
		t.Errorf("%v, kept %q", err, keptBefore(t, db))
	}
}

// damageEnd damages the last pages of a database.
func damageEnd(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	copy(text[len(text)-3*4096:], strings.Repeat("damage", 1000))
	must(t, os.WriteFile(path, text, 0o600))
}

// TestUpgradeUndoesRestore checks that an interrupted restore is undone before the schema is upgraded.
func TestUpgradeUndoesRestore(t *testing.T) {
	t.Parallel()
	db, saved := newDatabase(t, 1), filepath.Join(t.TempDir(), "saved.db")
	makeBackup(t, db, saved)
	addRecords(t, db, 1)
	cutOff(t, db, saved, backup.RestoreSteps-1, true)
	if _, err := upgrade(t, db, upgradeTo2); err != nil || records(t, db) != 2 || exists(db+".restoring") || len(keptBeside(t, db)) > 0 {
		t.Errorf("%v; files %q", err, names(t, filepath.Dir(db)))
	}
}
