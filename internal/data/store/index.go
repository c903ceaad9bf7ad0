package store

import (
	"github.com/firefighter-records/firefighters/internal/data/internal/index"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// tenantReader reads a department within a read transaction for the index.
type tenantReader struct {
	conn   *sqlite.Conn
	tenant record.TenantID
}

// State returns the version of the department and the number of its records.
func (r tenantReader) State() (now index.State, err error) {
	err = r.conn.QueryRow(`SELECT version, live_count FROM tenants WHERE id = ?`, sqlite.Args{int64(r.tenant)}, func(row sqlite.Row) {
		now = index.State{Version: row.Int(0), Count: row.Int(1)}
	})
	return now, removed(err)
}

// Rows calls each for every record, in the order of creation.
func (r tenantReader) Rows(each func(index.Row)) (last int64, err error) {
	err = r.conn.Query(`SELECT row, search_text, phone_digits, born_at`+inTenant+` ORDER BY row`, sqlite.Args{int64(r.tenant)},
		func(row sqlite.Row) { each(indexRow(row)) })
	if err == nil {
		last, err = r.conn.QueryInt(lastChangeSQL, int64(r.tenant))
	}
	return last, err
}

// indexRow reads a row that begins with row, search_text, phone_digits, born_at.
func indexRow(row sqlite.Row) index.Row {
	return index.Row{Number: row.Int(0), SearchText: row.Text(1), PhoneDigits: row.Text(2), BornAt: row.Int(3), HasBirth: !row.IsNull(3)}
}

// maxFollowed is the number of changes from which on it is faster to read a
// department as a whole.
const maxFollowed = 20_000

const changedSQL = `
	SELECT row, search_text, phone_digits, born_at, deleted_at
	  FROM changes CROSS JOIN firefighters ON firefighters.id = record_id
	 WHERE changes.id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff`

// Changed returns the rows that have changed. Each change of a record by the
// service adds one to the version of the department and one row to the history.
// If the two differ, another program has changed records, or a purge has erased
// their history.
func (r tenantReader) Changed(after, changes int64) (rows map[int64]*index.Row, last int64, ok bool, err error) {
	last, err = r.conn.QueryInt(lastChangeSQL, int64(r.tenant))
	if err != nil || last-after > maxFollowed {
		return nil, 0, false, err
	}
	rows = map[int64]*index.Row{}
	seen := int64(0)
	err = r.conn.Query(changedSQL, sqlite.Args{int64(r.tenant), after}, func(row sqlite.Row) {
		seen++
		changed := indexRow(row)
		rows[changed.Number] = &changed
		if !row.IsNull(4) {
			rows[changed.Number] = nil
		}
	})
	return rows, last, err == nil && seen == changes, err
}
