package backup

import (
	"context"
	"os"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Upgrade says how to take a database to the newest version of the schema.
type Upgrade struct {
	Format   sqlite.Format
	Database string
	Steps    []func(*sqlite.Conn) error // the first leads from version 1 to version 2
	Announce func(kept string)          // called before a copy is made at kept
	Progress func(done, total int)      // called with numbers of pages; may be nil
}

// Run upgrades the database in one transaction, after it has made a copy next to it. The
// caller has locked the database, because an older program would write what the new schema
// does not accept. Database is the file itself, not a link to it. Run does nothing if the
// database is not of an older version, or is damaged.
func (u Upgrade) Run(ctx context.Context) error {
	version, err := u.Format.Verify(u.Database)
	if err != nil || version == u.Format.Version { // another program has upgraded it
		return err
	}
	kept := freeName(u.Database, beforeSuffix)
	u.Announce(kept)
	if _, err := (Job{Format: u.Format, Source: u.Database, Target: kept, Progress: u.Progress}).Run(ctx); err != nil {
		return databaseError("upgrading", u.Database, err)
	}
	err = u.Format.Migrate(u.Database, version, u.Format.Version, func(c *sqlite.Conn) error {
		for _, step := range u.Steps[version-1:] {
			if err := step(c); err != nil {
				return err
			}
		}
		return store.NoteSchema(c, u.Format.Schema)
	})
	if err != nil {
		os.Remove(kept) // the database is as it was
	}
	return databaseError("upgrading", u.Database, err)
}

// beforeSuffix is in the name of the copy from before an upgrade.
const beforeSuffix = ".before-upgrade-"
