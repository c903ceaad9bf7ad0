package backup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// The notes are what the server stores about a database outside of it: a small JSON file next to the
// database with a member for each note.
const (
	NoteMark       = "mark"       // store.Mark of the database when it was last served; written by guard
	NoteLost       = "lost"       // how the database was lost; written by guard
	NoteNew        = "new"        // true if the next start may create an empty database despite backups
	NoteWarnings   = "warnings"   // the warnings of the installed service since it started
	noteBackups    = "backups"    // the folder and the schedule of the backups of the running server
	noteBackupDisk = "backupDisk" // the folder of backups that is on another disk
	noteSum        = "sum"        // SHA-256 of the newest encrypted backup
	NoteVerified   = "verified"   // when the newest backup was last verified, and how that went
)

// notesPath returns the path of the notes about a database. The name begins with a dot, so a copy
// of all files whose names begin like the database's leaves the notes behind. When such a copy
// replaces the database, the notes still describe the newer database.
func notesPath(db string) string {
	return filepath.Join(filepath.Dir(db), "."+filepath.Base(db)+"-notes")
}

// ReadNote reads a note into v and reports whether it exists. Notes that cannot be read count
// as missing: they are written as a whole, so only a failing disk can damage them.
func ReadNote(db, name string, v any) bool {
	note, ok := readNotes(db)[name]
	return ok && json.Unmarshal(note, v) == nil
}

func readNotes(db string) (all map[string]json.RawMessage) {
	text, err := os.ReadFile(notesPath(db))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || all == nil {
		return map[string]json.RawMessage{}
	}
	return all
}

// writingNotes is held between reading all notes and writing them. Other processes write only while
// they have locked the database.
var writingNotes sync.Mutex

// WriteNote replaces a note and returns when it is on disk.
func WriteNote(db, name string, v any) error {
	note, err := json.Marshal(v)
	if err != nil {
		return err
	}
	writingNotes.Lock()
	defer writingNotes.Unlock()
	all := readNotes(db)
	all[name] = note
	return writeNotes(db, all)
}

// RemoveNote removes a note. It does nothing if there is none.
func RemoveNote(db, name string) error {
	writingNotes.Lock()
	defer writingNotes.Unlock()
	all := readNotes(db)
	if _, ok := all[name]; !ok {
		return nil
	}
	delete(all, name)
	if len(all) == 0 {
		return RemoveNotes(db)
	}
	return writeNotes(db, all)
}

// RemoveNotes removes the file of the notes, for a database that is removed as well.
func RemoveNotes(db string) error {
	err := os.Remove(notesPath(db))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func writeNotes(db string, all map[string]json.RawMessage) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return osutil.WriteFile(notesPath(db), append(text, '\n'), true)
}
