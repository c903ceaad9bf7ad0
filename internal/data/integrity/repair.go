package integrity

import (
	"context"
	"errors"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// counts are what the row of a tenant says about its records, and what is
// right.
type counts struct {
	tenant             int64
	name               string
	live, last         int64 // records not deleted, and the last sequence number
	realLive, realLast int64
}

// countsSQL reads all records of some tenants: there is nothing else to compare
// the counts with.
const countsSQL = `
	SELECT id, name, live_count, last_seq,
	       (SELECT count(*) FROM firefighters NOT INDEXED
	         WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff AND deleted_at IS NULL) AS live,
	       (SELECT ifnull(max(row) & 0xffffffff, 0) FROM firefighters
	         WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff) AS seq
	  FROM tenants WHERE id BETWEEN ? AND ? AND (live_count <> live OR last_seq < seq)`

// walkCounts calls each with the tenants whose counts are wrong, and looks at
// size ids of tenants at once. No read transaction spans two calls.
func walkCounts(ctx context.Context, db *sqlite.DB, size int64, each func([]counts) error) error {
	for first := int64(1); ; first += size {
		last := int64(0)
		var wrong []counts
		err := db.Read(func(c *sqlite.Conn) (err error) {
			if last, err = c.QueryInt(`SELECT ifnull(max(id), 0) FROM tenants`); err != nil {
				return err
			}
			return c.QueryContext(ctx, countsSQL, sqlite.Args{first, first + size - 1}, func(row sqlite.Row) {
				wrong = append(wrong, counts{row.Int(0), row.Text(1), row.Int(2), row.Int(3), row.Int(4), row.Int(5)})
			})
		})
		if err == nil {
			err = each(wrong)
		}
		if err != nil || first+size > last {
			return err
		}
	}
}

const recountSQL = `
	UPDATE tenants
	   SET live_count = (SELECT count(*) FROM firefighters NOT INDEXED
	                      WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff AND deleted_at IS NULL),
	       last_seq   = max(last_seq, (SELECT ifnull(max(row) & 0xffffffff, 0) FROM firefighters
	                                    WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff)),
	       version    = version + 1
	 WHERE id = ?1`

// recount counts the records of tenants again, as they are by now.
func recount(db *sqlite.DB, wrong []counts) error {
	return eachInTx(db, wrong, func(t *sqlite.Tx, w counts) error {
		_, err := t.Exec(recountSQL, w.tenant)
		return err
	})
}

// updateKeysSQL sets all KeyColumns.
var updateKeysSQL = `UPDATE firefighters SET ` + strings.ReplaceAll(record.KeyColumns, ",", " = ?,") + ` = ? WHERE row = ?`

// updateKeys computes the key columns of rows from the fields, as they are by
// now. A row that is gone or damaged by now stays as it is.
func updateKeys(db *sqlite.DB, rows []int64) error {
	return eachRow(db, rows, func(t *sqlite.Tx, s stored) error {
		if s.Damaged {
			return nil
		}
		_, err := t.Exec(updateKeysSQL, append(s.Keys(), s.Row)...)
		return err
	})
}

// flipDeletion deletes those of the rows that are not deleted, and undeletes
// the others. The checksums stay. A row whose deletion mark is right by now
// stays as it is.
func flipDeletion(db *sqlite.DB, rows []int64) error {
	return eachRow(db, rows, func(t *sqlite.Tx, s stored) error {
		if !s.deletionDamaged() {
			return nil
		}
		_, err := t.Exec(`UPDATE firefighters SET deleted_at = iif(deleted_at IS NULL, updated_at, NULL) WHERE row = ?`, s.Row)
		return err
	})
}

// eachRow calls do with the record of each row as it is by now, all in one
// transaction. It leaves out a row that is gone.
func eachRow(db *sqlite.DB, rows []int64, do func(*sqlite.Tx, stored) error) error {
	return eachInTx(db, rows, func(t *sqlite.Tx, number int64) error {
		var s stored
		err := t.QueryRow(storedSQL+` WHERE row = ?`, sqlite.Args{number}, func(row sqlite.Row) { s = scanStored(row) })
		switch {
		case errors.Is(err, sqlite.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		return do(t, s)
	})
}

// eachInTx calls do with each item, all in one transaction.
func eachInTx[T any](db *sqlite.DB, items []T, do func(*sqlite.Tx, T) error) error {
	if len(items) == 0 {
		return nil
	}
	return db.Write(func(t *sqlite.Tx) error {
		for _, item := range items {
			if err := do(t, item); err != nil {
				return err
			}
		}
		return nil
	})
}
