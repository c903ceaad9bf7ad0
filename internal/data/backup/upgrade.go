package backup

import (
	"context"
	"os"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Upgrade upgrades a database to the newest schema version.
type Upgrade struct {
	Format   sqlite.Format
	Database string
	Steps    []func(*sqlite.Conn) error // the first upgrades version 1 to version 2
	Announce func(kept string)          // called before a copy is created at kept
	Progress func(done, total int)      // called with the copied and the total number of pages; may be nil
}

// Run creates a copy next to the database and then upgrades the database in one transaction. The
// caller holds the lock on the database, because an older program would write rows that violate the
// new schema. Database must not be a symbolic link. Run does nothing if the schema is current, and
// returns an error if the database is damaged.
func (u Upgrade) Run(ctx context.Context) error {
	version, err := u.Format.Verify(u.Database)
	if err != nil || version == u.Format.Version { // another process may have upgraded it
		return err
	}
	kept := freeName(u.Database, beforeSuffix)
	u.Announce(kept)
	if _, err := (Job{Format: u.Format, Source: u.Database, Target: kept, Progress: u.Progress}).Run(ctx); err != nil {
		return sqlite.Wrap("upgrading", u.Database, err)
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
		os.Remove(kept) // the database is unchanged
	}
	return sqlite.Wrap("upgrading", u.Database, err)
}
