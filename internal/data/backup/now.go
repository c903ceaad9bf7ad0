package backup

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// SaveNow creates one backup as a Scheduler with these options would, and returns the checked copy.
// It waits while another process creates one.
func SaveNow(ctx context.Context, format sqlite.Format, db string, options Options) (Copy, error) {
	s := NewScheduler(format, db, options, slog.New(slog.DiscardHandler))
	for {
		_, saved, err := s.save(ctx)
		if !errors.Is(err, ErrRunning) {
			return saved, err
		}
		select {
		case <-ctx.Done():
			return Copy{}, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
