package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"firefighters/internal/osutil"
)

const restoreHelp = `Usage: firefighters restore FILE [flags]

Puts a backup in the place of the database, which may be damaged or missing. No
server may be running on it. The backup is checked first. What was there stays
beside the database, as DB.before-restore- and the time, until you delete it.

  firefighters restore /mnt/usb/firefighters-monday.db --db /var/lib/firefighters/firefighters.db

What was written since the backup is not in it. Keys that were made since are
unknown; keys that were revoked since stay revoked, if the database that was
there can still be read.

Flags:
`

func (p *program) restore(args []string) error {
	flags := p.flags("restore", restoreHelp)
	db := dbFlag(flags)
	if err := p.parse(flags, args, 1); err != nil {
		return err
	}
	r := &restoring{p: p, file: resolve(flags.Arg(0)), db: resolve(*db)}
	if err := r.refuse(); err != nil {
		return err
	}
	release, err := lockDatabase(r.db)
	if err != nil {
		return err
	}
	defer release()
	if err := undoRestore(r.db); err != nil {
		return err
	}
	for _, step := range r.steps() {
		if err := step.do(); err != nil {
			undoRestore(r.db) // what it cannot do now, the next to lock the database does
			return err
		}
	}
	return r.tell(*db)
}

// restoring is a restore under way.
//
// The backup becomes, as a checked copy with a name of its own, a whole
// database, and then takes the place of the one that is there by a single
// renaming. So whoever looks finds the old one or the new one, whenever the
// program is killed. While the copy has the other name a restore is under way
// or was cut off: no store is opened then, and undoRestore tidies up.
type restoring struct {
	p        *program
	file, db string // resolved
	kept     string // what was there; empty if nothing was

	restored saved
	asOf     int64             // the latest time that the backup had seen, in milliseconds
	keys     map[keyHash]int64 // those revoked in the database that was there
	revoked  int               // keys of the backup that were revoked since
	unread   error             // why the database that was there could not be asked
	raw      bool              // file is a copy of a database file, without its -wal
}

// The names beside a database.
const (
	copySuffix = ".restoring"
	halfSuffix = ".restoring-half"
	keptSuffix = ".before-restore-"
)

// sidecars are the files that SQLite puts beside a database.
var sidecars = []string{"-wal", "-shm", "-journal"}

// refuse looks at the backup before anything is touched.
func (r *restoring) refuse() error {
	if sameFile(r.file, r.db) {
		return hinted{fmt.Errorf("%q is the database itself, not a backup of it", r.db), "firefighters restore --help"}
	}
	err := inspect(r.file)
	if errors.Is(err, errNoDatabase) {
		return hinted{fmt.Errorf("there is no backup at %q", r.file), "another file: firefighters restore --help"}
	}
	if err != nil {
		return r.badBackup(err)
	}
	r.raw = isRaw(r.file)
	if !exists(filepath.Dir(r.db)) {
		return inspect(r.db)
	}
	if info, err := os.Stat(r.db); err == nil && !info.Mode().IsRegular() {
		return notAFile(r.db, info)
	}
	return nil
}

// badBackup says which other backup there is, if the one given is damaged, or
// that it may not be read.
func (r *restoring) badBackup(err error) error {
	if errors.Is(err, errReadOnly) {
		return hinted{fmt.Errorf("the backup %q cannot be read from a disk that is read-only; nothing was changed", r.file), readOnlyHint}
	}
	if errors.Is(err, errForbidden) {
		return hinted{fmt.Errorf("the backup %q may not be read; nothing was changed", r.file), "start as the user who owns it"}
	}
	if !errors.Is(err, errDamaged) && !errors.Is(err, errNotOurs) {
		return err
	}
	err = hinted{fmt.Errorf("the backup %q %w; nothing was changed", r.file, kindOf(err)), "another backup: firefighters restore --help"}
	return adviseRestore(err, r.db, filepath.Dir(r.file))
}

// isRaw tells a file that was a database in use, and has no -wal beside it,
// from a backup: by the file format versions, see finish.
func isRaw(path string) bool {
	header := make([]byte, 100)
	return readHeader(path, header) == nil && header[18] == 2 && !exists(path+"-wal")
}

func kindOf(err error) error {
	if errors.Is(err, errDamaged) {
		return errDamaged
	}
	return errNotOurs
}

// restoreStep is a step after which the program may be killed.
type restoreStep struct {
	name string
	do   func() error
}

func (r *restoring) steps() []restoreStep {
	return []restoreStep{
		{"marking", r.mark},
		{"copying", r.copy},
		{"taking over", r.takeOver},
		{"keeping", r.keep},
		{"keeping the rest", r.keepSidecars},
		{"replacing", r.replace},
	}
}

// takeOver makes sure that nobody has the database open, and folds its -wal
// into it. One that is damaged, and so of little use to anybody, stays as it
// is.
func (r *restoring) takeOver() error {
	inUse := hinted{fmt.Errorf("database %q is in use by another program", r.db), "end that one first"}
	err := inspect(r.db)
	if err == nil {
		_, err = verify(r.db)
	}
	if err != nil && !errors.Is(err, errBusy) {
		return nil
	}
	keys, _, err := revocations(r.db)
	if err == nil && r.unread == nil && !maps.Equal(keys, r.keys) {
		return inUse
	}
	c, err := openConn(dsn(r.db, "mode=rw", "_synchronous=FULL", "_pragma=fullfsync(1)"))
	if err == nil {
		for _, do := range []string{`PRAGMA busy_timeout = 0`, `PRAGMA journal_mode = DELETE`, `BEGIN EXCLUSIVE`} {
			err = cmp.Or(err, c.query(do, nil, func(values) {}))
		}
		c.Close()
	}
	if errors.Is(err, errBusy) {
		return inUse
	}
	return nil
}

// mark says to whom wants to open the database that it is being restored.
func (r *restoring) mark() error {
	if err := createFile(r.db + copySuffix); err != nil {
		return explain("restoring", r.db, err)
	}
	return nil
}

// copy makes the database that is to be, which keeps what must not be undone:
// that keys were revoked, and what time it is.
func (r *restoring) copy() error {
	step, end := r.p.backupBar()
	b := &backup{source: r.file, target: r.db, room: roomFor(osutil.SpaceOf, 0), step: step}
	var latest int64
	r.keys, latest, r.unread = revocations(r.db)
	var err error
	b.change = func(c *conn) error {
		if r.asOf, err = c.queryNumber(`SELECT latest_time FROM service`); err == nil {
			r.revoked, err = carryOver(c, r.keys, latest)
		}
		return err
	}
	r.restored, err = b.copy(r.p.ctx, r.db+copySuffix)
	end()
	switch {
	case r.p.ctx.Err() != nil:
		return errors.New("stopped; nothing was changed")
	case err != nil:
		return r.badBackup(err)
	}
	if r.restored.departments == 0 {
		return hinted{fmt.Errorf("the backup %q holds no department and no records; nothing was changed", r.file),
			"another one; if it is a copy of a database file, save that database: firefighters backup NEWFILE --db FILE"}
	}
	owner, err := os.Stat(r.db)
	if err != nil {
		owner, err = os.Stat(filepath.Dir(r.db))
	}
	if err != nil {
		return err
	}
	return cmp.Or(osutil.GiveTo(r.db+copySuffix, owner), osutil.GiveTo(r.db+"-lock", owner), osutil.SyncFolder(filepath.Dir(r.db)))
}

// revocations reads from the database at path which keys are revoked, and the
// latest time seen.
func revocations(path string) (keys map[keyHash]int64, latest int64, err error) {
	if err := inspect(path); err != nil {
		return nil, 0, err
	}
	c, err := openConn(verifyDSN(path))
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	keys = map[keyHash]int64{}
	err = c.query(`SELECT hash, revoked_at FROM keys WHERE revoked_at IS NOT NULL`, nil, func(row values) {
		if hash, _ := row[0].([]byte); len(hash) == len(keyHash{}) {
			keys[keyHash(hash)] = number(row[1])
		}
	})
	if err == nil {
		latest, err = c.queryNumber(`SELECT latest_time FROM service`)
	}
	return keys, latest, err
}

// carryOver revokes keys in a database, and gives how many were not so far.
func carryOver(c *conn, keys map[keyHash]int64, latest int64) (revoked int, err error) {
	if _, err := c.exec(`BEGIN`); err != nil {
		return 0, err
	}
	for hash, at := range keys {
		changed, err := c.exec(`UPDATE keys SET revoked_at = ? WHERE hash = ? AND revoked_at IS NULL`, at, hash[:])
		if err != nil {
			return 0, err
		}
		revoked += int(changed)
	}
	if _, err := c.exec(`UPDATE service SET latest_time = max(latest_time, ?)`, latest); err != nil {
		return 0, err
	}
	_, err = c.exec(`COMMIT`)
	return revoked, err
}

// keep gives the database that is there a second name, for the time when it
// loses the first.
func (r *restoring) keep() error {
	kept, found := freeName(r.db, keptSuffix), false
	for _, suffix := range append(sidecars, "") {
		found = found || exists(r.db+suffix)
	}
	if !found {
		return nil
	}
	r.kept = kept
	if !exists(r.db) {
		return nil
	}
	if err := os.Link(r.db, r.kept); err != nil { // a disk without links
		if err := copyFile(r.db, r.kept); err != nil {
			return explain("keeping", r.db, err)
		}
	}
	return osutil.SyncFolder(filepath.Dir(r.db))
}

// freeName is a name for what was at path, by the second.
func freeName(path, suffix string) string {
	for at := time.Now().UTC(); ; at = at.Add(time.Second) {
		name := path + suffix + at.Format(backupTime)
		if !exists(name) && !exists(name+"-wal") {
			return name
		}
	}
}

// copyFile copies a file that nobody writes to, whole or not at all.
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
	err = errors.Join(err, copied.Sync(), copied.Close())
	return cmp.Or(err, os.Rename(half, to))
}

// keepSidecars moves what SQLite had put beside a database that is too damaged
// to be folded together: it belongs to that one, and would ruin the other.
func (r *restoring) keepSidecars() error {
	for _, suffix := range sidecars {
		if err := rename(r.db+suffix, r.kept+suffix); err != nil {
			return err
		}
	}
	return osutil.SyncFolder(filepath.Dir(r.db))
}

// rename renames a file if it is there.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *restoring) replace() error {
	return cmp.Or(os.Rename(r.db+copySuffix, r.db), osutil.SyncFolder(filepath.Dir(r.db)))
}

// tell says what was done, and what is where.
func (r *restoring) tell(db string) error {
	err := r.p.println(fmt.Sprintf("Restored %s from %s: %s, as it was at %s.", quoteArg(db), quoteArg(r.file),
		r.restored.holds(), showTime(r.asOf)))
	r.p.warnOfDamage(r.restored, db)
	if r.raw {
		fmt.Fprintf(r.p.stderr, "Warning: %s is a copy of a database file and not a backup: what was written last may be missing.\n", quoteArg(r.file))
	}
	note := func(format string, args ...any) { fmt.Fprintf(r.p.stderr, format+"\n", args...) }
	if r.kept != "" {
		note("What was there is kept as %s.", quoteArg(r.kept))
	}
	missing := errors.Is(r.unread, errNoDatabase)
	if missing {
		note("Made the database %s.", quoteArg(db))
	}
	if r.revoked > 0 {
		note("Keys that were revoked since the backup and stay revoked: %d.", r.revoked)
	}
	switch {
	case missing && r.kept == "":
		note("Its keys are those of the backup. See: firefighters keys list --db %s", quoteArg(db))
	case r.unread != nil:
		note("Warning: keys that were revoked since the backup are valid again. See: firefighters keys list --db %s", quoteArg(db))
	}
	return err
}
