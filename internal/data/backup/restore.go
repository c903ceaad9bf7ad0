package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Restore replaces a database with a backup. The database may be damaged or missing, but must not be
// in use.
type Restore struct {
	Format   sqlite.Format
	File     string // the backup
	Key      Key    // decrypts an encrypted backup
	Database string
	Progress func(done, total int) // called with the copied and the total number of pages; may be nil

	// KeepErased also restores records that were permanently deleted since the backup.
	KeepErased bool

	// Locked means that the caller has locked the database, with Lock.
	Locked bool

	link func(file, name string) error // os.Link if nil
}

// Restored is the result of a restore.
type Restored struct {
	Copy
	Source  Identity // identity of the backup
	Kept    string   // path of the old database; "" if there was none
	Dropped []string // paths of older copies that the restore deleted
	Revoked int64    // keys revoked since the backup, which stay revoked
	Unread  error    // why nothing was taken from the old database; sqlite.ErrNotExist if there was none
	Erased  int64    // records permanently deleted since the backup, which stay deleted
	Raw     bool     // the backup is a database file copied without its -wal

	// RevokedUnknown reports whether keys revoked after the backup may be valid again, because the
	// old database does not list them.
	RevokedUnknown bool

	// ErasedUnknown is not nil if records permanently deleted after the backup may be restored,
	// because the old database does not list them. It is the error of reading the list next to the
	// backup, fs.ErrNotExist if there is none.
	ErasedUnknown error
}

// Check returns an error of Run that the first look at the backup finds. The database may be in use.
func (r Restore) Check() error { return newRestoring(r).refuse() }

// Run restores the backup. After an error the database is unchanged.
func (r Restore) Run(ctx context.Context) (Restored, error) {
	if err := osutil.RefuseRedirect(r.Database, r.Database); err != nil {
		return Restored{}, sqlite.Wrap("restoring", r.Database, err)
	}
	task := newRestoring(r)
	if err := task.refuse(); err != nil {
		return Restored{}, err
	}
	if !r.Locked {
		release, err := Lock(task.Database)
		if err != nil {
			return Restored{}, err
		}
		defer release()
	}
	for _, step := range task.steps() {
		if err := step(ctx); err != nil {
			undoRestore(task.Database) // after an error, the next Lock tries again
			return Restored{}, err
		}
	}
	// These notes describe the replaced database.
	err := cmp.Or(RemoveNote(task.Database, NoteLost), RemoveNote(task.Database, NoteMark), RemoveNote(task.Database, NoteNew))
	task.dropKept()
	return task.done, sqlite.Wrap("restoring", task.Database, err)
}

// restoring is a restore in progress.
//
// A checked copy of the backup becomes a complete database under another name. A single rename then
// replaces the old database, so that a killed program leaves either the old or the new one. While
// the other name exists, a restore is running or was interrupted: no program opens the database,
// and Lock removes the leftovers.
type restoring struct {
	Restore
	done Restored

	old          Identity          // of the old database, as far as readable
	unidentified bool              // the identity of the old database is damaged
	revocations  store.Revocations // of the old database
	erased       []string          // IDs of permanently deleted records, from the old database
	erasedUnread error             // why these IDs could not be read
	listed       []string          // IDs in the list next to the backup
	listUnread   error             // why this list could not be read
	unfinished   string            // the path of the copy
	plain        string            // the unencrypted backup: r.File, or the decrypted file
}

// Suffixes of files next to a database.
const (
	copySuffix      = ".restoring"
	halfSuffix      = ".restoring-half"
	decryptedSuffix = ".restoring-decrypted"
	keptSuffix      = ".before-restore-"
	beforeSuffix    = ".before-upgrade-"
)

// keptDays is the number of days for which a database that a restore replaced is kept.
const keptDays = 30

func newRestoring(r Restore) *restoring {
	r.File, r.Database = osutil.Resolve(r.File), osutil.Resolve(r.Database)
	if r.link == nil {
		r.link = os.Link
	}
	return &restoring{Restore: r, unfinished: r.Database + copySuffix, plain: r.File}
}

// refuse checks the files before the restore changes anything.
func (r *restoring) refuse() error {
	if osutil.SameFile(r.File, r.Database) {
		return &Error{OpRead, r.File, ErrIsDatabase}
	}
	if err := r.Key.fits(r.File); err != nil {
		return &Error{OpRead, r.File, err}
	}
	if !IsEncrypted(r.File) {
		if err := r.inspect(); err != nil {
			return err
		}
	}
	if !osutil.Exists(filepath.Dir(r.Database)) {
		return sqlite.Wrap("restoring", r.Database, sqlite.ErrNoFolder)
	}
	if info, err := os.Stat(r.Database); err == nil && !info.Mode().IsRegular() {
		return sqlite.Wrap("restoring", r.Database, sqlite.ErrNotRegular)
	}
	return nil
}

func (r *restoring) inspect() error {
	if err := r.Format.Inspect(r.plain); err != nil {
		return r.readError(err)
	}
	if err := foreignSchema(r.Format, r.plain); err != nil {
		return &Error{OpRead, r.File, err}
	}
	r.done.Raw = sqlite.WasInUse(r.plain)
	return nil
}

// foreignSchema returns a SchemaError or ErrUnreleased for a database whose schema this program did
// not create. It returns nil if it cannot read the schema.
func foreignSchema(format sqlite.Format, path string) error {
	c, err := sqlite.Peek(path)
	if err != nil {
		return nil
	}
	defer c.Close()
	err = format.CheckSchema(c)
	if errors.As(err, new(*sqlite.SchemaError)) || errors.Is(err, sqlite.ErrUnreleased) {
		return err
	}
	return nil
}

// readError returns a SchemaError, or a FileError about the backup, as an Error.
func (r *restoring) readError(err error) error {
	if wrong, ok := errors.AsType[*sqlite.SchemaError](err); ok {
		return &Error{OpRead, r.File, wrong}
	}
	var failure *sqlite.FileError
	if errors.As(err, &failure) && failure.Path == r.plain {
		return &Error{OpRead, r.File, &sqlite.FileError{Op: failure.Op, Path: r.File, Err: failure.Err}}
	}
	return err
}

// steps returns the steps of the restore. The program may be killed in or after any step.
func (r *restoring) steps() []func(context.Context) error {
	plain := func(step func() error) func(context.Context) error {
		return func(context.Context) error { return sqlite.Wrap("restoring", r.Database, step()) }
	}
	mark := func() error { return osutil.CreatePrivate(r.unfinished) } // shows other programs that a restore is running
	replace := func() error { return rename(r.unfinished, r.Database) }
	return []func(context.Context) error{
		plain(mark), r.decrypt, r.copy, plain(r.takeOver), plain(r.keep), plain(r.keepSidecars), plain(replace),
	}
}

// decrypt decrypts an encrypted backup into a private file next to the database.
func (r *restoring) decrypt(ctx context.Context) error {
	if len(r.Key) == 0 {
		return nil
	}
	r.plain = r.Database + decryptedSuffix
	info, err := os.Stat(r.File)
	if err != nil {
		return &Error{OpRead, r.File, err}
	}
	if err := roomFor(osutil.SpaceOf, nil)(filepath.Dir(r.plain), info.Size()); err != nil {
		return err
	}
	if err := r.Key.decrypt(ctx, r.File, r.plain); err != nil {
		return err
	}
	return r.inspect()
}

// copy creates the new database, including what the restore must keep from the old one.
func (r *restoring) copy(ctx context.Context) error {
	r.readOld()
	job := Job{Format: r.Format, Source: r.plain, Target: r.Database, Progress: r.Progress, change: r.change}
	copied, source, err := job.copyTo(ctx, r.unfinished)
	if r.plain != r.File {
		err = cmp.Or(err, sqlite.Wrap("restoring", r.Database, removeCopy(r.plain)))
	}
	switch {
	case err != nil:
		return r.readError(err)
	case copied.Departments == 0:
		return &Error{OpRead, r.File, ErrEmpty}
	}
	r.done.Copy, r.done.Source = copied, source
	return sqlite.Wrap("restoring", r.Database, r.setOwner())
}

// readOld reads the data that the restore must keep from the old database. It tries this even if the
// database cannot be identified, because only other parts may be damaged.
func (r *restoring) readOld() {
	var c *sqlite.Conn
	err := r.Format.Inspect(r.Database)
	if err == nil {
		c, err = sqlite.Peek(r.Database)
	}
	if r.done.Unread = err; err == nil {
		defer c.Close()
		r.old, err = identity(c)
		r.unidentified = err != nil
		r.revocations, r.done.Unread = store.ReadRevocations(c)
	}
	r.findErased(c)
}

func (r *restoring) change(copied *sqlite.Conn, source Identity) (err error) {
	if err := r.Format.CheckSchema(copied); err != nil { // someone may have replaced the file
		return err
	}
	r.compareOld(source)
	if r.done.Unread == nil {
		r.done.Revoked, err = r.revocations.Write(copied)
	}
	if err == nil {
		err = store.Renew(copied)
	}
	if err == nil && len(r.erased) > 0 {
		r.done.Erased, err = store.Erase(copied, r.erased)
	}
	return err
}

// setOwner gives the new files the owner of the old database or of its folder.
func (r *restoring) setOwner() error {
	folder := filepath.Dir(r.Database)
	owner, err := os.Stat(r.Database)
	if err != nil {
		owner, err = os.Stat(folder)
	}
	if err != nil {
		return err
	}
	for _, path := range []string{r.unfinished, r.Database + "-lock"} {
		if err := osutil.GiveTo(path, owner); err != nil {
			return err
		}
	}
	return osutil.SyncFolder(folder)
}

// takeOver ensures that no other program has the old database open, and merges its -wal. It does not
// change a damaged database.
func (r *restoring) takeOver() error {
	err := r.Format.Inspect(r.Database)
	if err == nil {
		_, err = r.Format.Verify(r.Database)
	}
	if err != nil && !errors.Is(err, sqlite.ErrBusy) {
		return nil
	}
	// A command that opened the database before the restore began may have changed it since.
	now, err := identify(sqlite.Peek, r.Database)
	if err == nil && r.old.Mark != "" && now.Mark != r.old.Mark {
		return ErrOpen
	}
	if errors.Is(sqlite.MergeWAL(r.Database), sqlite.ErrBusy) {
		return ErrOpen
	}
	return nil
}

// keep gives the old database a second name before the restore replaces it. It also chooses a name
// for the sidecars of a missing database.
func (r *restoring) keep() error {
	if !slices.ContainsFunc(append([]string{""}, sqlite.Sidecars...), func(suffix string) bool { return osutil.Exists(r.Database + suffix) }) {
		return nil
	}
	r.done.Kept = freeName(r.Database, keptSuffix)
	if !osutil.Exists(r.Database) {
		return nil
	}
	if err := r.link(r.Database, r.done.Kept); err != nil {
		if err := copyFile(r.Database, r.done.Kept); err != nil {
			return err
		}
	}
	return osutil.SyncFolder(filepath.Dir(r.Database))
}

// dropKept deletes copies of earlier restores that are more than keptDays old, unless the old database
// cannot be read and a copy of it may be all there is.
func (r *restoring) dropKept() {
	if r.done.Unread != nil {
		return
	}
	now := time.Now()
	for _, f := range filesIn(filepath.Dir(r.Database), r.Database, now, keptAs) {
		if f.Time.Before(now.AddDate(0, 0, -keptDays)) && removeCopy(f.Path) == nil { // otherwise the next restore tries again
			r.done.Dropped = append(r.done.Dropped, f.Path)
		}
	}
}

// keptAs returns the name of the copy of a database that a restore replaces.
func keptAs(db string, at time.Time) string { return db + keptSuffix + at.UTC().Format(nameTime) }

func freeName(path, suffix string) string {
	for at := time.Now().UTC(); ; at = at.Add(time.Second) {
		name := path + suffix + at.Format(nameTime)
		if !osutil.Exists(name) && !osutil.Exists(name+"-wal") {
			return name
		}
	}
}

// copyFile copies a file that no one writes to. The target is complete or missing.
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
	if err == nil {
		err = copied.Sync()
	}
	if err := errors.Join(err, copied.Close()); err != nil {
		return err
	}
	return os.Rename(half, to)
}

// keepSidecars moves the sidecars that could not be merged into a damaged database. They would damage
// the new one.
func (r *restoring) keepSidecars() error {
	if err := moveSidecars(r.Database, r.done.Kept); err != nil {
		return err
	}
	return osutil.SyncFolder(filepath.Dir(r.Database))
}

func moveSidecars(from, to string) error {
	for _, suffix := range sqlite.Sidecars {
		if err := osutil.RenameIfExists(from+suffix, to+suffix); err != nil {
			return err
		}
	}
	return nil
}

// Lock is RefuseSecondPath and sqlite.LockDatabase for a path that may be a symbolic link. It returns
// ErrRestoring if a restore holds the lock. Lock removes files that a killed program left next to the
// database, and undoes an interrupted restore.
func Lock(db string) (release func() error, err error) {
	db = osutil.Resolve(db)
	if err := RefuseSecondPath(db); err != nil {
		return nil, err
	}
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

// AwaitRestore returns an error while a restore of the database is running. It undoes an interrupted
// restore. The caller must not hold the lock on the database.
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

// undoRestore undoes a restore that was interrupted before it replaced the database. The old database
// then has all its files and only one name again. The caller holds the lock on the database.
func undoRestore(db string) error {
	if !osutil.Exists(db + copySuffix) {
		return nil
	}
	folder := filepath.Dir(db)
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		kept := filepath.Join(folder, e.Name())
		if err == nil && strings.HasPrefix(e.Name(), filepath.Base(db)+keptSuffix) && (osutil.SameFile(kept, db) || sameContent(kept, db)) {
			if err = moveSidecars(kept, db); err == nil {
				err = os.Remove(kept)
			}
		}
	}
	if err == nil {
		err = osutil.SyncFolder(folder)
	}
	if err == nil {
		err = removeCopy(db + decryptedSuffix) // before the file that marks the restore
	}
	if err == nil {
		err = errors.Join(removeCopy(db+halfSuffix), removeCopy(db+copySuffix))
	}
	return sqlite.Wrap("restoring", db, err)
}

// sameContent reports whether two files are equal. On a disk without hard links, keep copies the file.
func sameContent(a, b string) bool {
	x, errA := hashOf(a)
	y, errB := hashOf(b)
	return errA == nil && errB == nil && x == y
}

func hashOf(path string) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return [sha256.Size]byte(hash.Sum(nil)), err
}
