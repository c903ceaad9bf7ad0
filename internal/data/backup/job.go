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
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Job is a backup to create. The database may be in use, even by this process, and may have an older
// schema version. A Job does not check the format of the database; the caller does, or calls
// Inspect.
type Job struct {
	Format   sqlite.Format
	Source   string                // the database
	Target   string                // the backup
	Force    bool                  // replaces an existing target
	Progress func(done, total int) // called with the copied and the total number of pages; may be nil

	// EncryptTo lists the public keys to encrypt to. If it is empty, the backup is not encrypted.
	// Otherwise only the encrypted file is written to the folder of the target.
	EncryptTo Recipients

	keep   string                                           // path for the unencrypted copy of an encrypted backup; "" for none
	room   func(folder string, size int64) error            // checks the free space; nil means roomFor
	change func(copied *sqlite.Conn, source Identity) error // changes the copy before its check; may be nil
}

// RefuseSecondPath returns a FileError if the file of a database has, or may have, another path:
// ErrLinked for a hard link, ErrMounted for a mounted file. The lock and the -wal are next to one
// path, so a process that uses another path would not see them and would damage the file. Every
// command calls it, through Inspect or Lock, before it opens a database.
func RefuseSecondPath(db string) error {
	db = osutil.Resolve(db)
	restoring := osutil.Exists(db + copySuffix) // a restore adds a name for a moment
	info, err := os.Stat(db)
	if err != nil || !info.Mode().IsRegular() {
		return nil // opening the file returns the cause
	}
	if osutil.IsMountPoint(db) {
		return sqlite.Wrap("opening", db, sqlite.ErrMounted)
	}
	// On a read-only disk no one can write. NTFS-3G counts the short name of a file as a
	// link, and people must be able to save a database from the disk of a broken Windows PC.
	if osutil.LinkCount(info) > 1 && !restoring && !osutil.ReadOnly(filepath.Dir(db)) {
		return sqlite.Wrap("opening", db, sqlite.ErrLinked)
	}
	return nil
}

// Inspect is RefuseSecondPath and Format.Inspect for a path that may be a symbolic link. This process
// must not have the database open.
func Inspect(format sqlite.Format, db string) error {
	if err := RefuseSecondPath(db); err != nil {
		return err
	}
	return format.Inspect(osutil.Resolve(db))
}

// Run creates the backup. The file gets the name of the target only after it is complete, checked and
// on disk. After an error the target is unchanged.
func (j Job) Run(ctx context.Context) (copied Copy, err error) {
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
	for _, left := range []string{partial, j.partialIn(filepath.Dir(j.Target))} { // from a killed program
		if err := removeCopy(left); err != nil {
			return Copy{}, writeError(j.written(), err)
		}
	}
	defer func() { err = cmp.Or(err, writeError(j.written(), removeCopy(partial))) }()
	copied, source, err := j.copyTo(ctx, partial)
	if err != nil {
		return Copy{}, err
	}
	if len(j.EncryptTo) == 0 {
		return copied, writeError(j.Target, j.publish(partial))
	}
	note := headerNote{Bytes: copied.Bytes, Time: source.Time, IDs: source.IDs, Damaged: copied.Damaged, Empty: copied.Empty,
		People: copied.Records}
	copied.sum, err = j.publishEncrypted(ctx, partial, note)
	if err == nil && j.keep != "" {
		err = rename(partial, j.keep)
	}
	return copied, writeError(j.Target, cmp.Or(ctx.Err(), err))
}

// refuse returns an error if there is no database or the target cannot be written. It does not read
// the database, which this process may have open.
func (j *Job) refuse() error {
	if !osutil.Exists(j.Source) {
		return sqlite.Wrap("reading", j.Source, sqlite.ErrNotExist)
	}
	if !osutil.Exists(filepath.Dir(j.Target)) {
		return writeError(j.Target, ErrNoFolder)
	}
	for _, suffix := range append([]string{"", "-lock"}, sqlite.Sidecars...) {
		if osutil.SameFile(j.Target, j.Source+suffix) {
			return writeError(j.Target, ErrIsDatabase)
		}
	}
	for _, suffix := range sqlite.Sidecars {
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

// lock ensures that only one backup of a database runs at a time, so that an existing partial file is
// a leftover. The lock file is next to the database, because the backup disk may not support locks.
// If that folder is read-only, the backup runs without a lock.
func (j *Job) lock() (release func(), err error) {
	path := j.Source + lockSuffix
	unlock, err := sqlite.LockFile(path)
	switch {
	case errors.Is(err, sqlite.ErrBusy):
		return nil, sqlite.Wrap("locking", j.Source, ErrRunning)
	case errors.Is(err, sqlite.ErrCorrupt): // the lock file, not the database
		return nil, sqlite.Wrap("locking", j.Source, sqlite.ErrLockFile)
	case err != nil && !osutil.Writable(filepath.Dir(path)):
		return func() {}, nil
	case err != nil:
		return nil, sqlite.Wrap("locking", j.Source, err)
	}
	return func() { unlock() }, nil
}

// partial returns the path of the incomplete copy. It is in the folder of the target or, for an
// encrypted target, in the folder of the database. The name is different for each database.
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

// written returns the path that write errors name.
func (j *Job) written() string {
	if len(j.EncryptTo) > 0 {
		return j.partial()
	}
	return j.Target
}

// removePartial removes the copy and the lock file that a killed upgrade or backup left next to its
// database. It does nothing while a backup is running.
func removePartial(db string) {
	j := Job{Source: db, Target: db}
	if osutil.Exists(j.partial()) || osutil.Exists(db+lockSuffix) {
		if release, err := j.lock(); err == nil {
			removeCopy(j.partial()) // the next start tries again
			release()
		}
	}
}

// removeCopy removes an incomplete copy and its sidecars.
func removeCopy(partial string) error {
	var failures []error
	for _, suffix := range append([]string{""}, sqlite.Sidecars...) {
		if err := os.Remove(partial + suffix); !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// copyTo creates a copy at path. Without an error, the copy is complete, checked and on disk. source
// is the identity of the original.
func (j *Job) copyTo(ctx context.Context, path string) (copied Copy, source Identity, err error) {
	if err := osutil.CreatePrivate(path); err != nil {
		return Copy{}, Identity{}, writeError(j.written(), err)
	}
	source, bytes, err := j.copyPages(ctx, path)
	if err != nil {
		return Copy{}, Identity{}, cmp.Or(ctx.Err(), err)
	}
	if err = j.finish(path, &source, bytes); err == nil {
		copied, err = check(ctx, j.Format, path)
	}
	if errors.Is(err, sqlite.ErrCorrupt) { // the original is damaged like the copy
		err = &sqlite.FileError{Op: "copying", Path: j.Source, Err: sqlite.ErrCorrupt}
	}
	return copied, source, err
}

// copyPages copies a single state of the database. The transaction is as short as possible, because
// the -wal cannot restart while it is open. If the file may contain traces of permanently deleted
// people, the copy is compact, and size is 0.
func (j *Job) copyPages(ctx context.Context, path string) (source Identity, size int64, err error) {
	c, err := sqlite.Peek(j.Source)
	if err != nil {
		return Identity{}, 0, sqlite.Wrap("reading", j.Source, err)
	}
	defer c.Close()
	traces := false
	err = c.Transaction(func() error {
		source, err = identity(c)
		if err == nil {
			size, err = c.Size()
		}
		if err != nil {
			return sqlite.Wrap("reading", j.Source, err)
		}
		if err := j.checkRoom(size); err != nil {
			return err
		}
		if traces, err = store.HasTraces(c); traces || err != nil {
			return err
		}
		return c.CopyTo(ctx, path, j.Progress)
	})
	if err == nil && traces {
		size, err = 0, c.CompactTo(ctx, path)
	}
	switch {
	case errors.As(err, new(*Error)), errors.As(err, new(*RoomError)):
	case errors.Is(err, sqlite.ErrFull):
		err = writeError(j.written(), err)
	default:
		err = sqlite.Wrap("copying", j.Source, err)
	}
	return source, size, err
}

// finish turns the copy into a single file. It compares the identity and the size of the copy with
// those of the source, and then calls change, which may add pages. A compact copy has its own
// identity, because the source may have changed before it.
func (j *Job) finish(path string, source *Identity, bytes int64) error {
	err := sqlite.FinishCopy(path, func(c *sqlite.Conn) error {
		copied, err := identity(c)
		if err != nil {
			return err
		}
		size, err := c.Size()
		if err != nil {
			return err
		}
		switch {
		case bytes == 0:
			*source = copied
			err = store.NoteRewritten(c)
		case copied.Mark != source.Mark || size != bytes:
			err = sqlite.ErrCorrupt
		}
		if err != nil || j.change == nil {
			return err
		}
		return j.change(c, *source)
	})
	return writeError(j.written(), err)
}

// check reads the whole copy. It creates no file next to it, and works on a read-only disk.
func check(ctx context.Context, format sqlite.Format, path string) (Copy, error) {
	return checkWith(ctx, sqlite.OpenImmutable, format, path)
}

// CheckInUse reads a whole database with any schema version, even while it is used. It changes nothing.
func CheckInUse(ctx context.Context, format sqlite.Format, db string) (Copy, error) {
	return checkWith(ctx, sqlite.Peek, format, osutil.Resolve(db))
}

func checkWith(ctx context.Context, open func(string) (*sqlite.Conn, error), format sqlite.Format, path string) (found Copy, err error) {
	if err := format.Inspect(path); err != nil {
		return Copy{}, err
	}
	c, err := open(path)
	if err == nil {
		defer c.Close()
		found, err = examine(ctx, format, c)
	}
	return found, cmp.Or(ctx.Err(), sqlite.Wrap("reading", path, err))
}

// examine reads a whole database with any schema version.
func examine(ctx context.Context, format sqlite.Format, c *sqlite.Conn) (found Copy, err error) {
	err = c.CheckStructure(ctx)
	if err == nil {
		found.Bytes, err = c.Size()
	}
	if err == nil {
		found.Summary, err = summarize(ctx, c)
	}
	if err != nil {
		return Copy{}, err
	}
	found.Empty = found.Records == 0
	found.Foreign, _ = errors.AsType[*sqlite.SchemaError](format.CheckSchema(c))
	return found, nil
}

func (j *Job) checkRoom(size int64) error {
	room := j.room
	if room == nil {
		room = roomFor(osutil.SpaceOf, nil)
	}
	err := room(filepath.Dir(j.Target), size)
	if err == nil && len(j.EncryptTo) > 0 {
		err = roomFor(osutil.SpaceOf, nil)(filepath.Dir(j.Source), size)
	}
	return err
}

// roomFor returns a function that checks the space for a copy in a folder. It reserves another tenth
// of the size and 1 MiB, and on top of it what reserved returns unless it is nil.
func roomFor(spaceOf func(folder string) (osutil.Space, error), reserved func(osutil.Space) int64) func(folder string, size int64) error {
	return func(folder string, size int64) error {
		space, err := spaceOf(folder)
		if err != nil {
			return writeError(folder, err)
		}
		need := size + size/10 + 1<<20
		if reserved != nil {
			need += reserved(space)
		}
		if space.Free >= need {
			return nil
		}
		return &RoomError{folder, space.Free, need}
	}
}

func (j *Job) publish(partial string) error {
	if !j.Force && osutil.Exists(j.Target) { // created in the meantime
		return ErrExists
	}
	return rename(partial, j.Target)
}

// rename renames a file within its folder and syncs the folder.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return osutil.SyncFolder(filepath.Dir(to))
}

// publishEncrypted encrypts the copy into the folder of the target and renames it to the target.
func (j *Job) publishEncrypted(ctx context.Context, plain string, n headerNote) (sum string, err error) {
	partial := j.partialIn(filepath.Dir(j.Target)) + encryptedSuffix
	out, err := osutil.OpenPrivate(partial)
	if err != nil {
		return "", err
	}
	defer os.Remove(partial)
	err = out.Truncate(0) // a killed program may have left the file
	if err == nil {
		sum, err = j.encrypt(ctx, plain, n, out)
	}
	if err == nil {
		err = out.Sync()
	}
	if err := cmp.Or(err, out.Close()); err != nil {
		return "", err
	}
	return sum, j.publish(partial)
}
