// Package backup makes verified copies of a database file on request and by
// schedule, finds and prunes them, restores one, and keeps one before a schema
// upgrade. The packages store and integrity have all SQL of the tables.
package backup

import (
	"context"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Identity says which database a file holds, and in which state.
type Identity struct {
	IDs  []string  // tell databases of the same name apart; none if there is nothing to go by
	Mark string    // differs before and after every change
	Time time.Time // the latest time that the database has seen
}

// mayBe reports whether two files may be of one database: it has a common ID,
// or there is nothing to go by.
func (i Identity) mayBe(other Identity) bool {
	shared := func(id string) bool { return slices.Contains(other.IDs, id) }
	return len(i.IDs) == 0 || len(other.IDs) == 0 || slices.ContainsFunc(i.IDs, shared)
}

// follows reports whether the database has all that a backup had seen. Another database does
// not, nor an older copy, nor a database from which a department was removed.
func (i Identity) follows(backup Identity) bool {
	missing := func(id string) bool { return !slices.Contains(i.IDs, id) }
	return !slices.ContainsFunc(backup.IDs, missing) && !i.Time.Before(backup.Time)
}

// Summary says what a database holds.
type Summary struct {
	store.Counts
	Damaged int64 // number of records that are not what the program wrote
}

// Copy says what was found in a copy that has passed its check.
type Copy struct {
	Summary
	Bytes   int64
	Foreign *sqlite.SchemaError // why Restore refuses it; nil if it does not

	sum []byte // of an encrypted one: what the file beside it with its SHA-256 says
}

// identify returns the identity of the file at path, as far as it can be read.
// open is sqlite.Peek or, for a copy, sqlite.OpenImmutable.
func identify(open func(path string) (*sqlite.Conn, error), path string) (Identity, error) {
	c, err := open(path)
	if err != nil {
		return Identity{}, err
	}
	defer c.Close()
	return identity(c)
}

// identity returns the identity of a database with any version of the schema. It reads a few
// rows, so that a damaged database can be identified as well. If it fails it returns what it
// could read, next to the error.
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

// summarize reads all records of a database with any version of the schema. It ends early
// when ctx does.
func summarize(ctx context.Context, c *sqlite.Conn) (s Summary, err error) {
	if s.Counts, err = store.CountContent(ctx, c); err != nil {
		return Summary{}, err
	}
	s.Damaged, err = integrity.CountDamaged(ctx, c)
	return s, err
}
