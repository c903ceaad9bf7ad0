package store

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Change is a change of a record as programs get it that keep a copy: with the record
// as it is now.
type Change struct {
	Position string
	At       time.Time
	Action   string
	ID       string
	Record   *record.Firefighter // nil: deleted or gone
}

// Feed is a part of the changes of a department.
type Feed struct {
	Items []Change
	Next  string // the position after the last item
	More  bool   // the department has changes after Next by now
}

// feedSQL reads the changes of a department after a number.
const feedSQL = `
	SELECT id & 0xffffffff, at, action, record_id FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff ORDER BY id LIMIT ?3`

// Changes returns the changes of a department after a position, the oldest first,
// at most limit; an empty position is before the first. The error is ErrPosition
// for a position that this history of the department has not given, and a
// *record.DamagedError where the disk has changed one of the records: a copy would
// not have it. Once that was replaced or deleted, the same position works again.
func (s *Store) Changes(tenant record.TenantID, after string, limit int) (f Feed, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		p, _, err := s.begin(c, tenant, after)
		if err != nil {
			return err
		}
		return f.read(c, p, limit)
	})
	return f, err
}

const lastOfTenantSQL = `SELECT (` + lastChangeSQL + `) FROM tenants WHERE id = ?1`

// lastChange returns the number of the last change of a department, or ErrRemoved.
func lastChange(c *sqlite.Conn, tenant record.TenantID) (int64, error) {
	last, err := c.QueryInt(lastOfTenantSQL, int64(tenant))
	return last, noRow(err, ErrRemoved)
}

// begin returns the position of a text, and the number of the last change of the department.
// An empty text is the position before the first change.
func (s *Store) begin(c *sqlite.Conn, tenant record.TenantID, after string) (p position, last int64, err error) {
	p = position{secret: s.secret, tenant: tenant}
	last, err = lastChange(c, tenant)
	if err == nil && after != "" {
		err = p.unseal(after, &p.change)
	}
	if err == nil && p.change > last { // an older copy of the database is in place
		err = ErrPosition
	}
	return p, last, err
}

// read reads the changes after a position.
func (f *Feed) read(c *sqlite.Conn, p position, limit int) error {
	var ids []string
	err := c.Query(feedSQL, sqlite.Args{int64(p.tenant), p.change, int64(limit) + 1}, func(row sqlite.Row) {
		if f.More = len(f.Items) == limit; f.More {
			return
		}
		p.change = row.Int(0)
		ids = append(ids, row.Text(3))
		f.Items = append(f.Items, Change{Position: p.String(), At: row.Time(1), Action: row.Text(2), ID: row.Text(3)})
	})
	if err != nil {
		return err
	}
	f.Next = p.String()
	now, err := current(c, p.tenant, ids)
	for i := range f.Items {
		if r := now[f.Items[i].ID]; r != nil && err == nil {
			f.Items[i].Record, err = &r.Firefighter, r.Err()
		}
	}
	return err
}

// ErrPosition is the error for a position that this history of the department
// has never given.
var ErrPosition = errors.New("the position is not of this history")

// position is a place in the history of a department.
type position struct {
	secret []byte // of the database, which has another one with each history
	tenant record.TenantID
	change int64  // number of the last change before the place
	list   string // the list that a cursor is of; empty: none
}

func (p position) String() string { return p.seal(p.change) }

// macSize is how much of a MAC a sealed text has.
const macSize = 8

// seal returns numbers as a text. It ends with the beginning of a MAC, which tells it
// from the texts of other histories, departments and lists, and from those of more numbers.
func (p *position) seal(numbers ...int64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(append(b, p.mac(b)...))
}

// unseal sets numbers to those that seal has made a text of, for this history, tenant and list.
// Of any other text the error is ErrPosition.
func (p *position) unseal(text string, numbers ...*int64) error {
	size := 8 * len(numbers)
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != size+macSize || strings.ContainsAny(text, "\r\n") || !hmac.Equal(b[size:], p.mac(b[:size])) {
		return ErrPosition
	}
	for i, n := range numbers {
		*n = int64(binary.BigEndian.Uint64(b[8*i:]))
	}
	return nil
}

// mac returns the message authentication code of the numbers. A cursor has more of them
// than any other position, so no list makes one look like the other.
func (p *position) mac(numbers []byte) []byte {
	tenant := binary.BigEndian.AppendUint64(nil, uint64(p.tenant))
	return mac(p.secret, "position", tenant, numbers, []byte(p.list))[:macSize]
}
