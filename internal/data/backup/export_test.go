package backup

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Tests also need to end a restore early and to replace clocks and disks.

var (
	FileName     = fileName
	FirstWait    = firstWait
	AfterFailure = afterFailure
	RoomFor      = roomFor
	Surplus      = surplus
	Reserved     = reserved
)

const (
	UnknownAge = unknownAge
)

type Space = func(folder string) (osutil.Space, error)

func (w wait) Over(now time.Time) bool { return w.over(now) }

// LongestDays returns the maximum number of days for which a backup is kept.
func (o Options) LongestDays() int { return o.longestDays() }

// On returns the job for a disk with other free space.
func (j Job) On(space Space) Job { j.room = roomFor(space, nil); return j }

// OnStick returns the restore of a database on a disk without hard links.
func (r Restore) OnStick() Restore { r.link = noLinks; return r }

func noLinks(file, name string) error {
	return &os.LinkError{Op: "link", Old: file, New: name, Err: errors.ErrUnsupported}
}

func (j Job) Partial() string { return j.partial() }

// Begin runs the first steps of a restore without the lock.
func (r Restore) Begin(ctx context.Context, steps int) error {
	task := newRestoring(r)
	for _, step := range task.steps()[:steps] {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// RestoreSteps is the number of steps of a restore.
var RestoreSteps = len(newRestoring(Restore{}).steps())

// Set replaces the clock and the disk of a scheduler.
func (s *Scheduler) Set(now func() time.Time, space Space) {
	s.now, s.space = now, space
}

// Encrypt makes the scheduler encrypt its backups.
func (s *Scheduler) Encrypt(to Recipients) { s.options.EncryptTo = to }

// Turn creates a backup as Run does when it is due.
func (s *Scheduler) Turn(ctx context.Context) { s.turn(ctx) }

// Waits returns the time between the last backup and the next one.
func (s *Scheduler) Waits() time.Duration { return s.next.length }

// Begin checks the existing backups, as Run does first.
func (s *Scheduler) Begin(ctx context.Context) { s.look(); s.next = s.first(ctx) }

// Step runs one iteration of Run.
func (s *Scheduler) Step(ctx context.Context) { s.step(ctx) }

// SetPlace replaces what the system reports about disks.
func (s *Scheduler) SetPlace(sameDisk func(a, b string) bool) {
	was := s.place
	s.place = func() place { return place{was().dir, was().db, sameDisk} }
}

// SetUnmountedAutomounts replaces what the system reports about an automounted backup disk.
func (s *Scheduler) SetUnmountedAutomounts(asleep func() bool) { s.asleep = asleep }

// PlaceOnOneDisk returns the result of CheckPlace if all folders are on one disk.
func PlaceOnOneDisk(dir, db string) error {
	return place{dir, db, func(string, string) bool { return true }}.check()
}

// Reason exports reason for tests.
var Reason = reason
