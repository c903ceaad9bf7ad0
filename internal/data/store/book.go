package store

import (
	"cmp"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Member is a person of the address book of a department, as it is now.
type Member struct {
	ID     string
	Record *record.Firefighter // nil: not on the list, or not any more
}

// Sync is what a copy of an address book lacks, or a part of it.
type Sync struct {
	Members []Member // one for each id
	Token   string   // what the copy has with them
	More    bool     // there is more, which Sync gives for Token
}

// syncToken says what a copy has: all changes up to a position. During the first sync it
// has all people up to a row, and of the changes since the position perhaps some.
type syncToken struct {
	position
	row int64 // within the department; 0: the first sync is over
}

func (t syncToken) String() string { return t.seal(t.change, t.row) }

// Sync returns what a copy lacks that has a token, at most limit people. Without a token
// these are all people on the list: then the first part is followed by parts with the
// others, and those by parts with what has changed since the first one. The error is
// ErrPosition for a token that this history of the department has not given, and a
// *record.DamagedError where the disk has changed a record: a copy would not have it.
func (s *Store) Sync(tenant record.TenantID, token string, limit int) (y Sync, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		now, last, err := s.begin(c, tenant, "")
		if err != nil {
			return err
		}
		had := syncToken{position: now}
		if token == "" {
			had.change = last
			return y.people(c, had, last, limit)
		}
		if had.unseal(token, &had.change, &had.row) != nil || had.change > last {
			return ErrPosition
		}
		if had.row > 0 {
			return y.people(c, had, last, limit)
		}
		return y.changes(c, had, limit)
	})
	return y, err
}

// SyncToken returns the token of a copy that has everything. It changes with every change
// of the department.
func (s *Store) SyncToken(tenant record.TenantID) (token string, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		now, last, err := s.begin(c, tenant, "")
		now.change = last
		token = syncToken{position: now}.String()
		return err
	})
	return token, err
}

var peopleSQL = `SELECT ` + record.Columns + inTenant + ` AND row > ?1 << 32 | ?2 ORDER BY row LIMIT ?3`

// people gives the people on the list after the row of a token. The changes since the first
// part follow the last one, up to the last change of the department.
func (y *Sync) people(c *sqlite.Conn, had syncToken, last int64, limit int) error {
	full := false
	var damaged error
	err := c.Query(peopleSQL, sqlite.Args{int64(had.tenant), had.row, int64(limit) + 1}, func(row sqlite.Row) {
		if full = len(y.Members) == limit; full {
			return
		}
		f := &record.Stored{}
		record.Scan(had.tenant, false, row, f)
		damaged = cmp.Or(damaged, f.Err())
		y.Members = append(y.Members, Member{f.ID, &f.Firefighter})
		had.row = f.Row & 0xffffffff
	})
	if !full {
		had.row = 0
	}
	y.More = full || had.change != last
	y.Token = had.String()
	return cmp.Or(err, damaged)
}

// changedIDsSQL returns those whose records have changed since, in the order of their last
// changes. So each is given once, and what a limit cuts off is after a place in the history.
const changedIDsSQL = `
	SELECT record_id, max(id) & 0xffffffff AS last FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff GROUP BY record_id ORDER BY last LIMIT ?3`

// changes gives the people who have changed since a token.
func (y *Sync) changes(c *sqlite.Conn, had syncToken, limit int) error {
	var ids []string
	err := c.Query(changedIDsSQL, sqlite.Args{int64(had.tenant), had.change, int64(limit) + 1}, func(row sqlite.Row) {
		if y.More = len(ids) == limit; !y.More {
			ids, had.change = append(ids, row.Text(0)), row.Int(1)
		}
	})
	if err != nil {
		return err
	}
	y.Token = had.String()
	people, err := current(c, had.tenant, ids)
	for _, id := range ids {
		m := Member{ID: id}
		if f := people[id]; f != nil {
			m.Record, err = &f.Firefighter, cmp.Or(err, f.Err())
		}
		y.Members = append(y.Members, m)
	}
	return err
}

// Members returns those of some people who are on the list, by their ids. The error is a
// *record.DamagedError where the disk has changed a record.
func (s *Store) Members(tenant record.TenantID, ids []string) (all map[string]*record.Firefighter, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error {
		found, err := current(c, tenant, ids)
		all = make(map[string]*record.Firefighter, len(found))
		for id, f := range found {
			all[id], err = &f.Firefighter, cmp.Or(err, f.Err())
		}
		return err
	})
	return all, err
}
