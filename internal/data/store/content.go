package store

// The functions in this file take a connection: backups and the guard use them for files that no
// Store has open.

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Counts are the numbers of records and departments in a database.
type Counts struct{ Records, Departments int64 }

// CountContent counts the departments and the records that are not deleted. It ends when ctx does.
func CountContent(ctx context.Context, c *sqlite.Conn) (n Counts, err error) {
	err = c.QueryContext(ctx, `SELECT (SELECT count(*) FROM firefighters WHERE deleted_at IS NULL), (SELECT count(*) FROM tenants)`, nil,
		func(row sqlite.Row) { n = Counts{row.Int(0), row.Int(1)} })
	return n, err
}

// CountPeople returns the number of records that are not deleted, as the departments count them.
func CountPeople(c *sqlite.Conn) (int64, error) {
	return c.QueryInt(`SELECT coalesce(sum(live_count), 0) FROM tenants`)
}

// ChangesAfter counts the changes after a time, in all departments, and the people they changed.
func (s *Store) ChangesAfter(t time.Time) (changes, people int64, err error) {
	err = s.queryRow(`SELECT count(*), count(DISTINCT record_id) FROM changes WHERE at > ?`, sqlite.Args{t.UnixMilli()},
		func(row sqlite.Row) { changes, people = row.Int(0), row.Int(1) })
	return changes, people, err
}

// IsUsed reports whether the database has, or had, records.
func IsUsed(c *sqlite.Conn) (bool, error) {
	used, err := c.QueryInt(`SELECT EXISTS (SELECT 1 FROM firefighters) OR EXISTS (SELECT 1 FROM changes)`)
	return used == 1, err
}

// TenantMarks returns a mark for each of the first hundred departments. Renaming a department does
// not change its mark. Files that share a mark are copies of the same database.
func TenantMarks(c *sqlite.Conn) (marks []string, err error) {
	err = c.Query(`SELECT id || ' ' || created_at FROM tenants ORDER BY id LIMIT 100`, nil,
		func(row sqlite.Row) { marks = append(marks, row.Text(0)) })
	return marks, err
}

// LatestTime returns the latest time seen, as stored in a database.
func LatestTime(c *sqlite.Conn) (time.Time, error) {
	latest, err := c.QueryInt(latestTimeSQL)
	return time.UnixMilli(min(latest, sqlite.LatestMilli)).UTC(), err
}

// HoldsRecord reports whether a database contains a record, deleted or not.
func HoldsRecord(c *sqlite.Conn, id string) (bool, error) {
	n, err := c.QueryInt(`SELECT EXISTS (SELECT 1 FROM firefighters WHERE id = ?)`, id)
	return n == 1, err
}

// StateMark returns a text that changes with every change to a record, a key or the name of a
// department.
func StateMark(c *sqlite.Conn) (mark string, err error) {
	err = c.QueryRow(`
		SELECT concat_ws(' ', latest_time, keys_version, (SELECT group_concat(version) FROM tenants))
		  FROM service`, nil, func(row sqlite.Row) { mark = row.Text(0) })
	return mark, err
}

// Revocations are the facts that a restore must not undo: revoked keys, the latest time seen and the
// encryption of backups.
type Revocations struct {
	keys       map[KeyHash]int64 // time at which each key was revoked, in milliseconds
	latest     int64             // latest time seen, in milliseconds
	recipients []string
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
	if err == nil {
		var s Settings
		s, err = ReadSettings(c)
		r.recipients = s.Recipients
	}
	return r, err
}

// Write applies the revocations to another database in one transaction. It returns the number of
// keys that it revoked.
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
		if err == nil && len(r.recipients) > 0 {
			_, err = c.Exec(`
				INSERT INTO settings (only_row, folder, recipients, network, machine) VALUES (1, '', ?, 0, '')
				    ON CONFLICT DO UPDATE SET recipients = excluded.recipients`, strings.Join(r.recipients, " "))
		}
		return err
	})
	return revoked, err
}

// Renew gives a restored database a new history and secret, so that no client mistakes its
// versions, positions and entity tags for the original ones. It clears the address, because no
// service is running on the file, and deletes all invitations, because they may have been used
// since the backup. It separates the settings from their PC, so that an admin must confirm those for
// one PC.
func Renew(c *sqlite.Conn) error {
	secret := make([]byte, secretSize)
	rand.Read(secret)
	if _, err := c.Exec(`UPDATE service SET history = random(), secret = ?, address = ''`, secret); err != nil {
		return err
	}
	if _, err := c.Exec(`UPDATE settings SET machine = ''`); err != nil {
		return err
	}
	_, err := c.Exec(`DELETE FROM invitations`)
	return err
}
