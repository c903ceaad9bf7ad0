package integrity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Options say how Check works. The functions must be set.
type Options struct {
	Format   sqlite.Format         // says which schema is right
	Found    func(finding string)  // is called with each finding, a line for people
	Progress func(done, total int) // is called with how many records are checked, of how many
}

// Findings counts what Check found.
type Findings struct {
	Broken  int // faults of the file or of references in it: only a backup helps
	Foreign int // tables, indexes, triggers and views that are not as the program makes them
	Damaged int // records that are not what the service wrote
	Stale   int // what follows from sound data, and what Scrub computes again

	Ahead bool // the latest time seen is ahead of the clock
}

// ClockTolerance is how far the system's clock may be behind the latest time
// seen before one of them counts as wrong.
const ClockTolerance = time.Hour

// checkedAtOnce is the number of records that Check reads by one statement.
const checkedAtOnce = 5000

// check is a Check under way.
type check struct {
	Options
	db    *sqlite.DB
	found Findings
}

// Check checks the whole database: the structure of the file, its references, its
// schema, the latest time seen, the counts of tenants, and all records.
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

// file checks the file by SQLite's means: structure, constraints, references.
// Three faults say enough of a damaged structure.
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

// clock checks the latest time seen. Only a person knows whether the clock is
// right now.
func (c *check) clock(context.Context) error {
	clock := c.db.Clock
	if clock.Behind() <= ClockTolerance {
		return nil
	}
	c.found.Ahead = true
	c.Found(fmt.Sprintf("The latest time seen, %s, is ahead of the clock", clock.Now().Format(time.RFC3339)))
	return nil
}

func (c *check) counts(ctx context.Context) error {
	wrong, err := wrongCounts(ctx, c.db)
	for _, w := range wrong {
		c.note(&c.found.Stale, "The department %q: its count of records is %d and their last number %d, and they should be %d and %d",
			w.name, w.live, w.last, w.realLive, w.realLast)
	}
	return err
}

func (c *check) records(ctx context.Context) error {
	done, total := 0, int64(0)
	err := c.db.Read(func(conn *sqlite.Conn) (err error) {
		total, err = conn.QueryInt(`SELECT count(*) FROM firefighters`)
		return err
	})
	if err != nil {
		return err
	}
	return walk(ctx, c.db, checkedAtOnce, func(batch []stored) error {
		c.batch(batch)
		done += len(batch)
		c.Progress(done, int(total))
		return nil
	})
}

// batch notes what is wrong with some records.
func (c *check) batch(batch []stored) {
	for _, s := range batch {
		switch {
		case s.Damaged:
			c.note(&c.found.Damaged, "The record %s is damaged: its fields do not have their checksum", s.ID)
		case s.stale:
			c.note(&c.found.Stale, "The record %s: it is sorted or searched by something else than its fields", s.ID)
		}
	}
}
