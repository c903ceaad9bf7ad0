package store

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// pastRecord returns the record of an entry of the history, nil if the entry has none
// or the disk has damaged it. The structs have no JSON tags: the name of a member in Go
// must be its name in JSON, but for the case of letters.
func pastRecord(text string) *record.Firefighter {
	var f struct {
		record.Firefighter
		Damaged bool
	}
	if text == "" || json.Unmarshal([]byte(text), &f) != nil || f.Damaged {
		return nil
	}
	return &f.Firefighter
}

// Entry is a change of a record as the command history shows it.
type Entry struct {
	At     string          `json:"at"`
	Action string          `json:"action"`
	ID     string          `json:"id"`
	Key    *int64          `json:"key"` // null: a command did it
	Label  *string         `json:"label"`
	Before json.RawMessage `json:"before"`
}

const historySQL = `
	SELECT at, action, record_id, key_id, label, before
	  FROM changes LEFT JOIN keys ON keys.id = key_id
	 WHERE ` + ofTenant + ` AND at >= ?2 AND ?3 IN ('', record_id) ORDER BY changes.id`

// History calls each for the changes of a department, oldest first. id is
// that of one record, or empty for all.
func (s *Store) History(tenant record.TenantID, id string, since time.Time, each func(Entry)) error {
	return s.query(historySQL, sqlite.Args{int64(tenant), since.UnixMilli(), id}, func(row sqlite.Row) {
		e := Entry{At: formatMoment(row.Int(0)), Action: row.Text(1), ID: row.Text(2), Label: row.TextOrNil(4)}
		if !row.IsNull(3) {
			key := row.Int(3)
			e.Key = &key
		}
		if before := row.Text(5); before != "" {
			e.Before = validJSON(before)
		}
		each(e)
	})
}

// validJSON returns text, or a JSON string of it where damage has made it
// something else than JSON.
func validJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text)
	return quoted
}

// Summary returns the record before the change in one line, a dash if there
// was none.
func (e Entry) Summary() string {
	var f struct {
		record.Fields
		Damaged bool
	}
	switch {
	case e.Before == nil:
		return "-"
	case json.Unmarshal(e.Before, &f) != nil:
		return "(damaged)"
	case f.Damaged:
		return f.Summary() + ", (damaged)"
	}
	return f.Summary()
}

// formatMoment returns a time in milliseconds as RFC 3339 has it, the latest that
// it has for a later one.
func formatMoment(milliseconds int64) string {
	return time.UnixMilli(min(milliseconds, sqlite.LatestMilli)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Moment returns a time in milliseconds as RFC 3339 has it, nil for 0, which stands
// for no time.
func Moment(milliseconds int64) *string {
	if milliseconds == 0 {
		return nil
	}
	text := formatMoment(milliseconds)
	return &text
}

// Edit is a change of a record as the office page shows it: with the record before and
// after it.
type Edit struct {
	Number int64
	At     time.Time
	Action string
	ID     string
	Key    KeyID               // 0: a command did it
	Label  string              // of the key; empty also where the key is gone
	Before *record.Firefighter // nil where there was none or it is not known any more
	After  *record.Firefighter // nil after a delete and where it is not known any more
}

// editsSQL reads from the newest change and ends with the page. For one record
// it goes back to its creation at most.
const editsSQL = `
	SELECT changes.id & 0xffffffff, at, action, record_id, key_id, label, before
	  FROM changes LEFT JOIN keys ON keys.id = key_id
	 WHERE changes.id BETWEEN ?1 << 32 AND ?1 << 32 | ?3 - 1 AND ?2 IN ('', record_id)
	   AND (?2 = '' OR changes.id >= ifnull((SELECT max(id) FROM changes
	        WHERE ` + ofTenant + ` AND record_id = ?2 AND action = 'create'), 0))
	 ORDER BY changes.id DESC LIMIT ?4`

// laterSQL reads the changes of some records from a number on.
const laterSQL = `
	SELECT record_id, before FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | 0xffffffff AND record_id IN (SELECT value FROM json_each(?3)) ORDER BY id`

// Edits returns changes of a department, the newest first, at most limit of
// those before a number; 0 is after the newest. id is that of one record, or
// empty for all.
func (s *Store) Edits(tenant record.TenantID, id string, before int64, limit int) (edits []Edit, err error) {
	if before == 0 || before > math.MaxUint32 {
		before = math.MaxUint32 // more than any number
	}
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		err := c.Query(editsSQL, sqlite.Args{int64(tenant), id, before, int64(limit)}, func(row sqlite.Row) {
			edits = append(edits, Edit{Number: row.Int(0), At: row.Time(1), Action: row.Text(2), ID: row.Text(3),
				Key: KeyID(row.Int(4)), Label: row.Text(5), Before: pastRecord(row.Text(6))})
		})
		if err != nil {
			return err
		}
		after, err := statesAt(c, tenant, before, edits)
		for i := range edits {
			e := &edits[i]
			if e.Action != actionDelete && e.Action != actionPurge {
				e.After = after[e.ID]
			}
			after[e.ID] = e.Before
		}
		return err
	})
	return edits, err
}

// statesAt returns what the records of some edits were before the change of a
// number: what the first change from there on has, or else what they are now.
func statesAt(c *sqlite.Conn, tenant record.TenantID, number int64, edits []Edit) (map[string]*record.Firefighter, error) {
	states, wanted := map[string]*record.Firefighter{}, []string{}
	for _, e := range edits {
		wanted = append(wanted, e.ID)
	}
	now, err := current(c, tenant, wanted)
	if err != nil {
		return states, err
	}
	for id, f := range now {
		if !f.Damaged {
			states[id] = &f.Firefighter
		}
	}
	seen := map[string]bool{}
	err = c.Query(laterSQL, sqlite.Args{int64(tenant), number, jsonList(wanted)}, func(row sqlite.Row) {
		if id := row.Text(0); !seen[id] {
			seen[id], states[id] = true, pastRecord(row.Text(1))
		}
	})
	return states, err
}

var currentSQL = `
	SELECT ` + record.Columns + ` FROM firefighters
	 WHERE id IN (SELECT value FROM json_each(?2)) AND tenant_id = ?1 AND deleted_at IS NULL`

// current returns those of some records that are not deleted, by their ids.
func current(c *sqlite.Conn, tenant record.TenantID, ids []string) (map[string]*record.Stored, error) {
	found := map[string]*record.Stored{}
	err := c.Query(currentSQL, sqlite.Args{int64(tenant), jsonList(ids)}, func(row sqlite.Row) {
		f := &record.Stored{}
		record.Scan(tenant, false, row, f)
		found[f.ID] = f
	})
	return found, err
}

// Difference is a record that is not as it was.
type Difference struct {
	ID   string
	Then *record.Firefighter // nil: was not on the list
	Now  *record.Firefighter // nil: is not on it any more
}

// changedSinceSQL reads the changes of a department after a version, as far back as
// they go.
const changedSinceSQL = `
	SELECT record_id, action, before FROM changes
	 WHERE ` + ofTenant + ` AND version > ?2
	   AND id > ifnull((SELECT max(id) FROM changes WHERE ` + ofTenant + ` AND version <= ?2), 0) ORDER BY id`

// ChangedSince returns what has changed in the fields of a department's records
// since a version of it, in the order of the first change. A record that is as it
// was is left out. So are those that were purged, of which it returns the number:
// nobody knows any more whether they were on the list. The error is a
// *record.DamagedError where the disk has changed a record.
func (s *Store) ChangedSince(tenant record.TenantID, version int64) (d []Difference, erased int, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		var ids []string
		then := map[string]*record.Firefighter{}
		err := c.Query(changedSinceSQL, sqlite.Args{int64(tenant), version}, func(row sqlite.Row) {
			id, action := row.Text(0), row.Text(1)
			if action == actionPurge {
				erased++
			} else if _, seen := then[id]; !seen {
				ids, then[id] = append(ids, id), stateBefore(id, action, row.Text(2))
			}
		})
		if err != nil {
			return err
		}
		now, err := current(c, tenant, ids)
		for _, id := range ids {
			changed := Difference{ID: id, Then: then[id]}
			if f := now[id]; f != nil {
				changed.Now, err = &f.Firefighter, cmp.Or(err, f.Err())
			}
			if changed.differs() {
				d = append(d, changed)
			}
		}
		return err
	})
	return d, erased, err
}

// stateBefore returns what was on the list before a change of a record. Where the
// disk has damaged that, only its id is known.
func stateBefore(id, action, before string) *record.Firefighter {
	if action == actionCreate || action == actionUndelete {
		return nil
	}
	if f := pastRecord(before); f != nil {
		return f
	}
	return &record.Firefighter{ID: id}
}

// differs reports whether the record was added or removed, or has other fields.
func (d Difference) differs() bool {
	if d.Then == nil || d.Now == nil {
		return d.Then != d.Now
	}
	return d.Then.Fields != d.Now.Fields
}
