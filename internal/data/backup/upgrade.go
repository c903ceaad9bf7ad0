package backup

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Upgrade says how to take a database to the newest version of the schema.
type Upgrade struct {
	Content  Content
	Database string
	Steps    []func(*sqlite.Conn) error // the first leads from version 1 to version 2
	Announce func(kept string)          // called before a copy is made at kept, or found there
	Progress func(done, total int)      // called with numbers of pages; may be nil
}

// Run upgrades the database in one transaction, after it has made a copy next to it. No one
// may use it meanwhile: an older program would not know what to write. Run does nothing if
// the database is not of an older version, or is damaged.
func (u Upgrade) Run(ctx context.Context) error {
	u.Database = osutil.Resolve(u.Database)
	format := u.Content.Format()
	if version := format.HeaderVersion(u.Database); version < 1 || version >= format.Version {
		return nil
	}
	release, err := Lock(u.Database)
	if err != nil {
		return err
	}
	defer release()
	version, err := format.Verify(u.Database)
	if err != nil || version == format.Version { // another program has upgraded it
		return err
	}
	kept, isNew, err := u.keep(ctx, version)
	if err == nil {
		err = format.Migrate(u.Database, version, format.Version, func(c *sqlite.Conn) error {
			for _, step := range u.Steps[version-1:] {
				if err := step(c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil && isNew {
		os.Remove(kept) // the database is as it was
	}
	return databaseError("upgrading", u.Database, err)
}

// beforeSuffix is in the name of the copy from before an upgrade.
const beforeSuffix = ".before-upgrade-"

// keep returns the copy of a database from before its upgrade: the one of an
// upgrade that was cut off, or else a new one.
func (u *Upgrade) keep(ctx context.Context, version int) (kept string, isNew bool, err error) {
	if kept = u.kept(ctx, version); kept != "" {
		u.Announce(kept)
		return kept, false, nil
	}
	kept = freeName(u.Database, beforeSuffix)
	u.Announce(kept)
	_, err = Job{Content: u.Content, Source: u.Database, Target: kept, Progress: u.Progress}.Run(ctx)
	return kept, err == nil, err
}

// kept returns a valid copy beside the database that holds the same, or "".
func (u *Upgrade) kept(ctx context.Context, version int) string {
	now, err := identify(u.Content, sqlite.Peek, u.Database)
	if err != nil {
		return ""
	}
	name := func(db string, at time.Time) string { return db + beforeSuffix + at.Format(nameTime) }
	for _, f := range filesIn(filepath.Dir(u.Database), u.Database, name, time.Now()) {
		if u.Content.Format().HeaderVersion(f.Path) != version {
			continue
		}
		_, err := check(ctx, u.Content, f.Path)
		its, idErr := identify(u.Content, sqlite.OpenImmutable, f.Path)
		if err == nil && idErr == nil && its.Mark == now.Mark {
			return f.Path
		}
	}
	return ""
}
