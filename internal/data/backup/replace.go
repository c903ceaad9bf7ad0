package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// keep adds a second name to the old database, before it loses the first. Files
// beside a missing database are kept as well.
func (r *restoring) keep() error {
	if !slices.ContainsFunc(append([]string{""}, sidecars...), func(suffix string) bool { return osutil.Exists(r.Database + suffix) }) {
		return nil
	}
	r.done.Kept = freeName(r.Database, keptSuffix)
	if !osutil.Exists(r.Database) {
		return nil
	}
	err := r.link.do(r.Database, r.done.Kept)
	if err != nil {
		err = copyFile(r.Database, r.done.Kept)
	}
	return cmp.Or(err, osutil.SyncFolder(filepath.Dir(r.Database)))
}

// freeName returns a name for a copy of the file at path, with the time.
func freeName(path, suffix string) string {
	for at := time.Now().UTC(); ; at = at.Add(time.Second) {
		name := path + suffix + at.Format(nameTime)
		if !osutil.Exists(name) && !osutil.Exists(name+"-wal") {
			return name
		}
	}
}

// copyFile copies a file that nobody writes to, all of it or nothing.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	half := from + halfSuffix
	copied, err := os.OpenFile(half, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	if err := errors.Join(err, copied.Sync(), copied.Close()); err != nil {
		return err
	}
	return os.Rename(half, to)
}

// keepSidecars moves the files beside a database that is too damaged to be
// merged with them. They belong to that database and would ruin the new one.
func (r *restoring) keepSidecars() error {
	for _, suffix := range sidecars {
		if err := osutil.RenameIfExists(r.Database+suffix, r.done.Kept+suffix); err != nil {
			return err
		}
	}
	return osutil.SyncFolder(filepath.Dir(r.Database))
}

func (r *restoring) replace() error {
	return cmp.Or(os.Rename(r.unfinished, r.Database), osutil.SyncFolder(filepath.Dir(r.Database)))
}

// Lock is sqlite.LockDatabase, for a path that may be a link. The error is
// ErrRestoring if a restore has the lock. Lock removes what a killed program has
// left beside the database, and undoes a restore that was cut off.
func Lock(db string) (release func() error, err error) {
	db = osutil.Resolve(db)
	release, err = sqlite.LockDatabase(db)
	if errors.Is(err, sqlite.ErrInUse) && osutil.Exists(db+copySuffix) {
		err = &sqlite.FileError{Op: "locking", Path: db, Err: ErrRestoring}
	}
	if err == nil {
		removePartial(db)
		if err = undoRestore(db); err != nil {
			release()
		}
	}
	return release, err
}

// AwaitRestore returns an error while the database is being restored. It undoes
// a restore that was cut off. The caller has not locked the database.
func AwaitRestore(db string) error {
	db = osutil.Resolve(db)
	if !osutil.Exists(db + copySuffix) {
		return nil
	}
	release, err := Lock(db)
	if err == nil {
		err = release()
	}
	return err
}

// undoRestore undoes a restore that was cut off before its last step. Then the
// old database has all of its files and only one name again. The caller has
// locked the database.
func undoRestore(db string) error {
	if !osutil.Exists(db + copySuffix) {
		return nil
	}
	return databaseError("restoring", db, undo(db))
}

func undo(db string) error {
	folder := filepath.Dir(db)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		kept := filepath.Join(folder, e.Name())
		if strings.HasPrefix(e.Name(), filepath.Base(db)+keptSuffix) && (osutil.SameFile(kept, db) || sameContent(kept, db)) {
			if err := takeBack(kept, db); err != nil {
				return err
			}
		}
	}
	if err := osutil.SyncFolder(folder); err != nil {
		return err
	}
	return errors.Join(removeCopy(db+halfSuffix), removeCopy(db+copySuffix))
}

// sameContent reports whether a file is a copy of another, as keep makes one on a disk
// without links.
func sameContent(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close()
	left, right := bufio.NewReader(x), bufio.NewReader(y)
	for {
		p, errA := left.Peek(left.Size())
		q, errB := right.Peek(right.Size())
		switch {
		case !bytes.Equal(p, q), errA != nil && errA != io.EOF, errB != nil && errB != io.EOF:
			return false
		case len(p) == 0:
			return true
		}
		left.Discard(len(p))
		right.Discard(len(q))
	}
}

// takeBack removes the second name of a database, and gives the database back
// the files beside it.
func takeBack(kept, db string) error {
	for _, suffix := range sidecars {
		if err := osutil.RenameIfExists(kept+suffix, db+suffix); err != nil {
			return err
		}
	}
	return os.Remove(kept)
}
