package store

// The functions of this file have a connection of their own: backups and the guard read and
// change files by them that no Store has open.

import (
	"context"
	"fmt"
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

// Totals are what a database of the newest schema holds. Databases that have seen the same
// changes of records have the same.
type Totals struct {
	Departments, People, Deleted int64
	Changes                      int64  // that were made, also those that a purge has erased
	Newest                       int64  // the time of the newest change, in milliseconds; 0: there is none
	Versions                     string // of the departments: they count the changes
}

const (
	newestChangeSQL = `SELECT max(id) FROM changes WHERE id BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff`
	totalsSQL       = `
	SELECT count(*), ifnull(sum(live_count), 0), (SELECT count(*) FROM firefighters), ifnull(sum((` + newestChangeSQL + `) & 0xffffffff), 0),
	       ifnull(max((SELECT at FROM changes WHERE id = (` + newestChangeSQL + `))), 0), ifnull(group_concat(id || ':' || version ORDER BY id), '')
	  FROM tenants`
)

// ReadTotals reads no record, so that it takes no time of a database that is served.
func ReadTotals(c *sqlite.Conn) (t Totals, err error) {
	err = c.QueryRow(totalsSQL, nil, func(row sqlite.Row) {
		t = Totals{row.Int(0), row.Int(1), row.Int(2) - row.Int(1), row.Int(3), row.Int(4), row.Text(5)}
	})
	return t, err
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

// HoldsRecord reports whether a database of any version of the schema has a record with
// this id, deleted or not.
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

// Renew makes a restored database another one than its backup. Its versions count
// another history, so that no client takes them for those that it knows. It has no
// address, because no service listens there yet. It has no invitation, because those of
// the backup may have been used since.
func Renew(c *sqlite.Conn) error {
	_, err := c.Exec(`UPDATE service SET history = random(), address = ''; DELETE FROM invitations`)
	return err
}

// EndSessions signs everybody out of the page, as on another PC. Keys stay valid.
func EndSessions(c *sqlite.Conn) error {
	_, err := c.Exec(`UPDATE keys SET revoked_at = (SELECT latest_time FROM service) WHERE session_lifetime IS NOT NULL AND revoked_at IS NULL`)
	return err
}

// progress is how far a database has come.
type progress struct {
	history     int64
	keysVersion int64 // rises with each change of keys and with each department removed
	changes     int64 // of all departments
	last        lastChange
}

// lastChange is the newest entry in the history of the department with most changes. No
// id is given twice.
type lastChange struct {
	id, at int64
	record string
}

const progressSQL = `
	SELECT history, keys_version, coalesce(changed, 0), coalesce(tenant, 0)
	  FROM service, (SELECT sum(version) AS changed, max(version), id AS tenant FROM tenants)`

const lastEntrySQL = `
	SELECT id, at, record_id FROM changes
	 WHERE id = (SELECT max(id) FROM changes WHERE ` + ofTenant + `)`

// Progress returns how far a database has come, as a line of text. It reports whether
// the database is older than an earlier line says, which may be empty. What this
// program does never makes a database older. What people do to it by SQL may.
func Progress(c *sqlite.Conn, earlier string) (now string, older bool, err error) {
	var p progress
	tenant := int64(0)
	err = c.QueryRow(progressSQL, nil, func(row sqlite.Row) {
		p, tenant = progress{history: row.Int(0), keysVersion: row.Int(1), changes: row.Int(2)}, row.Int(3)
	})
	if err == nil {
		p.last, err = readLastChange(c, tenant)
	}
	if err != nil {
		return "", false, err
	}
	then, known := parseProgress(earlier)
	if known && p.history == then.history { // a restored database has a history of its own
		older, err = p.isOlder(c, then)
	}
	return fmt.Sprintf("%d %d %d %d %d %q", p.history, p.keysVersion, p.changes, p.last.id, p.last.at, p.last.record), older, err
}

func parseProgress(text string) (p progress, ok bool) {
	n, err := fmt.Sscanf(text, "%d %d %d %d %d %q", &p.history, &p.keysVersion, &p.changes, &p.last.id, &p.last.at, &p.last.record)
	return p, err == nil && n == 6
}

func readLastChange(c *sqlite.Conn, tenant int64) (last lastChange, err error) {
	err = c.Query(lastEntrySQL, sqlite.Args{tenant}, func(row sqlite.Row) { last = lastChange{row.Int(0), row.Int(1), row.Text(2)} })
	return last, err
}

// isOlder reports whether p is older than another state of the same history. With a
// department all of its changes go, and a purge erases single entries.
func (p progress) isOlder(c *sqlite.Conn, then progress) (bool, error) {
	if p.keysVersion < then.keysVersion || p.keysVersion == then.keysVersion && p.changes < then.changes {
		return true, nil
	}
	if then.last.id == 0 {
		return false, nil
	}
	last, err := readLastChange(c, then.last.id>>32)
	if err != nil || last.id == 0 {
		return false, err
	}
	older := last.id < then.last.id
	err = c.Query(`SELECT at, record_id FROM changes WHERE id = ?`, sqlite.Args{then.last.id}, func(row sqlite.Row) {
		older = older || row.Int(0) != then.last.at || row.Text(1) != then.last.record
	})
	return older, err
}
