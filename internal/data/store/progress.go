package store

import (
	"fmt"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

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
