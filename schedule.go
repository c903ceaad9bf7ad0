package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"firefighters/internal/osutil"
	"firefighters/internal/retain"
)

// The backups that a server makes by itself.

// backupPlan is what the flags say about them. Without a folder there are none.
type backupPlan struct {
	dir   string
	every time.Duration
	keep  int
}

// backupFlags gives the plan once the flags are parsed.
func backupFlags(flags *pflag.FlagSet) (plan func() (backupPlan, error)) {
	dir := flags.String("backup-dir", "", "the folder to make backups in, by itself; made if it is not there")
	every := flags.String("backup-every", "24h", "how often, as 24h or 7d")
	keep := flags.Int("backup-keep", 90, "how many to keep: a quarter each the newest, daily, weekly and monthly ones")
	return func() (backupPlan, error) {
		span, err := parseDuration(*every)
		if err != nil || span < time.Second {
			return backupPlan{}, usage(fmt.Sprintf("serve: --backup-every must be like 24h or 7d, not %q", *every), "firefighters serve --help")
		}
		if *keep < 1 {
			return backupPlan{}, usage("serve: --backup-keep takes 1 or more", "firefighters serve --help")
		}
		return backupPlan{dir: *dir, every: span, keep: *keep}, nil
	}
}

// moment is a time by the clock, which may be set, and since the start of the
// program, which cannot.
type moment struct {
	wall time.Time
	up   time.Duration
}

// moments are of the system's clock.
func moments() func() moment {
	start := time.Now()
	return func() moment { now := time.Now(); return moment{now.Round(0), now.Sub(start)} }
}

// waiting is for the time when the next backup is due: it goes by whichever
// clock is ahead. So a clock that is set forward brings one backup, one that is
// set back none too few, and a computer that has slept makes up for it.
type waiting struct {
	from moment
	wait time.Duration
}

func (w waiting) left(now moment) time.Duration {
	return w.wait - max(now.up-w.from.up, now.wall.Sub(w.from.wall))
}

// A clock that is behind the newest backup says nothing about its age. The
// first backup after a start is then due after unknownAge, for it may be that
// the program is started again and again.
const unknownAge = time.Hour

// firstWait waits for the first backup after the start, made being when those
// that are there were, by the same clock.
func firstWait(made []time.Time, every time.Duration, now moment) waiting {
	if len(made) == 0 {
		return waiting{now, 0}
	}
	for _, t := range slices.SortedFunc(slices.Values(made), func(a, b time.Time) int { return b.Compare(a) }) {
		if age := now.wall.Sub(t); age >= 0 {
			return waiting{moment{t, now.up - age}, every}
		}
	}
	return waiting{now, min(every, unknownAge)}
}

// afterFailure is how soon a backup that failed is tried again.
func afterFailure(every time.Duration) time.Duration {
	return min(every, max(time.Minute, every/24))
}

// backupKeeper makes backups of an open database as planned, and thins them.
type backupKeeper struct {
	backupPlan
	db    string // resolved
	clock *clock // what backups are named by
	now   func() moment
	space func(folder string) (osutil.Space, error)
	log   *slog.Logger
	next  waiting

	warned bool // of backups of another database

	mu     sync.Mutex
	state  backupState
	damage string // what the state says of damaged records
}

// backupState is what /readyz says of backups. No file is named in it.
type backupState struct {
	OK     bool       `json:"ok"`
	Last   *time.Time `json:"last,omitempty"`  // of the last good backup
	Since  *time.Time `json:"since,omitempty"` // when they began to fail
	Detail string     `json:"detail,omitempty"`
}

func newBackupKeeper(plan backupPlan, db string, clock *clock, log *slog.Logger) *backupKeeper {
	db = resolve(db)
	if absolute, err := filepath.Abs(plan.dir); err == nil {
		plan.dir = absolute
	}
	k := &backupKeeper{backupPlan: plan, db: db, clock: clock, now: moments(), space: osutil.SpaceOf, log: log}
	k.state.OK = true
	return k
}

// longestNap bounds how late it is noticed that the clock was set or the
// computer has slept.
const longestNap = time.Minute

// run makes backups until ctx ends; one that is under way is then given up.
func (k *backupKeeper) run(ctx context.Context) {
	for k.next = k.first(ctx); ; {
		if left := k.next.left(k.now()); left > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(left, longestNap)):
			}
			continue
		}
		k.turn(ctx)
		if ctx.Err() != nil {
			return
		}
	}
}

// first looks at the backups that are there. If the newest is not good, the
// next is due.
func (k *backupKeeper) first(ctx context.Context) waiting {
	there := k.there()
	if len(there) == 0 {
		return firstWait(nil, k.every, k.now())
	}
	holds, err := checkCopy(ctx, there[0].path)
	if err != nil {
		if good := newestGood(ctx, there[1:]); good != nil {
			k.note(good.of, 0, nil)
		}
		return firstWait(nil, k.every, k.now())
	}
	k.note(there[0].of, holds.damaged, nil)
	var written []time.Time
	for _, b := range there {
		written = append(written, b.written)
	}
	return firstWait(written, k.every, k.now())
}

// there gives the backups of the database, the newest first. Those of another
// one are none of them, and are warned of once.
func (k *backupKeeper) there() []backupFile {
	all := backupsIn(k.dir, k.db, k.clock.earlier())
	own := ofOne(all, identity(verifyDSN(k.db)))
	if len(own) < len(all) && !k.warned {
		k.warned = true
		k.log.Warn("this folder holds backups of another database, which are left alone: give each database a folder or a name of its own")
	}
	return own
}

// turn makes a backup, thins the older ones, and notes how it went.
func (k *backupKeeper) turn(ctx context.Context) {
	made, holds, err := k.make(ctx)
	if err == nil {
		k.next = waiting{k.now(), k.every}
		err = k.thin(ctx, made)
	} else {
		k.next = waiting{k.now(), afterFailure(k.every)}
	}
	if ctx.Err() != nil || errors.Is(err, errBackingUp) { // neither good nor bad
		return
	}
	k.note(made, holds.damaged, err)
}

// note keeps how the last backup went, and says it in the log if the one
// before went otherwise. made is zero unless there is a new one, in which so
// many records are damaged.
func (k *backupKeeper) note(made time.Time, damaged int64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	wasOK := k.state.OK
	k.state.OK, k.state.Detail = err == nil, ""
	if !made.IsZero() {
		k.state.Last = &made
		k.noteDamage(damaged)
	}
	switch {
	case err == nil:
		k.state.Since, k.state.Detail = nil, k.damage
		if !wasOK {
			k.log.Info("backups are made again")
		}
		return
	case wasOK:
		now := k.now().wall.UTC().Truncate(time.Second)
		k.state.Since = &now
		k.log.Error("no backups are made", "cause", blandly(err))
	}
	k.state.Detail = blandly(err)
}

// noteDamage keeps how many records of the newest backup are damaged, and says
// it in the log when there are the first.
func (k *backupKeeper) noteDamage(records int64) {
	before := k.damage
	k.damage = ""
	if records > 0 {
		k.damage = fmt.Sprintf("%d records of the newest backup are damaged: see firefighters check", records)
		if before == "" {
			k.log.Warn("records are damaged, and so in the backups: see firefighters check", "records", records)
		}
	}
}

// appendState appends the state as JSON.
func (k *backupKeeper) appendState(body []byte) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	state, _ := json.Marshal(k.state) // it cannot fail
	return append(body, state...)
}

// reservedPart of the disk, a tenth, is never filled with backups.
const reservedPart = 10

// make makes a backup and gives the time that it is named by: that of the
// machine's clock, for the latest time seen may be of a clock that was ahead.
func (k *backupKeeper) make(ctx context.Context) (made time.Time, holds saved, err error) {
	if err := os.Mkdir(k.dir, 0o700); err != nil && !exists(k.dir) {
		return time.Time{}, saved{}, bland{err, "the folder for backups cannot be made: " + blandly(err)}
	}
	made = k.clock.earlier().Truncate(time.Second)
	for _, b := range slices.Backward(backupsIn(k.dir, k.db, made)) {
		if ahead := b.of.Sub(made); ahead >= 0 && ahead < maxAhead { // the clock stands still
			made = b.of.Add(time.Second)
		}
	}
	room := roomFor(k.space, reservedPart)
	b := &backup{source: k.db, target: filepath.Join(k.dir, backupName(k.db, made)), room: func(folder string, size int64) error {
		if room(folder, size) == nil {
			return nil
		}
		k.thin(ctx, time.Time{}) // fails where there is no good backup, and all stay
		return room(folder, size)
	}}
	if holds, err = b.make(ctx); err != nil {
		return time.Time{}, saved{}, err
	}
	return made, holds, nil
}

// thin deletes the backups that are not to be kept, of those up to the one
// made last. That one, which is good, stays. Those of a later time are left
// alone: the clock was wrong, then or now. If none was made now, the newest
// that is good takes its place.
func (k *backupKeeper) thin(ctx context.Context, made time.Time) error {
	there := k.there()
	if made.IsZero() {
		good := newestGood(ctx, there)
		if good == nil {
			return errNoDatabase
		}
		made = good.of
	}
	var times []time.Time
	for _, b := range there {
		if !b.of.After(made) {
			times = append(times, b.of)
		}
	}
	drop := retain.Drop(times, k.keep)
	for _, b := range there {
		if !slices.ContainsFunc(drop, b.of.Equal) || b.inUse() {
			continue
		}
		if err := os.Remove(b.path); err != nil {
			return bland{err, "an old backup cannot be deleted: " + blandly(err)}
		}
	}
	return nil
}
