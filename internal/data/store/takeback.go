package store

import (
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TakenBack is what taking an import back has done.
type TakenBack struct {
	Deleted  int // people it had added
	Restored int // people it had changed
	Left     []LeftAlone
}

// LeftAlone is somebody whom an import added or changed and who stays as they are.
type LeftAlone struct {
	ID     string // empty where the record was erased: nobody knows any more which it was
	Name   string // empty where the record is gone
	Action string // of the last change since; empty: none, but what was there before is damaged or not allowed any more
}

// TakenBackError says that an import was taken back before.
type TakenBackError struct {
	Number int64
	At     time.Time
}

func (e *TakenBackError) Error() string { return "the import was taken back before" }

// imported is a change that an import has made.
type imported struct {
	id, action, before string
	since              string // action of the last change since; empty: none
}

// TakeBack takes an import back in one transaction: it deletes softly whom the
// import has added, and restores the fields of whom it has changed. It leaves alone
// whom anything else has changed since. The error is ErrNotFound for an unknown
// number, and a *TakenBackError for one that was taken back before.
func (s *Store) TakeBack(tenant record.TenantID, by KeyID, number int64) (done TakenBack, err error) {
	err = s.db.Write(func(t *sqlite.Tx) error {
		done = TakenBack{}
		all, erased, err := importedBy(t.Conn, tenant, number)
		if err != nil {
			return err
		}
		if err := t.ExecOne(`UPDATE imports SET taken_back_at = ? WHERE tenant_id = ? AND number = ?`, t.Now, int64(tenant), number); err != nil {
			return err
		}
		for _, ch := range all {
			if err := done.undo(t, tenant, by, ch); err != nil {
				return err
			}
		}
		for range erased {
			done.Left = append(done.Left, LeftAlone{Action: actionPurge})
		}
		return nil
	})
	return done, err
}

const sinceSQL = `
	SELECT id & 0xffffffff, record_id, action, before FROM changes
	 WHERE id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | 0xffffffff ORDER BY id`

// importedBy returns the changes of an import that is not taken back, and the
// number of those that a purge has erased.
func importedBy(c *sqlite.Conn, tenant record.TenantID, number int64) (all []*imported, erased int64, err error) {
	var first, last, takenBack int64
	err = c.QueryRow(`SELECT first_change, last_change, added + changed, ifnull(taken_back_at, 0) FROM imports WHERE tenant_id = ? AND number = ?`,
		sqlite.Args{int64(tenant), number}, func(row sqlite.Row) { first, last, erased, takenBack = row.Int(0), row.Int(1), row.Int(2), row.Int(3) })
	if err != nil {
		return nil, 0, notFound(err)
	}
	if takenBack != 0 {
		return nil, 0, &TakenBackError{number, time.UnixMilli(takenBack).UTC()}
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

// undo takes one change back, or leaves the record alone.
func (done *TakenBack) undo(t *sqlite.Tx, tenant record.TenantID, by KeyID, ch *imported) error {
	now, err := get(t.Conn, tenant, ch.id)
	if ch.since != "" || errors.Is(err, ErrNotFound) {
		name, err := nameOf(t.Conn, tenant, ch.id)
		done.Left = append(done.Left, LeftAlone{ch.id, name, ch.since})
		return err
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
		done.Left = append(done.Left, LeftAlone{ID: ch.id, Name: now.FirstName + " " + now.LastName})
		return nil
	}
	done.Restored++
	return replace(t, tenant, by, &now, before.Fields)
}

// nameOf returns the name of a record, deleted or not, and an empty one if it is
// gone.
func nameOf(c *sqlite.Conn, tenant record.TenantID, id string) (name string, err error) {
	err = c.QueryRow(`SELECT first_name || ' ' || last_name FROM firefighters WHERE id = ? AND tenant_id = ?`, sqlite.Args{id, int64(tenant)},
		func(row sqlite.Row) { name = row.Text(0) })
	if errors.Is(err, sqlite.ErrNoRows) {
		err = nil
	}
	return name, err
}
