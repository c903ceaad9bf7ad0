package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"firefighters/internal/record"
)

const checkHelp = `Usage: firefighters check [flags]

Looks the whole database through: the file itself, the references in it, the
counts of each department, and for each record its checksum and what is made
from its fields to sort and search by. It may run while the service does.

  firefighters check --db firefighters.db

With --repair it makes anew the counts and what is made from the fields, and
takes back the latest time seen if that is ahead of the clock: keys that have
expired since are valid again. A
record whose checksum is wrong it leaves alone, for nobody knows what it was.

Flags:
`

// checker notes what is wrong.
type checker struct {
	p       *program
	store   *store
	repair  bool
	broken  int // faults that only a backup mends
	damaged int // records that are not what the service wrote
	stale   int // that can be made anew
}

func (p *program) check(args []string) error {
	flags := p.flags("check", checkHelp)
	db := dbFlag(flags)
	repair := flags.Bool("repair", false, "make anew the counts and what is made from the fields")
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	return p.withStore(*db, false, func(s *store) error {
		c := &checker{p: p, store: s, repair: *repair}
		for _, part := range []func() error{c.file, c.clock, c.counts, c.records} {
			if err := part(); err != nil {
				return explain("checking", *db, err)
			}
		}
		return c.verdict(*db)
	})
}

func (c *checker) verdict(db string) error {
	switch {
	case c.broken > 0:
		return hinted{fmt.Errorf("the database %q %w", db, errDamaged), "put a backup in its place: firefighters restore FILE --db " + quoteArg(db)}
	case c.damaged > 0:
		return hinted{fmt.Errorf("%d records of the database %q are damaged, by the disk or by another program", c.damaged, db),
			"put a backup in its place, or correct each of them: PUT with all its fields makes it whole"}
	case c.stale > 0 && !c.repair:
		return hinted{fmt.Errorf("the database %q was changed by another program, which left %d things behind", db, c.stale),
			"firefighters check --repair --db " + quoteArg(db)}
	case c.stale > 0:
		return c.p.println(fmt.Sprintf("Repaired: %d. The database is sound.", c.stale))
	}
	return c.p.println("The database is sound.")
}

func (c *checker) note(count *int, format string, args ...any) {
	*count++
	fmt.Fprintf(c.p.stderr, format+"\n", args...)
}

// file has SQLite check the structure of the file, its constraints and its
// references. Of a structure that is damaged three faults say enough.
func (c *checker) file() error {
	return c.store.read(func(conn *conn) error {
		err := conn.query(`PRAGMA integrity_check(3)`, nil, func(row values) {
			if verdict := text(row[0]); verdict != "ok" {
				c.note(&c.broken, "The file: %s", verdict)
			}
		})
		if err != nil {
			return err
		}
		return conn.query(`PRAGMA foreign_key_check`, nil, func(row values) {
			c.note(&c.broken, "The file: row %d of %s refers to nothing", number(row[1]), text(row[0]))
		})
	})
}

// clock notes a latest time that is far ahead. To take it back is for a person
// to decide, who knows that the clock is right now.
func (c *checker) clock() error {
	clock := c.store.clock
	if clock.behind() <= maxBehind {
		return nil
	}
	now := clock.earlier().UnixMilli()
	c.note(&c.stale, "The latest time seen, %s, is ahead of the clock", clock.now().Format(time.RFC3339))
	if !c.repair {
		return nil
	}
	return c.store.write(func(t *transaction) error {
		t.now = now
		clock.latest.Store(now)
		_, err := t.exec(`UPDATE service SET latest_time = ?`, now)
		return err
	})
}

// countsSQL reads everything: there is nothing else to compare the counts with.
const countsSQL = `
	SELECT id, name, live_count, last_seq,
	       (SELECT count(*) FROM firefighters NOT INDEXED
	         WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff AND deleted_at IS NULL) AS live,
	       (SELECT ifnull(max(row) & 0xffffffff, 0) FROM firefighters
	         WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff) AS seq
	  FROM tenants WHERE live_count <> live OR last_seq < seq`

func (c *checker) counts() error {
	var wrong []values
	err := c.store.read(func(conn *conn) error {
		return conn.query(countsSQL, nil, func(row values) {
			wrong = append(wrong, slices.Clone(row))
			c.note(&c.stale, "The department %q: it counts %d records up to number %d, and has %d up to %d",
				text(row[1]), number(row[2]), number(row[3]), number(row[4]), number(row[5]))
		})
	})
	if err != nil || !c.repair || len(wrong) == 0 {
		return err
	}
	return c.store.recount(wrong)
}

// recount makes the counts of departments anew, which rows begin with.
func (s *store) recount(rows []values) error {
	return s.write(func(t *transaction) error {
		for _, row := range rows {
			if _, err := t.exec(recountSQL, row[0]); err != nil {
				return err
			}
		}
		return nil
	})
}

const recountSQL = `
	UPDATE tenants
	   SET live_count = (SELECT count(*) FROM firefighters NOT INDEXED
	                      WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff AND deleted_at IS NULL),
	       last_seq   = max(last_seq, (SELECT ifnull(max(row) & 0xffffffff, 0) FROM firefighters
	                                    WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff)),
	       version    = version + 1
	 WHERE id = ?1`

// checkedAtOnce is how many records are read by one statement, for a long one
// would keep the -wal from starting over.
const checkedAtOnce = 5000

// recordColumns are what isStale and isDamaged compare.
const recordColumns = `row, id, first_name, last_name, phone_number, email, date_of_birth,
	first_key, last_key, email_key, phone_key, born_at, search_text, phone_digits,
	tenant_id, deleted_at, checksum`

const recordSQL = `SELECT ` + recordColumns + ` FROM firefighters`

// isStale tells whether the columns made from the fields of a row are not what
// they should be, which is made.
func isStale(row values) (made values, stale bool) {
	made = fieldValues(record.Fields{FirstName: text(row[2]), LastName: text(row[3]), PhoneNumber: text(row[4]),
		Email: text(row[5]), DateOfBirth: text(row[6])})[5:]
	return made, !slices.Equal(made, row[7:14])
}

// isDamaged tells whether the fields of a row are not what the service wrote.
func isDamaged(row values) bool {
	fields := make([]string, 6)
	for i := range fields {
		fields[i] = text(row[1+i])
	}
	sum := checksum(tenantID(number(row[14])), strings.Join(fields, "\n"))
	if row[15] != nil {
		sum = ^sum
	}
	return number(row[16]) != sum
}

func (c *checker) records() error {
	bar := newProgress(c.p, "records", 0)
	err := c.store.read(func(conn *conn) error {
		total, err := conn.queryNumber(`SELECT count(*) FROM firefighters`)
		bar.total = int(total)
		return err
	})
	defer bar.end()
	for last, more := int64(0), true; more && err == nil; {
		var stale []int64
		seen := 0
		err = c.store.read(func(conn *conn) error {
			return conn.query(recordSQL+` WHERE row > ? ORDER BY row LIMIT ?`, values{last, int64(checkedAtOnce)}, func(row values) {
				last, seen = number(row[0]), seen+1
				if isDamaged(row) {
					c.note(&c.damaged, "The record %s is damaged: its fields do not have their checksum", text(row[1]))
				} else if _, is := isStale(row); is {
					stale = append(stale, last)
					c.note(&c.stale, "The record %s: it is sorted or searched by something else than its fields", text(row[1]))
				}
			})
		})
		if err == nil && c.repair {
			err = c.store.remake(stale)
		}
		bar.add(seen)
		more = seen == checkedAtOnce
	}
	return err
}

const remakeSQL = `
	UPDATE firefighters
	   SET first_key = ?, last_key = ?, email_key = ?, phone_key = ?, born_at = ?, search_text = ?, phone_digits = ?
	 WHERE row = ?`

// remake makes anew what is made from the fields of these rows.
func (s *store) remake(rows []int64) error {
	if len(rows) == 0 {
		return nil
	}
	return s.write(func(t *transaction) error {
		for _, number := range rows {
			var made values
			err := t.query(recordSQL+` WHERE row = ?`, values{number}, func(row values) { made, _ = isStale(row) })
			if err != nil {
				return err
			}
			if made == nil {
				continue // it has been erased meanwhile
			}
			if _, err := t.exec(remakeSQL, append(made, number)...); err != nil {
				return err
			}
		}
		return nil
	})
}
