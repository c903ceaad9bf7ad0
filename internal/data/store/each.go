package store

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// readAtOnce is the number of records that Each has in memory.
const readAtOnce = 500

// Each calls each for every record of a department that a query finds, in its
// order and all of one moment. Page and PageSize do not count. It needs memory
// for some records only. An error of each ends it. The error is a
// *record.DamagedError where the disk has changed a record.
//
// It has a connection of its own, because each may take long: it sends the records
// to a client. There SQLite sorts a large department in a temporary file, while the
// connections for lists sort in memory.
func (s *Store) Each(tenant record.TenantID, q record.Query, each func(*record.Firefighter) error) error {
	if _, err := s.Version(tenant); err != nil {
		return err
	}
	c, err := s.db.Connect()
	if err != nil {
		return err
	}
	err = c.Transaction(func() error { return eachOf(c, tenant, q, each) })
	return errors.Join(err, c.Close())
}

func eachOf(c *sqlite.Conn, tenant record.TenantID, q record.Query, each func(*record.Firefighter) error) error {
	if q.SortBy == record.ByCreatedAt {
		return eachCreated(c, tenant, q, each)
	}
	return eachSorted(c, tenant, q, each)
}

// eachCreated reads the records as they lie in the table.
func eachCreated(c *sqlite.Conn, tenant record.TenantID, q record.Query, each func(*record.Firefighter) error) error {
	where, terms := matching(q.Terms)
	text := `SELECT ` + record.Columns + inRows + where + orderBy(q) + ` LIMIT ` + strconv.Itoa(readAtOnce)
	first, last := int64(tenant)<<32, int64(tenant)<<32|math.MaxUint32
	for {
		items, row, err := scanAll(c, tenant, readAtOnce, text, append(sqlite.Args{first, last}, terms...))
		if err == nil {
			err = callEach(items, each)
		}
		switch {
		case err != nil || len(items) < readAtOnce:
			return err
		case q.Descending:
			last = row - 1
		default:
			first = row + 1
		}
	}
}

// inRows selects the records between two rows that are not deleted.
const inRows = ` FROM firefighters WHERE row BETWEEN ?1 AND ?2 AND deleted_at IS NULL`

// eachSorted sorts the records first, and reads some after the other. A record is
// known by the lower half of its row number meanwhile, because there may be many.
func eachSorted(c *sqlite.Conn, tenant record.TenantID, q record.Query, each func(*record.Firefighter) error) error {
	var places []uint32
	where, terms := matching(q.Terms)
	err := c.Query(`SELECT row`+inTenant+where+orderBy(q), append(sqlite.Args{int64(tenant)}, terms...), func(row sqlite.Row) {
		places = append(places, uint32(row.Int(0)))
	})
	rows := make([]int64, 0, readAtOnce)
	for some := range slices.Chunk(places, readAtOnce) {
		rows = rows[:0]
		for _, place := range some {
			rows = append(rows, int64(tenant)<<32|int64(place))
		}
		var items []record.Firefighter
		if err == nil {
			items, err = fetch(c, tenant, rows)
		}
		if err == nil {
			err = callEach(items, each)
		}
	}
	return err
}

func callEach(items []record.Firefighter, each func(*record.Firefighter) error) error {
	for i := range items {
		if err := each(&items[i]); err != nil {
			return err
		}
	}
	return nil
}
