package integrity

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

const (
	// scrubbedAtOnce is the number of records that Scrub reads before others
	// get a turn.
	scrubbedAtOnce = 200
	// scrubPause is the pause after that, while the service answers requests.
	// For 1,200,000 records the pauses take ten minutes.
	scrubPause = 100 * time.Millisecond
	// scrubInterval is the time between two scrubs of a service.
	scrubInterval = 24 * time.Hour
	// maxLogged is how many damaged records the log names.
	maxLogged = 20
)

// scrubber is a Scrub under way.
type scrubber struct {
	db      *sqlite.DB
	log     *slog.Logger
	pause   time.Duration
	damaged int // records
}

// Scrub reads every record once and logs those that are damaged. Otherwise the
// damage of a record that nobody reads would be found when no backup from
// before it is left. Scrub repairs key columns and counts.
//
// It reads a small database before it returns. Any other it reads slowly in the
// background, so that no start waits for it. There it checks the structure of
// the file as well, which was not checked when the file was opened. It ends with
// ctx.
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

// scrubSlowly is what Scrub does with a database that is not small. It returns when it
// is done, or with ctx.
func scrubSlowly(ctx context.Context, db *sqlite.DB, log *slog.Logger) {
	s := &scrubber{db: db, log: log, pause: scrubPause}
	s.structure(ctx)
	s.records(ctx)
	s.counts(ctx)
}

// Daily scrubs slowly, once each day, until ctx ends.
func Daily(ctx context.Context, db *sqlite.DB, log *slog.Logger) {
	for sleep(ctx, scrubInterval) == nil {
		scrubSlowly(ctx, db, log)
	}
}

func (s *scrubber) records(ctx context.Context) {
	err := walk(ctx, s.db, scrubbedAtOnce, func(batch []stored) error {
		if err := s.batch(batch); err != nil {
			return err
		}
		return sleep(ctx, s.pause)
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrLost) { // the guard has logged a loss
		s.log.Error("the database is damaged, or cannot be read: see firefighters check", "cause", err.Error())
		return
	}
	if s.damaged > 0 {
		s.log.Error("records are damaged: see firefighters check", "records", s.damaged)
	}
}

// batch logs which of some records are damaged, and repairs the others.
func (s *scrubber) batch(batch []stored) error {
	var stale []int64
	for _, r := range batch {
		switch {
		case r.Damaged:
			s.noteDamaged(r.ID)
		case r.stale:
			stale = append(stale, r.Row)
		}
	}
	err := updateKeys(s.db, stale)
	if err == nil && len(stale) > 0 {
		s.log.Warn("what records are sorted and searched by was damaged, and is repaired", "records", len(stale))
	}
	return err
}

func (s *scrubber) noteDamaged(id string) {
	if s.damaged++; s.damaged <= maxLogged {
		s.log.Error("a record is damaged: it is in no answer until a PUT corrects it", "id", id)
	}
}

// counts repairs wrong counts of tenants.
func (s *scrubber) counts(ctx context.Context) {
	wrong, err := wrongCounts(ctx, s.db)
	if err == nil {
		err = recount(s.db, wrong)
	}
	if err == nil && len(wrong) > 0 {
		s.log.Warn("the counts of departments were damaged, and are repaired", "departments", len(wrong))
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrLost) {
		s.log.Error("the counts of departments could not be checked", "cause", err.Error())
	}
}

// structure checks the structure of the file on a separate connection.
func (s *scrubber) structure(ctx context.Context) {
	c, err := s.db.Connect()
	if err == nil {
		err = c.CheckStructure(ctx)
		c.Close()
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("the database is damaged, or cannot be read: see firefighters check, and put a backup in its place", "cause", err.Error())
	}
}

// sleep returns after a pause, or with the error of ctx when that ends.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return ctx.Err()
}
