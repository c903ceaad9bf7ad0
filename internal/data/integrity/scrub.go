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
// before it is left. Scrub repairs key columns, deletion marks and counts.
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
	var stale, flipped []int64
	var flippedIDs []string
	for _, r := range batch {
		switch {
		case r.misdeleted:
			flipped, flippedIDs = append(flipped, r.Row), append(flippedIDs, r.ID)
		case r.Damaged, r.lost:
			s.noteDamaged(r.ID)
		case r.stale:
			stale = append(stale, r.Row)
		}
	}
	if err := flipDeletion(s.db, flipped); err != nil {
		return err
	}
	for _, id := range flippedIDs {
		s.log.Error("a record is damaged: its deletion mark was wrong by its checksum, and is repaired", "id", id)
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
	repaired := 0
	err := walkCounts(ctx, s.db, func(wrong []counts) error {
		if err := recount(s.db, wrong); err != nil {
			return err
		}
		repaired += len(wrong)
		return sleep(ctx, s.pause)
	})
	if repaired > 0 {
		s.log.Warn("the counts of departments were damaged, and are repaired", "departments", repaired)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlite.ErrLost) {
		s.log.Error("the counts of departments could not be checked", "cause", err.Error())
	}
}

// structure checks the structure of the file on a connection of its own. A
// long read keeps the -wal from restarting. So it checks each table by itself,
// and pauses after each for as long as the check took.
func (s *scrubber) structure(ctx context.Context) {
	const damaged = "the database is damaged, or cannot be read: see firefighters check, and put a backup in its place"
	table, err := s.damagedTable(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Error(damaged, "cause", err.Error())
	case table != "":
		s.log.Error(damaged, "table", table)
	}
}

// damagedTable returns the first table whose structure is damaged, empty if
// there is none.
func (s *scrubber) damagedTable(ctx context.Context) (string, error) {
	c, err := s.db.Connect()
	if err != nil {
		return "", err
	}
	defer c.Close()
	began := time.Now()
	return c.CheckTables(ctx, func() error {
		err := sleep(ctx, time.Since(began))
		began = time.Now()
		return err
	})
}

// sleep returns after a pause, or with the error of ctx when that ends.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return ctx.Err()
}
