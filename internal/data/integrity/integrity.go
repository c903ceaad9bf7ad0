// Package integrity detects damage that the disk or another program has done to a database of
// records. It repairs values that are computed from intact data.
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

// stored is a row of the table firefighters.
type stored struct {
	record.Stored
	stale bool // the key columns do not match the fields
}

// storedSQL selects the columns that scanStored reads.
var storedSQL = `SELECT tenant_id, deleted_at, ` + record.Columns + `, ` + record.KeyColumns + ` FROM firefighters`

func scanStored(row sqlite.Row) (s stored) {
	record.Scan(record.TenantID(row.Int(0)), !row.IsNull(1), row[2:], &s.Stored)
	keys := s.Keys()
	s.stale = !slices.Equal(keys, []driver.Value(row[len(row)-len(keys):]))
	return s
}

// walk calls each with batches of up to size records until it has passed all of them. It calls read
// for each batch. With the method Read of a database, each batch has its own read transaction,
// because a long one would keep the WAL from restarting.
func walk(ctx context.Context, read func(func(*sqlite.Conn) error) error, size int, each func([]stored) error) error {
	for last := int64(0); ; {
		var batch []stored
		err := read(func(c *sqlite.Conn) error {
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

// CountDamaged returns the number of records whose checksum does not match, including deleted
// records.
func CountDamaged(ctx context.Context, c *sqlite.Conn) (n int64, err error) {
	var s record.Stored
	err = c.QueryContext(ctx, `SELECT tenant_id, deleted_at, `+record.Columns+` FROM firefighters`, nil, func(row sqlite.Row) {
		if record.Scan(record.TenantID(row.Int(0)), !row.IsNull(1), row[2:], &s); s.Damaged {
			n++
		}
	})
	return n, err
}

// counts are the counters in the row of a tenant and their correct values.
type counts struct {
	tenant             int64
	name               string
	live, last         int64 // number of records that are not deleted, and last sequence number
	realLive, realLast int64
}

// liveSQL and lastSQL compute the counters of a tenant from its records.
const (
	liveSQL = `(SELECT count(*) FROM firefighters NOT INDEXED
	             WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff AND deleted_at IS NULL)`
	lastSQL = `(SELECT ifnull(max(row) & 0xffffffff, 0) FROM firefighters
	             WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff)`
	countsSQL = `
	SELECT id, name, live_count, last_seq, ` + liveSQL + ` AS live, ` + lastSQL + ` AS seq
	  FROM tenants WHERE live_count <> live OR last_seq < seq`
	recountSQL = `
	UPDATE tenants SET live_count = ` + liveSQL + `, last_seq = max(last_seq, ` + lastSQL + `), version = version + 1
	 WHERE id = ?`
)

func wrongCounts(ctx context.Context, db *sqlite.DB) (wrong []counts, err error) {
	err = db.Read(func(c *sqlite.Conn) error {
		return c.QueryContext(ctx, countsSQL, nil, func(row sqlite.Row) {
			wrong = append(wrong, counts{row.Int(0), row.Text(1), row.Int(2), row.Int(3), row.Int(4), row.Int(5)})
		})
	})
	return wrong, err
}

var updateKeysSQL = `UPDATE firefighters SET ` + strings.ReplaceAll(record.KeyColumns, ",", " = ?,") + ` = ? WHERE row = ?`

// updateKeys recomputes the key columns of rows from their current fields. It skips rows that are
// deleted permanently or damaged by then.
func updateKeys(db *sqlite.DB, rows []int64) error {
	return eachInTx(db, rows, func(t *sqlite.Tx, number int64) error {
		var s stored
		err := t.QueryRow(storedSQL+` WHERE row = ?`, sqlite.Args{number}, func(row sqlite.Row) { s = scanStored(row) })
		if errors.Is(err, sqlite.ErrNoRows) || err == nil && s.Damaged {
			return nil
		}
		if err == nil {
			_, err = t.Exec(updateKeysSQL, append(s.Keys(), s.Row)...)
		}
		return err
	})
}

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
