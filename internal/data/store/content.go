package store

// The functions of this file have a connection of their own: backups and the guard read and
// change files by them that no Store has open.

import (
	"context"
	"crypto/rand"
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

// LatestTime returns the latest time that the database has seen.
func LatestTime(c *sqlite.Conn) (time.Time, error) {
	latest, err := c.QueryInt(latestTimeSQL)
	return time.UnixMilli(min(latest, sqlite.LatestMilli)).UTC(), err
}

// HoldsRecord reports whether a database has a record with this id, deleted or not.
func HoldsRecord(c *sqlite.Conn, id string) (bool, error) {
	n, err := c.QueryInt(`SELECT EXISTS (SELECT 1 FROM firefighters WHERE id = ?)`, id)
	return n == 1, err
}

// StateMark returns a text that differs before and after every change of a record, of a
// key or of the name of a department.
func StateMark(c *sqlite.Conn) (mark string, err error) {
	err = c.QueryRow(`
		SELECT concat_ws(' ', latest_time, keys_version, (SELECT group_concat(version) FROM tenants))
		  FROM service`, nil, func(row sqlite.Row) { mark = row.Text(0) })
	return mark, err
}

// Revocations are what a restore must not undo: that keys are revoked, and the
// latest time seen.
type Revocations struct {
	keys   map[KeyHash]int64 // when each key was revoked, in milliseconds
	latest int64             // the latest time seen, in milliseconds
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

// Renew distinguishes a restored database from its backup. It gets another history and
// secret, so that no client mistakes its versions, positions and entity tags for the ones it
// knows. The address is empty, because no service listens there yet. Invitations are deleted,
// because they may have been used since the backup.
func Renew(c *sqlite.Conn) error {
	secret := make([]byte, secretSize)
	rand.Read(secret)
	if _, err := c.Exec(`UPDATE service SET history = random(), secret = ?, address = ''`, secret); err != nil {
		return err
	}
	_, err := c.Exec(`DELETE FROM invitations`)
	return err
}
