package store

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/internal/index"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// cursorLife is how long a cursor is valid.
const cursorLife = 24 * time.Hour

// ErrCursor is the error for a cursor that is invalid, has expired, belongs to another list, or
// whose records were deleted permanently.
var ErrCursor = errors.New("the cursor is not valid for this list")

// cursor identifies the end of a page by the place that its last record had when the page was read.
// It contains no personal data: the sort key is read from the record or the history.
type cursor struct {
	created int64 // in milliseconds
	version int64 // version of the department
	updated int64 // updated_at of the last record, which the history does not contain

	// rows are the last row numbers of the page, in reverse order; 0 for none. If a purge deletes
	// the last record, the list continues after the one before it.
	rows [3]int64
}

// listOf returns a position that seals the cursors of a list, for all of its pages.
func (s *Store) listOf(tenant record.TenantID, q record.Query) position {
	list := ""
	if !q.IsWhole() {
		text, _ := json.Marshal([]any{q.Terms, q.Number, q.IDs, q.Filter}) // cannot fail
		list = string(text)
	}
	return position{macs: s.macs, tenant: tenant, list: q.SortBy + strconv.FormatBool(q.Descending) + strconv.FormatBool(q.Times) + list}
}

// setNext sets the cursor of a page with these rows if more records follow it.
func (s *Store) setNext(p *Page, tenant record.TenantID, q record.Query, rows []int64, more bool) {
	if !more || len(p.Items) == 0 {
		return
	}
	k := cursor{created: s.Clock().Now().UnixMilli(), version: p.Version}
	if q.SortBy == record.ByUpdatedAt {
		k.updated = p.Items[len(p.Items)-1].UpdatedAt
	}
	for i := range min(len(k.rows), len(rows)) {
		k.rows[i] = rows[len(rows)-1-i]
	}
	list := s.listOf(tenant, q)
	p.Next = list.seal(k.created, k.version, k.updated, k.rows[0], k.rows[1], k.rows[2])
}

func (s *Store) parseCursor(tenant record.TenantID, q record.Query) (k cursor, err error) {
	list := s.listOf(tenant, q)
	err = list.unseal(q.Cursor, &k.created, &k.version, &k.updated, &k.rows[0], &k.rows[1], &k.rows[2])
	if err != nil || s.Clock().Now().Sub(time.UnixMilli(k.created)) > cursorLife {
		return k, ErrCursor
	}
	return k, nil
}

// place returns the place of a cursor in a department that now has the given version.
func (k *cursor) place(c *sqlite.Conn, tenant record.TenantID, field record.SortField, version int64) (index.Place, error) {
	switch field {
	case record.ByCreatedAt:
		return index.Place{Row: k.rows[0]}, nil
	case record.ByUpdatedAt:
		return index.Place{Key: index.Key{Number: k.updated}, Row: k.rows[0]}, nil
	}
	for _, row := range k.rows {
		keys, err := keysAt(c, tenant, row, k.version, version)
		if err != nil {
			return index.Place{}, err
		}
		if keys != nil {
			return index.Place{Key: sortKey(field, keys), Row: row}, nil
		}
	}
	return index.Place{}, ErrCursor
}

const (
	keysSQL = `SELECT id, first_key, last_key, email_key, phone_key, born_at FROM firefighters WHERE row = ? AND tenant_id = ?`
	pastSQL = `SELECT before FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff AND record_id = ?3 ORDER BY id LIMIT 1`
)

// keysAt returns the first five of record.KeyColumns of a record at a version of the department.
// now is the current version. It returns nil if they are no longer known.
func keysAt(c *sqlite.Conn, tenant record.TenantID, row, version, now int64) (keys sqlite.Row, err error) {
	id := ""
	err = c.Query(keysSQL, sqlite.Args{row, int64(tenant)}, func(r sqlite.Row) { id, keys = r.Text(0), slices.Clone(r[1:]) })
	if err != nil || keys == nil || version == now {
		return keys, err
	}
	last, err := c.QueryInt(changeOfSQL, int64(tenant), version)
	if err != nil {
		return nil, err
	}
	err = c.Query(pastSQL, sqlite.Args{int64(tenant), last, id}, func(r sqlite.Row) {
		keys = nil
		if past := pastRecord(r.Text(0)); past != nil {
			keys = past.Keys()
		}
	})
	return keys, err
}

// sortKey returns the sort key for the values of record.KeyColumns.
func sortKey(field record.SortField, keys sqlite.Row) index.Key {
	switch field {
	case record.ByFirstName:
		return index.Key{First: keys.Text(0), Second: keys.Text(1)}
	case record.ByLastName:
		return index.Key{First: keys.Text(1), Second: keys.Text(0)}
	case record.ByEmail:
		return index.Key{None: keys.IsNull(2), First: keys.Text(2)}
	case record.ByPhoneNumber:
		return index.Key{None: keys.IsNull(3), First: keys.Text(3)}
	}
	return index.Key{None: keys.IsNull(4), Number: keys.Int(4)}
}

// betweenRows is inTenant for a range of rows. The first two arguments are the first and last row.
const betweenRows = ` FROM firefighters
	WHERE row BETWEEN ?1 AND ?2 AND deleted_at IS NULL`

// pageAfter reads the page after a place by SQL. more reports whether records follow the page.
func pageAfter(c *sqlite.Conn, tenant record.TenantID, q record.Query, at index.Place) (
	items []record.Firefighter, rows []int64, more bool, err error) {
	after, place := isAfter(q, at)
	first, last := int64(tenant)<<32, int64(tenant)<<32|math.MaxUint32
	switch {
	case q.SortBy != record.ByCreatedAt:
	case q.Descending:
		last = min(last, at.Row-1)
	default:
		first = max(first, at.Row+1)
	}
	where, args := matching(q, first, last)
	args = slices.Concat(args, place, sqlite.Args{q.PageSize + 1})
	items, rows, err = scanAll(c, tenant, q.PageSize+1, `SELECT `+columns(q)+betweenRows+where+after+orderBy(q)+` LIMIT ?`, args)
	size := min(len(rows), int(q.PageSize))
	return items[:size], rows[:size], size < len(rows), err
}

// isAfter returns the condition that a record follows a place in a list, and the arguments of the
// condition. In the order of creation, the range of rows is sufficient.
func isAfter(q record.Query, at index.Place) (where string, args sqlite.Args) {
	if q.SortBy == record.ByCreatedAt {
		return "", nil
	}
	beyond := ` > `
	if q.Descending {
		beyond = ` < `
	}
	ascending := orders[q.SortBy][0]
	columns := strings.Replace(ascending, ` NULLS LAST`, ``, 1)
	value, _, _ := strings.Cut(columns, `,`)
	if at.None {
		return ` AND ` + value + ` IS NULL AND row` + beyond + `?`, sqlite.Args{at.Row}
	}
	switch q.SortBy {
	case record.ByFirstName, record.ByLastName:
		args = sqlite.Args{at.First, at.Second}
	case record.ByEmail, record.ByPhoneNumber:
		args = sqlite.Args{at.First}
	default:
		args = sqlite.Args{at.Number}
	}
	args = append(args, at.Row)
	where = `(` + columns + `)` + beyond + `(?` + strings.Repeat(`, ?`, len(args)-1) + `)`
	if columns != ascending {
		where = `(` + where + ` OR ` + value + ` IS NULL)`
	}
	return ` AND ` + where, args
}

// count returns the number of records that match a query in a department with all records.
func count(c *sqlite.Conn, tenant record.TenantID, all int64, q record.Query) (int64, error) {
	if q.IsWhole() {
		return all, nil
	}
	where, args := matching(q, int64(tenant))
	return c.QueryInt(`SELECT count(*)`+inTenant+where, args...)
}
