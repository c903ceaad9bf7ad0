package integrity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Options configure Check. All of them are required.
type Options struct {
	Format   sqlite.Format         // the expected schema
	Found    func(finding string)  // receives each finding, one line of text
	Progress func(done, total int) // receives the number of checked records and of all records
}

// Findings are the results of Check.
type Findings struct {
	Broken  int // faults in the file or its references, which only a backup can repair
	Foreign int // tables, indexes, triggers and views that differ from the schema
	Damaged int // records whose checksum does not match
	Stale   int // wrong keys and counters, which Scrub repairs

	Ahead bool // the latest time seen is ahead of the clock
}

// ClockTolerance is how far the system clock may lag behind the latest time seen before Check
// reports it.
const ClockTolerance = time.Hour

// checkedAtOnce is the number of records that Check reads per statement.
const checkedAtOnce = 5000

// check is the state of a running Check.
type check struct {
	Options
	db    *sqlite.DB
	found Findings
}

// Check checks the whole database: the file structure, the references, the schema, the latest time
// seen, the counters of tenants, and all records.
func Check(ctx context.Context, db *sqlite.DB, options Options) (Findings, error) {
	c := &check{Options: options, db: db}
	for _, part := range []func(context.Context) error{c.file, c.schema, c.clock, c.counts, c.records} {
		if err := part(ctx); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

func (c *check) note(count *int, format string, args ...any) {
	*count++
	c.Found(fmt.Sprintf(format, args...))
}

// file checks the file with SQLite's own checks: structure, constraints and references. It reports
// at most three structural faults.
func (c *check) file(ctx context.Context) error {
	return c.db.Read(func(conn *sqlite.Conn) error {
		err := conn.QueryContext(ctx, `PRAGMA integrity_check(3)`, nil, func(row sqlite.Row) {
			if verdict := row.Text(0); verdict != "ok" {
				c.note(&c.found.Broken, "The file: %s", verdict)
			}
		})
		if err != nil {
			return err
		}
		return conn.QueryContext(ctx, `PRAGMA foreign_key_check`, nil, func(row sqlite.Row) {
			c.note(&c.found.Broken, "The file: row %d of %s refers to nothing", row.Int(1), row.Text(0))
		})
	})
}

func (c *check) schema(context.Context) error {
	return c.db.Read(func(conn *sqlite.Conn) error {
		err := c.Format.CheckSchema(conn)
		if wrong, ok := errors.AsType[*sqlite.SchemaError](err); ok {
			for _, fault := range wrong.Faults {
				c.note(&c.found.Foreign, "The schema: %s", fault)
			}
			return nil
		}
		return err
	})
}

// clock checks the latest time seen. It cannot tell whether that time or the clock is wrong.
func (c *check) clock(context.Context) error {
	if clock := c.db.Clock; clock.Behind() > ClockTolerance {
		c.found.Ahead = true
		c.Found(fmt.Sprintf("The latest time seen, %s, is ahead of the clock", clock.Now().Format(time.RFC3339)))
	}
	return nil
}

func (c *check) counts(ctx context.Context) error {
	wrong, err := wrongCounts(ctx, c.db)
	for _, w := range wrong {
		c.note(&c.found.Stale, "The department %q: it counts %d records up to number %d, but has %d up to number %d",
			w.name, w.live, w.last, w.realLive, w.realLast)
	}
	return err
}

func (c *check) records(ctx context.Context) error {
	done, total, folding := 0, int64(0), int64(0)
	err := c.db.Read(func(conn *sqlite.Conn) (err error) {
		if total, err = conn.QueryInt(`SELECT count(*) FROM firefighters`); err == nil {
			folding, err = conn.QueryInt(foldingSQL)
		}
		return err
	})
	if err != nil {
		return err
	}
	return walk(ctx, c.db.Read, checkedAtOnce, func(batch []stored) error {
		for _, s := range batch {
			switch {
			case s.Damaged:
				c.note(&c.found.Damaged, "The record %s is damaged: its fields do not match their checksum", s.ID)
			case s.stale && folding == fold.Version: // an older backup has older keys
				c.note(&c.found.Stale, "The record %s: its sort and search keys do not match its fields", s.ID)
			}
		}
		done += len(batch)
		c.Progress(done, int(total))
		return nil
	})
}
