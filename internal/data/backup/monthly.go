package backup

import (
	"context"
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/notes"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// The service does a drill once a month. The notes keep how the last one went, so that a
// command can note one as well.

const (
	drillEach  = 30 * 24 * time.Hour
	drillAgain = 24 * time.Hour // after one that has failed or was put off
)

// drillNote says how the last drill went.
type drillNote struct {
	Folder string     `json:"folder"` // of the backups
	At     time.Time  `json:"at"`
	Backup time.Time  `json:"backup"` // the time of the one that was tried
	OK     bool       `json:"ok"`
	Reason string     `json:"reason,omitempty"` // why it has failed
	Good   *time.Time `json:"good,omitempty"`   // when one last went well
}

// readDrill returns how the last drill with the backups in a folder went, zero if there
// was none.
func readDrill(db, dir string) (note drillNote) {
	if !notes.Read(db, notes.Drill, &note) || note.Folder != realPath(dir) {
		return drillNote{}
	}
	return note
}

// NoteDrill notes how a drill went, for the service. It does not where that says nothing
// of the backups, or where the service has a drill with another folder to remember.
func NoteDrill(d Drill, done Drilled, failure error) error {
	db, failure := osutil.Resolve(d.Database), done.outcome(failure)
	note := readDrill(db, d.Dir)
	if putOff(failure) || !osutil.Exists(db) || note.At.IsZero() && notes.Read(db, notes.Drill, new(drillNote)) {
		return nil
	}
	return note.next(d.Dir, done, failure, time.Now()).write(db)
}

// next returns the note of the drill after this one.
func (n drillNote) next(dir string, done Drilled, failure error, now time.Time) drillNote {
	n.Folder, n.At, n.Backup = realPath(dir), now.UTC().Truncate(time.Second), done.Time.UTC()
	if n.OK, n.Reason = failure == nil, ""; n.OK {
		n.Good = &n.At
	} else {
		n.Reason = Reason(failure)
	}
	return n
}

func (n drillNote) write(db string) error { return notes.Write(db, notes.Drill, n) }

// failed reports whether the last drill has failed.
func (n drillNote) failed() bool { return !n.At.IsZero() && !n.OK }

// outcome returns why a drill of the service, which has no key, says nothing or has failed.
func (d Drilled) outcome(failure error) error {
	if failure == nil && d.Tried == "" {
		return &Error{OpRead, d.Path, ErrEncrypted}
	}
	return failure
}

// putOff reports whether a drill has failed for a reason that says nothing of the backups.
func putOff(err error) bool {
	return errors.As(err, new(*RoomError)) || errors.Is(err, ErrDrilling) || errors.Is(err, ErrEncrypted) || errors.As(err, new(*WrongKeyError)) || errors.Is(err, ErrNone) || errors.Is(err, ErrOthers)
}

// drill does a drill if one is due, gently. It is done once a month; after one that has
// failed again with the next backup, and at least each day.
func (s *Scheduler) drill(ctx context.Context) {
	s.mu.Lock()
	note, last, away := s.drilled, s.state.Last, s.away
	s.mu.Unlock()
	age := s.now().wall.Sub(note.At)
	newer := note.failed() && last != nil && last.After(note.Backup) && !last.Equal(s.tried)
	due := note.failed() || age >= drillEach || age < 0
	if last == nil || away != nil || !newer && !(due && s.nextDrill.over(s.now())) {
		return
	}
	s.nextDrill, s.tried = wait{s.now(), drillAgain}, *last
	d := Drill{Content: s.content, Database: s.db, Dir: s.options.Dir, gently: true, space: s.space, now: func() time.Time { return s.now().wall }}
	done, err := d.Run(ctx)
	switch err = done.outcome(err); {
	case ctx.Err() != nil:
		return
	case putOff(err):
		s.log.Warn("the restore drill was put off", "cause", Reason(err))
		return
	case err != nil:
		s.log.Error("the newest backup has failed a restore drill: see firefighters drill", "cause", Reason(err))
	default:
		s.log.Info("a restore drill went well", "backup", done.Time.UTC(), "seconds", done.Restoring.Seconds(), "records", done.Text)
	}
	note = note.next(s.options.Dir, done, err, s.now().wall)
	if err := note.write(s.db); err != nil {
		s.log.Warn("the restore drill could not be noted", "cause", Reason(err))
	}
	s.mu.Lock()
	s.drilled = note
	s.mu.Unlock()
}

// clearDrill removes what a drill has left in which the program was killed.
func (s *Scheduler) clearDrill() {
	for _, w := range workplaces(s.db, "drill") {
		w.clear()
	}
}
