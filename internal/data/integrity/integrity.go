// Package integrity finds what the disk or another program has damaged in a
// database of records. It repairs what follows from sound data.
package integrity

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// stored is a record as it stands in the table, and what its row says about
// whether that is right.
type stored struct {
	record.Stored
	tenant   record.TenantID
	checksum int64
	lost     bool // its id does not lead to it
	stale    bool // its key columns do not follow from its fields
}

// storedSQL selects what scanStored reads.
var storedSQL = `
	SELECT tenant_id, checksum, deleted_at,
	       row IS NOT (SELECT same.row FROM firefighters AS same WHERE same.id = firefighters.id),
	       ` + record.Columns + `, ` + record.KeyColumns + `
	  FROM firefighters`

func scanStored(row sqlite.Row) stored {
	s := stored{tenant: record.TenantID(row.Int(0)), checksum: row.Int(1), lost: row.Int(3) != 0}
	deleted := !row.IsNull(2)
	row = row[4:]
	record.Scan(s.tenant, deleted, row, &s.Stored)
	keys := s.Keys()
	s.stale = !slices.Equal(keys, []driver.Value(row[len(row)-len(keys):]))
	return s
}

// deletionDamaged reports whether a damaged record would be whole if it were
// deleted, for one that is not, or not deleted, for one that is. The checksum
// is inverted with each deletion, so it shows which is right.
func (s *stored) deletionDamaged() bool {
	deleted := s.checksum == record.Checksum(s.tenant, s.ID, &s.Fields, true)
	alive := s.checksum == record.Checksum(s.tenant, s.ID, &s.Fields, false)
	return s.Damaged && (deleted || alive)
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

// withChecksums is the first schema version in which records have a checksum.
const withChecksums = 2

// CountDamaged returns the number of records that do not have their checksum,
// deleted ones included. In a database without checksums that is 0. The schema may
// be an older one.
func CountDamaged(ctx context.Context, c *sqlite.Conn) (n int64, err error) {
	version, err := c.QueryInt(`PRAGMA user_version`)
	if err != nil || version < withChecksums {
		return 0, err
	}
	columns := map[string]bool{}
	err = c.Query(`SELECT name FROM pragma_table_info('firefighters')`, nil, func(row sqlite.Row) { columns[row.Text(0)] = true })
	if err != nil {
		return 0, err
	}
	there := record.ColumnsIn(func(column string) bool { return columns[column] })
	var s record.Stored
	err = c.QueryContext(ctx, `SELECT tenant_id, deleted_at, `+there+` FROM firefighters`, nil, func(row sqlite.Row) {
		if record.Scan(record.TenantID(row.Int(0)), !row.IsNull(1), row[2:], &s); s.Damaged {
			n++
		}
	})
	return n, err
}
