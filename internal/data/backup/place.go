package backup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Why backups are not on the disk that they are meant for.
var (
	// ErrAway is certain: the folder was on another disk before.
	ErrAway = errors.New("the disk for backups is not connected: their folder is on the disk of the database")

	// ErrPerhapsAway is likely: the folder is where other disks are mounted.
	ErrPerhapsAway = errors.New("the backups are on the disk of the database, " +
		"although their folder is one for other disks: is their disk connected?")
)

// settings is the note about the backups of a server.
type settings struct {
	Dir   string `json:"dir"`   // absolute
	Every int64  `json:"every"` // seconds
	Keep  int    `json:"keep"`
}

// NoteSettings notes the folder and the schedule of the backups that a server makes of a
// database. Without a folder it removes the note.
func NoteSettings(db string, o Options) error {
	db = osutil.Resolve(db)
	if o.Dir == "" {
		return RemoveNote(db, noteBackups)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	return WriteNote(db, noteBackups, settings{dir, int64(o.Every / time.Second), o.Keep})
}

// NotedSettings returns what NoteSettings has noted, and whether there is a note.
func NotedSettings(db string) (o Options, noted bool) {
	var of settings
	noted = ReadNote(osutil.Resolve(db), noteBackups, &of)
	return Options{Dir: of.Dir, Every: time.Duration(of.Every) * time.Second, Keep: of.Keep}, noted
}

// place is where the backups of a database are.
type place struct {
	dir, db  string // absolute, after links
	sameDisk func(a, b string) bool
}

func newPlace(dir, db string) place { return place{realPath(dir), realPath(db), osutil.SameDisk} }

// asleep reports whether the disk of an absolute path is connected, and not mounted until
// somebody looks.
func asleep(path string) bool {
	return slices.ContainsFunc(osutil.UnmountedAutomounts(), func(mount string) bool { return within(path, mount) })
}

// CheckPlace returns ErrAway or ErrPerhapsAway if backups in dir would be on the
// disk of the database because their own is not connected. Its mount point is then a
// plain folder.
func CheckPlace(dir, db string) error { return newPlace(dir, osutil.Resolve(db)).check() }

// isBeside reports whether the backups are on the disk of the database.
func (p place) isBeside() bool { return p.sameDisk(existing(p.dir), existing(p.db)) }

func (p place) check() error {
	if !p.isBeside() {
		return nil
	}
	if p.remembered() {
		return ErrAway
	}
	if slices.ContainsFunc(osutil.FoldersOfDisks, func(folder string) bool { return within(p.dir, folder) && !within(p.db, folder) }) {
		return ErrPerhapsAway
	}
	return nil
}

// remembered reports whether the notes say that this folder is on another disk.
func (p place) remembered() bool {
	var dir string
	return ReadNote(p.db, noteBackupDisk, &dir) && dir == p.dir
}

// remember notes that the folder is on another disk.
func (p place) remember() {
	known := func(path string) bool { return p.sameDisk(path, path) }
	if !osutil.Exists(p.dir) || !osutil.Exists(p.db) || !known(p.dir) || !known(p.db) || p.sameDisk(p.dir, p.db) {
		return
	}
	if p.remembered() {
		return
	}
	WriteNote(p.db, noteBackupDisk, p.dir) // after an error the next look tries again
}

// makeFolder creates the folder for backups if it does not exist. Its parent must exist.
// It creates none in the mount point of a disk that is away: later backups would be there,
// and not on their disk.
func makeFolder(dir, db string, at place) error {
	if err := osutil.RefuseRedirect(dir, db); err != nil {
		return &Error{OpMake, dir, err}
	}
	if osutil.Exists(dir) {
		return nil
	}
	if at.check() == ErrAway {
		return &Error{OpMake, dir, ErrAway}
	}
	if err := osutil.MakePrivateFolder(dir); err != nil && !osutil.Exists(dir) {
		return &Error{OpMake, dir, err}
	}
	return nil
}

// CheckFolder creates the folder for the backups of a database as the first backup would,
// and tries to write in it. The Error is OpMake, or OpWrite with ErrNotFolder or another
// cause.
func CheckFolder(dir, db string) error {
	if err := makeFolder(dir, db, newPlace(dir, osutil.Resolve(db))); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return &Error{OpWrite, dir, ErrNotFolder}
	}
	trial, err := osutil.NewDraft(filepath.Join(dir, ".trial"))
	if err != nil {
		return &Error{OpWrite, dir, err}
	}
	trial.Discard()
	return nil
}

// realPath returns an absolute path without links, as far as it exists. It wakes no disk.
func realPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if asleep(path) {
		return path
	}
	there := existing(path)
	rest, err := filepath.Rel(there, path)
	if followed, linkErr := filepath.EvalSymlinks(there); err == nil && linkErr == nil {
		return filepath.Join(followed, rest)
	}
	return path
}

// existing returns the path or, if it does not exist, the nearest folder above it
// that does.
func existing(path string) string {
	for !osutil.Exists(path) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
	}
	return path
}

// within reports whether a path is in a folder, or is the folder.
func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}
