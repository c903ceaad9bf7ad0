package store

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
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
// that of one record, or empty for all. An error of each ends it.
func (s *Store) History(tenant record.TenantID, id string, since time.Time, each func(Entry) error) error {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	scan := func(row sqlite.Row) {
		e := Entry{At: formatMoment(row.Int(0)), Action: row.Text(1), ID: row.Text(2), Label: row.TextOrNil(4)}
		if !row.IsNull(3) {
			key := row.Int(3)
			e.Key = &key
		}
		if before := row.Text(5); before != "" {
			e.Before = validJSON(before)
		}
		if err := each(e); err != nil {
			end(err)
		}
	}
	err := s.db.Read(func(c *sqlite.Conn) error {
		return c.QueryContext(ctx, historySQL, sqlite.Args{int64(tenant), since.UnixMilli(), id}, scan)
	})
	return cmp.Or(context.Cause(ctx), err)
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
	return time.UnixMilli(min(milliseconds, sqlite.LatestMilli)).UTC().Format(record.InMillis)
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
// after it. A whole import is an Edit without a record, and so is taking it back.
type Edit struct {
	Number int64
	At     time.Time
	Action string // that of an import is "import", that of taking it back "takeBack"
	ID     string
	Key    KeyID               // 0: a command did it
	Label  string              // of the key; empty also where the key is gone
	Before *record.Firefighter // nil where there was none or it is not known any more
	After  *record.Firefighter // nil after a delete and where it is not known any more
	Import *Import             // that has made the change, or that the Edit is about; nil: none
	People int                 // whom an import, or taking it back, has changed
	Edits  []Edit              // the newest of these changes, at most as many as were asked for
}

// EditQuery says which changes of a department are wanted. In the zero EditQuery
// nothing is excluded.
type EditQuery struct {
	Records      []string  // their ids; nil: all
	Keys         []KeyID   // that have made the changes; nil: all
	Since, Until time.Time // from one time on, and before the other; the zero time: no limit
	Import       int64     // number of an import that has made the changes; 0: any
	Before       int64     // a number: only changes before it; 0: the newest, too
}

// Edits returns changes of a department, the newest first, at most limit. An import is
// one of them, and so is taking it back, unless the query is about records or about that
// import: then each change stands for itself. The error is ErrNotFound for an import that
// the department does not have.
func (s *Store) Edits(tenant record.TenantID, q EditQuery, limit int) (edits []Edit, err error) {
	if q.Before == 0 || q.Before > math.MaxUint32 {
		q.Before = math.MaxUint32 // more than any number
	}
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		imports, err := spansOf(c, tenant)
		if err != nil {
			return err
		}
		r := editReader{q, c, tenant, imports}
		if edits, err = r.read(limit); err != nil {
			return err
		}
		return setAfter(c, tenant, edits)
	})
	return edits, err
}

// GetEdit returns a change of a department by its number. The error is ErrNotFound if
// there is none, or none any more.
func (s *Store) GetEdit(tenant record.TenantID, number int64) (e Edit, err error) {
	if number < 1 || number > math.MaxUint32 { // it would be one of another department
		return e, ErrNotFound
	}
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		r := editReader{conn: c, tenant: tenant}
		one, err := r.changes(number, number, 1)
		if err == nil && len(one) == 0 {
			err = ErrNotFound
		}
		if err == nil {
			err = setAfter(c, tenant, one)
		}
		if err == nil {
			e = one[0]
		}
		return err
	})
	return e, err
}

// editReader reads the edits that a query wants, without what was there after them.
type editReader struct {
	EditQuery
	conn    *sqlite.Conn
	tenant  record.TenantID
	imports []span // the newest first
}

// span is an import, and the numbers of its first and last change.
type span struct {
	Import
	first, last int64
}

// Actions of Edits that the table changes does not have.
const (
	actionImport = "import"
	actionUndo   = "takeBack"
)

func spansOf(c *sqlite.Conn, tenant record.TenantID) (all []span, err error) {
	err = c.Query(importsSQL+` ORDER BY number DESC`, sqlite.Args{int64(tenant)},
		func(row sqlite.Row) { all = append(all, span{scanImport(row), row.Int(8), row.Int(9)}) })
	return all, err
}

func (r *editReader) read(limit int) ([]Edit, error) {
	switch {
	case r.Import != 0:
		for _, i := range r.imports {
			if i.Number == r.Import {
				return r.changes(i.first, min(i.last, r.Before-1), limit)
			}
		}
		return nil, ErrNotFound
	case r.Records != nil:
		return r.changes(0, r.Before-1, limit)
	}
	var edits []Edit
	end := r.Before // what is before it was not read yet
	for _, i := range append(r.imports, span{}) {
		newer, err := r.between(i.last+1, end-1, limit-len(edits))
		if err != nil {
			return nil, err
		}
		edits, end = append(edits, newer...), min(end, i.first)
		if len(edits) == limit {
			break
		}
		if i.last < r.Before && r.wants(i.Import) {
			e := Edit{Number: i.last, At: i.At, Action: actionImport, Key: i.Key, Label: i.Label, Import: &i.Import, People: i.Added + i.Changed}
			if e.Edits, err = r.changes(i.first, i.last, limit); err != nil {
				return nil, err
			}
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// undoneSQL returns the first of the changes, up to a number, that taking an import back
// has made, and how many they are. One transaction has made them, one behind the other.
const undoneSQL = `
	SELECT min(id) & 0xffffffff, count(*) FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3 AND at = ?4 AND ifnull(key_id, 0) = ?5`

// between returns the changes from one number to another, between which no import is. Those
// that have taken an import back are one.
func (r *editReader) between(from, to int64, limit int) (edits []Edit, err error) {
	for {
		newer, err := r.changes(from, to, limit-len(edits))
		if err != nil {
			return nil, err
		}
		n, i := r.firstTakenBack(newer)
		if edits = append(edits, newer[:n]...); i == nil {
			return edits, nil
		}
		e := newer[n]
		last, least := e.Number, max(from, e.Number-int64(i.Added+i.Changed)+1)
		e = Edit{At: e.At, Action: actionUndo, Key: e.Key, Label: e.Label, Import: i}
		err = r.conn.QueryRow(undoneSQL, sqlite.Args{int64(r.tenant), least, last, i.UndoneAt.UnixMilli(), int64(e.Key)},
			func(row sqlite.Row) { e.Number, e.People = row.Int(0), int(row.Int(1)) })
		if err == nil {
			e.Edits, err = r.changes(e.Number, last, limit)
		}
		if err != nil {
			return nil, err
		}
		edits, to = append(edits, e), e.Number-1
	}
}

// firstTakenBack returns the first of some changes that has taken an import back, and that
// import: nil if there is none.
func (r *editReader) firstTakenBack(edits []Edit) (int, *Import) {
	for n, e := range edits {
		for _, i := range r.imports {
			if e.At.Equal(i.UndoneAt) && (e.Action == actionDelete || e.Action == actionReplace) {
				return n, &i.Import
			}
		}
	}
	return len(edits), nil
}

// wants reports whether the query is about an import.
func (q *EditQuery) wants(i Import) bool {
	return i.Number != 0 && (q.Keys == nil || slices.Contains(q.Keys, i.Key)) &&
		!i.At.Before(q.Since) && (q.Until.IsZero() || i.At.Before(q.Until))
}

// editsSQL reads the changes between two numbers from the newest one, and ends with the
// page.
const editsSQL = `
	SELECT changes.id & 0xffffffff, at, action, record_id, key_id, label, before
	  FROM changes LEFT JOIN keys ON keys.id = key_id
	 WHERE changes.id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3 AND at >= ?4 AND at < ?5
	   AND (?6 IS NULL OR record_id IN (SELECT value FROM json_each(?6)))
	   AND (?7 IS NULL OR ifnull(key_id, 0) IN (SELECT value FROM json_each(?7)))
	 ORDER BY changes.id DESC LIMIT ?8`

// changes returns those from one number to another that the query wants.
func (r *editReader) changes(from, to int64, limit int) (edits []Edit, err error) {
	if from > to || limit <= 0 {
		return nil, nil
	}
	args := sqlite.Args{int64(r.tenant), from, to, int64(math.MinInt64), int64(math.MaxInt64), nil, nil, int64(limit)}
	if !r.Since.IsZero() {
		args[3] = r.Since.UnixMilli()
	}
	if !r.Until.IsZero() {
		args[4] = r.Until.UnixMilli()
	}
	if r.Records != nil {
		args[5] = jsonList(r.Records)
	}
	if r.Keys != nil {
		args[6] = jsonList(r.Keys)
	}
	err = r.conn.Query(editsSQL, args, func(row sqlite.Row) {
		edits = append(edits, Edit{Number: row.Int(0), At: row.Time(1), Action: row.Text(2), ID: row.Text(3),
			Key: KeyID(row.Int(4)), Label: row.Text(5), Before: pastRecord(row.Text(6)), Import: r.importOf(row.Int(0))})
	})
	return edits, err
}

// importOf returns the import that has made a change, nil for none.
func (r *editReader) importOf(number int64) *Import {
	for _, i := range r.imports {
		if i.first <= number && number <= i.last {
			return &i.Import
		}
	}
	return nil
}

// laterSQL reads the changes of some records after a number.
const laterSQL = `
	SELECT id & 0xffffffff, record_id, before FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff AND record_id IN (SELECT value FROM json_each(?3)) ORDER BY id`

// setAfter sets what was there after each of some edits, which are the newest first:
// what the next change of its record has before it, or else what the record is now.
func setAfter(c *sqlite.Conn, tenant record.TenantID, edits []Edit) error {
	open := map[string][]*Edit{} // without their After yet, by record, the newest first
	oldest := int64(math.MaxUint32)
	add := func(e *Edit) {
		if e.ID != "" {
			open[e.ID], oldest = append(open[e.ID], e), min(oldest, e.Number)
		}
	}
	for i := range edits {
		add(&edits[i])
		for j := range edits[i].Edits {
			add(&edits[i].Edits[j])
		}
	}
	settle := func(id string, number int64, f func() *record.Firefighter) {
		for wait := open[id]; len(wait) > 0 && wait[len(wait)-1].Number < number; wait = open[id] {
			if e := wait[len(wait)-1]; e.Action != actionDelete && e.Action != actionPurge {
				e.After = f()
			}
			open[id] = wait[:len(wait)-1]
		}
	}
	ids := slices.Collect(maps.Keys(open))
	err := c.Query(laterSQL, sqlite.Args{int64(tenant), oldest, jsonList(ids)}, func(row sqlite.Row) {
		settle(row.Text(1), row.Int(0), func() *record.Firefighter { return pastRecord(row.Text(2)) })
	})
	if err != nil {
		return err
	}
	now, err := current(c, tenant, ids)
	for id, f := range now {
		if !f.Damaged {
			settle(id, math.MaxInt64, func() *record.Firefighter { return &f.Firefighter })
		}
	}
	return err
}

const editorsSQL = keySQL + ` WHERE k.id IN (SELECT key_id FROM changes WHERE ` + ofTenant + `)`

// Editors returns the keys that have changed something in a department. Those that were
// erased are not among them.
func (s *Store) Editors(tenant record.TenantID) (all []Key, err error) {
	err = s.query(editorsSQL, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { all = append(all, scanKey(row)) })
	return all, err
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

// changeOfSQL returns the number of the last change of a department that a version has, 0
// if the history does not go back so far.
const changeOfSQL = `SELECT ifnull(max(id) & 0xffffffff, 0) FROM changes WHERE ` + ofTenant + ` AND version <= ?2`

// ChangedSince returns what has changed in the fields of a department's records
// since a version of it, in the order of the first change. A record that is as it
// was is left out. So are those that were purged, of which it returns the number:
// nobody knows any more whether they were on the list. The error is a
// *record.DamagedError where the disk has changed a record.
func (s *Store) ChangedSince(tenant record.TenantID, version int64) (d []Difference, erased int, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		var ids []string
		then := map[string]*record.Firefighter{}
		last, err := c.QueryInt(changeOfSQL, int64(tenant), version)
		if err != nil {
			return err
		}
		err = c.Query(sinceSQL, sqlite.Args{int64(tenant), last + 1}, func(row sqlite.Row) {
			id, action := row.Text(1), row.Text(2)
			if action == actionPurge {
				erased++
			} else if _, seen := then[id]; !seen {
				ids, then[id] = append(ids, id), stateBefore(id, action, row.Text(3))
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
