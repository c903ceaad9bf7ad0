package store

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

var getSQL = `SELECT ` + record.Columns + ` FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`

// Get returns a record of a department. It returns a *record.DamagedError if the checksum of the
// record does not match.
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

// createSQL inserts one row by VALUES. With a SELECT, SQLite would first copy the row to a
// temporary table, because the table has a trigger.
var createSQL = `
	INSERT INTO firefighters (row, created_at, updated_at, tenant_id, id, checksum, ` + record.FieldColumns + `, ` + record.KeyColumns + `)
	VALUES (?, ?, ?, ?, ?, ?` + placeholders + `)`

// placeholders has ", ?" for each of the columns of fields and keys.
var placeholders = strings.Repeat(`, ?`, strings.Count(record.FieldColumns+`,`+record.KeyColumns, `,`)+1)

// Create adds a record to a department. It returns record.FieldErrors for invalid fields.
//
// With an idempotency key, Create stores the response in the same transaction. If the request is a
// repetition, it returns a *RepeatedError, or ErrReused for a different request with the same key.
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

// createValues returns the values of createSQL from tenant_id on. They do not depend on the
// transaction.
func createValues(tenant record.TenantID, f record.Firefighter) sqlite.Args {
	return slices.Concat(sqlite.Args{int64(tenant), f.ID, record.Checksum(tenant, f.ID, &f.Fields, false)}, f.Values(), f.Keys())
}

// nextRow returns the row number of the next new record of a department. Further records have
// consecutive numbers.
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
	   SET (updated_at, checksum, ` + record.FieldColumns + `, ` + record.KeyColumns + `) = (?, ?` + placeholders + `)
	 WHERE row = ? AND tenant_id = ?`

// Check examines a record before a change. If it returns an error, the record is not changed.
type Check func(record.Firefighter) error

// Replace replaces all fields of a record, including damaged records, and clears the empty ones. It
// returns record.FieldErrors for invalid fields.
func (s *Store) Replace(tenant record.TenantID, by KeyID, id string, fields record.Fields, check Check) (f record.Firefighter, err error) {
	fields, errs := fields.Normalize(s.Clock().Now())
	if len(errs) > 0 {
		return f, errs
	}
	return s.edit(tenant, by, id, func(record.Stored) (record.Fields, error) { return fields, nil }, check)
}

// Edit passes the fields of a record to change and replaces them with the result. In contrast to
// Replace, it returns a *record.DamagedError for a damaged record.
func (s *Store) Edit(tenant record.TenantID, by KeyID, id string,
	change func(record.Fields) (record.Fields, error), check Check) (record.Firefighter, error) {
	return s.edit(tenant, by, id, func(before record.Stored) (record.Fields, error) {
		if err := before.Err(); err != nil {
			return record.Fields{}, err
		}
		fields, err := change(before.Fields)
		if err != nil {
			return record.Fields{}, err
		}
		fields, errs := fields.Normalize(s.Clock().Now())
		if len(errs) > 0 {
			return record.Fields{}, errs
		}
		return fields, nil
	}, check)
}

// edit replaces the fields of a record with the result of change.
func (s *Store) edit(tenant record.TenantID, by KeyID, id string,
	change func(record.Stored) (record.Fields, error), check Check) (f record.Firefighter, err error) {
	err = s.db.Write(func(t *sqlite.Tx) error {
		before, err := getChecked(t, tenant, id, check)
		if err != nil {
			return err
		}
		fields, err := change(before)
		if err != nil {
			return err
		}
		f = before.Firefighter
		f.Fields, f.UpdatedAt = fields, t.Now
		return replace(t, tenant, by, &before, fields)
	})
	return f, err
}

// replace replaces the fields of a record with normalized fields.
func replace(t *sqlite.Tx, tenant record.TenantID, by KeyID, before *record.Stored, fields record.Fields) error {
	err := t.ExecOne(replaceSQL, slices.Concat(sqlite.Args{t.Now, record.Checksum(tenant, before.ID, &fields, false)},
		fields.Values(), fields.Keys(), sqlite.Args{before.Row, int64(tenant)})...)
	if err != nil {
		return err
	}
	return addChange(t, tenant, by, actionReplace, before.ID, before)
}

// getChecked returns a record, damaged or not, if check returns nil for it.
func getChecked(t *sqlite.Tx, tenant record.TenantID, id string, check Check) (record.Stored, error) {
	f, err := get(t.Conn, tenant, id)
	if err == nil {
		err = check(f.Firefighter)
	}
	return f, err
}

// deleteSQL inverts the checksum: see record.Checksum.
const deleteSQL = `UPDATE firefighters SET deleted_at = ?, checksum = ~checksum WHERE row = ? AND tenant_id = ?`

// Delete soft-deletes a record.
func (s *Store) Delete(tenant record.TenantID, by KeyID, id string, check Check) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		before, err := getChecked(t, tenant, id, check)
		if err != nil {
			return err
		}
		return remove(t, tenant, by, &before)
	})
}

// remove soft-deletes a record.
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

// ofTenant selects the changes of a department. The first argument is the department.
const ofTenant = `changes.id BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff`

// lastChangeSQL returns the number of the last change in a department, 0 for none.
const lastChangeSQL = `SELECT ifnull(max(id) & 0xffffffff, 0) FROM changes WHERE ` + ofTenant

// addChange adds an entry to the history and marks the department as changed, so that the commit
// wakes waiting clients. before is the previous state of the record, or nil if the history must not
// have one. The entry has it as the API represents it, with a member "damaged" if it is damaged.
func addChange(t *sqlite.Tx, tenant record.TenantID, by KeyID, action, id string, before *record.Stored) error {
	var text []byte
	if before != nil {
		if text = before.AppendJSON(nil); before.Damaged {
			text = append(text[:len(text)-1], `,"damaged":true}`...)
		}
	}
	_, err := t.Exec(`
		INSERT INTO changes (id, at, tenant_id, record_id, action, key_id, before, version)
		VALUES (?1 << 32 | (`+lastChangeSQL+`) + 1, ?2, ?1, ?3, ?4, nullif(?5, 0), nullif(?6, ''), (SELECT version FROM tenants WHERE id = ?1))`,
		int64(tenant), t.Now, id, action, int64(by), string(text))
	t.Note(int64(tenant))
	return err
}
