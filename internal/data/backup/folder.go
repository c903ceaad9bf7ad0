package backup

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// workplace is where a private folder can be made for a while.
type workplace struct {
	parent, path string
	make         func() error
}

// workplaces returns where a private folder for work on a database may be: beside the
// database, and else in the folder for temporary files. Beside a database, another user
// could lead root anywhere, if the folder is that user's.
func workplaces(db, purpose string) (places []workplace) {
	db = osutil.Resolve(db)
	beside, others, err := osutil.Follow(db)
	if others != nil {
		others.Close()
	} else if folder := filepath.Dir(beside); err == nil && osutil.Writable(folder) {
		path := filepath.Join(folder, "."+filepath.Base(db)+"-"+purpose)
		places = append(places, workplace{folder, path, func() error { return osutil.MakePrivateFolder(path) }})
	}
	sum := sha256.Sum256([]byte(realPath(db)))
	name := fmt.Sprintf("firefighters-%s-%x", purpose, sum[:6])
	temporary := workplace{parent: os.TempDir(), path: filepath.Join(os.TempDir(), name)}
	temporary.make = func() error { return osutil.MakePrivateFolder(temporary.path) }
	if os.Geteuid() == 0 {
		temporary.make = func() error { _, err := osutil.OwnFolder(os.TempDir(), name); return err }
	}
	return append(places, temporary)
}

func (w workplace) lock() string { return filepath.Join(w.path, "lock") }

// clear removes what a killed program has left there. The error is ErrDrilling while
// another one is at work there.
func (w workplace) clear() error {
	info, err := os.Lstat(w.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil // make says what is wrong
	}
	if os.Geteuid() == 0 && w.make() != nil && w.parent == os.TempDir() {
		return nil // it may be a trap of another user
	}
	unlock, err := sqlite.LockFile(w.lock())
	if errors.Is(err, sqlite.ErrBusy) {
		return ErrDrilling
	}
	if err == nil {
		unlock()
	}
	os.RemoveAll(w.path)
	return nil
}

// WithFolder calls do with a folder that nobody else can read, and removes it with all
// that is in it. It is on a disk for which room returns nil: that of the database, or
// else that of temporary files. What a killed program has left there, the next call for
// the same database and purpose removes.
func WithFolder(db, purpose string, room func(folder string) error, do func(folder string) error) error {
	return withFolder(workplaces(db, purpose), room, do)
}

// withFolder is WithFolder, in the first of the places that will do.
func withFolder(places []workplace, room func(folder string) error, do func(folder string) error) error {
	var refused error
	for _, w := range places {
		if err := w.clear(); err != nil {
			return err
		}
	}
	for _, w := range places {
		err := room(w.parent)
		if err == nil {
			err = w.make()
		}
		if err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		unlock, err := sqlite.LockFile(w.lock())
		if err == nil {
			err = do(w.path)
			w.leave(unlock)
		}
		return err
	}
	return refused
}

// leave removes the folder. Windows removes a file only when it is closed.
func (w workplace) leave(unlock func() error) {
	entries, _ := os.ReadDir(w.path)
	for _, e := range entries {
		if path := filepath.Join(w.path, e.Name()); path != w.lock() {
			os.RemoveAll(path)
		}
	}
	os.Remove(w.lock())
	unlock()
	os.Remove(w.lock())
	os.Remove(w.path)
}
