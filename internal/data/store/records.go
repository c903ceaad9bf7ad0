package store

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

var getSQL = `SELECT ` + record.Columns + ` FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`

// Get returns a record of a department. The error is a *record.DamagedError
// where the disk has changed it.
func (s *Store) Get(tenant record.TenantID, id string) (record.Firefighter, error) {
	var f record.Stored
	err := s.db.Read(func(c *sqlite.Conn) (err error) {
		f, err = get(c, tenant, id)
		return err
	})
	if err == nil {
		err = f.Err()
	}
	return f.Firefighter, err
}

// get returns a record, which may be damaged.
func get(c *sqlite.Conn, tenant record.TenantID, id string) (f record.Stored, err error) {
	err = c.QueryRow(getSQL, sqlite.Args{id, int64(tenant)}, func(row sqlite.Row) { record.Scan(tenant, false, row, &f) })
	return f, noRow(err, ErrNotFound)
}

// createSQL has the values of one row: with a SELECT in their place SQLite makes a
// table for them first, because the table has a trigger.
var createSQL = `
	INSERT INTO firefighters (row, created_at, updated_at, tenant_id, id, checksum, ` + record.FieldColumns + `, ` + record.KeyColumns + `)
	VALUES (?, ?, ?, ?, ?, ?` + placeholders(record.FieldColumns, record.KeyColumns) + `)`

// placeholders returns a ", ?" for each of the columns.
func placeholders(columns ...string) string {
	return strings.Repeat(`, ?`, strings.Count(strings.Join(columns, `,`), `,`)+1)
}

// Create adds a record to a department and returns it when it is on disk. The
// error is record.FieldErrors where the fields break a rule. With an idempotency
// key the replay is stored in the same transaction. Then the error is a
// *RepeatedError for a create that was sent before, or ErrReused.
func (s *Store) Create(tenant record.TenantID, by KeyID, fields record.Fields, key *IdempotencyKey) (record.Firefighter, error) {
	fields, errs := fields.Normalize(s.Clock().Now())
	if len(errs) > 0 {
		return record.Firefighter{}, errs
	}
	f := newFirefighter(fields)
	values := createValues(tenant, f)
	err := s.db.Write(func(t *sqlite.Tx) error {
		err := refuseRepeated(t.Conn, t.Now, tenant, key)
		row := int64(0)
		if err == nil {
			row, err = nextRow(t, tenant)
		}
		if err == nil {
			err = create(t, tenant, by, row, f.ID, values)
		}
		f.CreatedAt, f.UpdatedAt = t.Now, t.Now
		if err == nil && key != nil {
			err = addReplay(t, tenant, key, f.ID, string(f.AppendJSON(nil)))
		}
		return err
	})
	return f, err
}

func newFirefighter(fields record.Fields) record.Firefighter {
	return record.Firefighter{ID: uuid.Must(uuid.NewV7()).String(), Fields: fields}
}

// createValues returns the values of createSQL from the department on. They are made
// before the transaction begins.
func createValues(tenant record.TenantID, f record.Firefighter) sqlite.Args {
	return slices.Concat(sqlite.Args{int64(tenant), f.ID, record.Checksum(tenant, f.ID, &f.Fields, false)}, f.Values(), f.Keys())
}

// nextRow returns the row number that the next new record of a department has
// (schema.sql). Each further one has the next number.
func nextRow(t *sqlite.Tx, tenant record.TenantID) (row int64, err error) {
	row, err = t.QueryInt(`SELECT id << 32 | (last_seq + 1) FROM tenants WHERE id = ?`, int64(tenant))
	return row, noRow(err, ErrRemoved)
}

func create(t *sqlite.Tx, tenant record.TenantID, by KeyID, row int64, id string, values sqlite.Args) error {
	if err := t.ExecOne(createSQL, slices.Concat(sqlite.Args{row, t.Now, t.Now}, values)...); err != nil {
		return err
	}
	return addChange(t, tenant, by, actionCreate, id, nil)
}

var replaceSQL = `
	UPDATE firefighters
	   SET (updated_at, checksum, ` + record.FieldColumns + `, ` + record.KeyColumns + `) = (?, ?` +
	placeholders(record.FieldColumns, record.KeyColumns) + `)
	 WHERE row = ? AND tenant_id = ?`

// Check looks at a record that is about to change. If it returns an error, the record
// stays as it is.
type Check func(record.Firefighter) error

// Replace replaces all fields of a record and returns it when it is on disk.
// Empty fields are cleared. The error is record.FieldErrors where the fields break
// a rule. A damaged record is whole again afterwards.
func (s *Store) Replace(tenant record.TenantID, by KeyID, id string, fields record.Fields, check Check) (f record.Firefighter, err error) {
	fields, errs := fields.Normalize(s.Clock().Now())
	if len(errs) > 0 {
		return f, errs
	}
	err = s.db.Write(func(t *sqlite.Tx) error {
		before, err := getChecked(t, tenant, id, check)
		if err != nil {
			return err
		}
		f = before.Firefighter
		f.Fields, f.UpdatedAt = fields, t.Now
		return replace(t, tenant, by, &before, fields)
	})
	return f, err
}

// Edit replaces the fields of a record by those that change returns. Otherwise it is as
// Replace, but the error is a *record.DamagedError for a record that the disk has
// changed.
func (s *Store) Edit(tenant record.TenantID, by KeyID, id string,
	change func(record.Fields) (record.Fields, error), check Check) (f record.Firefighter, err error) {
	err = s.db.Write(func(t *sqlite.Tx) error {
		before, err := getChecked(t, tenant, id, check)
		if err == nil {
			err = before.Err()
		}
		if err != nil {
			return err
		}
		fields, err := change(before.Fields)
		if err != nil {
			return err
		}
		fields, errs := fields.Normalize(s.Clock().Now())
		if len(errs) > 0 {
			return errs
		}
		f = before.Firefighter
		f.Fields, f.UpdatedAt = fields, t.Now
		return replace(t, tenant, by, &before, fields)
	})
	return f, err
}

// replace replaces the fields of a record by normalized ones.
func replace(t *sqlite.Tx, tenant record.TenantID, by KeyID, before *record.Stored, fields record.Fields) error {
	err := t.ExecOne(replaceSQL, slices.Concat(sqlite.Args{t.Now, record.Checksum(tenant, before.ID, &fields, false)},
		fields.Values(), fields.Keys(), sqlite.Args{before.Row, int64(tenant)})...)
	if err != nil {
		return err
	}
	return addChange(t, tenant, by, actionReplace, before.ID, before)
}

// getChecked returns a record that is about to change, damaged or not, if check
// agrees.
func getChecked(t *sqlite.Tx, tenant record.TenantID, id string, check Check) (record.Stored, error) {
	f, err := get(t.Conn, tenant, id)
	if err == nil {
		err = check(f.Firefighter)
	}
	return f, err
}

// deleteSQL inverts the checksum: see record.Checksum.
const deleteSQL = `UPDATE firefighters SET deleted_at = ?, checksum = ~checksum WHERE row = ? AND tenant_id = ?`

// Delete deletes a record softly: the row stays.
func (s *Store) Delete(tenant record.TenantID, by KeyID, id string, check Check) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		before, err := getChecked(t, tenant, id, check)
		if err != nil {
			return err
		}
		return remove(t, tenant, by, &before)
	})
}

// remove deletes a record softly.
func remove(t *sqlite.Tx, tenant record.TenantID, by KeyID, before *record.Stored) error {
	if err := t.ExecOne(deleteSQL, t.Now, before.Row, int64(tenant)); err != nil {
		return err
	}
	return addChange(t, tenant, by, actionDelete, before.ID, before)
}

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
// no record, or if nobody may know it any more. The commit wakes those who wait for it.
func addChange(t *sqlite.Tx, tenant record.TenantID, by KeyID, action, id string, before *record.Stored) error {
	_, err := t.Exec(`
		INSERT INTO changes (id, at, tenant_id, record_id, action, key_id, before, version)
		VALUES (?1 << 32 | (`+lastChangeSQL+`) + 1, ?2, ?1, ?3, ?4, nullif(?5, 0), nullif(?6, ''), (SELECT version FROM tenants WHERE id = ?1))`,
		int64(tenant), t.Now, id, action, int64(by), beforeJSON(before))
	t.Note(int64(tenant))
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
