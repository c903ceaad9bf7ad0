package backup

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What tests need beside the exported API: to end a restore in the middle, other
// clocks and other disks.

var (
	FileName     = fileName
	FirstWait    = firstWait
	AfterFailure = afterFailure
	RoomFor      = roomFor
	Surplus      = surplus
)

const (
	UnknownAge   = unknownAge
	ReservedPart = reservedPart
)

type Space = func(folder string) (osutil.Space, error)

func (w wait) Over(now time.Time) bool { return w.over(now) }

// LongestDays returns for how many days the retention keeps a backup at most.
func (o Options) LongestDays() int { return o.longestDays() }

// On returns the job for a disk with other room.
func (j Job) On(space Space) Job { j.room = roomFor(space, 0); return j }

// OnStick returns the restore of a database on a disk without links.
func (r Restore) OnStick() Restore { r.link = noLinks; return r }

func noLinks(file, name string) error {
	return &os.LinkError{Op: "link", Old: file, New: name, Err: errors.ErrUnsupported}
}

func (j Job) Partial() string { return j.partial() }

// Begin does the first steps of a restore without their lock.
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

// Set replaces the clocks and the disk of a scheduler.
func (s *Scheduler) Set(now func() time.Time, space Space) {
	s.now, s.space = now, space
}

// Encrypt lets the scheduler encrypt.
func (s *Scheduler) Encrypt(to Recipients) { s.options.EncryptTo = to }

// Turn does what Run does when a backup is due.
func (s *Scheduler) Turn(ctx context.Context) { s.turn(ctx) }

// Waits returns how long the scheduler waits for the next backup.
func (s *Scheduler) Waits() time.Duration { return s.next.long }

// Begin looks at the backups that exist, as Run does first.
func (s *Scheduler) Begin(ctx context.Context) { s.look(); s.next = s.first(ctx) }

// Step does what Run does at each look at the clock.
func (s *Scheduler) Step(ctx context.Context) { s.step(ctx) }

// SetPlace replaces what the system reports about disks.
func (s *Scheduler) SetPlace(sameDisk func(a, b string) bool) {
	was := s.place
	s.place = func() place { return place{was().dir, was().db, sameDisk} }
}

// SetUnmountedAutomounts replaces what the system says of a disk that it mounts when somebody looks.
func (s *Scheduler) SetUnmountedAutomounts(asleep func() bool) { s.asleep = asleep }

// PlaceOnOneDisk checks where backups are if all folders are on one disk.
func PlaceOnOneDisk(dir, db string) error {
	return place{dir, db, func(string, string) bool { return true }}.check()
}

// Reason is reason, for tests.
var Reason = reason
