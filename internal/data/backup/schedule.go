package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Options configure the backups of a Scheduler.
type Options struct {
	Dir   string        // the backup folder; the first backup creates it
	Every time.Duration // the interval; at least a second
	Keep  int           // number of backups to keep: a quarter each newest, daily, weekly and monthly

	// EncryptTo lists the public keys to encrypt to. If it is not empty, the newest unencrypted copy
	// stays next to the database.
	EncryptTo Recipients
}

// Scheduler creates backups of an open database on a schedule and prunes them.
type Scheduler struct {
	options Options
	format  sqlite.Format
	db      string
	log     *slog.Logger
	now     func() time.Time
	space   func(folder string) (osutil.Space, error)
	next    wait
	warned  bool // about backups of another database
	place   func() place
	asleep  func() bool // reports whether the backup disk is connected, but not mounted until accessed

	asked chan chan error // BackUp asks Run for a backup now
	ended chan struct{}   // closed when Run has returned

	tried time.Time // time of the newest backup at the last verification
	empty bool      // the newest backup contains no records

	mu      sync.Mutex
	state   State
	plain   int       // number of unencrypted backups, if new ones are encrypted
	missing bool      // the newest backup is missing, and there has been no attempt at another
	lost    time.Time // when the newest backup was found missing; zero if it was not, or if new ones fail
	damage  string    // the part of State.Detail about damaged records
	cause   error     // why the last backup failed, or nil
	location
	since time.Time // when away became an error

	verified verification
}

// location is the state of the backup folder and its disk.
type location struct {
	sameDisk bool   // the backups are on the disk of the database
	away     error  // why the backups are not on their own disk, or nil
	gone     bool   // the folder cannot be read, or away is not nil
	unread   bool   // the folder exists and cannot be read
	free     *int64 // free bytes of the disk; nil if unknown, or if sameDisk
	backups  []File // the files with names of backups when the folder was last seen
}

func (l location) has(at time.Time) bool {
	return slices.ContainsFunc(l.backups, func(f File) bool { return f.Time.Equal(at) })
}

// isOther reports whether another disk may be in place of the earlier one: it was connected just now,
// or it has a backup that the earlier one did not have.
func (l location) isOther(earlier location) bool {
	return earlier.away != nil || slices.ContainsFunc(l.backups, func(f File) bool { return !earlier.has(f.Time) })
}

// State is the state of the backups. It contains no file names.
type State struct {
	OK     bool
	Last   *time.Time // time of the last valid backup, or nil
	Since  *time.Time // when backups began to fail, or nil
	Detail string     // why they fail, or a problem of the last one; may be empty
	Free   *int64     // free bytes of the backup disk at the last check; nil if it is the disk of the database

	Verified *time.Time // when the newest backup was last verified, or nil

	Trouble Trouble // what requires action; empty if nothing does
}

// Trouble classifies a backup problem by the action it requires.
type Trouble string

// Problems of backups. The zero Trouble means that there is none.
const (
	NotSet      Trouble = "unset"    // there is no backup folder
	NotYet      Trouble = "pending"  // there is no backup yet
	DiskAway    Trouble = "away"     // the backup disk is not connected
	NoRoom      Trouble = "full"     // the backup disk is full
	BadFolder   Trouble = "folder"   // the backup folder cannot be used
	BadDatabase Trouble = "database" // the database is damaged, or another program changed its schema
	Lost        Trouble = "lost"     // the newest backup was deleted or moved
	Failed      Trouble = "failed"   // the last backup failed for another reason
	Plain       Trouble = "plain"    // new backups are encrypted, but older ones are not
	BadBackup   Trouble = "unsound"  // the newest backup failed verification
	Old         Trouble = "old"      // the last backup is more than two intervals old
	SameDisk    Trouble = "disk"     // the backups are on the disk of the database and would be lost with it
)

// TroubleOf returns the problem behind an error of BackUp.
func TroubleOf(err error) Trouble {
	switch {
	case errors.Is(err, ErrAway):
		return DiskAway
	case errors.Is(err, sqlite.ErrFull), errors.As(err, new(*RoomError)):
		return NoRoom
	case errors.Is(err, ErrRefused), errors.Is(err, sqlite.ErrCorrupt):
		return BadDatabase
	case errors.As(err, new(*Error)):
		return BadFolder
	}
	return Failed
}

// NewScheduler returns a Scheduler for the database at path db. It does nothing until Run.
func NewScheduler(format sqlite.Format, db string, options Options, log *slog.Logger) *Scheduler {
	if absolute, err := filepath.Abs(options.Dir); err == nil {
		options.Dir = absolute
	}
	db = osutil.Resolve(db)
	s := &Scheduler{asked: make(chan chan error), ended: make(chan struct{}),
		options: options, format: format, db: db, log: log, now: time.Now, space: osutil.SpaceOf,
		place: func() place { return newPlace(options.Dir, db) }, asleep: func() bool { return asleep(options.Dir) }, state: State{OK: true}}
	if ReadNote(db, NoteVerified, &s.verified); s.verified.Dir != options.Dir {
		s.verified = verification{}
	}
	return s
}

// Run creates backups until ctx ends, which also cancels a running backup.
func (s *Scheduler) Run(ctx context.Context) {
	defer close(s.ended)
	ticker := time.NewTicker(max(100*time.Millisecond, min(s.options.Every/10, time.Minute)))
	defer ticker.Stop()
	s.look()
	for s.next = s.first(ctx); ctx.Err() == nil; {
		s.step(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case result := <-s.asked:
			result <- s.turn(ctx)
			s.look()
		}
	}
}

// BackUp creates a backup now, while Run runs, and returns its error or the error of ctx. It waits
// while another process creates one.
func (s *Scheduler) BackUp(ctx context.Context) error {
	for {
		result := make(chan error, 1)
		select {
		case s.asked <- result:
		case <-s.ended:
			return context.Canceled
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case err := <-result:
			if !errors.Is(err, ErrRunning) {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// step creates a backup if it is due, or if the folder lacks the latest one.
func (s *Scheduler) step(ctx context.Context) {
	isDue := s.look()
	if s.missing { // only this goroutine writes it
		isDue = true
		s.first(ctx)
	}
	s.expectRecords(ctx)
	if isDue || s.next.over(s.now()) {
		s.turn(ctx)
		s.look()
	}
	s.verify(ctx)
}

// typing is the time between the first records and their first backup.
const typing = 30 * time.Minute

// expectRecords brings the next backup forward if the newest one is empty and the database no longer
// is.
func (s *Scheduler) expectRecords(ctx context.Context) {
	if now := s.now(); s.lacksRecords(ctx) {
		s.empty = false
		if !s.next.over(now.Add(typing)) {
			s.next = wait{now, typing}
		}
	}
}

// lacksRecords reports whether the newest backup is empty and the database is not.
func (s *Scheduler) lacksRecords(ctx context.Context) bool {
	if !s.empty {
		return false
	}
	c, err := sqlite.Peek(s.db)
	if err != nil {
		return false
	}
	defer c.Close()
	now, err := store.CountContent(ctx, c)
	return err == nil && now.Records > 0
}

// lossShown is how long State reports a lost backup although there is a new one, so that a monitor that
// asks once a minute reports the loss.
const lossShown = 2 * time.Minute

const newestMissing = "the newest backup is missing from its folder"

// State returns the result of the last backup, and whether the location of the backups is safe.
func (s *Scheduler) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Free, state.Verified = s.free, s.verified.Good
	switch {
	case s.away != nil && (state.OK || s.away == ErrAway):
		state.OK, state.Since, state.Detail, state.Trouble = false, &s.since, s.away.Error(), DiskAway
	case !state.OK:
		state.Trouble = TroubleOf(s.cause)
	case !s.lost.IsZero() && (s.missing || s.now().Sub(s.lost) < lossShown):
		state.OK, state.Since, state.Detail, state.Trouble = false, new(s.lost.UTC().Truncate(time.Second)), newestMissing, Lost
	case s.verified.Reason != "":
		since := s.verified.At
		state.OK, state.Since, state.Detail, state.Trouble = false, &since, "the newest backup is not sound: "+s.verified.Reason, BadBackup
	case state.Last == nil:
		state.Trouble = NotYet
	case s.now().Sub(*state.Last) > 2*s.options.Every:
		state.Trouble = Old
	case s.damage != "":
		state.Trouble = BadDatabase
	case s.plainLeft() > 0:
		state.Trouble = Plain
		state.Detail = fmt.Sprintf("backups that are not encrypted: %d; see firefighters backup delete-plain", s.plainLeft())
	case s.sameDisk:
		state.Trouble = SameDisk
	}
	return state
}

// plainLeft returns the number of unencrypted backups, without those that were deleted since they were
// identified.
func (s *Scheduler) plainLeft() (n int) {
	for _, f := range s.backups {
		if !f.Encrypted {
			n++
		}
	}
	return min(n, s.plain)
}

// look checks whether the backup disk is connected and still has the newest backup, and logs changes. It
// reports whether the disk is connected again. It does not access an unmounted disk, which someone may
// be about to unplug.
func (s *Scheduler) look() (back bool) {
	now := location{free: s.free, backups: s.backups} // only this goroutine writes s.location
	isAsleep := s.asleep()
	if !isAsleep {
		now = s.locate(s.place()) // without the lock: a disk that hangs must not block State
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.location
	s.location = now
	switch {
	case before.away == nil && now.away != nil:
		s.since = s.now().UTC().Truncate(time.Second)
		s.log.Error("the backup disk is not connected", "cause", now.away.Error())
	case before.away != nil && now.away == nil:
		s.log.Info("the backup disk is connected again")
	}
	if !isAsleep && now.away == nil && s.state.Last != nil && !now.has(*s.state.Last) {
		s.missing, s.state.Last = true, nil
		if !now.unread && !now.isOther(before) {
			s.lost = s.now()
			s.log.Error(newestMissing)
		}
	}
	return before.away != nil && now.away == nil || before.gone && !now.gone
}

// locate checks a place, and remembers if it is on another disk.
func (s *Scheduler) locate(at place) location {
	found := location{sameDisk: at.isOnDiskOfDatabase(), away: at.check()}
	if !found.sameDisk {
		if space, err := s.space(existing(at.dir)); err == nil {
			found.free = &space.Free
		}
	}
	if found.away == nil {
		at.remember()
	}
	_, err := os.ReadDir(at.dir)
	found.gone = found.away != nil || err != nil
	found.unread = err != nil && !errors.Is(err, fs.ErrNotExist)
	found.backups = s.backups
	if found.away == nil {
		found.backups = backupsIn(s.options.Dir, s.db, s.now())
	}
	return found
}

// first checks the existing backups and returns when the next one is due: at once if the newest is
// invalid, encrypted to other recipients, or empty although the database is not.
func (s *Scheduler) first(ctx context.Context) wait {
	files := s.files()
	if len(files) == 0 {
		return wait{s.now(), 0}
	}
	found, err := files[0].Check(ctx, s.format)
	if err == nil {
		s.note(files[0].Time, found, nil)
		if !slices.Equal(found.to, s.options.EncryptTo.texts()) || s.lacksRecords(ctx) {
			return wait{s.now(), 0}
		}
		return firstWait(files, s.options.Every, s.now())
	}
	if older := newestValid(ctx, s.format, files[1:]); older != nil {
		s.note(older.Time, Copy{}, nil)
	}
	return wait{s.now(), 0}
}

// files returns the backups of the database, newest first. If there are backups of another database,
// it logs a warning once.
func (s *Scheduler) files() []File {
	all := backupsIn(s.options.Dir, s.db, s.now())
	id, _ := identify(sqlite.Peek, s.db)
	own := ofDatabase(all, id)
	if len(own) < len(all) && !s.warned {
		s.warned = true
		s.log.Warn("this folder holds backups of another database, which are ignored: give each database its own folder or name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plain = 0
	if len(s.options.EncryptTo) > 0 {
		s.plain = len(plainOf(own))
	}
	return own
}

// turn creates a backup, prunes the older ones and records and returns the result, unless another
// process is creating a backup.
func (s *Scheduler) turn(ctx context.Context) error {
	at, saved, err := s.save(ctx)
	if err == nil && saved.sum != "" {
		WriteNote(s.db, noteSum, notedSum{encryptedName(s.db, at), saved.sum}) // after an error, checks do without
	}
	s.next = wait{s.now(), afterFailure(s.options.Every)}
	if err == nil {
		s.next.length = s.options.Every
		err = s.prune(ctx, at)
	}
	if ctx.Err() == nil && !errors.Is(err, ErrRunning) {
		s.note(at, saved, err)
		s.mu.Lock()
		s.missing = false
		s.mu.Unlock()
	}
	return err
}

// note records the result of a backup and logs it if it differs from the previous result. at is zero
// if there is no new backup.
func (s *Scheduler) note(at time.Time, saved Copy, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wasOK := s.state.OK
	if !at.IsZero() {
		s.state.Last, s.empty = &at, saved.Empty
		s.noteDamage(saved.Damaged)
	}
	problem := "no backups are made"
	if err == nil && saved.Foreign != nil {
		problem, err = "new backups cannot be restored", ErrRefused
	}
	s.cause = err
	if err == nil {
		s.state = State{OK: true, Last: s.state.Last, Detail: s.damage}
		if !wasOK {
			s.log.Info("backups work again")
		}
		return
	}
	s.state.OK, s.state.Detail, s.lost = false, reason(err), time.Time{}
	if wasOK {
		now := s.now().UTC().Truncate(time.Second)
		s.state.Since = &now
		s.log.Error(problem, "cause", reason(err))
	}
}

// noteDamage records the number of damaged records in the newest backup. It logs the first damage.
func (s *Scheduler) noteDamage(records int64) {
	before := s.damage
	s.damage = ""
	if records > 0 {
		s.damage = fmt.Sprintf("damaged records in the newest backup: %d; see firefighters check", records)
		if before == "" {
			s.log.Warn("records are damaged, also in the backups: see firefighters check", "records", records)
		}
	}
}

// reserved is the space that scheduled backups leave on their disk: a tenth, at most 1 GiB. A station PC
// may have a large disk that is almost full.
func reserved(disk osutil.Space) int64 {
	return min(disk.Total/10, 1<<30)
}

// save creates a backup and returns the time in its name.
func (s *Scheduler) save(ctx context.Context) (at time.Time, saved Copy, err error) {
	if err := makeFolder(s.options.Dir, s.db, s.place()); err != nil {
		return time.Time{}, Copy{}, err
	}
	if err := NoteErased(s.db, s.options.Dir); err != nil { // before the backup, whose records may be in the list
		return time.Time{}, Copy{}, err
	}
	at = s.freeTime()
	room := roomFor(s.space, reserved)
	job := Job{Format: s.format, Source: s.db, Target: filepath.Join(s.options.Dir, fileName(s.db, at)), EncryptTo: s.options.EncryptTo}
	if len(job.EncryptTo) > 0 {
		job.Target, job.keep = filepath.Join(s.options.Dir, encryptedName(s.db, at)), keptName(s.db, at)
	}
	job.room = func(folder string, size int64) error {
		if room(folder, size) == nil {
			return nil
		}
		s.prune(ctx, time.Time{}) // deletes nothing unless there is a valid backup
		return room(folder, size)
	}
	if saved, err = job.Run(ctx); err != nil {
		return time.Time{}, Copy{}, err
	}
	s.removeKept(job.keep)
	if err := s.copyAuthority(); err != nil {
		s.log.Warn("the certificate authority could not be copied to the backups", "cause", reason(err))
	}
	return at, saved, err
}

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

func (s *Scheduler) removeKept(newest string) {
	for _, f := range filesIn(filepath.Dir(s.db), s.db, s.now(), keptName) {
		if f.Path != newest {
			os.Remove(f.Path) // after an error, the next backup tries again
		}
	}
}

// freeTime returns the current time, or the first later second without a backup. The clock may not
// advance.
func (s *Scheduler) freeTime() time.Time {
	at := s.now().UTC().Truncate(time.Second)
	for _, f := range slices.Backward(backupsIn(s.options.Dir, s.db, at)) {
		if ahead := f.Time.Sub(at); ahead >= 0 && ahead < maxAhead {
			at = f.Time.Add(time.Second)
		}
	}
	return at
}

// wait is the time until the next backup. It ends when either the wall clock or the monotonic clock
// reaches it. A wall clock set forward causes an extra backup, and one set back does not delay any.
// After the computer sleeps, during which the monotonic clock may stop, the wall clock counts.
type wait struct {
	from   time.Time
	length time.Duration
}

func (w wait) over(now time.Time) bool {
	return max(now.Round(0).Sub(w.from.Round(0)), now.Sub(w.from)) >= w.length
}

// unknownAge is the wait after startup if all backups are dated in the future, so that their age is
// unknown. It is not 0, because the program may restart repeatedly.
const unknownAge = time.Hour

func firstWait(files []File, every time.Duration, now time.Time) wait {
	for _, f := range files { // newest first, then those dated in the future
		if age := now.Round(0).Sub(f.Time); age >= 0 {
			return wait{now.Add(-age), every}
		}
	}
	return wait{now, min(every, unknownAge)}
}

func afterFailure(every time.Duration) time.Duration {
	return min(every, max(time.Minute, every/24))
}
