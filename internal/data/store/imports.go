package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Import is an import into a department.
type Import struct {
	Number   int64
	At       time.Time
	Key      KeyID     // 0: a command
	Label    string    // label of the key
	File     string    // file name
	Added    int       // number of people added
	Changed  int       // number of people changed
	UndoneAt time.Time // the zero time: not undone
}

// Person is a record to change or, with an empty ID, to add.
type Person struct {
	ID     string
	Fields record.Fields // normalized
}

// Roster is a department as of a single moment.
type Roster interface {
	// Each calls each for every record that is not deleted, including damaged ones, in order of
	// creation, until ctx ends. each must not keep the pointer.
	Each(ctx context.Context, each func(*record.Stored)) error
	// Deleted returns the set of those ids that belong to deleted records.
	Deleted(ids []string) (map[string]bool, error)
}

// NewImport describes an import.
type NewImport struct {
	By   KeyID
	File string // file name, shortened to 200 characters
	Hash []byte // SHA-256 of the file

	// Progress, if not nil, is called after each person is written. Its error ends the import, and
	// nothing is written.
	Progress func(done int) error

	// Department and New are the arguments of TenantOrNew if the tenant is 0. The department is
	// created in the same transaction if there are people to write.
	Department string
	New        bool

	// Decide returns the people to write. Import calls it within the transaction. If it returns an
	// error or no people, nothing is written and no number is used.
	Decide func(Roster) ([]Person, error)

	// Key is the idempotency key of the request, or nil. Replay returns the response to store and
	// is called within the transaction.
	Key    *IdempotencyKey
	Replay func(number int64, ids []string) []byte
}

// Import writes an import in one transaction. It returns the number of the import, or 0 if there
// was nothing to write, and the ids of the people in order. It returns the error of Decide,
// ErrReused, or a *RepeatedError for a repeated request.
func (s *Store) Import(tenant record.TenantID, n NewImport) (number int64, ids []string, err error) {
	err = s.db.WriteLong(func(t *sqlite.Tx) (err error) {
		number, ids = 0, nil
		if err := refuseRepeated(t.Conn, t.Now, tenant, n.Key); err != nil {
			return err
		}
		number, ids, err = n.write(t, tenant)
		if err == nil && number > 0 && n.Key != nil {
			err = addReplay(t, tenant, n.Key, importID(number), string(n.Replay(number, ids)))
		}
		return err
	})
	return number, ids, err
}

// importID returns the id that the replay of an import has in place of a record id.
func importID(number int64) string { return "import/" + strconv.FormatInt(number, 10) }

func (n *NewImport) write(t *sqlite.Tx, tenant record.TenantID) (number int64, ids []string, err error) {
	if tenant == 0 { // the department may exist by now
		tenant, _, err = tenantOrNew(t.Conn, n.Department, n.New)
	} else {
		_, err = t.QueryInt(`SELECT 1 FROM tenants WHERE id = ?`, int64(tenant))
	}
	if err != nil {
		return 0, nil, noRow(err, ErrRemoved)
	}
	people, err := n.Decide(roster{t.Conn, tenant})
	if err != nil || len(people) == 0 {
		return 0, nil, err
	}
	if tenant == 0 {
		if tenant, err = addTenant(t, n.Department, n.New); err != nil {
			return 0, nil, err
		}
	}
	number, err = t.QueryInt(`SELECT ifnull(max(number), 0) + 1 FROM imports WHERE tenant_id = ?`, int64(tenant))
	if err != nil {
		return 0, nil, err
	}
	if ids, err = n.writePeople(t, tenant, people); err != nil {
		return 0, nil, err
	}
	return number, ids, n.note(t, tenant, number, people)
}

func (n *NewImport) writePeople(t *sqlite.Tx, tenant record.TenantID, people []Person) (ids []string, err error) {
	row, err := nextRow(t, tenant)
	if err != nil {
		return nil, err
	}
	ids = make([]string, 0, len(people))
	for i, p := range people {
		if p.ID == "" {
			f := newFirefighter(p.Fields)
			p.ID, err = f.ID, create(t, tenant, n.By, row, f.ID, createValues(tenant, f))
			row++
		} else {
			var before record.Stored
			if before, err = get(t.Conn, tenant, p.ID); err == nil {
				err = replace(t, tenant, n.By, &before, p.Fields)
			}
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, p.ID)
		if n.Progress != nil {
			if err := n.Progress(i + 1); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// note adds the import to the table. Its changes are the last ones, one for each person.
func (n *NewImport) note(t *sqlite.Tx, tenant record.TenantID, number int64, people []Person) error {
	added := int64(0)
	for _, p := range people {
		if p.ID == "" {
			added++
		}
	}
	_, err := t.Exec(`
		INSERT INTO imports (tenant_id, number, at, key_id, file, hash, added, changed, first_change, last_change)
		VALUES (?1, ?2, ?3, nullif(?4, 0), substr(?5, 1, 200), ?6, ?7, ?8, (`+lastChangeSQL+`) - ?7 - ?8 + 1, (`+lastChangeSQL+`))`,
		int64(tenant), number, t.Now, int64(n.By), n.File, n.Hash, added, int64(len(people))-added)
	return err
}

// roster implements Roster in a transaction.
type roster struct {
	conn   *sqlite.Conn
	tenant record.TenantID
}

func (r roster) Each(ctx context.Context, each func(*record.Stored)) error {
	var f record.Stored
	return r.conn.QueryContext(ctx, `SELECT `+record.Columns+inTenant+` ORDER BY row`, sqlite.Args{int64(r.tenant)}, func(row sqlite.Row) {
		record.Scan(r.tenant, false, row, &f)
		each(&f)
	})
}

const deletedIDsSQL = `
	SELECT id FROM firefighters
	 WHERE id IN (SELECT value FROM json_each(?2)) AND tenant_id = ?1 AND deleted_at IS NOT NULL`

func (r roster) Deleted(ids []string) (map[string]bool, error) {
	deleted := map[string]bool{}
	err := r.conn.Query(deletedIDsSQL, sqlite.Args{int64(r.tenant), jsonList(ids)}, func(row sqlite.Row) { deleted[row.Text(0)] = true })
	return deleted, err
}

// ReadRoster calls read with a department as of a single moment.
func (s *Store) ReadRoster(tenant record.TenantID, read func(Roster) error) error {
	return s.db.ReadTx(func(c *sqlite.Conn) error { return read(roster{c, tenant}) })
}

const importsSQL = `
	SELECT number, at, key_id, k.label, file, added, changed, taken_back_at, first_change, last_change
	  FROM imports LEFT JOIN keys k ON k.id = key_id WHERE imports.tenant_id = ?`

func scanImport(row sqlite.Row) Import {
	return Import{row.Int(0), row.Time(1), KeyID(row.Int(2)), row.Text(3), row.Text(4), int(row.Int(5)), int(row.Int(6)), row.Time(7)}
}

// Imports returns the imports into a department, newest first.
func (s *Store) Imports(tenant record.TenantID) (all []Import, err error) {
	err = s.query(importsSQL+` ORDER BY number DESC`, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { all = append(all, scanImport(row)) })
	return all, err
}

const importedIDsSQL = `
	SELECT DISTINCT record_id FROM imports JOIN changes ON changes.id BETWEEN ?1 << 32 | first_change AND ?1 << 32 | last_change
	 WHERE imports.tenant_id = ?1 AND number = ?2`

// Imported returns the ids of the people whom an import added or changed, except people who have
// been purged since.
func (s *Store) Imported(tenant record.TenantID, number int64) (ids []string, err error) {
	err = s.query(importedIDsSQL, sqlite.Args{int64(tenant), number}, func(row sqlite.Row) { ids = append(ids, row.Text(0)) })
	return ids, err
}

// SameFile returns the newest import of a file with this hash that was not undone, or nil.
func (s *Store) SameFile(tenant record.TenantID, hash []byte) (same *Import, err error) {
	err = s.query(importsSQL+` AND imports.hash = ? AND taken_back_at IS NULL ORDER BY number DESC LIMIT 1`, sqlite.Args{int64(tenant), hash},
		func(row sqlite.Row) { i := scanImport(row); same = &i })
	return same, err
}

// Undone is the result of undoing an import.
type Undone struct {
	Deleted  int // number of people whom the import had added
	Restored int // number of people whom the import had changed
	Left     []NotUndone
}

// NotUndone is a person whom the import added or changed and the undo leaves unchanged.
type NotUndone struct {
	ID     string // empty for a purged record, whose id is unknown
	Name   string // empty if the record no longer exists
	Action string // last change since the import; empty: unchanged, but the earlier record is damaged or invalid
}

// UndoneError reports that an import was already undone.
type UndoneError struct {
	Number int64
	At     time.Time
}

func (e *UndoneError) Error() string { return "the import was already undone" }

// imported is a change that an import made.
type imported struct {
	id, action, before string
	since              string // last action on the record after the import; empty: none
}

// UndoImport undoes an import in one transaction. It soft-deletes the people the import added and
// restores the fields of those it changed, except people who have changed since. It returns
// ErrNotFound for an unknown number and an *UndoneError for an import that was already undone.
//
// If progress is not nil, UndoImport calls it after each person. An error of progress ends the
// undo, and nothing is changed.
func (s *Store) UndoImport(tenant record.TenantID, by KeyID, number int64, progress func(done, total int) error) (done Undone, err error) {
	err = s.db.WriteLong(func(t *sqlite.Tx) error {
		done = Undone{}
		all, erased, err := importedBy(t.Conn, tenant, number)
		if err != nil {
			return err
		}
		if err := t.ExecOne(`UPDATE imports SET taken_back_at = ? WHERE tenant_id = ? AND number = ?`, t.Now, int64(tenant), number); err != nil {
			return err
		}
		for i, ch := range all {
			if err := done.undo(t, tenant, by, ch); err != nil {
				return err
			}
			if progress != nil {
				if err := progress(i+1, len(all)); err != nil {
					return err
				}
			}
		}
		for range erased {
			done.Left = append(done.Left, NotUndone{Action: actionPurge})
		}
		return nil
	})
	return done, err
}

// sinceSQL reads the changes in a department from a number on.
const sinceSQL = `
	SELECT id & 0xffffffff, record_id, action, before FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | 0xffffffff ORDER BY id`

// importedBy returns the changes of an import that is not undone, and the number of its changes
// that a purge has deleted.
func importedBy(c *sqlite.Conn, tenant record.TenantID, number int64) (all []*imported, erased int64, err error) {
	var first, last, undone int64
	err = c.QueryRow(`
		SELECT first_change, last_change, added + changed, ifnull(taken_back_at, 0)
		  FROM imports WHERE tenant_id = ? AND number = ?`,
		sqlite.Args{int64(tenant), number},
		func(row sqlite.Row) { first, last, erased, undone = row.Int(0), row.Int(1), row.Int(2), row.Int(3) })
	if err != nil {
		return nil, 0, noRow(err, ErrNotFound)
	}
	if undone != 0 {
		return nil, 0, &UndoneError{number, time.UnixMilli(undone).UTC()}
	}
	byID := map[string]*imported{}
	err = c.Query(sinceSQL, sqlite.Args{int64(tenant), first},
		func(row sqlite.Row) {
			id, action := row.Text(1), row.Text(2)
			if row.Int(0) <= last {
				byID[id] = &imported{id: id, action: action, before: row.Text(3)}
				all = append(all, byID[id])
			} else if ch := byID[id]; ch != nil {
				ch.since = action
			}
		})
	return all, erased - int64(len(all)), err
}

func (done *Undone) undo(t *sqlite.Tx, tenant record.TenantID, by KeyID, ch *imported) error {
	now, err := get(t.Conn, tenant, ch.id)
	if ch.since != "" || errors.Is(err, ErrNotFound) {
		name := ""
		err := t.QueryRow(`SELECT first_name || ' ' || last_name FROM firefighters WHERE id = ? AND tenant_id = ?`,
			sqlite.Args{ch.id, int64(tenant)}, func(row sqlite.Row) { name = row.Text(0) })
		done.Left = append(done.Left, NotUndone{ch.id, name, ch.since})
		return noRow(err, nil)
	}
	if err != nil {
		return err
	}
	if ch.action == actionCreate {
		done.Deleted++
		return remove(t, tenant, by, &now)
	}
	var errs record.FieldErrors
	before := pastRecord(ch.before)
	if before != nil {
		before.Fields, errs = before.Normalize(time.UnixMilli(t.Now))
	}
	if before == nil || len(errs) > 0 {
		done.Left = append(done.Left, NotUndone{ID: ch.id, Name: now.FirstName + " " + now.LastName})
		return nil
	}
	done.Restored++
	return replace(t, tenant, by, &now, before.Fields)
}
