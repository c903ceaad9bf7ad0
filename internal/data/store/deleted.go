package store

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

var deletedSQL = `SELECT deleted_at, ` + record.Columns + ` FROM firefighters
	WHERE ` + rowsOfTenant + ` AND deleted_at < ?2 ORDER BY row`

// Deleted returns the records of a department that were deleted before a time, in the order of
// their deletion.
func (s *Store) Deleted(tenant record.TenantID, until time.Time) (all []record.Stored, err error) {
	err = s.query(deletedSQL, sqlite.Args{int64(tenant), until.UnixMilli()}, func(row sqlite.Row) {
		all = append(all, record.Stored{DeletedAt: row.Int(0)})
		record.Scan(tenant, true, row[1:], &all[len(all)-1])
	})
	slices.SortStableFunc(all, func(a, b record.Stored) int { return cmp.Compare(a.DeletedAt, b.DeletedAt) })
	return all, err
}

var getDeletedSQL = `SELECT deleted_at, ` + record.Columns + ` FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NOT NULL`

// GetDeleted returns a deleted record of a department, which may be damaged. It returns ErrNotFound
// if there is none.
func (s *Store) GetDeleted(tenant record.TenantID, id string) (f record.Stored, err error) {
	err = s.queryRow(getDeletedSQL, sqlite.Args{id, int64(tenant)}, func(row sqlite.Row) {
		f.DeletedAt = row.Int(0)
		record.Scan(tenant, true, row[1:], &f)
	})
	return f, noRow(err, ErrNotFound)
}

const undeleteSQL = `
	UPDATE firefighters SET deleted_at = NULL, checksum = ~checksum
	 WHERE id = ? AND tenant_id = ? AND deleted_at IS NOT NULL`

// Undelete restores either all of the soft-deleted records or none. It returns a *NotDeletedError
// for a record that is not deleted.
func (s *Store) Undelete(tenant record.TenantID, by KeyID, ids []string) error {
	return s.db.Write(func(t *sqlite.Tx) error { return undelete(t, tenant, by, ids) })
}

func undelete(t *sqlite.Tx, tenant record.TenantID, by KeyID, ids []string) error {
	for _, id := range ids {
		err := noRow(t.ExecOne(undeleteSQL, id, int64(tenant)), &NotDeletedError{id})
		if err == nil {
			err = addChange(t, tenant, by, actionUndelete, id, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteAll soft-deletes records in one transaction. It skips ids that are not in the department. It
// returns the numbers of its first and last change, which are 0 and -1 if it deleted nothing.
func (s *Store) DeleteAll(tenant record.TenantID, by KeyID, ids []string) (first, last int64, err error) {
	err = s.db.Write(func(t *sqlite.Tx) error {
		deleted := int64(0)
		for _, id := range ids {
			before, err := get(t.Conn, tenant, id)
			if err == nil {
				err = remove(t, tenant, by, &before)
				deleted++
			}
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		if first, last = 0, -1; deleted == 0 {
			return nil
		}
		last, err = t.QueryInt(lastChangeSQL, int64(tenant))
		first = last - deleted + 1
		return err
	})
	return first, last, err
}

const deletedBetweenSQL = `
	SELECT DISTINCT record_id FROM changes JOIN firefighters ON firefighters.id = record_id AND firefighters.tenant_id = ?1
	 WHERE changes.id BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3 AND action = 'delete' AND deleted_at IS NOT NULL`

// DeletedBetween returns the ids of the records that changes with numbers from first to last deleted
// and that are still deleted.
func (s *Store) DeletedBetween(tenant record.TenantID, first, last int64) (ids []string, err error) {
	if first < 1 || last > math.MaxUint32 { // the changes would belong to another department
		return nil, ErrNotFound
	}
	err = s.query(deletedBetweenSQL, sqlite.Args{int64(tenant), first, last}, func(row sqlite.Row) { ids = append(ids, row.Text(0)) })
	return ids, err
}

// purgedAtOnce is the number of records that Purge deletes per transaction.
const purgedAtOnce = 500

// Purge permanently deletes soft-deleted records, their history and their replays, and returns the
// number of records. It skips records that have been restored. For each record the history keeps
// its id and who purged it. The file may contain traces until Rewrite has run.
//
// If progress is not nil, Purge calls it before each transaction. An error of progress ends the
// purge and does not undo earlier transactions.
func (s *Store) Purge(tenant record.TenantID, by KeyID, all []record.Stored, progress func(done, total int) error) (erased int, err error) {
	done := 0
	for some := range slices.Chunk(all, purgedAtOnce) {
		if progress != nil {
			if err := progress(done, len(all)); err != nil {
				return erased, err
			}
		}
		count := 0
		err := s.db.Write(func(t *sqlite.Tx) (err error) {
			count, err = purge(t, tenant, by, some)
			return err
		})
		if err != nil {
			return erased, err
		}
		erased += count
		done += len(some)
	}
	return erased, nil
}

// shortenReplaysSQL removes the rows, which name people, from the replays of imports.
const shortenReplaysSQL = `UPDATE replays SET answer = json_set(answer, '$.rows', json('[]')) WHERE record_id LIKE 'import/%'`

// purge deletes the records that are still soft-deleted. It adds the new entry to the history
// before it deletes the older ones, because the numbers of changes must not be reused.
func purge(t *sqlite.Tx, tenant record.TenantID, by KeyID, some []record.Stored) (erased int, err error) {
	var ids []string
	for _, f := range some {
		count, err := t.Exec(`DELETE FROM firefighters WHERE row = ? AND tenant_id = ? AND deleted_at IS NOT NULL`, f.Row, int64(tenant))
		if err == nil && count > 0 {
			ids = append(ids, f.ID)
			err = addChange(t, tenant, by, actionPurge, f.ID, nil)
		}
		if err != nil {
			return 0, err
		}
	}
	list := jsonList(ids)
	_, err = t.Exec(`DELETE FROM changes WHERE `+ofTenant+` AND action <> 'purge' AND record_id IN (SELECT value FROM json_each(?2))`,
		int64(tenant), list)
	if err == nil {
		_, err = t.Exec(`DELETE FROM replays WHERE record_id IN (SELECT value FROM json_each(?))`, list)
	}
	if err == nil {
		_, err = t.Exec(shortenReplaysSQL+` AND tenant_id = ?`, int64(tenant))
	}
	if err == nil {
		_, err = t.Exec(blankImportsSQL)
	}
	if err == nil && len(ids) > 0 {
		err = noteErasure(t)
	}
	return len(ids), err
}

// erasedSQL returns the ids in the list and the purged ids in the history for which there is no
// record. A null stands for no list.
const erasedSQL = `
	SELECT id FROM (SELECT value AS id FROM json_each(?) WHERE type = 'text'
	                UNION SELECT record_id FROM changes WHERE action = 'purge') AS erased
	 WHERE NOT EXISTS (SELECT 1 FROM firefighters WHERE firefighters.id = erased.id) ORDER BY id`

// Erased returns the ids of permanently deleted records: ids in the list or in the history for
// which the database has no record.
func Erased(c *sqlite.Conn, listed []string) (ids []string, err error) {
	err = c.Query(erasedSQL, sqlite.Args{jsonList(listed)}, func(row sqlite.Row) { ids = append(ids, row.Text(0)) })
	return ids, err
}

// noteErasedSQL adds the history entries that Purge would add.
const noteErasedSQL = `
	INSERT INTO changes (id, at, tenant_id, record_id, action, version)
	SELECT (SELECT ifnull(max(changes.id), f.tenant_id << 32) FROM changes
	         WHERE changes.id BETWEEN f.tenant_id << 32 AND f.tenant_id << 32 | 0xffffffff) + row_number() OVER of_tenant,
	       (` + latestTimeSQL + `), f.tenant_id, f.id, 'purge',
	       (SELECT tenants.version FROM tenants WHERE tenants.id = f.tenant_id) + row_number() OVER of_tenant
	  FROM firefighters AS f WHERE f.id IN (SELECT value FROM json_each(?))
	WINDOW of_tenant AS (PARTITION BY f.tenant_id ORDER BY f.row)`

// Erase permanently deletes records, deleted or not, from a database that no one else uses, as
// Purge does. It also removes their traces from the file. It returns the number of records that
// existed.
func Erase(c *sqlite.Conn, ids []string) (erased int64, err error) {
	list := jsonList(ids)
	err = c.Transaction(func() error {
		for _, statement := range []string{
			noteErasedSQL,
			`DELETE FROM changes WHERE action <> 'purge' AND record_id IN (SELECT value FROM json_each(?))`,
			`DELETE FROM replays WHERE record_id IN (SELECT value FROM json_each(?))`,
		} {
			if _, err := c.Exec(statement, list); err != nil {
				return err
			}
		}
		for _, statement := range []string{shortenReplaysSQL, blankImportsSQL} {
			if _, err := c.Exec(statement); err != nil {
				return err
			}
		}
		erased, err = c.Exec(`DELETE FROM firefighters WHERE id IN (SELECT value FROM json_each(?))`, list)
		return err
	})
	if err == nil && erased > 0 {
		err = c.Query(`PRAGMA journal_mode = OFF`, nil, func(sqlite.Row) {}) // otherwise the journal holds the whole file in memory
	}
	if err == nil && erased > 0 {
		_, err = c.Exec(`VACUUM`)
	}
	return erased, err
}
