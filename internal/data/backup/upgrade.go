package backup

import (
	"context"
	"errors"
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

// Run upgrades the database in one transaction, after a copy of it was made beside
// it. Nobody may use it meanwhile: an older program would not know what to write.
// It does nothing if the database is not of an older version, or is damaged.
func (u Upgrade) Run(ctx context.Context) error {
	u.Database = osutil.Resolve(u.Database)
	format := u.Content.Format()
	if version := format.HeaderVersion(u.Database); version < 1 || version >= format.Version {
		return nil
	}
	release, version, err := u.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if version == format.Version {
		return nil
	}
	kept, made, err := u.keep(ctx, version)
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
	if err != nil && made {
		os.Remove(kept) // the database is as it was
	}
	return databaseError("upgrading", u.Database, err)
}

// lock locks the database and returns its version. If another program is
// upgrading it, lock waits until that is done, and release does nothing.
func (u *Upgrade) lock(ctx context.Context) (release func() error, version int, err error) {
	format := u.Content.Format()
	for attempt := 0; ; attempt++ {
		release, err = Lock(u.Database)
		if err == nil {
			if version, err = format.Verify(u.Database); err != nil {
				release()
			}
			return release, version, err
		}
		if !errors.Is(err, sqlite.ErrInUse) || attempt == 50 {
			return nil, 0, err
		}
		if version, err := format.Verify(u.Database); err == nil && version == format.Version {
			return func() error { return nil }, version, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// beforeSuffix is in the name of the copy from before an upgrade.
const beforeSuffix = ".before-upgrade-"

// keep returns the copy of a database from before its upgrade: the one of an
// upgrade that was cut off, or else one that it makes.
func (u *Upgrade) keep(ctx context.Context, version int) (kept string, made bool, err error) {
	kept = u.kept(ctx, version)
	if made = kept == ""; made {
		kept = freeName(u.Database, beforeSuffix)
	}
	u.Announce(kept)
	if made {
		_, err = Job{Content: u.Content, Source: u.Database, Target: kept, Progress: u.Progress}.Run(ctx)
	}
	return kept, made && err == nil, err
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
