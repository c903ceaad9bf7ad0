package store

import (
	"encoding/json"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The actions of the table changes.
const (
	actionCreate   = "create"
	actionReplace  = "replace"
	actionDelete   = "delete"
	actionUndelete = "undelete"
	actionPurge    = "purge"
)

// ofTenant is the condition for the changes of a department, the first argument.
const ofTenant = `changes.id BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff`

// lastChangeSQL returns the number of the last change of a department, 0 if there
// is none.
const lastChangeSQL = `SELECT ifnull(max(id) & 0xffffffff, 0) FROM changes WHERE ` + ofTenant

// addChange writes a change of a record into the history. before is nil if there was
// no record, or if nobody may know it any more.
func addChange(t *sqlite.Tx, tenant record.TenantID, by KeyID, action, id string, before *record.Stored) error {
	_, err := t.Exec(`
		INSERT INTO changes (id, at, tenant_id, record_id, action, key_id, before, version)
		VALUES (?1 << 32 | (`+lastChangeSQL+`) + 1, ?2, ?1, ?3, ?4, nullif(?5, 0), ?6, (SELECT version FROM tenants WHERE id = ?1))`,
		int64(tenant), t.Now, id, action, int64(by), sqlite.OrNull(beforeJSON(before)))
	return err
}

// beforeJSON returns a record as the API has it, empty for none. A damaged one
// says so.
func beforeJSON(f *record.Stored) string {
	if f == nil {
		return ""
	}
	text := f.AppendJSON(nil)
	if f.Damaged {
		text = append(text[:len(text)-1], `,"damaged":true}`...)
	}
	return string(text)
}

// pastRecord returns the record of an entry of the history, nil if it has none
// or the disk has damaged it.
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

// Moment returns a time in milliseconds as RFC 3339 has it, nil for 0, which is
// no time.
func Moment(milliseconds int64) *string {
	if milliseconds == 0 {
		return nil
	}
	text := formatMoment(milliseconds)
	return &text
}
