package backup

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// SaveNow makes one backup as a Scheduler with these options does, and returns what was
// checked. While another process makes one, it waits.
func SaveNow(ctx context.Context, format sqlite.Format, db string, options Options) (Copy, error) {
	s := NewScheduler(format, db, options, slog.New(slog.DiscardHandler))
	for {
		_, made, err := s.save(ctx)
		if !errors.Is(err, ErrRunning) {
			return made, err
		}
		select {
		case <-ctx.Done():
			return Copy{}, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
