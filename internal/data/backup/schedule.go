package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Options say which backups a Scheduler makes and keeps.
type Options struct {
	Dir   string        // the folder for them; the first backup makes it
	Every time.Duration // a second or more
	Keep  int           // how many to keep: a quarter each newest, daily, weekly and monthly ones

	// EncryptTo is as that of a Job. The newest plain copy then stays beside the database.
	EncryptTo Recipients

	Authority string // a small secret file that is copied next to the backups; "" for none
}

// Scheduler makes backups of an open database by a schedule, and prunes them.
type Scheduler struct {
	options Options
	format  sqlite.Format
	db      string
	log     *slog.Logger
	now     func() time.Time
	space   func(folder string) (osutil.Space, error)
	next    wait
	warned  bool // of backups of another database
	place   func() place
	asleep  func() bool // whether the disk for backups is connected, and mounted when somebody looks

	tried time.Time // the newest backup when one was last verified

	mu     sync.Mutex
	state  State
	damage string    // what the state says of damaged records
	cause  error     // why the last failed; nil if it did not
	beside bool      // the backups are on the disk of the database
	gone   bool      // their folder is not there, or away is not nil
	free   *int64    // bytes of their disk; nil if that is not known, or beside
	away   error     // why they are, if they are meant for another; else nil
	since  time.Time // when away became an error

	verified verification
}

// State says how the backups go. No file is named in it.
type State struct {
	OK     bool
	Last   *time.Time // the time of the last valid backup; nil if there is none
	Since  *time.Time // when they began to fail; nil while they do not
	Detail string     // why they fail, or what is wrong with the last; may be empty
	Free   *int64     // bytes of their disk as of the last look; nil if it is that of the database

	Verified *time.Time // when the newest backup was last verified; nil if none was

	Trouble Trouble // what to do something about; empty if all is well
}

// NewScheduler returns a Scheduler for the database at path db, which does
// nothing until Run.
func NewScheduler(format sqlite.Format, db string, options Options, log *slog.Logger) *Scheduler {
	if absolute, err := filepath.Abs(options.Dir); err == nil {
		options.Dir = absolute
	}
	db = osutil.Resolve(db)
	s := &Scheduler{options: options, format: format, db: db, log: log, now: time.Now, space: osutil.SpaceOf,
		place: func() place { return newPlace(options.Dir, db) }, asleep: func() bool { return asleep(options.Dir) }, state: State{OK: true}}
	ReadNote(db, noteVerified, &s.verified)
	return s
}

// Run makes backups until ctx ends. One that is being made is then given up.
func (s *Scheduler) Run(ctx context.Context) {
	ticker := time.NewTicker(max(100*time.Millisecond, min(s.options.Every/10, time.Minute)))
	defer ticker.Stop()
	s.look()
	for s.next = s.first(ctx); ctx.Err() == nil; {
		s.step(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// step makes a backup if one is due, or if the disk for backups has come back: there is
// no new backup on that disk yet.
func (s *Scheduler) step(ctx context.Context) {
	if s.look() || s.next.over(s.now()) {
		s.turn(ctx)
		s.look()
	}
	s.verify(ctx)
}

// State returns how the last backup went, and whether the backups are safe where
// they are.
func (s *Scheduler) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Free, state.Verified = s.free, s.verified.Good
	if s.away != nil && (state.OK || s.away == ErrAway) {
		state.OK, state.Since, state.Detail, state.Trouble = false, &s.since, s.away.Error(), DiskAway
		return state
	}
	switch {
	case !state.OK:
		state.Trouble = troubleOf(s.cause)
	case s.verified.Reason != "":
		since := s.verified.At
		state.OK, state.Since, state.Detail, state.Trouble = false, &since, "the newest backup is not sound: "+s.verified.Reason, BadBackup
	case state.Last == nil:
		state.Trouble = NotYet
	case s.now().Sub(*state.Last) > 2*s.options.Every:
		state.Trouble = Old
	case s.damage != "":
		state.Trouble = BadDatabase
	case s.beside:
		state.Trouble = SameDisk
	}
	return state
}

// look notes whether the disk for backups is connected, and logs when that changes.
// It reports whether the disk has come back. It does not wake a disk that is asleep:
// one that is not mounted may be pulled out.
func (s *Scheduler) look() (back bool) {
	var away error
	beside, gone, free := false, false, s.free // which nobody else changes
	if !s.asleep() {
		beside, gone, free, away = s.lookAt(s.place()) // a disk that does not answer must not keep State waiting
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was, wasGone := s.away, s.gone
	s.away, s.beside, s.gone, s.free = away, beside, gone, free
	switch {
	case was == nil && away != nil:
		s.since = s.now().UTC().Truncate(time.Second)
		s.log.Error("the backups are not on another disk", "cause", away.Error())
	case was != nil && away == nil:
		s.log.Info("the backups are on another disk again")
	}
	return away == nil && was != nil || wasGone && !gone
}

// lookAt returns what there is to note of a place.
func (s *Scheduler) lookAt(at place) (beside, gone bool, free *int64, away error) {
	away, beside = at.check(), at.isBeside()
	if !beside {
		if space, err := s.space(existing(at.dir)); err == nil {
			free = &space.Free
		}
	}
	if away == nil {
		at.remember()
	}
	return beside, away != nil || !osutil.Exists(at.dir), free, away
}

// first looks at the backups that exist, and returns when the next is due: at
// once if the newest is not valid.
func (s *Scheduler) first(ctx context.Context) wait {
	files := s.files()
	if len(files) == 0 {
		return wait{s.now(), 0}
	}
	found, err := files[0].Check(ctx, s.format)
	if err == nil {
		s.note(files[0].Time, found, nil)
		return firstWait(files, s.options.Every, s.now())
	}
	if older := newestValid(ctx, s.format, files[1:]); older != nil {
		s.note(older.Time, Copy{}, nil)
	}
	return wait{s.now(), 0}
}

// files returns the backups of the database, the newest first. It leaves out
// those of another database, of which it warns once.
func (s *Scheduler) files() []File {
	all := backupsIn(s.options.Dir, s.db, s.now())
	its, _ := identify(sqlite.Peek, s.db)
	own := ofDatabase(all, its)
	if len(own) < len(all) && !s.warned {
		s.warned = true
		s.log.Warn("this folder holds backups of another database, which are left alone: give each database a folder or a name of its own")
	}
	return own
}

// turn makes a backup, prunes the older ones, and notes how it went. That
// somebody else is making a backup is neither good nor bad.
func (s *Scheduler) turn(ctx context.Context) {
	at, made, err := s.save(ctx)
	if err == nil {
		s.next = wait{s.now(), s.options.Every}
		err = s.prune(ctx, at)
	} else {
		s.next = wait{s.now(), afterFailure(s.options.Every)}
	}
	if ctx.Err() == nil && !errors.Is(err, ErrRunning) {
		s.note(at, made, err)
	}
}

// note keeps how the last backup went, and logs it if the one before went
// otherwise. at is zero unless there is a new backup.
func (s *Scheduler) note(at time.Time, made Copy, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wasOK := s.state.OK
	if !at.IsZero() {
		s.state.Last = &at
		s.noteDamage(made.Damaged)
	}
	problem := "no backups are made"
	if err == nil && made.Foreign != nil {
		problem, err = "backups are made that cannot be restored", ErrRefused
	}
	s.cause = err
	if err == nil {
		s.state = State{OK: true, Last: s.state.Last, Detail: s.damage}
		if !wasOK {
			s.log.Info("backups are made again")
		}
		return
	}
	s.state.OK, s.state.Detail = false, reason(err)
	if wasOK {
		now := s.now().UTC().Truncate(time.Second)
		s.state.Since = &now
		s.log.Error(problem, "cause", reason(err))
	}
}

// noteDamage keeps how many records of the newest backup are damaged. It logs
// the first.
func (s *Scheduler) noteDamage(records int64) {
	before := s.damage
	s.damage = ""
	if records > 0 {
		s.damage = fmt.Sprintf("records of the newest backup that are damaged: %d; see firefighters check", records)
		if before == "" {
			s.log.Warn("records are damaged, and so in the backups: see firefighters check", "records", records)
		}
	}
}

// reservedPart of the disk, a tenth, is never filled with scheduled backups.
const reservedPart = 10

// save makes a backup and returns the time that it is named by.
func (s *Scheduler) save(ctx context.Context) (at time.Time, made Copy, err error) {
	if err := makeFolder(s.options.Dir, s.db, s.place()); err != nil {
		return time.Time{}, Copy{}, err
	}
	if err := NoteErased(s.db, s.options.Dir); err != nil { // before the backup, which may have whom the list still has
		return time.Time{}, Copy{}, err
	}
	at = s.freeTime()
	room := roomFor(s.space, reservedPart)
	job := Job{Format: s.format, Source: s.db, Target: filepath.Join(s.options.Dir, fileName(s.db, at)), EncryptTo: s.options.EncryptTo}
	if len(job.EncryptTo) > 0 {
		job.Target, job.keep = filepath.Join(s.options.Dir, encryptedName(s.db, at)), keptName(s.db, at)
	}
	job.room = func(folder string, size int64) error {
		if room(folder, size) == nil {
			return nil
		}
		s.prune(ctx, time.Time{}) // without a valid backup it fails and deletes none
		return room(folder, size)
	}
	if made, err = job.Run(ctx); err != nil {
		return time.Time{}, Copy{}, err
	}
	if made.sum != nil {
		err = writeError(job.Target, osutil.WriteFile(job.Target+sumSuffix, made.sum, true))
	}
	s.removeKept(job.keep)
	if err := s.copyAuthority(); err != nil {
		s.log.Warn("the authority of the certificate could not be copied to the backups", "cause", reason(err))
	}
	return at, made, err
}

// removeKept removes the plain copies next to the database except newest.
func (s *Scheduler) removeKept(newest string) {
	for _, f := range filesIn(filepath.Dir(s.db), s.db, keptName, s.now()) {
		if f.Path != newest {
			os.Remove(f.Path) // what stays now goes with the next backup
		}
	}
}

// freeTime returns the time by the wall clock, or the first second after it for
// which no backup is named. The clock may stand still.
func (s *Scheduler) freeTime() time.Time {
	at := s.now().UTC().Truncate(time.Second)
	for _, f := range slices.Backward(backupsIn(s.options.Dir, s.db, at)) {
		if ahead := f.Time.Sub(at); ahead >= 0 && ahead < maxAhead {
			at = f.Time.Add(time.Second)
		}
	}
	return at
}

// wait is the time until the next backup. It ends by the wall clock or by the monotonic clock
// of time.Time, whichever is ahead. So a wall clock that is set forward causes one backup too
// many, and one that is set back none too few. After a sleep of the computer, in which the
// monotonic clock may stand still, the backup is due.
type wait struct {
	from time.Time
	long time.Duration
}

func (w wait) over(now time.Time) bool {
	return max(now.Round(0).Sub(w.from.Round(0)), now.Sub(w.from)) >= w.long
}

// unknownAge is the wait after a start if the clock is behind all backups, which
// says nothing of their age. It is not 0 because the program may be started
// again and again.
const unknownAge = time.Hour

// firstWait returns the wait after a start, by the times of the existing backups.
func firstWait(files []File, every time.Duration, now time.Time) wait {
	for _, f := range files { // the newest first, those of the future last
		if age := now.Round(0).Sub(f.Time); age >= 0 {
			return wait{now.Add(-age), every}
		}
	}
	return wait{now, min(every, unknownAge)}
}

// afterFailure returns how soon a backup that failed is tried again.
func afterFailure(every time.Duration) time.Duration {
	return min(every, max(time.Minute, every/24))
}
