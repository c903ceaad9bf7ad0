package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Page is a page of a list, and how long the whole list is.
type Page struct {
	Items   []record.Firefighter
	Total   int64
	People  int64 // records of the whole department
	Version int64 // of the department: it changes with every change of a record
}

// rowsOfTenant is the condition for the records of a department, the first argument.
const rowsOfTenant = `row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff`

// inTenant selects the records of a department that are not deleted, as they lie in
// the table.
const inTenant = ` FROM firefighters
	WHERE ` + rowsOfTenant + ` AND deleted_at IS NULL`

// orders are the SQL of each order, ascending and descending. The row number,
// which is the order of creation, breaks ties. Nulls are last in both
// directions; descending this is SQLite's own way.
var orders = map[record.SortField][2]string{
	record.ByCreatedAt:   {`row`, `row DESC`},
	record.ByFirstName:   {`first_key, last_key, row`, `first_key DESC, last_key DESC, row DESC`},
	record.ByLastName:    {`last_key, first_key, row`, `last_key DESC, first_key DESC, row DESC`},
	record.ByEmail:       {`email_key NULLS LAST, row`, `email_key DESC, row DESC`},
	record.ByPhoneNumber: {`phone_key NULLS LAST, row`, `phone_key DESC, row DESC`},
	record.ByDateOfBirth: {`born_at NULLS LAST, row`, `born_at DESC, row DESC`},
}

func orderBy(q record.Query) string {
	order := orders[q.SortBy]
	if q.Descending {
		return ` ORDER BY ` + order[1]
	}
	return ` ORDER BY ` + order[0]
}

// List returns a page of a department's list. The page, the total and the
// version are of one moment.
func (s *Store) List(tenant record.TenantID, q record.Query) (p Page, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		found, now, ok, err := s.index.Page(tenant, tenantReader{c, tenant}, q)
		p.Version, p.People = now.Version, now.Count
		switch {
		case err != nil:
			return err
		case ok:
			p.Total = found.Total
			p.Items, err = fetch(c, tenant, found.Rows)
		default:
			p.Items, p.Total, err = list(c, tenant, now.Count, q)
		}
		return err
	})
	return p, err
}

// Version returns the version of a department: it changes with every change
// of a record.
func (s *Store) Version(tenant record.TenantID) (int64, error) {
	version, err := s.queryInt(`SELECT version FROM tenants WHERE id = ?`, int64(tenant))
	return version, removed(err)
}

// list has SQLite search and sort the records of a department. It is small, or
// the index is just not up to date.
func list(c *sqlite.Conn, tenant record.TenantID, count int64, q record.Query) (items []record.Firefighter, total int64, err error) {
	where, args := matching(q.Terms)
	args = append(sqlite.Args{int64(tenant)}, args...)
	total = count
	if len(q.Terms) > 0 {
		total, err = c.QueryInt(`SELECT count(*)`+inTenant+where, args...)
	}
	if err != nil || q.Offset() >= total {
		return nil, total, err
	}
	items, _, err = scanAll(c, tenant, min(q.PageSize, total), `SELECT `+record.Columns+inTenant+where+orderBy(q)+` LIMIT ? OFFSET ?`,
		append(args, q.PageSize, q.Offset()))
	return items, total, err
}

// scanAll returns the records of an answer, about count, and the row of the last one.
func scanAll(c *sqlite.Conn, tenant record.TenantID, count int64, text string, args sqlite.Args) (items []record.Firefighter, row int64, err error) {
	var f record.Stored
	var damaged error
	items = make([]record.Firefighter, 0, count)
	err = c.Query(text, args, func(r sqlite.Row) {
		record.Scan(tenant, false, r, &f)
		items, row, damaged = append(items, f.Firefighter), f.Row, cmp.Or(damaged, f.Err())
	})
	return items, row, cmp.Or(err, damaged)
}

// matching returns the condition that every term is found, and its arguments.
func matching(terms []record.Term) (where string, args sqlite.Args) {
	var b strings.Builder
	for _, t := range terms {
		args = append(args, t.Text)
		if t.Digits == "" {
			b.WriteString(` AND instr(search_text, ?)`)
			continue
		}
		args = append(args, t.Digits)
		b.WriteString(` AND (instr(search_text, ?) OR instr(phone_digits, ?))`)
	}
	return b.String(), args
}

var errIndexDiffers = errors.New("the index of a department is not what the database has")

// jsonList returns numbers or texts as json_each reads them.
func jsonList[T int64 | string](items []T) string {
	text, _ := json.Marshal(items) // cannot fail
	return string(text)
}

var fetchSQL = `
	SELECT ` + record.Columns + `
	  FROM (SELECT key AS place, value AS wanted FROM json_each(?2)) CROSS JOIN firefighters ON row = wanted
	 WHERE tenant_id = ?1 AND deleted_at IS NULL ORDER BY place`

// fetch returns the records with these row numbers, in their order.
func fetch(c *sqlite.Conn, tenant record.TenantID, rows []int64) ([]record.Firefighter, error) {
	items, _, err := scanAll(c, tenant, int64(len(rows)), fetchSQL, sqlite.Args{int64(tenant), jsonList(rows)})
	if err == nil && len(items) < len(rows) {
		err = errIndexDiffers
	}
	return items, err
}
