package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"firefighters/internal/osutil"
)

const backupHelp = `Usage: firefighters backup FILE [flags]

Saves the database, also one that is being served, to a file: all of it as it
is at one moment. The file has its name only once it is whole, checked and on
disk; one that is there is not touched without --force. What a backup that was
cut off left in the folder, the next one there clears away.

  firefighters backup /mnt/usb/firefighters-monday.db --db /var/lib/firefighters/firefighters.db

The way back is: firefighters restore FILE --db DB

Flags:
`

func (p *program) backup(args []string) error {
	flags := p.flags("backup", backupHelp)
	db := dbFlag(flags)
	force := flags.Bool("force", false, "replace FILE if it is there")
	if err := p.parse(flags, args, 1); err != nil {
		return err
	}
	source := resolve(*db)
	if err := inspect(source); errors.Is(err, errNoDatabase) && inspect(resolve(flags.Arg(0))) == nil {
		return hinted{err, "firefighters backup NEWFILE --db " + quoteArg(flags.Arg(0)) + ", to save that one"}
	} else if err != nil {
		return adviseRestore(err, *db, "")
	}
	step, end := p.backupBar()
	b := &backup{source: source, target: resolve(flags.Arg(0)), force: *force, room: roomFor(osutil.SpaceOf, 0), step: step}
	made, err := b.make(p.ctx)
	end()
	switch {
	case p.ctx.Err() != nil:
		return errors.New("stopped before the backup was made")
	case err != nil:
		return adviseRestore(err, *db, "")
	}
	err = p.println(fmt.Sprintf("Saved %s in %s (%s, %.1f seconds).",
		made.holds(), quoteArg(flags.Arg(0)), inMegabytes(made.bytes), made.took.Seconds()))
	p.warnOfDamage(made, *db)
	return err
}

// warnOfDamage warns of records in a copy that are damaged, as they are in the
// database db.
func (p *program) warnOfDamage(made saved, db string) {
	if made.damaged > 0 {
		fmt.Fprintf(p.stderr, "Warning: records in it that are damaged: %d. See which: firefighters check --db %s\n", made.damaged, quoteArg(db))
	}
}

// backupBar shows how a copy gets on.
func (p *program) backupBar() (step func(done, total int), end func()) {
	bar := newProgress(p, "pages", 0)
	return func(done, total int) {
		if done == total {
			bar.what = "pages copied, now to be checked"
		}
		bar.set(done, total)
	}, bar.end
}

// backup makes a verified copy of a database that may be in use and may not
// have been opened by a store, at a schema version that may be an old one.
type backup struct {
	source string // resolved
	target string
	force  bool // replace a target that is there

	room   func(folder string, size int64) error
	step   func(done, total int)    // told of the progress, in pages
	change func(copied *conn) error // makes changes to the copy before it is checked
}

// saved says what a copy holds.
type saved struct {
	records, departments, bytes int64
	damaged                     int64 // records that are, deleted ones among them
	took                        time.Duration
}

func (s saved) holds() string {
	return fmt.Sprintf("%d records of %d departments", s.records, s.departments)
}

func inMegabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// bland is an error that may be spoken of where no file may be named: in the
// log and in answers.
type bland struct {
	error
	reason string
}

func (b bland) Unwrap() error { return b.error }

// blandly gives the reason of an error without the name of a file.
func blandly(err error) string {
	var known bland
	var failure sqliteError
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &known):
		return known.reason
	case errors.Is(err, errDamaged):
		return "the database is damaged"
	case errors.Is(err, errFull):
		return "the disk is full"
	case errors.As(err, &failure):
		return failure.Error()
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return "firefighters backup says more"
}

// errBackingUp says that the same database is being saved at this moment.
var errBackingUp = bland{errors.New("a backup of it is being made by another firefighters"), "another backup is being made"}

// make leaves a target that is whole, checked and on disk, or none that was
// not there before.
func (b *backup) make(ctx context.Context) (made saved, err error) {
	began := time.Now()
	if err := b.refuse(); err != nil {
		return saved{}, err
	}
	release, err := b.lock()
	if err != nil {
		return saved{}, err
	}
	defer release()
	partial := b.partial()
	if err := removeCopy(partial); err != nil { // left behind by one that was killed
		return saved{}, err
	}
	defer func() { err = cmp.Or(err, removeCopy(partial)) }()
	if err := createFile(partial); mayNot(err) {
		return saved{}, bland{hinted{fmt.Errorf("the folder of %q may not be written", b.target), "start as the user who owns it, or take another folder"},
			"the folder for backups may not be written"}
	}
	if made, err = b.copy(ctx, partial); err != nil {
		return saved{}, err
	}
	if err := b.publish(partial); err != nil {
		return saved{}, err
	}
	made.took = time.Since(began)
	return made, nil
}

// refuse gives the reason why there may be no file with the target's name.
func (b *backup) refuse() error {
	folder := filepath.Dir(b.target)
	if !exists(folder) {
		return bland{hinted{fmt.Errorf("the folder of %q does not exist", b.target), "make it first: mkdir " + quoteArg(folder)},
			"the folder for backups does not exist"}
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", "-lock"} {
		if sameFile(b.target, b.source+suffix) {
			return hinted{fmt.Errorf("%q is the database itself", b.target),
				"firefighters backup NEWFILE --db " + quoteArg(b.source)}
		}
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if exists(b.target + suffix) {
			return hinted{fmt.Errorf("%q is, or was, a database in use: there is %q", b.target, b.target+suffix),
				"another name for the backup"}
		}
	}
	info, err := os.Lstat(b.target)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return hinted{fmt.Errorf("%q is not a file", b.target), "another name for the backup"}
	case err == nil && !b.force:
		return b.isThere()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func (b *backup) isThere() error {
	return bland{hinted{fmt.Errorf("%q is there already", b.target), "another name, or --force to replace it"},
		"a backup of this name is there already"}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y) || a == b
}

// lock makes sure that the database is saved once at a time: so whatever
// partial there is, is left over. The lock lies beside the database, for a
// backup may go to a disk that knows no locks. Where none can be made, it is
// done without.
func (b *backup) lock() (release func(), err error) {
	path := b.source + "-backup-lock"
	unlock, err := lockFile(path)
	switch {
	case errors.Is(err, errBusy):
		return nil, hinted{errBackingUp, "again when that is done"}
	case mayNot(err) && !osutil.Writable(filepath.Dir(path)):
		return func() {}, nil
	case err != nil:
		return nil, explain("locking", b.source, err)
	}
	return func() {
		err := os.Remove(path)
		unlock()
		if err != nil { // Windows removes what is closed
			os.Remove(path)
		}
	}, nil
}

// partial is where the copy is made: in the folder of the target, by a name
// that no other database's copy has.
func (b *backup) partial() string {
	machine, _ := os.Hostname()
	source, _ := filepath.Abs(b.source)
	sum := sha256.Sum256([]byte(machine + "\x00" + source))
	return filepath.Join(filepath.Dir(b.target), fmt.Sprintf(".%s-%x.partial", filepath.Base(b.source), sum[:6]))
}

// removeCopy removes a copy that has not got its name.
func removeCopy(partial string) error {
	var failures []error
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if exists(partial + suffix) {
			failures = append(failures, os.Remove(partial+suffix))
		}
	}
	return errors.Join(failures...)
}

// publish gives the copy its name, at once and for good.
func (b *backup) publish(partial string) error {
	folder := filepath.Dir(b.target)
	if b.force {
		return cmp.Or(os.Rename(partial, b.target), osutil.SyncFolder(folder))
	}
	err := os.Link(partial, b.target) // fails where a file is
	if err != nil && exists(b.target) {
		return b.isThere()
	}
	if err != nil { // a disk without links, like most USB sticks
		err = os.Rename(partial, b.target)
	}
	return cmp.Or(err, osutil.SyncFolder(folder))
}
