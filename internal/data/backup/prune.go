package backup

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/retention"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// prune deletes old backups. It keeps the one made at last, which is valid, and
// all with a later time: the clock was wrong, then or now. If last is zero the
// newest valid backup takes its place.
func (s *Scheduler) prune(ctx context.Context, last time.Time) error {
	if its, _ := identify(s.content, sqlite.Peek, s.db); len(its.IDs) == 0 {
		return nil // nothing tells its backups from those of another database
	}
	files := s.files()
	if last.IsZero() {
		newest := newestValid(ctx, s.content, files)
		if newest == nil {
			return sqlite.ErrNotExist
		}
		last = newest.Time
	}
	var times []time.Time
	for _, f := range files {
		if !f.Time.After(last) {
			times = append(times, f.Time)
		}
	}
	dropped := retention.Drop(times, s.options.Keep)
	for _, f := range files {
		if !slices.ContainsFunc(dropped, f.Time.Equal) || f.inUse() {
			continue
		}
		if err := os.Remove(f.Path); err != nil {
			return &Error{OpDelete, f.Path, err}
		}
	}
	return nil
}
