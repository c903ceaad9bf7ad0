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

// Change is a change to a record, with the current state of the record.
type Change struct {
	Position string
	At       time.Time
	Action   string
	ID       string
	Record   *record.Firefighter // nil: the record is deleted
}

// Feed is a part of the changes in a department.
type Feed struct {
	Items []Change
	Next  string // position after the last item
	More  bool   // whether there are changes after Next
}

// feedSQL reads the changes in a department after a number.
const feedSQL = `
	SELECT id & 0xffffffff, at, action, record_id FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff ORDER BY id LIMIT ?3`

// Changes returns at most limit changes in a department after a position, oldest first. An empty
// position is before the first change. It returns ErrPosition for an invalid position or a position
// of another history, and a *record.DamagedError if one of the records is damaged. The position
// works again once that record is replaced or deleted.
func (s *Store) Changes(tenant record.TenantID, after string, limit int) (f Feed, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		p, _, err := s.begin(c, tenant, after)
		if err != nil {
			return err
		}
		var ids []string
		err = c.Query(feedSQL, sqlite.Args{int64(p.tenant), p.change, int64(limit) + 1}, func(row sqlite.Row) {
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
	})
	return f, err
}

// begin returns the parsed position and the number of the last change in the department. An empty
// text is the position before the first change.
func (s *Store) begin(c *sqlite.Conn, tenant record.TenantID, after string) (p position, last int64, err error) {
	p = position{macs: s.macs, tenant: tenant}
	last, err = c.QueryInt(`SELECT (`+lastChangeSQL+`) FROM tenants WHERE id = ?1`, int64(tenant))
	if err == nil && after != "" {
		err = p.unseal(after, &p.change)
	}
	if err == nil && p.change > last { // the database was replaced by an older copy
		err = ErrPosition
	}
	return p, last, noRow(err, ErrRemoved)
}

// ErrPosition is the error for a position that does not belong to the history of the department.
var ErrPosition = errors.New("the position does not belong to this history")

// position is a place in the history of a department.
type position struct {
	macs   *macs // of the database, which are renewed with the history
	tenant record.TenantID
	change int64  // number of the last change before the place
	list   string // list of a cursor; otherwise empty
}

func (p position) String() string { return p.seal(p.change) }

// macSize is the number of bytes of the MAC in a sealed text.
const macSize = 8

// seal encodes numbers as a text with a truncated MAC, which binds it to the history, the
// department and the list.
func (p *position) seal(numbers ...int64) string {
	b := make([]byte, 0, 64)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(append(b, p.mac(b)...))
}

// unseal decodes a text into numbers. It returns ErrPosition unless seal created the text from as
// many numbers for the same history, department and list.
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

// mac returns the message authentication code of the numbers. Cursors contain more numbers than
// other positions, so a list cannot make one valid as the other.
func (p *position) mac(numbers []byte) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 128), uint64(p.tenant))
	b = append(append(b, numbers...), p.list...)
	return p.macs.of("position", b)[:macSize]
}
