package store

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// pastRecord returns the record in an entry of the history, or nil if the entry has none or the
// record was damaged. It relies on encoding/json to match members to fields without regard to case.
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

// Entry is a change to a record in the output of the command history.
type Entry struct {
	At     string          `json:"at"`
	Action string          `json:"action"`
	ID     string          `json:"id"`
	Key    *int64          `json:"key"` // null: a command
	Label  *string         `json:"label"`
	Before json.RawMessage `json:"before"`
	Merged *string         `json:"mergedWith,omitempty"` // other record of a merge
}

const historySQL = `
	SELECT at, action, record_id, key_id, k.label, before, merged_with
	  FROM changes LEFT JOIN keys k ON k.id = key_id
	 WHERE ` + ofTenant + ` AND at >= ?2 AND ?3 IN ('', record_id) ORDER BY changes.id`

// History calls each for the changes in a department, oldest first, until each returns an error. An
// id restricts them to one record.
func (s *Store) History(tenant record.TenantID, id string, since time.Time, each func(Entry) error) error {
	scan := func(row sqlite.Row) error {
		e := Entry{At: formatMoment(row.Int(0)), Action: row.Text(1), ID: row.Text(2), Label: row.TextOrNil(4), Merged: row.TextOrNil(6)}
		if !row.IsNull(3) {
			key := row.Int(3)
			e.Key = &key
		}
		if before := row.Text(5); before != "" {
			e.Before = validJSON(before)
		}
		return each(e)
	}
	return s.db.Read(func(c *sqlite.Conn) error {
		return queryEach(c, historySQL, sqlite.Args{int64(tenant), since.UnixMilli(), id}, scan)
	})
}

// validJSON returns text or, if the text is damaged and not valid JSON, a JSON string that contains
// it.
func validJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text)
	return quoted
}

// Summary returns the record before the change on one line, or a dash if there was none.
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

// formatMoment formats a time in milliseconds according to RFC 3339. It limits the time to the
// latest one that RFC 3339 can represent.
func formatMoment(milliseconds int64) string {
	return time.UnixMilli(min(milliseconds, sqlite.LatestMilli)).UTC().Format(record.InMillis)
}

// Moment formats a time in milliseconds according to RFC 3339. It returns nil for 0.
func Moment(milliseconds int64) *string {
	if milliseconds == 0 {
		return nil
	}
	text := formatMoment(milliseconds)
	return &text
}

// Edit is a change to a record on the office page, with the record before and after it. A whole
// import, or the undo of an import, is an Edit without a record.
type Edit struct {
	Number int64
	At     time.Time
	Action string // "import" for a whole import, "takeBack" for the undo of one
	ID     string
	Key    KeyID               // 0: a command
	Label  string              // label of the key; empty if the key no longer exists
	Before *record.Firefighter // nil: none, or no longer known
	After  *record.Firefighter // nil: deleted, or no longer known
	Merged string              // other record of a merge: the one that remains, for a delete, or the deleted one
	Import *Import             // import that made the change or was undone; nil: none
	People int                 // number of people whom the import, or its undo, changed
	Edits  []Edit              // newest changes of the import, or its undo, up to the limit
}

// EditQuery selects changes in a department. The zero EditQuery selects all of them.
type EditQuery struct {
	Records      []string  // ids of the records; nil: all
	Keys         []KeyID   // keys that made the changes; nil: all
	Since, Until time.Time // at or after Since and before Until; the zero time: no limit
	Import       int64     // number of the import that made the changes; 0: any
	Before       int64     // changes with a lower number; 0: no limit
}

// Edits returns at most limit changes in a department, newest first. An import and the undo of an
// import each count as one change, unless the query selects records or an import. Edits returns
// ErrNotFound for an import that does not exist.
func (s *Store) Edits(tenant record.TenantID, q EditQuery, limit int) (edits []Edit, err error) {
	if q.Before == 0 || q.Before > math.MaxUint32 {
		q.Before = math.MaxUint32 // no change has this number
	}
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		edits, err = readEdits(c, tenant, q, limit)
		return err
	})
	return edits, err
}

func readEdits(c *sqlite.Conn, tenant record.TenantID, q EditQuery, limit int) ([]Edit, error) {
	r := editReader{EditQuery: q, conn: c, tenant: tenant}
	err := c.Query(importsSQL+` ORDER BY number DESC`, sqlite.Args{int64(tenant)},
		func(row sqlite.Row) { r.imports = append(r.imports, span{scanImport(row), row.Int(8), row.Int(9)}) })
	if err != nil {
		return nil, err
	}
	edits, err := r.read(limit)
	if err != nil {
		return nil, err
	}
	return edits, setAfter(c, tenant, edits)
}

// GetEdit returns a change in a department by its number, or ErrNotFound.
func (s *Store) GetEdit(tenant record.TenantID, number int64) (e Edit, err error) {
	if number < 1 || number > math.MaxUint32 { // the id would belong to another department
		return e, ErrNotFound
	}
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		r := editReader{conn: c, tenant: tenant}
		edits, err := r.changes(number, number, 1)
		if err != nil {
			return err
		}
		if len(edits) == 0 {
			return ErrNotFound
		}
		err = setAfter(c, tenant, edits)
		e = edits[0]
		return err
	})
	return e, err
}

// editReader reads the edits that a query selects, without their After.
type editReader struct {
	EditQuery
	conn    *sqlite.Conn
	tenant  record.TenantID
	imports []span // newest first
}

// span is an import with the numbers of its first and last change.
type span struct {
	Import
	first, last int64
}

// The actions of Edits that do not occur in the table changes.
const (
	actionImport = "import"
	actionUndo   = "takeBack"
)

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
	end := r.Before // changes from end on have been read
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

// undoneSQL returns the number of the first change of an undo, and the number of changes. The
// changes of an undo are consecutive, because it is one transaction.
const undoneSQL = `
	SELECT min(id) & 0xffffffff, count(*) FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3 AND at = ?4 AND ifnull(key_id, 0) = ?5`

// between returns the changes from one number to another. There must be no import between them. It
// combines the changes that undo an import into one.
func (r *editReader) between(from, to int64, limit int) (edits []Edit, err error) {
	for {
		newer, err := r.changes(from, to, limit-len(edits))
		if err != nil {
			return nil, err
		}
		n, i := r.firstUndo(newer)
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

// firstUndo returns the index of the first edit that undoes an import, and the import, or nil if
// there is none.
func (r *editReader) firstUndo(edits []Edit) (int, *Import) {
	for n, e := range edits {
		for _, i := range r.imports {
			if e.At.Equal(i.UndoneAt) && (e.Action == actionDelete || e.Action == actionReplace) {
				return n, &i.Import
			}
		}
	}
	return len(edits), nil
}

func (q *EditQuery) wants(i Import) bool {
	return i.Number != 0 && (q.Keys == nil || slices.Contains(q.Keys, i.Key)) &&
		!i.At.Before(q.Since) && (q.Until.IsZero() || i.At.Before(q.Until))
}

// editsSQL reads the changes between two numbers, newest first.
const editsSQL = `
	SELECT changes.id & 0xffffffff, at, action, record_id, key_id, k.label, before, merged_with
	  FROM changes LEFT JOIN keys k ON k.id = key_id
	 WHERE changes.id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3 AND at >= ?4 AND at < ?5
	   AND (?6 IS NULL OR record_id IN (SELECT value FROM json_each(?6)))
	   AND (?7 IS NULL OR ifnull(key_id, 0) IN (SELECT value FROM json_each(?7)))
	 ORDER BY changes.id DESC LIMIT ?8`

// changes returns the selected changes from one number to another.
func (r *editReader) changes(from, to int64, limit int) (edits []Edit, err error) {
	if from > to || limit <= 0 {
		return nil, nil
	}
	args := sqlite.Args{int64(r.tenant), from, to, r.Since.UnixMilli(), int64(math.MaxInt64), nil, nil, int64(limit)}
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
			Key: KeyID(row.Int(4)), Label: row.Text(5), Before: pastRecord(row.Text(6)), Merged: row.Text(7), Import: r.importOf(row.Int(0))})
	})
	return edits, err
}

func (r *editReader) importOf(number int64) *Import {
	for _, i := range r.imports {
		if i.first <= number && number <= i.last {
			return &i.Import
		}
	}
	return nil
}

// laterSQL reads the changes to some records after a number.
const laterSQL = `
	SELECT id & 0xffffffff, record_id, before FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff AND record_id IN (SELECT value FROM json_each(?3)) ORDER BY id`

// setAfter sets After in edits, which are ordered newest first, from the next change of the record
// or, after the last change, from the current record.
func setAfter(c *sqlite.Conn, tenant record.TenantID, edits []Edit) error {
	open := map[string][]*Edit{} // edits without After by record, newest first
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
		for edits := open[id]; len(edits) > 0 && edits[len(edits)-1].Number < number; edits = open[id] {
			if e := edits[len(edits)-1]; e.Action != actionDelete && e.Action != actionPurge {
				e.After = f()
			}
			open[id] = edits[:len(edits)-1]
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

// Editors returns the keys that have made changes in a department and still exist.
func (s *Store) Editors(tenant record.TenantID) (all []Key, err error) {
	err = s.query(editorsSQL, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { all = append(all, scanKey(row)) })
	return all, err
}

var currentSQL = `
	SELECT ` + record.Columns + ` FROM firefighters
	 WHERE id IN (SELECT value FROM json_each(?2)) AND tenant_id = ?1 AND deleted_at IS NULL`

// current returns the records with these ids that are not deleted, by id.
func current(c *sqlite.Conn, tenant record.TenantID, ids []string) (map[string]*record.Stored, error) {
	found := map[string]*record.Stored{}
	err := c.Query(currentSQL, sqlite.Args{int64(tenant), jsonList(ids)}, func(row sqlite.Row) {
		f := &record.Stored{}
		record.Scan(tenant, false, row, f)
		found[f.ID] = f
	})
	return found, err
}

// Difference is a record that differs from its earlier state.
type Difference struct {
	ID   string
	Then *record.Firefighter // nil: was not on the list
	Now  *record.Firefighter // nil: is no longer on the list
}

// changeOfSQL returns the number of the last change up to a version of a department, or 0 if the
// history does not reach back that far.
const changeOfSQL = `SELECT ifnull(max(id) & 0xffffffff, 0) FROM changes WHERE ` + ofTenant + ` AND version <= ?2`

// ChangedSince returns the records of a department whose fields differ from an earlier version, in
// the order of their first change. erased is the number of purged records, which may have been on
// the list. It returns a *record.DamagedError if a record is damaged.
func (s *Store) ChangedSince(tenant record.TenantID, version int64) (d []Difference, erased int, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		var ids []string
		past := map[string]*record.Firefighter{}
		last, err := c.QueryInt(changeOfSQL, int64(tenant), version)
		if err != nil {
			return err
		}
		err = c.Query(sinceSQL, sqlite.Args{int64(tenant), last + 1}, func(row sqlite.Row) {
			id, action := row.Text(1), row.Text(2)
			if action == actionPurge {
				erased++
			} else if _, seen := past[id]; !seen {
				ids, past[id] = append(ids, id), stateBefore(id, action, row.Text(3))
			}
		})
		if err != nil {
			return err
		}
		now, err := current(c, tenant, ids)
		for _, id := range ids {
			changed := Difference{ID: id, Then: past[id]}
			if f := now[id]; f != nil {
				changed.Now, err = &f.Firefighter, cmp.Or(err, f.Err())
			}
			if (changed.Then == nil) != (changed.Now == nil) || changed.Then != nil && changed.Then.Fields != changed.Now.Fields {
				d = append(d, changed)
			}
		}
		return err
	})
	return d, erased, err
}

// stateBefore returns the record on the list before a change, or nil. If the record was damaged,
// only its id is known.
func stateBefore(id, action, before string) *record.Firefighter {
	if action == actionCreate || action == actionUndelete {
		return nil
	}
	if f := pastRecord(before); f != nil {
		return f
	}
	return &record.Firefighter{ID: id}
}
