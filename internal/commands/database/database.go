// Package database opens the database of a command. It creates a missing database,
// upgrades an old one, warns of risks, and explains errors.
package database

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Schema is the schema of all databases of the program.
type Schema struct {
	Format   sqlite.Format
	Upgrades []func(*sqlite.Conn) error // the first leads from version 1 to version 2
	Quiet    bool                       // do not report a new database
	Now      func() time.Time           // the system clock; nil: time.Now
}

// With opens the database at path for do, as Open does, and closes it.
func (s Schema) With(env cli.Env, path string, create bool, do func(*store.Store) error) error {
	opened, err := s.Open(env, path, create)
	if err != nil {
		return err
	}
	return cmp.Or(do(opened), opened.Close())
}

// WithTenant is With for a command about the named department. Without a name it uses the only
// department.
func (s Schema) WithTenant(env cli.Env, path, name string, do func(*store.Store, record.TenantID) error) error {
	return s.With(env, path, false, func(opened *store.Store) error {
		tenant, err := opened.Tenant(name)
		if err != nil {
			return store.Failed("reading", path, err)
		}
		return do(opened, tenant)
	})
}

// Open opens the database at path for a command. It creates a missing database if create is set, and
// upgrades an old database. It returns an error, and changes nothing, if the file is lost, damaged,
// newer than the program or not its database.
func (s Schema) Open(env cli.Env, path string, create bool) (*store.Store, error) {
	file := osutil.Resolve(path)
	if create {
		if err := refusePath(path); err != nil {
			return nil, err
		}
	}
	if err := guard.Refuse(file); err != nil {
		return nil, err
	}
	if err := backup.AwaitRestore(file); err != nil {
		return nil, err
	}
	version, err := 0, backup.Inspect(s.Format, file)
	if err == nil {
		version, err = s.Format.Verify(file)
	}
	if create && errors.Is(err, sqlite.ErrNotExist) {
		err = backup.RefuseBegin(s.Format, path, "")
	}
	if err != nil {
		return nil, err
	}
	if s.isOld(version) {
		release, err := backup.Lock(file)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	return s.open(env, path, version)
}

// Lock locks the database at path for a server until release is called. The file may be missing. Lock
// undoes an interrupted restore. It returns an error, and changes nothing, if the file is newer than
// the program or not its database.
func (s Schema) Lock(path string) (release func() error, err error) {
	if err := refusePath(path); err != nil {
		return nil, err
	}
	if err := s.Format.Inspect(osutil.Resolve(path)); err != nil && !errors.Is(err, sqlite.ErrNotExist) {
		return nil, err
	}
	return backup.Lock(path)
}

// OpenLocked opens the database at path for a server that has locked it. It upgrades an old database.
// It creates a missing database. Unless acceptLoss is set, it returns an error for a lost database, and
// the error of backup.RefuseBegin.
func (s Schema) OpenLocked(env cli.Env, path, backupDir string, acceptLoss bool) (*store.Store, error) {
	file := osutil.Resolve(path)
	guard.RemoveLeftovers(file)
	acceptLoss = acceptLoss || backup.ReadNote(file, backup.NoteNew, new(bool))
	if !acceptLoss {
		if err := cmp.Or(guard.RefuseLost(file), backup.RefuseBegin(s.Format, path, backupDir)); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(guard.Forget(file), backup.RemoveNote(file, backup.NoteNew)); err != nil {
		return nil, &sqlite.FileError{Op: "opening", Path: file, Err: err}
	}
	version, err := s.Format.Verify(file)
	if err != nil && !errors.Is(err, sqlite.ErrNotExist) {
		return nil, err
	}
	return s.open(env, path, version)
}

// refusePath returns an error if a database at path has a name too long for its backups, or if root
// would create it at a path that another user can redirect.
func refusePath(path string) error {
	if err := backup.CheckName(osutil.Resolve(path)); err != nil {
		return &sqlite.FileError{Op: "opening", Path: path, Err: err}
	}
	if osutil.Exists(path) {
		return nil
	}
	if err := osutil.RefuseRedirect(path, path); err != nil {
		return &sqlite.FileError{Op: "making", Path: path, Err: err}
	}
	return nil
}

// open opens the database at path, which has the given version. Version 0 is a missing database, or
// one whose creation was interrupted. The caller has locked a database that needs an upgrade.
func (s Schema) open(env cli.Env, path string, version int) (*store.Store, error) {
	file, isNew := osutil.Resolve(path), version == 0
	switch {
	case isNew:
		if err := cmp.Or(s.create(file), backup.RemoveNote(file, backup.NoteVerified)); err != nil { // of another database
			return nil, err
		}
	case s.isOld(version):
		if err := s.upgrade(env, file); err != nil {
			return nil, err
		}
	}
	opened, err := store.Open(file, s.Now)
	if err != nil {
		return nil, err
	}
	if err := integrity.Refold(env.Context, opened.DB()); err != nil {
		return nil, errors.Join(&sqlite.FileError{Op: "upgrading", Path: file, Err: err}, opened.Close())
	}
	if isNew && !s.Quiet {
		env.Notef("Created the database %s.", cli.Quote(path))
	}
	if aside := file + guard.AsideSuffix; isNew && osutil.Exists(aside) {
		env.Warn("the -wal file of another database was in the way and is kept as "+cli.Quote(aside), "")
	}
	WarnOfClock(env, opened.Clock(), path)
	return opened, nil
}

func (s Schema) isOld(version int) bool { return 0 < version && version < s.Format.Version }

func (s Schema) create(file string) error {
	err := guard.SetAside(file)
	if err == nil {
		err = osutil.CreatePrivate(file)
	}
	if err != nil {
		return &sqlite.FileError{Op: "making", Path: file, Err: err}
	}
	err = s.Format.Migrate(file, 0, s.Format.Version, func(c *sqlite.Conn) error { return store.Create(c, s.Format.Schema) })
	if err != nil {
		return &sqlite.FileError{Op: "setting up", Path: file, Err: err}
	}
	return nil
}

// upgrade writes a copy of the database next to it and then upgrades the database.
func (s Schema) upgrade(env cli.Env, file string) error {
	progress := env.StartProgress("Copying the database")
	defer progress.End()
	return backup.Upgrade{
		Format: s.Format, Database: file, Steps: s.Upgrades, Progress: progress.Set,
		Announce: func(kept string) {
			env.Notef("Upgrading the database %s. A copy of the old version is in %s.", cli.Quote(file), cli.Quote(kept))
		},
	}.Run(env.Context)
}

// WarnOfClock warns if the clock of the computer is behind the latest time in the database at path.
func WarnOfClock(env cli.Env, clock *sqlite.Clock, path string) {
	if clock.Behind() > integrity.ClockTolerance {
		env.Warn(fmt.Sprintf("the clock of this computer says %s, but the latest time in the database is %s: keys and links expire by the later time",
			clock.Earlier().Format(time.RFC3339), clock.Now().Format(time.RFC3339)),
			ClockHint(path))
	}
}

// ClockHint returns what to do after a wrong clock.
func ClockHint(db string) string {
	return "set the clock; if it is right now and was wrong before: firefighters check --repair --db " + cli.Quote(db)
}

// Describe summarizes the content of a backup, such as "40 records of 1 department".
func Describe(s backup.Summary) string {
	return cli.Count(s.Records, "record", "records") + " of " + cli.Count(s.Departments, "department", "departments")
}
