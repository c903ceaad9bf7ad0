package backup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Reasons why backups may not be on their own disk.
var (
	// ErrAway is certain: the folder was on another disk before.
	ErrAway = errors.New("the disk for backups is not connected: the folder is on the disk of the database")

	// ErrPerhapsAway is likely: other disks are mounted at this folder.
	ErrPerhapsAway = errors.New("the backups are on the disk of the database, " +
		"although their folder is meant for other disks: is the disk connected?")
)

// settings is the note about the backups of a running server.
type settings struct {
	Dir   string `json:"dir"`   // absolute
	Every int64  `json:"every"` // seconds
	Keep  int    `json:"keep"`
}

// NoteSettings stores the folder and the schedule of a server's backups in the notes. Without a folder
// it removes the note.
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

// NotedSettings returns the options stored by NoteSettings, and whether there is a note.
func NotedSettings(db string) (o Options, noted bool) {
	var note settings
	noted = ReadNote(osutil.Resolve(db), noteBackups, &note)
	return Options{Dir: note.Dir, Every: time.Duration(note.Every) * time.Second, Keep: note.Keep}, noted
}

// place is the location of the backups of a database.
type place struct {
	dir, db  string // absolute, without symbolic links
	sameDisk func(a, b string) bool
}

func newPlace(dir, db string) place { return place{realPath(dir), realPath(db), osutil.SameDisk} }

// asleep reports whether the disk of an absolute path is connected, but will be mounted only on
// access.
func asleep(path string) bool {
	return slices.ContainsFunc(osutil.UnmountedAutomounts(), func(mount string) bool { return within(path, mount) })
}

// CheckPlace returns ErrAway or ErrPerhapsAway if the backup disk is not connected. Its mount point is then
// missing, or an ordinary folder on the disk of the database.
func CheckPlace(dir, db string) error { return newPlace(dir, osutil.Resolve(db)).check() }

// isOnDiskOfDatabase compares folders: on overlay file systems, a file can report another disk than its
// folder.
func (p place) isOnDiskOfDatabase() bool {
	return p.sameDisk(existing(p.dir), existing(filepath.Dir(p.db)))
}

func (p place) check() error {
	isOnDisk := p.isOnDiskOfDatabase()
	switch {
	case (isOnDisk || !osutil.Exists(filepath.Dir(p.dir))) && p.remembered(): // Windows and /run/media leave no mount point
		return ErrAway
	case isOnDisk && slices.ContainsFunc(osutil.FoldersOfDisks, func(f string) bool { return within(p.dir, f) && !within(p.db, f) }):
		return ErrPerhapsAway
	}
	return nil
}

// remembered reports whether the notes state that this folder is on another disk.
func (p place) remembered() bool {
	var dir string
	return ReadNote(p.db, noteBackupDisk, &dir) && dir == p.dir
}

// remember notes that the folder is on another disk, if it is.
func (p place) remember() {
	known := func(path string) bool { return osutil.Exists(path) && p.sameDisk(path, path) }
	if known(p.dir) && known(filepath.Dir(p.db)) && !p.isOnDiskOfDatabase() && !p.remembered() {
		WriteNote(p.db, noteBackupDisk, p.dir) // after an error the next check tries again
	}
}

// makeFolder creates the backup folder if necessary. Its parent must exist. It does not create a
// folder in the mount point of a disconnected disk, where later backups would end up.
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

// CheckFolder creates the backup folder, as the first backup would, and tries to write to it. It
// returns an Error with OpMake, or with OpWrite and a cause such as ErrNotFolder.
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

// OwnFolder is the name of the folder for the backups of the service on a disk.
const OwnFolder = "firefighters"

// Reasons why ChooseFolder rejects a folder.
var (
	ErrRelative   = errors.New("the folder for backups is not an absolute path")
	ErrNetwork    = errors.New("the folder for backups is a network name or a device")
	ErrHidden     = errors.New("the folder for backups is hidden from the service")
	ErrAtDatabase = errors.New("the folder for backups is in the folder of the database")
	errForShell   = errors.New("the folder for backups has a character in its name that shells interpret")
)

// CheckFolderName returns an error for a name that no folder for backups may have. It does not look for
// the folder. Administrators copy commands with the name.
func CheckFolderName(folder string) error {
	isSlash := func(i int) bool { return len(folder) > i && (folder[i] == '/' || folder[i] == '\\') }
	switch {
	case isSlash(0) && isSlash(1), strings.Contains(folder, "://"), len(filepath.VolumeName(folder)) > len("C:"):
		return writeError(folder, ErrNetwork)
	case !filepath.IsAbs(folder), strings.ContainsFunc(folder, unicode.IsControl):
		return writeError(folder, ErrRelative)
	case runtime.GOOS == "windows" && strings.ContainsAny(folder, "$%`"): // also in quotation marks
		return writeError(folder, errForShell)
	}
	return nil
}

// ChooseFolder creates OwnFolder in a folder that someone chose, tries to write to it and returns its
// path without symbolic links. hides reports whether the service cannot see a path. The error is for
// FolderFault.
func ChooseFolder(folder, db string, hides func(path string) bool) (dir string, err error) {
	if err := CheckFolderName(folder); err != nil {
		return "", err
	}
	dir = realPath(folder)
	if filepath.Base(dir) != OwnFolder {
		dir = realPath(filepath.Join(dir, OwnFolder)) // a link on a stick may lead to any folder
	}
	atDB := filepath.Dir(realPath(osutil.Resolve(db)))
	switch info, err := os.Stat(filepath.Dir(dir)); {
	case hides(dir):
		return "", writeError(dir, ErrHidden)
	case within(dir, atDB), osutil.SameFile(dir, atDB), osutil.SameFile(filepath.Dir(dir), atDB): // another path, or in other case
		return "", writeError(dir, ErrAtDatabase)
	case err != nil:
		return "", writeError(dir, err)
	case !info.IsDir():
		return "", writeError(dir, ErrNotFolder)
	}
	return dir, writeError(dir, CheckFolder(dir, db))
}

// FolderFault returns the key of a message about an error of ChooseFolder.
func FolderFault(err error) string {
	for known, key := range map[error]string{ErrRelative: "relative", ErrNetwork: "network", ErrHidden: "hidden", ErrAtDatabase: "database",
		ErrNoFolder: "missing", ErrAway: "missing", ErrNotFolder: "file", ErrUnwritable: "rights", sqlite.ErrFull: "full"} {
		if errors.Is(err, known) {
			return key
		}
	}
	return "other"
}

// realPath returns an absolute path and resolves symbolic links where it exists. It does not mount a
// disk.
func realPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if asleep(path) {
		return path
	}
	start := existing(path)
	rest, err := filepath.Rel(start, path)
	if followed, linkErr := filepath.EvalSymlinks(start); err == nil && linkErr == nil {
		return filepath.Join(followed, rest)
	}
	return path
}

// existing returns the path or its nearest existing parent.
func existing(path string) string {
	for !osutil.Exists(path) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
	}
	return path
}

// within reports whether a path is a folder or inside it.
func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}
