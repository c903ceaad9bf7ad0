package store

// The functions of this file and of progress.go have a connection of their own: they
// read and change files that no Store has open.

import (
	"context"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Counts are the numbers of what a database holds.
type Counts struct{ Records, Departments int64 }

// CountContent counts the records that are not deleted, and the departments. It ends
// early when ctx does.
func CountContent(ctx context.Context, c *sqlite.Conn) (n Counts, err error) {
	err = c.QueryContext(ctx, `SELECT (SELECT count(*) FROM firefighters WHERE deleted_at IS NULL), (SELECT count(*) FROM tenants)`, nil,
		func(row sqlite.Row) { n = Counts{row.Int(0), row.Int(1)} })
	return n, err
}

// TenantMarks returns a mark of each department, of the first hundred at most. A
// new name does not change it, and a department of another database has another one. So
// two files that share a mark are of one database.
func TenantMarks(c *sqlite.Conn) (marks []string, err error) {
	err = c.Query(`SELECT id || ' ' || created_at FROM tenants ORDER BY id LIMIT 100`, nil,
		func(row sqlite.Row) { marks = append(marks, row.Text(0)) })
	return marks, err
}

// FirstTenant returns the name of the department that was made first, "" if there
// is none.
func FirstTenant(c *sqlite.Conn) (name string, err error) {
	err = c.Query(`SELECT name FROM tenants ORDER BY id LIMIT 1`, nil, func(row sqlite.Row) { name = row.Text(0) })
	return name, err
}

// LatestTime returns the latest time that the database has seen.
func LatestTime(c *sqlite.Conn) (time.Time, error) {
	latest, err := c.QueryInt(latestTimeSQL)
	return time.UnixMilli(min(latest, sqlite.LatestMilli)).UTC(), err
}

// StateMark returns a text that every change of a record, of a key or of the name of a
// department changes.
func StateMark(c *sqlite.Conn) (mark string, err error) {
	err = c.QueryRow(`
		SELECT concat_ws(' ', latest_time, keys_version, (SELECT group_concat(version) FROM tenants))
		  FROM service`, nil, func(row sqlite.Row) { mark = row.Text(0) })
	return mark, err
}

// Revocations are what a restore must not undo: that keys are revoked, and the
// latest time seen.
type Revocations struct {
	keys   map[KeyHash]int64 // when, in milliseconds
	latest int64
}

// ReadRevocations reads the revocations of a database.
func ReadRevocations(c *sqlite.Conn) (r Revocations, err error) {
	r.keys = map[KeyHash]int64{}
	err = c.Query(`SELECT hash, revoked_at FROM keys WHERE revoked_at IS NOT NULL`, nil, func(row sqlite.Row) {
		if hash := row.Bytes(0); len(hash) == len(KeyHash{}) {
			r.keys[KeyHash(hash)] = row.Int(1)
		}
	})
	if err == nil {
		r.latest, err = c.QueryInt(latestTimeSQL)
	}
	return r, err
}

// Write writes the revocations into another database, in one transaction, and
// returns the number of keys that were valid there.
func (r Revocations) Write(c *sqlite.Conn) (revoked int64, err error) {
	err = c.Transaction(func() error {
		for hash, at := range r.keys {
			changed, err := c.Exec(`UPDATE keys SET revoked_at = ? WHERE hash = ? AND revoked_at IS NULL`, at, hash[:])
			if err != nil {
				return err
			}
			revoked += changed
		}
		_, err := c.Exec(`UPDATE service SET latest_time = max(latest_time, ?)`, r.latest)
		return err
	})
	return revoked, err
}

// Renew makes a restored database another one than its backup. Its versions count
// another history, so that no client takes them for those that it knows. It has no
// address, because no service listens there yet. It has no invitation, because those of
// the backup may have been used since.
func Renew(c *sqlite.Conn) error {
	has, err := c.QueryInt(`SELECT EXISTS (SELECT 1 FROM pragma_table_info('service') WHERE name = 'history')`)
	if err == nil && has == 1 {
		_, err = c.Exec(`UPDATE service SET history = random(), address = ''; DELETE FROM invitations`)
	}
	return err
}
