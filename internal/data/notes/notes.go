// Package notes keeps what the server remembers about a database outside of it: one small
// JSON file next to the database, with a member for each note.
package notes

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// The names of the notes.
const (
	Mark       = "mark"       // store.Mark of the database when it was last served
	Lost       = "lost"       // how the database was lost (guard)
	Backups    = "backups"    // the folder and the schedule of the backups of the running server (backup)
	BackupDisk = "backupDisk" // the folder of backups that is on another disk (backup)
	Verified   = "verified"   // when the newest backup was last verified, and how that went (backup)
)

// Path returns the path of the notes about a database. The name begins with a dot, so a copy
// of all files whose names begin like the database's leaves the notes behind. When such a copy
// is put back, the notes still describe the newer database.
func Path(db string) string { return filepath.Join(filepath.Dir(db), "."+filepath.Base(db)+"-notes") }

// Read reads a note into v and reports whether it exists. Notes that cannot be read count
// as missing: they are written as a whole, so only a failing disk can damage them.
func Read(db, name string, v any) bool {
	note, ok := readAll(db)[name]
	return ok && json.Unmarshal(note, v) == nil
}

func readAll(db string) (all map[string]json.RawMessage) {
	text, err := os.ReadFile(Path(db))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || all == nil {
		return map[string]json.RawMessage{}
	}
	return all
}

// writing is held between reading all notes and writing them. Other processes write only while
// they have locked the database.
var writing sync.Mutex

// Write replaces a note and returns when it is on disk.
func Write(db, name string, v any) error {
	note, err := json.Marshal(v)
	if err != nil {
		return err
	}
	writing.Lock()
	defer writing.Unlock()
	all := readAll(db)
	all[name] = note
	return writeAll(db, all)
}

// Remove removes a note. It does nothing if there is none.
func Remove(db, name string) error {
	writing.Lock()
	defer writing.Unlock()
	all := readAll(db)
	if _, ok := all[name]; !ok {
		return nil
	}
	delete(all, name)
	if len(all) == 0 {
		return RemoveAll(db)
	}
	return writeAll(db, all)
}

// RemoveAll removes the file, for a database that is removed as well.
func RemoveAll(db string) error {
	err := os.Remove(Path(db))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func writeAll(db string, all map[string]json.RawMessage) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return osutil.WriteFile(Path(db), append(text, '\n'), true)
}
