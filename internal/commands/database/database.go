// Package database opens the database that a command is about: it makes a missing
// one, upgrades an old one, warns of what puts it at risk, and says what to type
// where that fails.
package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
	Files    sqlite.Format
	Upgrades []func(*sqlite.Conn) error // the first leads from version 1 to version 2
}

// With opens the database at path for do, as Open does. Its errors have advice.
func (s Schema) With(env cli.Env, path string, create bool, do func(*store.Store) error) error {
	opened, err := s.Open(env, path, create)
	if err == nil {
		err = cmp.Or(do(opened), opened.Close())
	}
	return s.Advise(env.Context, err, path, "")
}

// WithTenant is With for a command about the department of a name.
func (s Schema) WithTenant(env cli.Env, path, name string, do func(*store.Store, record.TenantID) error) error {
	return s.With(env, path, false, func(opened *store.Store) error {
		tenant, err := opened.Tenant(name)
		if err != nil {
			return store.Failed("reading", path, err)
		}
		return do(opened, tenant)
	})
}

// ChooseTenant returns the department of a name or, without a name, the only
// one. The error is a usage error if there are several.
func ChooseTenant(s *store.Store, flags *pflag.FlagSet, db, name string) (chosen record.TenantID, err error) {
	if strings.TrimSpace(name) != "" {
		chosen, err = s.Tenant(name)
		return chosen, store.Failed("reading", db, err)
	}
	var names []string
	if err := s.Tenants(func(d store.TenantInfo) { chosen, names = d.ID, append(names, d.Name) }); err != nil {
		return 0, store.Failed("reading", db, err)
	}
	switch len(names) {
	case 0:
		return 0, cli.WithHint(errors.New("the database has no department"), "firefighters keys create --tenant NAME --db "+cli.Quote(db))
	case 1:
		return chosen, nil
	}
	return 0, cli.Usage(fmt.Sprintf("%s: say which of the %d departments", flags.Name(), len(names)),
		fmt.Sprintf("%s --tenant %s, or see their names: firefighters departments list --db %s", cli.TypedLine(flags, flags.NArg()), cli.Quote(names[0]), cli.Quote(db)))
}

// Open opens the database at path. It makes a missing one if create is set, and
// upgrades an old one. A file that is not ours, newer than the program or damaged is
// refused and left as it is.
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
	if made {
		env.Notef("Made the database %s.", cli.Quote(path))
	}
	if aside := file + guard.AsideSuffix; made && osutil.Exists(aside) {
		env.Warn("the -wal of another database was there. It is kept as "+cli.Quote(aside)+".", "")
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

// make makes the database if there is none and create is set. A file of an
// interrupted attempt is completed.
func (s Schema) make(file string, create bool) (made bool, err error) {
	version := 0
	if err = cmp.Or(guard.Refuse(file), backup.AwaitRestore(file), backup.Inspect(s, file)); err == nil {
		version, err = s.Files.Verify(file)
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
	err = s.Files.Migrate(file, 0, s.Files.Version, func(c *sqlite.Conn) error { return store.Create(c, s.Files.Schema) })
	if err != nil {
		return false, &sqlite.FileError{Op: "setting up", Path: file, Err: err}
	}
	return made, nil
}

// Upgrade takes a database of an older version to ours, after a copy was made beside
// it.
func (s Schema) Upgrade(env cli.Env, path string) error {
	progress, end := cli.CopyProgress(env)
	defer end()
	return backup.Upgrade{
		Content: s, Database: path, Steps: s.Upgrades, Progress: progress,
		Announce: func(kept string) {
			env.Notef("Upgrading the database %s; as it is now it will stay in %s.", cli.Quote(osutil.Resolve(path)), cli.Quote(kept))
		},
	}.Run(env.Context)
}

// warnOfClock warns of a clock that is behind the latest time seen.
func warnOfClock(env cli.Env, clock *sqlite.Clock, path string) {
	if clock.Behind() > integrity.ClockTolerance {
		env.Warn(fmt.Sprintf("the clock of this machine says %s, and the database has seen %s, which holds for what expires",
			clock.Earlier().Format(time.RFC3339), clock.Now().Format(time.RFC3339)),
			"set the clock; if it is right, and was wrong before: firefighters check --repair --db "+cli.Quote(path))
	}
}

// Format says which files are databases. With the methods below Schema tells backups
// what they must know of one: it is a backup.Content.
func (s Schema) Format() sqlite.Format { return s.Files }

// Identify says which database one is.
func (Schema) Identify(c *sqlite.Conn) (id backup.Identity, err error) {
	if id.IDs, err = store.TenantMarks(c); err != nil {
		return id, err
	}
	if id.Time, err = store.LatestTime(c); err != nil {
		return id, err
	}
	id.Mark, err = store.StateMark(c)
	return id, err
}

// Summarize says what a database holds.
func (Schema) Summarize(ctx context.Context, c *sqlite.Conn) (backup.Summary, error) {
	n, err := store.CountContent(ctx, c)
	if err != nil {
		return backup.Summary{}, err
	}
	damaged, err := integrity.CountDamaged(ctx, c)
	return backup.Summary{
		Text:    cli.Count(n.Records, "record", "records") + " of " + cli.Count(n.Departments, "department", "departments"),
		Empty:   n.Departments == 0,
		Damaged: damaged,
	}, err
}

// Examine checks a backup. That the clock is behind is no fault of it.
func (s Schema) Examine(ctx context.Context, path string, found func(finding string)) (faults int, err error) {
	if s.Files.HeaderVersion(path) != s.Files.Version {
		return 0, nil
	}
	db, err := sqlite.OpenReadOnly(path)
	if err != nil {
		return 0, err
	}
	all, err := integrity.Check(ctx, db, integrity.Options{Format: s.Files, Found: found, Progress: func(int, int) {}})
	return all.Broken + all.Foreign + all.Stale, cmp.Or(err, db.Close())
}

// CarryOver returns what a restored database must have from the one that it replaces.
func (Schema) CarryOver(old *sqlite.Conn) (func(*sqlite.Conn) (int64, error), error) {
	revocations, err := store.ReadRevocations(old)
	return revocations.Write, err
}

// Erased returns which records were erased.
func (Schema) Erased(c *sqlite.Conn, listed []string) ([]string, error) {
	return store.Erased(c, listed)
}

// Erase erases records from a restored database.
func (Schema) Erase(restored *sqlite.Conn, ids []string) (int64, error) {
	return store.Erase(restored, ids)
}

// Renew changes what a restored database must not have from its backup.
func (Schema) Renew(restored *sqlite.Conn) error { return store.Renew(restored) }
