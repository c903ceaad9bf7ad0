package guard

import (
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What is done with the files of a lost database.

// areBack reports whether all files are in their places again, and nobody has
// changed the database meanwhile.
func (f *files) areBack() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened == nil {
		return false
	}
	for _, suffix := range suffixes {
		info, err := osutil.Stat(f.db.Path() + suffix)
		if err != nil || !os.SameFile(info, f.opened[suffix]) || suffix == "" && !info.ModTime().Equal(f.modified) {
			return false
		}
	}
	return true
}

// isInFolder reports whether the folder of the database is the one that it was
// opened in. In another folder of that name the guard changes nothing.
func (f *files) isInFolder() bool {
	opened, err := f.folder.Stat()
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Dir(f.db.Path()))
	return err == nil && os.SameFile(info, opened)
}

// setAside renames the -wal: SQLite would write it into the file that is in the
// place of the database by now.
func (f *files) setAside() {
	if f.is("-wal", "-wal") {
		os.Rename(f.db.Path()+"-wal", f.db.Path()+AsideSuffix)
	}
}

// growShm extends a -shm that was cut to its length. It is blank then, so that
// SQLite makes it again from the -wal.
func (f *files) growShm() {
	if info, err := os.Stat(f.db.Path() + "-shm"); err == nil && f.is("-shm", "-shm") && info.Size() < f.shmSize {
		os.Truncate(f.db.Path()+"-shm", f.shmSize)
	}
}

// removeBeside removes the files beside the database, unless they are others by now.
func (f *files) removeBeside() {
	for suffix, opened := range map[string]string{"-wal": "-wal", AsideSuffix: "-wal", "-shm": "-shm"} {
		if f.is(suffix, opened) {
			os.Remove(f.db.Path() + suffix)
		}
	}
}

// is reports whether the file with a suffix is the one that was opened with another.
func (f *files) is(suffix, opened string) bool {
	info, err := osutil.Stat(f.db.Path() + suffix)
	return err == nil && f.opened != nil && os.SameFile(info, f.opened[opened])
}
