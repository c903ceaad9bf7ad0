package store

import (
	"cmp"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Member is the current state of a person in the address book of a department.
type Member struct {
	ID     string
	Record *record.Firefighter // nil: not on the list
}

// Sync is a part of the changes that a copy of an address book lacks.
type Sync struct {
	Members []Member // one per person
	Token   string   // token of the state after these changes
	More    bool     // whether a Sync with Token returns further changes
}

// syncToken identifies the state of a copy: it contains all changes up to a position. During the
// initial sync it contains all people up to a row, some perhaps with later changes.
type syncToken struct {
	position
	row int64 // sequence number within the department; 0: the initial sync is complete
}

func (t syncToken) String() string { return t.seal(t.change, t.row) }

// Sync returns the changes that a copy with a token lacks, for at most limit people. Without a
// token it starts an initial sync: the first parts contain all people on the list, and later parts
// the changes since the first one. It returns ErrPosition for an invalid token or a token of
// another history, and a *record.DamagedError if a record is damaged, because the copy would lack
// it.
func (s *Store) Sync(tenant record.TenantID, token string, limit int) (y Sync, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		now, last, err := s.begin(c, tenant, "")
		if err != nil {
			return err
		}
		state := syncToken{position: now}
		if token == "" {
			state.change = last
			return y.people(c, state, last, limit)
		}
		if state.unseal(token, &state.change, &state.row) != nil || state.change > last {
			return ErrPosition
		}
		if state.row > 0 {
			return y.people(c, state, last, limit)
		}
		return y.changes(c, state, limit)
	})
	return y, err
}

// SyncToken returns the token of a complete copy. It changes with every change in the department.
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

// people reads the people after the row of a token. After the last person, a sync continues with
// the changes since the first part.
func (y *Sync) people(c *sqlite.Conn, state syncToken, last int64, limit int) error {
	full := false
	var damaged error
	err := c.Query(peopleSQL, sqlite.Args{int64(state.tenant), state.row, int64(limit) + 1}, func(row sqlite.Row) {
		if full = len(y.Members) == limit; full {
			return
		}
		f := &record.Stored{}
		record.Scan(state.tenant, false, row, f)
		damaged = cmp.Or(damaged, f.Err())
		y.Members = append(y.Members, Member{f.ID, &f.Firefighter})
		state.row = f.Row & 0xffffffff
	})
	if !full {
		state.row = 0
	}
	y.More = full || state.change != last
	y.Token = state.String()
	return cmp.Or(err, damaged)
}

// changedIDsSQL returns the ids of the records that have changed, in the order of their last
// changes. Each id occurs once, and the last row of a page has the position after which the next
// page begins.
const changedIDsSQL = `
	SELECT record_id, max(id) & 0xffffffff AS last FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff GROUP BY record_id ORDER BY last LIMIT ?3`

func (y *Sync) changes(c *sqlite.Conn, state syncToken, limit int) error {
	var ids []string
	err := c.Query(changedIDsSQL, sqlite.Args{int64(state.tenant), state.change, int64(limit) + 1}, func(row sqlite.Row) {
		if y.More = len(ids) == limit; !y.More {
			ids, state.change = append(ids, row.Text(0)), row.Int(1)
		}
	})
	if err != nil {
		return err
	}
	y.Token = state.String()
	people, err := current(c, state.tenant, ids)
	for _, id := range ids {
		m := Member{ID: id}
		if f := people[id]; f != nil {
			m.Record, err = &f.Firefighter, cmp.Or(err, f.Err())
		}
		y.Members = append(y.Members, m)
	}
	return err
}

// Members returns the people with these ids who are on the list, by id. It returns a
// *record.DamagedError if a record is damaged.
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
