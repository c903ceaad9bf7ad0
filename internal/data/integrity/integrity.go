// Package integrity finds what the disk or another program has damaged in a
// database of records. It repairs what follows from sound data.
package integrity

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// stored is a record as it stands in the table, and what its row says about
// whether that is right.
type stored struct {
	record.Stored
	misdeleted bool // the record is damaged by its mark of deletion alone: with the other mark it would be whole
	lost       bool // a query by the id of the record does not find the row
	stale      bool // the key columns are not those of the fields
}

// storedSQL selects what scanStored reads.
var storedSQL = `
	SELECT tenant_id, deleted_at, row IS NOT (SELECT same.row FROM firefighters AS same WHERE same.id = firefighters.id),
	       ` + record.Columns + `, ` + record.KeyColumns + `
	  FROM firefighters`

func scanStored(row sqlite.Row) stored {
	s := stored{lost: row.Int(2) != 0}
	tenant, deleted := record.TenantID(row.Int(0)), !row.IsNull(1)
	row = row[3:]
	record.Scan(tenant, deleted, row, &s.Stored)
	if s.Damaged { // the checksum is inverted with each deletion, so it shows which is right
		var other record.Stored
		record.Scan(tenant, !deleted, row, &other)
		s.misdeleted = !other.Damaged
	}
	keys := s.Keys()
	s.stale = !slices.Equal(keys, []driver.Value(row[len(row)-len(keys):]))
	return s
}

// walk calls each with all records, at most size at once. No read transaction
// spans two calls: a long one would keep the -wal from restarting.
func walk(ctx context.Context, db *sqlite.DB, size int, each func([]stored) error) error {
	for last := int64(0); ; {
		var batch []stored
		err := db.Read(func(c *sqlite.Conn) error {
			return c.QueryContext(ctx, storedSQL+` WHERE row > ? ORDER BY row LIMIT ?`, sqlite.Args{last, int64(size)},
				func(row sqlite.Row) { batch = append(batch, scanStored(row)) })
		})
		if err == nil {
			err = each(batch)
		}
		if err != nil || len(batch) < size {
			return err
		}
		last = batch[len(batch)-1].Row
	}
}

// CountDamaged returns the number of records whose checksum does not match, deleted
// ones included.
func CountDamaged(ctx context.Context, c *sqlite.Conn) (n int64, err error) {
	var s record.Stored
	err = c.QueryContext(ctx, `SELECT tenant_id, deleted_at, `+record.Columns+` FROM firefighters`, nil, func(row sqlite.Row) {
		if record.Scan(record.TenantID(row.Int(0)), !row.IsNull(1), row[2:], &s); s.Damaged {
			n++
		}
	})
	return n, err
}

// counts are what the row of a tenant says about its records, and what is
// right.
type counts struct {
	tenant             int64
	name               string
	live, last         int64 // records not deleted, and the last sequence number
	realLive, realLast int64
}

// liveSQL and lastSQL read all records of a tenant: there is nothing else to compare
// its counts with.
const (
	liveSQL = `(SELECT count(*) FROM firefighters NOT INDEXED
	             WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff AND deleted_at IS NULL)`
	lastSQL = `(SELECT ifnull(max(row) & 0xffffffff, 0) FROM firefighters
	             WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff)`
	countsSQL = `
	SELECT id, name, live_count, last_seq, ` + liveSQL + ` AS live, ` + lastSQL + ` AS seq
	  FROM tenants WHERE id BETWEEN ? AND ? AND (live_count <> live OR last_seq < seq)`
	recountSQL = `
	UPDATE tenants SET live_count = ` + liveSQL + `, last_seq = max(last_seq, ` + lastSQL + `), version = version + 1
	 WHERE id = ?`
)

// countedAtOnce is the number of tenants whose records are counted before others get
// a turn.
const countedAtOnce = 100

// walkCounts calls each with the tenants whose counts are wrong. No read transaction
// spans two calls.
func walkCounts(ctx context.Context, db *sqlite.DB, each func([]counts) error) error {
	for first := int64(1); ; first += countedAtOnce {
		last := int64(0)
		var wrong []counts
		err := db.Read(func(c *sqlite.Conn) (err error) {
			if last, err = c.QueryInt(`SELECT ifnull(max(id), 0) FROM tenants`); err != nil {
				return err
			}
			return c.QueryContext(ctx, countsSQL, sqlite.Args{first, first + countedAtOnce - 1}, func(row sqlite.Row) {
				wrong = append(wrong, counts{row.Int(0), row.Text(1), row.Int(2), row.Int(3), row.Int(4), row.Int(5)})
			})
		})
		if err == nil {
			err = each(wrong)
		}
		if err != nil || first+countedAtOnce > last {
			return err
		}
	}
}

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
		if !s.misdeleted {
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
