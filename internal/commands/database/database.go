// Package database opens the database of a command. It creates a missing database,
// upgrades an old one, warns of risks, and explains errors.
package database

import (
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
	Quiet    bool                       // Open does not report that it created a database: the command does, or removes it
}

// With opens the database at path for do, as Open does, and closes it.
func (s Schema) With(env cli.Env, path string, create bool, do func(*store.Store) error) error {
	opened, err := s.Open(env, path, create)
	if err != nil {
		return err
	}
	err = do(opened)
	if closing := opened.Close(); err == nil {
		err = closing
	}
	return err
}

// WithTenant is With for a command about a department: the one with the name or, without
// a name, the only one.
func (s Schema) WithTenant(env cli.Env, path, name string, do func(*store.Store, record.TenantID) error) error {
	return s.With(env, path, false, func(opened *store.Store) error {
		tenant, err := opened.Tenant(name)
		if err != nil {
			return store.Failed("reading", path, err)
		}
		return do(opened, tenant)
	})
}

// Open opens the database at path. It creates a missing database if create is set, and
// upgrades an old one. It returns an error for a file that is not a database of this
// program, newer than the program or damaged, and does not change it.
func (s Schema) Open(env cli.Env, path string, create bool) (*store.Store, error) {
	if create {
		if err := RefuseRedirect(path); err != nil {
			return nil, err
		}
	}
	if err := s.Upgrade(env, path); err != nil {
		return nil, err
	}
	file := osutil.Resolve(path)
	made, err := s.make(file, create)
	if err != nil {
		return nil, err
	}
	opened, err := store.Open(file, time.Now)
	if err != nil {
		return nil, err
	}
	if made && !s.Quiet {
		env.Notef("Created the database %s.", cli.Quote(path))
	}
	if aside := file + guard.AsideSuffix; made && osutil.Exists(aside) {
		env.Warn("the -wal file of another database was in the way and is kept as "+cli.Quote(aside), "")
	}
	warnOfClock(env, opened.Clock(), path)
	return opened, nil
}

// RefuseRedirect returns an error if root would create a database on a path that another user
// can lead to any other file.
func RefuseRedirect(path string) error {
	if osutil.Exists(path) {
		return nil
	}
	if err := osutil.RefuseRedirect(path, path); err != nil {
		return &sqlite.FileError{Op: "making", Path: path, Err: err}
	}
	return nil
}

// make creates the database if it does not exist and create is set. It completes the file
// of an interrupted attempt.
func (s Schema) make(file string, create bool) (made bool, err error) {
	if err := guard.Refuse(file); err != nil {
		return false, err
	}
	if err := backup.AwaitRestore(file); err != nil {
		return false, err
	}
	version := 0
	if err = backup.Inspect(s.Format, file); err == nil {
		version, err = s.Format.Verify(file)
	}
	switch {
	case errors.Is(err, sqlite.ErrNotExist) && create:
		made = true
		err := guard.SetAside(file)
		if err == nil {
			err = osutil.CreatePrivate(file)
		}
		if err != nil {
			return false, &sqlite.FileError{Op: "making", Path: file, Err: err}
		}
	case err != nil:
		return false, err
	}
	if version > 0 {
		return made, nil
	}
	err = s.Format.Migrate(file, 0, s.Format.Version, func(c *sqlite.Conn) error { return store.Create(c, s.Format.Schema) })
	if err != nil {
		return false, &sqlite.FileError{Op: "setting up", Path: file, Err: err}
	}
	return made, nil
}

// Upgrade upgrades a database of an older version, after a copy of it was written next to
// it.
func (s Schema) Upgrade(env cli.Env, path string) error {
	progress := env.StartProgress("Copying the database")
	defer progress.End()
	return backup.Upgrade{
		Format: s.Format, Database: path, Steps: s.Upgrades, Progress: progress.Set,
		Announce: func(kept string) {
			env.Notef("Upgrading the database %s. A copy of the old version stays in %s.", cli.Quote(osutil.Resolve(path)), cli.Quote(kept))
		},
	}.Run(env.Context)
}

// warnOfClock warns of a clock that is behind the latest time in the database.
func warnOfClock(env cli.Env, clock *sqlite.Clock, path string) {
	if clock.Behind() > integrity.ClockTolerance {
		env.Warn(fmt.Sprintf("the clock of this computer says %s, but the latest time in the database is %s: keys and links expire by the later time",
			clock.Earlier().Format(time.RFC3339), clock.Now().Format(time.RFC3339)),
			"set the clock; if it is right now and was wrong before: firefighters check --repair --db "+cli.Quote(path))
	}
}

// Describe returns the content of a backup as text, as in "40 records of 1 department".
func Describe(s backup.Summary) string {
	return cli.Count(s.Records, "record", "records") + " of " + cli.Count(s.Departments, "department", "departments")
}
