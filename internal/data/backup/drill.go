package backup

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Drill says which backups to try out. The database may be in use, in this process as
// well, damaged or missing: it is only read.
type Drill struct {
	Content  Content
	Database string
	Dir      string                // the folder of its backups
	Key      Key                   // opens encrypted ones; without it their plain copy is tried, if it is there
	Progress func(done, total int) // called with numbers of pages; may be nil

	gently bool // beside requests: rests as long as it works, and leaves a part of the disk free
	space  func(folder string) (osutil.Space, error)
	now    func() time.Time
}

// Drilled says what a drill has found.
type Drilled struct {
	File                    // the newest backup
	Tried     string        // what was restored: the backup or its plain copy; "" if nothing was, for want of the key
	Copy                    // what it restores
	Others    int           // files of another database that are newer
	Restoring time.Duration // how long the restore took
	Checking  time.Duration // how long the check after it took
	Faults    []string      // what the check has found, a line each
	Backup    Inventory     // of what was restored
	Live      Inventory     // of the database
	Unread    error         // why there is no Live
}

// Run restores the newest backup to a private folder, checks what it has restored,
// compares it with the database, and removes it. The error says why the backup is not
// what one would need: ErrNone, ErrOthers, an Error about the file, or a RoomError.
func (d Drill) Run(ctx context.Context) (done Drilled, err error) {
	d.Database = osutil.Resolve(d.Database)
	if d.space == nil {
		d.space, d.now = osutil.SpaceOf, time.Now
	}
	if done.File, done.Others, err = d.newest(); err != nil {
		return done, err
	}
	if done.Tried, err = d.source(ctx, &done); err != nil || done.Tried == "" {
		return done, cmp.Or(ctx.Err(), err)
	}
	info, err := os.Stat(done.Tried)
	if err != nil {
		return done, &Error{OpRead, done.Tried, err}
	}
	size, room := info.Size(), roomFor(d.space, 0)
	if d.gently {
		room = roomFor(d.space, reservedPart)
	}
	if IsEncrypted(done.Tried) {
		size *= 2 // what is decrypted, and what is restored from that
	}
	err = WithFolder(d.Database, "drill", func(folder string) error { return room(folder, size) },
		func(folder string) error { return d.try(ctx, filepath.Join(folder, filepath.Base(d.Database)), &done) })
	return done, cmp.Or(ctx.Err(), err)
}

// source returns what to restore: the newest backup. Of an encrypted one it checks what
// can be checked without the key, and returns its plain copy beside the database, "" if
// there is none.
func (d Drill) source(ctx context.Context, done *Drilled) (path string, err error) {
	if !done.Encrypted || len(d.Key) > 0 {
		return done.Path, nil
	}
	if done.Copy, err = done.Check(ctx, d.Content); err != nil {
		return "", &Error{OpRead, done.Path, err}
	}
	if plain := keptName(d.Database, done.Time); osutil.Exists(plain) {
		return plain, nil
	}
	return "", nil
}

// newest returns the newest backup of the database, and how many files of others are
// newer.
func (d Drill) newest() (newest File, others int, err error) {
	all := backupsIn(d.Dir, d.Database, d.now())
	own, _ := identify(d.Content, sqlite.Peek, d.Database) // Inspect would end the locks of this process on it
	its := ofDatabase(d.Content, all, own)
	switch {
	case len(all) == 0:
		return File{}, 0, &Error{OpRead, d.Dir, ErrNone}
	case len(its) == 0:
		return File{}, len(all), &Error{OpRead, d.Dir, ErrOthers}
	}
	return its[0], slices.Index(all, its[0]), nil
}

// try restores a backup as the database at path, which does not exist, and checks it.
func (d Drill) try(ctx context.Context, path string, done *Drilled) error {
	var at *pace
	if d.gently {
		at = &pace{since: time.Now()}
	}
	began := time.Now()
	restore := Restore{Content: d.Content, File: done.Tried, Database: path, KeepErased: true, Progress: d.Progress, pace: at}
	if done.Tried == done.Path && done.Encrypted {
		restore.Key = d.Key
	}
	restored, err := restore.Run(ctx)
	done.Copy, done.Restoring = restored.Copy, time.Since(began)-at.rested()
	if err != nil {
		return err
	}
	began, rested := time.Now(), at.rested()
	done.Faults, err = d.Content.Examine(ctx, path, func() error { return at.rest(ctx) })
	if err == nil {
		done.Backup, err = d.count(path)
	}
	done.Checking = time.Since(began) - (at.rested() - rested)
	if err != nil {
		return &Error{OpRead, done.Tried, err}
	}
	done.Live, done.Unread = d.count(d.Database)
	switch {
	case len(done.Faults) > 0:
		return &Error{OpRead, done.Tried, ErrUnsound}
	case done.Unread == nil && done.Live.Version == done.Backup.Version && !slices.Equal(done.Live.Numbers, done.Backup.Numbers):
		return &Error{OpRead, done.Tried, ErrLacks}
	}
	return nil
}

func (d Drill) count(path string) (Inventory, error) {
	if !osutil.Exists(path) {
		return Inventory{}, databaseError("reading", path, sqlite.ErrNotExist)
	}
	c, err := sqlite.Peek(path)
	if err != nil {
		return Inventory{}, databaseError("reading", path, err)
	}
	defer c.Close()
	found, err := d.Content.Count(c)
	return found, databaseError("reading", path, err)
}

// pace rests as long as it has worked. The nil pace never does.
type pace struct {
	since time.Time // when it began to work, or has rested
	slept time.Duration
}

// rest returns after a rest, or with the error of ctx when that ends.
func (p *pace) rest(ctx context.Context) error {
	if p == nil {
		return ctx.Err()
	}
	worked := time.Since(p.since)
	select {
	case <-ctx.Done():
	case <-time.After(worked):
	}
	now := time.Now()
	p.slept += now.Sub(p.since) - worked
	p.since = now
	return ctx.Err()
}

func (p *pace) rested() time.Duration {
	if p == nil {
		return 0
	}
	return p.slept
}

// checkStructure is CheckStructure of a copy, at a pace.
func checkStructure(ctx context.Context, at *pace, c *sqlite.Conn) error {
	if at == nil {
		return c.CheckStructure(ctx)
	}
	damaged, err := c.CheckTables(ctx, func() error { return at.rest(ctx) })
	if err == nil && damaged != "" {
		err = sqlite.ErrCorrupt
	}
	return err
}
