package backup

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Restore says which backup to put in place of which database. The database may
// be damaged or missing. Nobody may use it.
type Restore struct {
	Content  Content
	File     string // the backup
	Database string
	Progress func(done, total int) // called with numbers of pages; may be nil

	link linkFunc
}

// Restored says what a restore has done.
type Restored struct {
	Copy
	AsOf    time.Time // the latest time that the backup had seen
	Kept    string    // the old database; "" if there was none
	Revoked int64     // keys that were revoked since the backup and stay revoked
	Unread  error     // why nothing was carried over from the old database; sqlite.ErrNotExist if there was none
	Raw     bool      // the backup is a copy of a database file, without its -wal
}

// Run restores the backup. After an error the database is as it was.
func (r Restore) Run(ctx context.Context) (Restored, error) {
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
	os.Remove(task.Database + sqlite.LostSuffix) // the database is back
	return task.done, nil
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
	done  Restored
	wrong error // a link of somebody else, through which the database would be written

	old        Identity // of the old database, as far as it could be read
	carryOver  func(restored *sqlite.Conn) (revoked int64, err error)
	unfinished string // the copy
}

// The names beside a database.
const (
	copySuffix = ".restoring"
	halfSuffix = ".restoring-half"
	keptSuffix = ".before-restore-"
)

func newRestoring(r Restore) *restoring {
	link := databaseError("restoring", r.Database, osutil.RefuseLink(r.Database))
	r.File, r.Database = osutil.Resolve(r.File), osutil.Resolve(r.Database)
	return &restoring{Restore: r, unfinished: r.Database + copySuffix, wrong: link}
}

// refuse looks at the files before anything is changed.
func (r *restoring) refuse() error {
	if r.wrong != nil {
		return r.wrong
	}
	if osutil.SameFile(r.File, r.Database) {
		return &Error{OpRead, r.File, ErrIsDatabase}
	}
	if err := r.Content.Format().Inspect(r.File); err != nil {
		return r.readError(err)
	}
	if err := r.refuseSchema(); err != nil {
		return err
	}
	r.done.Raw = sqlite.WasInUse(r.File)
	if !osutil.Exists(filepath.Dir(r.Database)) {
		return databaseError("restoring", r.Database, sqlite.ErrNoFolder)
	}
	if info, err := os.Stat(r.Database); err == nil && !info.Mode().IsRegular() {
		return databaseError("restoring", r.Database, sqlite.ErrNotRegular)
	}
	return nil
}

// refuseSchema returns an error if the schema of the backup is not that of its
// version. What else is wrong with the backup the copy shows.
func (r *restoring) refuseSchema() error {
	if err := checkSchema(r.Content, r.File); errors.As(err, new(*sqlite.SchemaError)) {
		return r.readError(err)
	}
	return nil
}

func checkSchema(content Content, path string) error {
	c, err := sqlite.Peek(path)
	if err != nil {
		return err
	}
	defer c.Close()
	return content.Format().CheckSchema(c)
}

// readError makes a FileError about the backup, or a SchemaError, an Error.
func (r *restoring) readError(err error) error {
	if wrong, ok := errors.AsType[*sqlite.SchemaError](err); ok {
		return &Error{OpRead, r.File, wrong}
	}
	var failure *sqlite.FileError
	if errors.As(err, &failure) && failure.Path == r.File {
		return &Error{OpRead, r.File, err}
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
		plain(r.mark), r.copy, plain(r.takeOver), plain(r.keep), plain(r.keepSidecars), plain(r.replace),
	}
}

// mark shows other programs that the database is being restored.
func (r *restoring) mark() error { return osutil.CreatePrivate(r.unfinished) }

// copy makes the new database. It keeps what the restore must not undo.
func (r *restoring) copy(ctx context.Context) error {
	r.done.Unread = r.readOld()
	job := Job{Content: r.Content, Source: r.File, Target: r.Database, Progress: r.Progress, change: r.change}
	made, source, err := job.copyTo(ctx, r.unfinished)
	switch {
	case err != nil:
		return r.readError(err)
	case made.Empty:
		return &Error{OpRead, r.File, ErrEmpty}
	}
	r.done.Copy, r.done.AsOf = made, source.Time
	return databaseError("restoring", r.Database, r.setOwner())
}

// readOld reads from the old database what the restore must not undo, whether or
// not it can be identified: it may be damaged in other places only. takeOver finds
// out what was changed after it was identified.
func (r *restoring) readOld() error {
	if err := r.Content.Format().Inspect(r.Database); err != nil {
		return err
	}
	c, err := sqlite.Peek(r.Database)
	if err != nil {
		return err
	}
	defer c.Close()
	r.old, _ = r.Content.Identify(c)
	r.carryOver, err = r.Content.CarryOver(c)
	return err
}

func (r *restoring) change(copied *sqlite.Conn) (err error) {
	if err := r.Content.Format().CheckSchema(copied); err != nil { // the file may be another one by now
		return err
	}
	if r.done.Unread == nil {
		r.done.Revoked, err = r.carryOver(copied)
	}
	if err == nil {
		err = r.Content.Renew(copied)
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
	return cmp.Or(osutil.GiveTo(r.unfinished, owner), osutil.GiveTo(r.Database+"-lock", owner), osutil.SyncFolder(folder))
}

// takeOver makes sure that no other program has the old database open or has
// changed it meanwhile, and merges its -wal. A damaged database stays as it is:
// hardly anybody can use it.
func (r *restoring) takeOver() error {
	err := r.Content.Format().Inspect(r.Database)
	if err == nil {
		_, err = r.Content.Format().Verify(r.Database)
	}
	if err != nil && !errors.Is(err, sqlite.ErrBusy) {
		return nil
	}
	now, err := identify(r.Content, sqlite.Peek, r.Database)
	if err == nil && r.old.Mark != "" && now.Mark != r.old.Mark {
		return ErrOpen
	}
	if errors.Is(sqlite.MergeWAL(r.Database), sqlite.ErrBusy) {
		return ErrOpen
	}
	return nil
}
