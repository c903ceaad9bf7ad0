package integrity

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

const (
	// scrubbedAtOnce is the number of records that Scrub reads between two pauses.
	scrubbedAtOnce = 200
	// scrubPause is the pause after each batch, for the requests that the service answers. For
	// 1,200,000 records, the pauses add up to ten minutes.
	scrubPause = 100 * time.Millisecond
	// scrubInterval is the time between two scrubs.
	scrubInterval = 24 * time.Hour
	// maxLogged is the number of damaged records that the log names.
	maxLogged = 20
)

// scrubber is the state of a running scrub.
type scrubber struct {
	db      *sqlite.DB
	log     *slog.Logger
	pause   time.Duration
	damaged int // number of damaged records
}

// Scrub reads each record once, logs the damaged ones, and repairs key columns and counters.
// Without it, damage to a record that no one reads could go unnoticed until no older backup is
// left.
//
// A small database is scrubbed before Scrub returns. A larger one is scrubbed in the background,
// with pauses, so that it does not delay the start. The background scrub also checks the file
// structure, which is not checked when a large file is opened. It ends with ctx.
func Scrub(ctx context.Context, db *sqlite.DB, log *slog.Logger, background func(func())) {
	s := &scrubber{db: db, log: log}
	small, err := db.Small()
	switch {
	case err != nil:
		log.Error("the database cannot be read", "cause", err.Error())
	case small:
		s.records(ctx)
		s.counts(ctx)
	default:
		background(func() { scrubSlowly(ctx, db, log) })
	}
}

// scrubSlowly scrubs a database with pauses. It returns when it has finished or ctx ends.
func scrubSlowly(ctx context.Context, db *sqlite.DB, log *slog.Logger) {
	s := &scrubber{db: db, log: log, pause: scrubPause}
	c, err := db.Connect()
	if err == nil {
		err = c.CheckStructure(ctx)
		c.Close()
	}
	if err != nil && ctx.Err() == nil {
		log.Error("the database is damaged or cannot be read; run firefighters check, and restore a backup", "cause", err.Error())
	}
	s.records(ctx)
	s.counts(ctx)
}

// Daily scrubs with pauses once a day until ctx ends.
func Daily(ctx context.Context, db *sqlite.DB, log *slog.Logger) {
	for sleep(ctx, scrubInterval) == nil {
		scrubSlowly(ctx, db, log)
	}
}

func (s *scrubber) records(ctx context.Context) {
	err := walk(ctx, s.db.Read, scrubbedAtOnce, func(batch []stored) error {
		if err := s.batch(batch); err != nil {
			return err
		}
		return sleep(ctx, s.pause)
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrLost) { // the guard logs a lost database
		s.log.Error("the database is damaged or cannot be read; run firefighters check", "cause", err.Error())
		return
	}
	if s.damaged > 0 {
		s.log.Error("records are damaged; run firefighters check", "records", s.damaged)
	}
}

// batch logs the damaged records and repairs the keys of the others.
func (s *scrubber) batch(batch []stored) error {
	var stale []int64
	for _, r := range batch {
		switch {
		case r.Damaged:
			if s.damaged++; s.damaged <= maxLogged {
				s.log.Error("a record is damaged; it cannot be read until a PUT replaces it", "id", r.ID)
			}
		case r.stale:
			stale = append(stale, r.Row)
		}
	}
	err := updateKeys(s.db, stale)
	if err == nil && len(stale) > 0 {
		s.log.Warn("repaired the sort and search keys of records", "records", len(stale))
	}
	return err
}

// counts repairs wrong counters of tenants.
func (s *scrubber) counts(ctx context.Context) {
	wrong, err := wrongCounts(ctx, s.db)
	if err == nil {
		err = eachInTx(s.db, wrong, func(t *sqlite.Tx, w counts) error {
			_, err := t.Exec(recountSQL, w.tenant)
			return err
		})
	}
	if err == nil && len(wrong) > 0 {
		s.log.Warn("repaired the record counts of departments", "departments", len(wrong))
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrLost) {
		s.log.Error("cannot check the record counts of departments", "cause", err.Error())
	}
}

// sleep waits for the pause or until ctx ends, and returns the error of ctx.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return ctx.Err()
}
