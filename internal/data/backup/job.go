package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Job is a backup to make. The database may be in use, in this process as well,
// and of an older version of the schema. A Job does not look whether the file is a
// database of the right kind: the caller knows, or asks Inspect.
type Job struct {
	Format   sqlite.Format
	Source   string                // the database
	Target   string                // the backup
	Force    bool                  // replaces a target that exists
	Progress func(done, total int) // called with numbers of pages; may be nil

	// EncryptTo has who can decrypt the backup. Without recipients it is a plain one.
	// Only the encrypted file comes to the folder of the target.
	EncryptTo Recipients

	keep   string                                           // the name of the plain copy that stays if the target is encrypted; "" for none
	room   func(folder string, size int64) error            // nil means all of the disk
	change func(copied *sqlite.Conn, source Identity) error // changes the copy before its check; may be nil
}

// sidecars are the endings of the files that SQLite puts beside a database.
var sidecars = []string{"-wal", "-shm", "-journal"}

// RefuseSecondPath returns an error, a FileError, if the file of a database has, or may
// have, another path: ErrLinked for a hard link, ErrMounted for a mounted file. The lock
// and the -wal are next to one path, so a process that uses another path would not see
// them and would damage the file. Every command asks this before it opens a database: by
// Inspect, or by Lock.
func RefuseSecondPath(db string) error {
	db = osutil.Resolve(db)
	restoring := osutil.Exists(db + copySuffix) // a restore adds a name for a moment
	info, err := os.Stat(db)
	if err != nil || !info.Mode().IsRegular() {
		return nil // opening the file returns the cause
	}
	if osutil.IsMountPoint(db) {
		return databaseError("opening", db, sqlite.ErrMounted)
	}
	// On a read-only disk no one can write. NTFS-3G counts the short name of a file as a
	// link, and people must be able to save a database from the disk of a broken Windows PC.
	if osutil.LinkCount(info) > 1 && !restoring && !osutil.ReadOnly(filepath.Dir(db)) {
		return databaseError("opening", db, sqlite.ErrLinked)
	}
	return nil
}

// Inspect is RefuseSecondPath and Format.Inspect, for a path that may be a link. This
// process must not have the database open.
func Inspect(format sqlite.Format, db string) error {
	if err := RefuseSecondPath(db); err != nil {
		return err
	}
	return format.Inspect(osutil.Resolve(db))
}

// Run makes the backup. The target gets its name only when it is complete,
// checked and on disk. After an error the target does not exist, or is the previous file.
func (j Job) Run(ctx context.Context) (made Copy, err error) {
	if err := osutil.RefuseRedirect(j.Target, j.Source); err != nil {
		return Copy{}, writeError(j.Target, err)
	}
	j.Source, j.Target = osutil.Resolve(j.Source), osutil.Resolve(j.Target)
	if err := j.refuse(); err != nil {
		return Copy{}, err
	}
	release, err := j.lock()
	if err != nil {
		return Copy{}, err
	}
	defer release()
	partial := j.partial()
	for _, left := range []string{partial, j.partialIn(filepath.Dir(j.Target))} { // of a killed program
		if err := removeCopy(left); err != nil {
			return Copy{}, writeError(j.written(), err)
		}
	}
	defer func() { err = cmp.Or(err, writeError(j.written(), removeCopy(partial))) }()
	made, source, err := j.copyTo(ctx, partial)
	if err != nil {
		return Copy{}, err
	}
	if len(j.EncryptTo) == 0 {
		return made, writeError(j.Target, j.publish(partial))
	}
	made.sum, err = j.publishEncrypted(ctx, partial, headerNote{Bytes: made.Bytes, Time: source.Time, IDs: source.IDs, Damaged: made.Damaged})
	if err == nil && j.keep != "" {
		err = os.Rename(partial, j.keep)
		if err == nil {
			err = osutil.SyncFolder(filepath.Dir(j.keep))
		}
	}
	return made, writeError(j.Target, cmp.Or(ctx.Err(), err))
}

// refuse returns an error if there is no database, or if the target may not
// have its name. It does not look into the database, as Inspect does: this
// process may serve it.
func (j *Job) refuse() error {
	if !osutil.Exists(j.Source) {
		return databaseError("reading", j.Source, sqlite.ErrNotExist)
	}
	if !osutil.Exists(filepath.Dir(j.Target)) {
		return writeError(j.Target, ErrNoFolder)
	}
	for _, suffix := range append([]string{"", "-lock"}, sidecars...) {
		if osutil.SameFile(j.Target, j.Source+suffix) {
			return writeError(j.Target, ErrIsDatabase)
		}
	}
	for _, suffix := range sidecars {
		if osutil.Exists(j.Target + suffix) {
			return writeError(j.Target, ErrSidecar)
		}
	}
	info, err := os.Lstat(j.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular():
		err = sqlite.ErrNotRegular
	case err == nil && !j.Force:
		err = ErrExists
	}
	return writeError(j.Target, err)
}

const lockSuffix = "-backup-lock"

// lock makes sure that only one backup of a database is made at a time. So a partial
// file that is there was left behind. The lock is beside the database, because the
// disk for backups may have no locks. Where the lock cannot be made the backup
// is made without.
func (j *Job) lock() (release func(), err error) {
	path := j.Source + lockSuffix
	unlock, err := sqlite.LockFile(path)
	switch {
	case errors.Is(err, sqlite.ErrBusy):
		return nil, databaseError("locking", j.Source, ErrRunning)
	case errors.Is(err, sqlite.ErrCorrupt): // the lock file, not the database
		return nil, databaseError("locking", j.Source, sqlite.ErrLockFile)
	case err != nil && !osutil.Writable(filepath.Dir(path)):
		return func() {}, nil
	case err != nil:
		return nil, databaseError("locking", j.Source, err)
	}
	return func() {
		err := os.Remove(path)
		unlock()
		if err != nil { // Windows removes a file only when it is closed
			os.Remove(path)
		}
	}, nil
}

// partial returns where the copy is made: in the folder of the target or, if that gets only
// what is encrypted, in the folder of the database. No other database's copy has this name.
func (j *Job) partial() string {
	if len(j.EncryptTo) > 0 {
		return j.partialIn(filepath.Dir(j.Source))
	}
	return j.partialIn(filepath.Dir(j.Target))
}

func (j *Job) partialIn(folder string) string {
	machine, _ := os.Hostname()
	sum := sha256.Sum256([]byte(machine + "\x00" + realPath(j.Source)))
	return filepath.Join(folder, fmt.Sprintf(".%s-%x.partial", filepath.Base(j.Source), sum[:6]))
}

// written returns the file that an error in writing the copy names.
func (j *Job) written() string {
	if len(j.EncryptTo) > 0 {
		return j.partial()
	}
	return j.Target
}

// removePartial removes the copy and the lock file that a killed upgrade or
// backup has left beside its database. It does nothing while one is being made.
func removePartial(db string) {
	j := Job{Source: db, Target: db}
	if osutil.Exists(j.partial()) || osutil.Exists(db+lockSuffix) {
		if release, err := j.lock(); err == nil {
			removeCopy(j.partial()) // what stays now goes at the next start
			release()
		}
	}
}

// removeCopy removes a copy that has not got its name, and what is beside it.
func removeCopy(partial string) error {
	var failures []error
	for _, suffix := range append([]string{""}, sidecars...) {
		if err := os.Remove(partial + suffix); !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// copyTo makes a copy at path. When it returns without an error, the copy is
// complete, checked and on disk. source is the identity of what was copied.
func (j *Job) copyTo(ctx context.Context, path string) (made Copy, source Identity, err error) {
	if err := osutil.CreatePrivate(path); err != nil {
		return Copy{}, Identity{}, writeError(j.written(), err)
	}
	source, bytes, err := j.copyPages(ctx, path)
	if err != nil {
		return Copy{}, Identity{}, cmp.Or(ctx.Err(), err)
	}
	if err = j.finish(path, source, bytes); err == nil {
		made, err = check(ctx, j.Format, path)
	}
	if errors.Is(err, sqlite.ErrCorrupt) { // of the copy, and so of the database
		err = &sqlite.FileError{Op: "copying", Path: j.Source, Err: sqlite.ErrCorrupt}
	}
	return made, source, err
}

// copyPages copies the database as it is at one moment. The transaction takes
// no longer than it must, because the -wal cannot restart before its end.
func (j *Job) copyPages(ctx context.Context, path string) (source Identity, size int64, err error) {
	c, err := sqlite.Peek(j.Source)
	if err != nil {
		return Identity{}, 0, databaseError("reading", j.Source, err)
	}
	defer c.Close()
	err = c.Transaction(func() error {
		source, err = identity(c)
		if err == nil {
			size, err = c.Size()
		}
		if err != nil {
			return databaseError("reading", j.Source, err)
		}
		if err := j.checkRoom(size); err != nil {
			return err
		}
		return c.CopyTo(ctx, path, j.Progress)
	})
	switch {
	case errors.As(err, new(*Error)), errors.As(err, new(*RoomError)):
	case errors.Is(err, sqlite.ErrFull):
		err = writeError(j.written(), err)
	default:
		err = databaseError("copying", j.Source, err)
	}
	return source, size, err
}

// finish makes the copy a database of one file. It compares the copy with its
// source, of so many bytes, before change is called, which may add pages.
func (j *Job) finish(path string, source Identity, bytes int64) error {
	err := sqlite.FinishCopy(path, func(c *sqlite.Conn) error {
		copied, err := identity(c)
		if err != nil {
			return err
		}
		size, err := c.Size()
		if err != nil {
			return err
		}
		if copied.Mark != source.Mark || size != bytes {
			return sqlite.ErrCorrupt
		}
		if j.change == nil {
			return nil
		}
		return j.change(c, source)
	})
	return writeError(j.written(), err)
}

// check reads all of a copy. It leaves nothing beside it, and can read from a
// disk that cannot be written.
func check(ctx context.Context, format sqlite.Format, path string) (found Copy, err error) {
	if err := format.Inspect(path); err != nil {
		return Copy{}, err
	}
	c, err := sqlite.OpenImmutable(path)
	if err != nil {
		return Copy{}, databaseError("reading", path, err)
	}
	defer c.Close()
	err = c.CheckStructure(ctx)
	if err == nil {
		found.Bytes, err = c.Size()
	}
	if err == nil {
		found.Summary, err = summarize(ctx, c)
	}
	if err != nil {
		return Copy{}, cmp.Or(ctx.Err(), databaseError("reading", path, err))
	}
	found.Foreign, _ = errors.AsType[*sqlite.SchemaError](format.CheckSchema(c))
	return found, nil
}

// checkRoom returns an error unless a copy of this size, in bytes, fits on the
// disk of the target.
func (j *Job) checkRoom(size int64) error {
	room := j.room
	if room == nil {
		room = roomFor(osutil.SpaceOf, 0)
	}
	err := room(filepath.Dir(j.Target), size)
	if err == nil && len(j.EncryptTo) > 0 {
		err = roomFor(osutil.SpaceOf, 0)(filepath.Dir(j.Source), size)
	}
	return err
}

// roomFor returns a function that makes sure that a copy fits on the disk of a
// folder, with a tenth of its size and 1 MiB to spare. If part is not 0, that part of
// the disk, 1/part, stays free as well.
func roomFor(spaceOf func(folder string) (osutil.Space, error), part int64) func(folder string, size int64) error {
	return func(folder string, size int64) error {
		space, err := spaceOf(folder)
		if err != nil {
			return writeError(folder, err)
		}
		need := size + size/10 + 1<<20
		if part > 0 {
			need += space.Total / part
		}
		if space.Free >= need {
			return nil
		}
		return &RoomError{folder, space.Free, need}
	}
}

// publish gives a file in the folder of the target its name.
func (j *Job) publish(partial string) error {
	if !j.Force && osutil.Exists(j.Target) { // created while the copy was made
		return ErrExists
	}
	if err := os.Rename(partial, j.Target); err != nil {
		return err
	}
	return osutil.SyncFolder(filepath.Dir(j.Target))
}

// publishEncrypted encrypts the copy into the folder of the target, and gives it its name.
func (j *Job) publishEncrypted(ctx context.Context, plain string, n headerNote) (sum []byte, err error) {
	partial := j.partialIn(filepath.Dir(j.Target)) + encryptedSuffix
	out, err := osutil.OpenPrivate(partial)
	if err != nil {
		return nil, err
	}
	defer os.Remove(partial)
	defer out.Close()
	if err := out.Truncate(0); err != nil { // a killed program left it
		return nil, err
	}
	if sum, err = j.encrypt(ctx, plain, n, out); err != nil {
		return nil, err
	}
	if err := out.Sync(); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return sum, j.publish(partial)
}
