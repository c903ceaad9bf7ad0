// Package backup makes verified copies of a database file on request and by
// schedule, finds and prunes them, restores one, and keeps one before a schema
// upgrade. It knows no table.
package backup

import (
	"context"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Content is what this package must know of what the databases hold. All
// methods work for every version of the schema.
type Content interface {
	// Format says which files are databases with this content.
	Format() sqlite.Format

	// Identify reads a few rows, so that a damaged database can be identified as
	// well. If it fails it returns what it could read, beside the error.
	Identify(c *sqlite.Conn) (Identity, error)

	// Summarize reads all records. It ends early when ctx does.
	Summarize(ctx context.Context, c *sqlite.Conn) (Summary, error)

	// Examine checks all of a backup of the newest schema, as the command check does with a
	// database. It calls found with each line for people, and returns the number of faults.
	// Damaged records, which Summarize counts, are no faults. A backup of an older schema has
	// none.
	Examine(ctx context.Context, path string, found func(finding string)) (faults int, err error)

	// CarryOver reads from the database that a restore will replace what the
	// restore must not undo: the latest time seen, and which keys are revoked. The
	// function that it returns writes that to the restored database, in one
	// transaction, and returns the number of keys that it has revoked there.
	CarryOver(old *sqlite.Conn) (write func(restored *sqlite.Conn) (revoked int64, err error), err error)

	// Erased returns the ids of the records that were erased, sorted: the database says so of
	// them, or they are listed, and it does not have them.
	Erased(c *sqlite.Conn, listed []string) (ids []string, err error)

	// Erase erases records from a restored database, so that no trace of them is left in the
	// file. It returns the number of those that were there.
	Erase(restored *sqlite.Conn, ids []string) (erased int64, err error)

	// Renew changes what a restored database must not have from its backup.
	Renew(restored *sqlite.Conn) error
}

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
	Text    string // as in "40 records of 1 department"
	Empty   bool   // there is nothing in it that anybody would restore
	Damaged int64  // number of records that are not what the program wrote
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
func identify(content Content, open func(path string) (*sqlite.Conn, error), path string) (Identity, error) {
	c, err := open(path)
	if err != nil {
		return Identity{}, err
	}
	defer c.Close()
	return content.Identify(c)
}
