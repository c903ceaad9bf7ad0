package main

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const (
	// scrubbedAtOnce is how many records are read before others get a turn.
	scrubbedAtOnce = 200
	// scrubRest is the rest after that, while the service answers: ten minutes
	// in all for 1,200,000 records.
	scrubRest = 100 * time.Millisecond
	// maxDamageLogged is how many damaged records are named in the log.
	maxDamageLogged = 20
)

// scrub reads every record once: a small file's before it returns, a large
// one's beside the requests. It logs records that are damaged, for one that
// nobody asks for would be found out when no backup from before is left; and
// makes anew, where that is damaged, what is made from the fields of others and
// whether they are deleted. It ends with ctx.
func (s *store) scrub(ctx context.Context, log *slog.Logger, beside func(func())) {
	var pages int64
	err := s.read(func(c *conn) (err error) {
		pages, err = c.queryNumber(`PRAGMA page_count`)
		return err
	})
	switch {
	case err != nil:
		log.Error("the database cannot be read", "cause", err.Error())
	case pages > smallFilePages:
		beside(func() {
			s.scrubRecords(ctx, scrubRest, log)
			s.scrubStructure(ctx, log)
		})
	default:
		s.scrubRecords(ctx, 0, log)
		s.scrubCounts(log)
	}
}

// scrubSQL also tells whether the record is found by its id.
const scrubSQL = `
	SELECT ` + recordColumns + `, row IS (SELECT same.row FROM firefighters AS same WHERE same.id = firefighters.id)
	  FROM firefighters WHERE row > ? ORDER BY row LIMIT ?`

func (s *store) scrubRecords(ctx context.Context, rest time.Duration, log *slog.Logger) {
	damaged := 0
	for last, more := int64(0), true; more && ctx.Err() == nil; {
		seen, stale, flipped := 0, []int64{}, []int64{}
		err := s.read(func(c *conn) error {
			return c.query(scrubSQL, values{last, int64(scrubbedAtOnce)}, func(row values) {
				last, seen = number(row[0]), seen+1
				if wronglyDeleted(row) {
					log.Error("a record is damaged: whether it is deleted; its checksum tells, and it is made so", "id", text(row[1]))
					flipped = append(flipped, last)
				} else if isDamaged(row) || number(row[len(row)-1]) != 1 {
					if damaged++; damaged <= maxDamageLogged {
						log.Error("a record is damaged: it is in no answer until PUT has made it whole", "id", text(row[1]))
					}
				} else if _, is := isStale(row); is {
					stale = append(stale, last)
				}
			})
		})
		if err == nil && len(flipped) > 0 {
			err = s.redelete(flipped)
		}
		if err == nil && len(stale) > 0 {
			err = s.remake(stale)
			log.Warn("what records are sorted and searched by was damaged, and is made anew", "records", len(stale))
		}
		if err != nil {
			log.Error("the database is damaged, or cannot be read: see firefighters check", "cause", err.Error())
			return
		}
		more = seen == scrubbedAtOnce
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
	if damaged > 0 {
		log.Error("records are damaged: see firefighters check", "records", damaged)
	}
}

// scrubStructure has SQLite check the structure of a large file, which has not
// been checked when it was opened. It goes table by table, on a connection of
// its own that maps nothing, and rests after each as long as that took: what is
// being read keeps the -wal from starting over.
func (s *store) scrubStructure(ctx context.Context, log *slog.Logger) {
	const advice = "the database is damaged, or cannot be read: see firefighters check, and put a backup in its place"
	c, err := openConn(s.writer.holder.dsn)
	if err != nil {
		log.Error(advice, "cause", err.Error())
		return
	}
	defer c.Close()
	var tables []string
	err = c.query(`SELECT name FROM sqlite_schema WHERE type = 'table'`, nil, func(row values) { tables = append(tables, text(row[0])) })
	for _, table := range tables {
		if err != nil || ctx.Err() != nil {
			break
		}
		began, verdict := time.Now(), ""
		err = c.queryContext(ctx, `PRAGMA integrity_check("`+table+`")`, func(row values) { verdict = text(row[0]) })
		if err == nil && verdict != "ok" {
			log.Error(advice, "table", table)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Since(began)):
		}
	}
	if err != nil && ctx.Err() == nil {
		log.Error(advice, "cause", err.Error())
	}
}

// wronglyDeleted tells whether a record has the checksum of a deleted one and is
// not, or is and has not: what deleteSQL has written for good tells which.
func wronglyDeleted(row values) bool {
	row = slices.Clone(row)
	damaged := isDamaged(row)
	if row[15] == nil {
		row[15] = int64(0)
	} else {
		row[15] = nil
	}
	return damaged && !isDamaged(row)
}

// redelete deletes those of these rows that are not, and brings back those
// that are deleted.
func (s *store) redelete(rows []int64) error {
	return s.write(func(t *transaction) error {
		for _, row := range rows {
			_, err := t.exec(`UPDATE firefighters SET deleted_at = iif(deleted_at IS NULL, updated_at, NULL) WHERE row = ?`, row)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// scrubCounts makes wrong counts of departments anew.
func (s *store) scrubCounts(log *slog.Logger) {
	var wrong []values
	err := s.read(func(c *conn) error {
		return c.query(countsSQL, nil, func(row values) { wrong = append(wrong, slices.Clone(row)) })
	})
	if err == nil && len(wrong) > 0 {
		err = s.recount(wrong)
		log.Warn("the counts of departments were damaged, and are made anew", "departments", len(wrong))
	}
	if err != nil {
		log.Error("the counts of departments could not be looked through", "cause", err.Error())
	}
}
