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

// Restore says which backup to put in place of which database. The database may
// be damaged or missing. Nobody may use it.
type Restore struct {
	Format   sqlite.Format
	File     string // the backup
	Key      Key    // opens an encrypted one
	Database string
	Progress func(done, total int) // called with numbers of pages; may be nil

	// KeepErased brings back also the records that were erased since the backup.
	KeepErased bool

	link func(file, name string) error // as that of a Job
}

// Restored says what a restore has done.
type Restored struct {
	Copy
	Source  Identity // of the backup
	Kept    string   // the old database; "" if there was none
	Revoked int64    // keys that were revoked since the backup and stay revoked
	Unread  error    // why nothing was carried over from the old database; sqlite.ErrNotExist if there was none
	Erased  int64    // records that were erased since the backup and stay erased
	Raw     bool     // the backup is a copy of a database file, without its -wal

	// RevokedUnknown reports whether keys that were revoked after the backup may be valid
	// again, because the old database does not list them.
	RevokedUnknown bool

	// ErasedUnknown is set if people who were erased after the backup may be back, because
	// the old database does not list them. It is the error in reading the list next to the
	// backup: fs.ErrNotExist if there is none.
	ErasedUnknown error
}

// Run restores the backup. After an error the database is as it was.
func (r Restore) Run(ctx context.Context) (Restored, error) {
	if err := osutil.RefuseRedirect(r.Database, r.Database); err != nil {
		return Restored{}, databaseError("restoring", r.Database, err)
	}
	task := newRestoring(r)
	if err := task.refuse(); err != nil {
		return Restored{}, err
	}
	release, err := Lock(task.Database)
	if err != nil {
		return Restored{}, err
	}
	defer release()
	for _, step := range task.steps() {
		if err := step(ctx); err != nil {
			undoRestore(task.Database) // what it cannot do now, the next to lock the database does
			return Restored{}, err
		}
	}
	return task.done, forgetState(task.Database)
}

// forgetState removes what the notes say about the state of the replaced database: that it was
// lost, and its mark.
func forgetState(db string) error {
	if err := RemoveNote(db, NoteLost); err != nil {
		return databaseError("restoring", db, err)
	}
	return databaseError("restoring", db, RemoveNote(db, NoteMark))
}

// restoring is a restore that is being done.
//
// A checked copy of the backup, under a name of its own, becomes a complete
// database. Then one rename puts it in place of the old database. So there is the
// old or the new one, whenever the program is killed. While the copy has the
// other name a restore is being done or was cut off: no program opens the database
// then, and Lock removes what was left behind.
type restoring struct {
	Restore
	done Restored

	old          Identity          // of the old database, as far as it could be read
	unidentified bool              // it is damaged where its identity is
	revocations  store.Revocations // of the old database
	erased       []string          // ids of records that must not come back, from the old database
	erasedUnread error             // why they could not be read
	listed       []string          // the same from the list next to the backup
	listUnread   error             // why it could not be read
	unfinished   string            // the copy
	plain        string            // what is read: the backup, or what was decrypted from it
}

// The names beside a database.
const (
	copySuffix      = ".restoring"
	halfSuffix      = ".restoring-half"
	decryptedSuffix = ".restoring-decrypted"
	keptSuffix      = ".before-restore-"
)

func newRestoring(r Restore) *restoring {
	r.File, r.Database = osutil.Resolve(r.File), osutil.Resolve(r.Database)
	if r.link == nil {
		r.link = os.Link
	}
	return &restoring{Restore: r, unfinished: r.Database + copySuffix, plain: r.File}
}

// refuse looks at the files before anything is changed.
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
		return databaseError("restoring", r.Database, sqlite.ErrNoFolder)
	}
	if info, err := os.Stat(r.Database); err == nil && !info.Mode().IsRegular() {
		return databaseError("restoring", r.Database, sqlite.ErrNotRegular)
	}
	return nil
}

// inspect looks at the plain backup.
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

// foreignSchema returns a SchemaError or ErrUnreleased for a database whose schema this
// program did not create. It returns nil if the schema cannot be read.
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

// readError returns a FileError about the backup, or a SchemaError, as an Error.
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

// steps returns the steps of the restore. The program may be killed after and
// in each of them.
func (r *restoring) steps() []func(context.Context) error {
	plain := func(step func() error) func(context.Context) error {
		return func(context.Context) error { return databaseError("restoring", r.Database, step()) }
	}
	return []func(context.Context) error{
		plain(r.mark), r.decrypt, r.copy, plain(r.takeOver), plain(r.keep), plain(r.keepSidecars), plain(r.replace),
	}
}

// mark shows other programs that the database is being restored.
func (r *restoring) mark() error { return osutil.CreatePrivate(r.unfinished) }

// decrypt makes a plain backup of an encrypted one, beside the database, where others
// cannot read it.
func (r *restoring) decrypt(ctx context.Context) error {
	if len(r.Key) == 0 {
		return nil
	}
	r.plain = r.Database + decryptedSuffix
	info, err := os.Stat(r.File)
	if err != nil {
		return &Error{OpRead, r.File, err}
	}
	if err := roomFor(osutil.SpaceOf, 0)(filepath.Dir(r.plain), info.Size()); err != nil {
		return err
	}
	if err := r.Key.decrypt(ctx, r.File, r.plain); err != nil {
		return err
	}
	return r.inspect()
}

// copy makes the new database. It keeps what the restore must not undo.
func (r *restoring) copy(ctx context.Context) error {
	r.readOld()
	job := Job{Format: r.Format, Source: r.plain, Target: r.Database, Progress: r.Progress, change: r.change}
	made, source, err := job.copyTo(ctx, r.unfinished)
	if r.plain != r.File {
		err = cmp.Or(err, databaseError("restoring", r.Database, removeCopy(r.plain)))
	}
	switch {
	case err != nil:
		return r.readError(err)
	case made.Departments == 0:
		return &Error{OpRead, r.File, ErrEmpty}
	}
	r.done.Copy, r.done.Source = made, source
	return databaseError("restoring", r.Database, r.setOwner())
}

// readOld reads from the old database what the restore must not undo, whether or
// not it can be identified: it may be damaged in other places only.
func (r *restoring) readOld() {
	c, err := peekOld(r.Format, r.Database)
	if r.done.Unread = err; err == nil {
		defer c.Close()
		r.old, err = identity(c)
		r.unidentified = err != nil
		r.revocations, r.done.Unread = store.ReadRevocations(c)
	}
	r.findErased(c)
}

func peekOld(format sqlite.Format, db string) (*sqlite.Conn, error) {
	if err := format.Inspect(db); err != nil {
		return nil, err
	}
	return sqlite.Peek(db)
}

func (r *restoring) change(copied *sqlite.Conn, source Identity) (err error) {
	if err := r.Format.CheckSchema(copied); err != nil { // the file may be another one by now
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

// setOwner sets the owner of the new files to that of the old database or of its
// folder.
func (r *restoring) setOwner() error {
	folder := filepath.Dir(r.Database)
	owner, err := os.Stat(r.Database)
	if err != nil {
		owner, err = os.Stat(folder)
	}
	if err != nil {
		return err
	}
	if err := osutil.GiveTo(r.unfinished, owner); err != nil {
		return err
	}
	if err := osutil.GiveTo(r.Database+"-lock", owner); err != nil {
		return err
	}
	return osutil.SyncFolder(folder)
}

// takeOver makes sure that no other program has the old database open, and merges its -wal.
// A damaged database stays as it is.
func (r *restoring) takeOver() error {
	err := r.Format.Inspect(r.Database)
	if err == nil {
		_, err = r.Format.Verify(r.Database)
	}
	if err != nil && !errors.Is(err, sqlite.ErrBusy) {
		return nil
	}
	// A command that opened the database before the restore began may have written to it since.
	now, err := identify(sqlite.Peek, r.Database)
	if err == nil && r.old.Mark != "" && now.Mark != r.old.Mark {
		return ErrOpen
	}
	if errors.Is(sqlite.MergeWAL(r.Database), sqlite.ErrBusy) {
		return ErrOpen
	}
	return nil
}

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
	if err := r.link(r.Database, r.done.Kept); err != nil {
		if err := copyFile(r.Database, r.done.Kept); err != nil {
			return err
		}
	}
	return osutil.SyncFolder(filepath.Dir(r.Database))
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
	if err == nil {
		err = copied.Sync()
	}
	if err := errors.Join(err, copied.Close()); err != nil {
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
	if err := os.Rename(r.unfinished, r.Database); err != nil {
		return err
	}
	return osutil.SyncFolder(filepath.Dir(r.Database))
}

// Lock is RefuseSecondPath and sqlite.LockDatabase, for a path that may be a link. The
// error is ErrRestoring if a restore has the lock. Lock removes what a killed program has
// left beside the database, and undoes a restore that was cut off.
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

// undoRestore undoes a restore that was cut off before it has replaced the database. Then
// the old database has all of its files and only one name again. The caller has locked the
// database.
func undoRestore(db string) error {
	if !osutil.Exists(db + copySuffix) {
		return nil
	}
	folder := filepath.Dir(db)
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		kept := filepath.Join(folder, e.Name())
		if err == nil && strings.HasPrefix(e.Name(), filepath.Base(db)+keptSuffix) && (osutil.SameFile(kept, db) || sameContent(kept, db)) {
			err = takeBack(kept, db)
		}
	}
	if err == nil {
		err = osutil.SyncFolder(folder)
	}
	if err == nil {
		err = removeCopy(db + decryptedSuffix) // which stays no longer than what says that it may be there
	}
	if err == nil {
		err = errors.Join(removeCopy(db+halfSuffix), removeCopy(db+copySuffix))
	}
	return databaseError("restoring", db, err)
}

// sameContent reports whether a file is a copy of another, as keep makes one on a disk
// without links.
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
