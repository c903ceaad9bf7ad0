// Package backup creates, verifies, finds, prunes and restores backups of a database, on request and
// on a schedule. It also keeps a copy before a schema upgrade.
package backup

import (
	"context"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Identity identifies a database and its state.
type Identity struct {
	IDs  []string  // distinguish databases with the same name; may be empty
	Mark string    // changes with every change to the database
	Time time.Time // the latest time recorded in the database
}

// mayBe reports whether two files may belong to the same database: they share an ID, or one of them
// has no IDs.
func (i Identity) mayBe(other Identity) bool {
	shared := func(id string) bool { return slices.Contains(other.IDs, id) }
	return len(i.IDs) == 0 || len(other.IDs) == 0 || slices.ContainsFunc(i.IDs, shared)
}

// follows reports whether the database contains everything the backup has seen. This is false for
// another database, an older copy, and a database from which a department was removed.
func (i Identity) follows(backup Identity) bool {
	missing := func(id string) bool { return !slices.Contains(i.IDs, id) }
	return !slices.ContainsFunc(backup.IDs, missing) && !i.Time.Before(backup.Time)
}

// Summary counts the contents of a database.
type Summary struct {
	store.Counts
	Damaged int64 // records that differ from what this program wrote
}

// Copy describes a copy that has passed its check.
type Copy struct {
	Summary
	Bytes   int64
	Empty   bool                // it contains no records
	Foreign *sqlite.SchemaError // the reason why Restore rejects it, or nil

	to  []string // the recipients of an encrypted copy, sorted
	sum string   // the SHA-256 of an encrypted copy that was created now
}

// identify returns the identity of the file at path, as far as readable. open is sqlite.Peek
// or, for a copy, sqlite.OpenImmutable.
func identify(open func(path string) (*sqlite.Conn, error), path string) (Identity, error) {
	c, err := open(path)
	if err != nil {
		return Identity{}, err
	}
	defer c.Close()
	return identity(c)
}

// identity returns the identity of a database with any schema version. It reads only a few rows, so
// that it can identify a damaged database. With an error, it returns what it could read.
func identity(c *sqlite.Conn) (id Identity, err error) {
	if id.IDs, err = store.TenantMarks(c); err != nil {
		return id, err
	}
	if id.Time, err = store.LatestTime(c); err != nil {
		return id, err
	}
	id.Mark, err = store.StateMark(c)
	return id, err
}

// summarize reads all records of a database with any schema version. It stops when ctx ends.
func summarize(ctx context.Context, c *sqlite.Conn) (s Summary, err error) {
	if s.Counts, err = store.CountContent(ctx, c); err != nil {
		return Summary{}, err
	}
	s.Damaged, err = integrity.CountDamaged(ctx, c)
	return s, err
}
