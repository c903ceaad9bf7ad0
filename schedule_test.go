package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"firefighters/internal/osutil"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestFirstWait: when the first backup after a start is due.
func TestFirstWait(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name string
		ages []time.Duration // of the backups that are there
		left time.Duration
	}{
		{"none is there", nil, 0},
		{"the newest is young", []time.Duration{5 * day, time.Hour}, 23 * time.Hour},
		{"the newest is old", []time.Duration{5 * day, 25 * time.Hour}, -time.Hour},
		{"one is of the future", []time.Duration{-400 * day, 10 * time.Hour}, 14 * time.Hour},
		{"all are of the future", []time.Duration{-400 * day, -day}, unknownAge},
	} {
		now := moment{noon, 3 * time.Second}
		var made []time.Time
		for _, age := range tt.ages {
			made = append(made, noon.Add(-age))
		}
		if left := firstWait(made, day, now).left(now); left != tt.left {
			t.Errorf("%s: due in %v, not %v", tt.name, left, tt.left)
		}
	}
}

// TestClockJumps lets a year pass in which the clock is set now and then, and
// counts the backups.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name        string
		jump        func(day int) time.Duration // of the clock, at the end of a day
		least, most int                         // backups in a year
	}{
		{"none", func(int) time.Duration { return 0 }, 364, 366},
		{"once a year ahead", func(d int) time.Duration { return at(d == 100, 365*day) }, 364, 367},
		{"once to 1970", func(d int) time.Duration { return at(d == 100, noon.Sub(time.Unix(0, 0))*-1) }, 364, 366},
		{"back every day", func(int) time.Duration { return -day }, 364, 366},
		{"to and fro", func(d int) time.Duration { return at(d%2 == 0, 2*365*day) + at(d%2 == 1, -2*365*day) }, 364, 2 * 366},
		{"asleep for 16 hours a day", func(int) time.Duration { return 16 * time.Hour }, 364, 2 * 366},
	} {
		wall, made := noon, 0
		next := firstWait(nil, day, moment{wall, 0})
		for up := time.Duration(0); up < 365*day; up += time.Minute {
			if up%day == 0 {
				wall = wall.Add(tt.jump(int(up / day)))
			}
			if now := (moment{wall, up}); next.left(now) <= 0 {
				made, next = made+1, waiting{now, day}
			}
			wall = wall.Add(time.Minute)
		}
		if made < tt.least || made > tt.most {
			t.Errorf("%s: %d backups in a year", tt.name, made)
		}
	}
}

func at(is bool, jump time.Duration) time.Duration {
	if is {
		return jump
	}
	return 0
}

func TestAfterFailure(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{24 * time.Hour: time.Hour, time.Hour: 150 * time.Second,
		10 * time.Minute: time.Minute, time.Second: time.Second} {
		if got := afterFailure(every); got != want {
			t.Errorf("every %v: again after %v", every, got)
		}
	}
}

// keeperOf keeps backups of an open store in a folder, on a disk with room.
func keeperOf(t *testing.T, dir string, keep int, now *time.Time) (k *backupKeeper, log *syncBuffer) {
	t.Helper()
	db := invented(t, 1, 20)
	s, _, err := openStore(db, false, func() time.Time { return *now })
	must(t, err)
	t.Cleanup(func() { must(t, s.close()) })
	s.clock.latest.Store(0)
	log = &syncBuffer{}
	k = newBackupKeeper(backupPlan{dir, 24 * time.Hour, keep}, db, s.clock, slog.New(slog.NewJSONHandler(log, nil)))
	k.now = func() moment { return moment{*now, 0} }
	k.space = spaceOf(1<<40, 1<<40)
	return k, log
}

// TestThin: a backup a day for two months, among files that are none.
func TestThin(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "backups"), noon
	must(t, os.Mkdir(dir, 0o755))
	others := []string{"x.db", "x-20261120T120000Z", "x-20261120T120000Z.db.bak", "y-20260101T120000Z.db", "x-2026.db", "x-20261320T120000Z.db",
		"x-old-20260101T120000Z.db", "x-20260101T120000Z.db-x", "notes.txt"}
	future, opened := "x-20990101T000000Z.db", "x-20200101T000000Z.db"
	for _, name := range append(others, future, opened, opened+"-wal") {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	k, log := keeperOf(t, dir, 8, &now)
	for range 60 {
		k.turn(t.Context())
		now = now.Add(24 * time.Hour)
	}
	names := namesIn(t, dir)
	for _, name := range append(others, future, opened, opened+"-wal") {
		if !slices.Contains(names, name) {
			t.Errorf("%s is gone", name)
		}
	}
	there := backupsIn(dir, k.db, now)
	if newest := there[0].of; len(there) != 8+2 || !newest.Equal(noon.AddDate(0, 0, 59)) || log.String() != "" {
		t.Errorf("%d backups, the newest of %v, log %s", len(there)-2, newest, log)
	}
	if n := recordsIn(t, there[0].path); n != 20 {
		t.Errorf("%d records", n)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("a folder that was there now has mode %v, %v", info.Mode(), err)
		}
	}
}

// TestStandingClock: names differ, though the time does not.
func TestStandingClock(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	k, log := keeperOf(t, dir, 4, &now)
	for range 3 {
		k.turn(t.Context())
	}
	// The last of the day is as good as all of them.
	if names := namesIn(t, dir); !slices.Equal(names, []string{"x-20261120T120002Z.db"}) || log.String() != "" {
		t.Errorf("%q, log %s", names, log)
	}
}

// TestKeeperWithoutRoom: a disk that is nearly full gets no backup and loses
// none but by the rule; the newest good one stays whatever the rule says.
func TestKeeperWithoutRoom(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	k, log := keeperOf(t, dir, 2, &now)
	for range 2 {
		k.turn(t.Context())
		now = now.Add(24 * time.Hour)
	}
	good := namesIn(t, dir)[0]
	must(t, os.WriteFile(filepath.Join(dir, "x-20261121T120000Z.db"), []byte("not whole"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "x-20261119T120000Z.db"), []byte("not whole"), 0o600))
	k.space = spaceOf(1<<30, 10<<30)
	for range 3 {
		k.turn(t.Context())
	}
	if names := strings.Join(namesIn(t, dir), " "); names != "x-20261119T120000Z.db "+good+" x-20261121T120000Z.db" {
		t.Errorf("there is %s", names)
	}
	if s := k.state; s.OK || !strings.HasPrefix(s.Detail, "too little room for backups: 1073.7 MB are free, and ") || !s.Since.Equal(now) {
		t.Errorf("%+v", s)
	}
	if lines := log.String(); strings.Count(lines, "\n") != 1 || strings.Contains(lines, dir) {
		t.Errorf("log: %s", lines)
	}
	k.space = spaceOf(1<<40, 1<<40)
	k.turn(t.Context())
	if lines := log.String(); !k.state.OK || k.state.Since != nil || strings.Count(lines, "\n") != 2 {
		t.Errorf("%+v, log: %s", k.state, lines)
	}
}

// readyz is what it answers when backups are made.
type readyz struct {
	Status string      `json:"status"`
	Backup backupState `json:"backup"`
}

func (s *service) readyz(t *testing.T) (r readyz) {
	t.Helper()
	decode(t, s.do(t, "GET", "/readyz", "").wants(t, 200).body, &r)
	return r
}

// TestServeBackups: one at the start, and then on and on.
func TestServeBackups(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	dir := filepath.Join(t.TempDir(), "backups")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir, "--backup-every", "1s", "--backup-keep", "2")
	s.create(t, ana)
	var first time.Time
	eventually(t, "a backup", func() bool {
		r := s.readyz(t)
		if r.Backup.Last != nil {
			first = *r.Backup.Last
		}
		return r.Status == "ready" && r.Backup.OK && !first.IsZero()
	})
	eventually(t, "another", func() bool {
		r := s.readyz(t)
		return r.Backup.Last.After(first) && recordsIn(t, backupsIn(dir, db, time.Now())[0].path) == 1
	})
	s.stop(t)
	for _, name := range namesIn(t, dir) {
		if !strings.HasPrefix(name, "x-20") || !strings.HasSuffix(name, "Z.db") {
			t.Errorf("there is %q", name)
		}
	}
	checkModes(t, dir)
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	if n := len(backupsIn(dir, db, time.Now())); n < 1 || n > 2 {
		t.Errorf("%d backups", n)
	}
	// One that is young is not made again.
	again := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	before := namesIn(t, dir)
	eventually(t, "the backup to be seen", func() bool { r := again.readyz(t); return r.Backup.OK && r.Backup.Last != nil })
	again.stop(t)
	if after := namesIn(t, dir); !slices.Equal(before, after) {
		t.Errorf("there was %q and is %q", before, after)
	}
}

// TestServeBackupsFail: it serves on, says so once, and says when it is over.
func TestServeBackupsFail(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	parent := filepath.Join(t.TempDir(), "disk")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Join(parent, "backups"), "--backup-every", "1s")
	s.mayFail = true
	var r readyz
	eventually(t, "a failure", func() bool { r = s.readyz(t); return !r.Backup.OK })
	if r.Status != "ready" || r.Backup.Since == nil || r.Backup.Last != nil || !strings.HasPrefix(r.Backup.Detail, "the folder for backups cannot be made: ") ||
		strings.Contains(r.Backup.Detail, parent) {
		t.Errorf("%+v", r)
	}
	s.create(t, ana)
	must(t, os.Mkdir(parent, 0o700))
	eventually(t, "a backup", func() bool { r = s.readyz(t); return r.Backup.OK && r.Backup.Last != nil })
	if r.Backup.Detail != "" || r.Backup.Since != nil {
		t.Errorf("%+v", r)
	}
	s.stop(t)
	var said []string
	for line := range strings.Lines(s.stderr.String()) {
		var entry struct{ Level, Msg, Cause string }
		if json.Unmarshal([]byte(line), &entry) == nil && strings.Contains(entry.Msg, "backups") {
			said = append(said, entry.Level+" "+entry.Msg)
		}
		if entry.Cause != "" && strings.Contains(line, parent) {
			t.Errorf("a path in the log: %s", line)
		}
	}
	if !slices.Equal(said, []string{"ERROR no backups are made", "INFO backups are made again"}) {
		t.Errorf("the log says %q", said)
	}
}

// TestStopInBackup: a server that is told to stop gives up its backup.
func TestStopInBackup(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	k, log := keeperOf(t, dir, 2, &now)
	ctx, cancel := context.WithCancel(t.Context())
	space := k.space
	k.space = func(folder string) (osutil.Space, error) { cancel(); return space(folder) } // when it has begun
	k.run(ctx)
	if names := namesIn(t, dir); len(names) > 0 || log.String() != "" || !k.state.OK {
		t.Errorf("there is %q, log %s", names, log)
	}
}

// TestKeeperWaits: while somebody makes a backup by hand, that is no failure.
func TestKeeperWaits(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	k, log := keeperOf(t, dir, 2, &now)
	b := &backup{source: k.db, target: filepath.Join(t.TempDir(), "by-hand.db"), room: roomFor(k.space, 0)}
	b.step = func(int, int) { k.turn(t.Context()) }
	_, err := b.make(t.Context())
	must(t, err)
	if left := k.next.left(k.now()); !k.state.OK || log.String() != "" || len(namesIn(t, dir)) > 0 || left != afterFailure(k.every) {
		t.Errorf("%+v, log %s, again in %v", k.state, log, left)
	}
}

// TestAdvice: a server that refuses a damaged file names the newest backup
// that is whole, and how to restore it, and that works.
func TestAdvice(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	dir := t.TempDir()
	good := filepath.Join(dir, "x-20261118T120000Z.db")
	copyOf(t, saved, good)
	must(t, os.WriteFile(filepath.Join(dir, "x-20261119T120000Z.db"), []byte("cut off"), 0o600))
	copyOf(t, saved, filepath.Join(filepath.Dir(db), "x-20261117T120000Z.db"))
	text, err := os.ReadFile(db)
	must(t, err)
	copy(text[4096:], strings.Repeat("damage", 3000))
	must(t, os.WriteFile(db, text, 0o600))
	serve := []string{"serve", "--db", db, "--listen", "127.0.0.1:0"}
	beside := filepath.Join(filepath.Dir(db), "x-20261117T120000Z.db")
	for _, tt := range []struct {
		args      []string
		best, day string
	}{
		{append(serve, "--backup-dir", dir), good, "18"},
		{serve, beside, "17"},
		{[]string{"check", "--db", db}, beside, "17"},
		{[]string{"keys", "list", "--db", db}, beside, "17"},
		{[]string{"deleted", "--tenant", "default", "--db", db}, beside, "17"},
		{[]string{"backup", filepath.Join(dir, "new.db"), "--db", db}, beside, "17"},
	} {
		code, _, stderr := command(t, tt.args...)
		want := fmt.Sprintf("Error: database %q is damaged; the newest good backup is of 2026-11-%sT12:00:00Z\nTry: firefighters restore %s --db %s\n",
			db, tt.day, tt.best, db)
		if code != 1 || stderr != want {
			t.Errorf("code %d, stderr:\n%swant:\n%s", code, stderr, want)
		}
	}
	if now, err := os.ReadFile(db); err != nil || string(now) != string(text) {
		t.Errorf("the damaged file was written to: %v", err)
	}
	if code, _, stderr := command(t, "restore", good, "--db", db); code != 0 {
		t.Fatal(stderr)
	}
	if l := startOn(t, db).as(keys[0]).list(t, ""); l.TotalCount != 10 {
		t.Errorf("%d records", l.TotalCount)
	}
}

// TestMissing: a database that is gone is made anew, with a warning.
func TestMissing(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	named := filepath.Join(t.TempDir(), "x-20261118T120000Z.db")
	copyOf(t, saved, named)
	must(t, os.Remove(db))
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", filepath.Dir(named))
	if said := s.stderr.String(); !strings.Contains(said, "firefighters restore "+named+" --db "+db+"\n") {
		t.Errorf("stderr %s", said)
	}
}

// TestMissingElsewhere: whoever does not make a database names the backup.
func TestMissingElsewhere(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	beside := filepath.Join(filepath.Dir(db), "x-20261118T120000Z.db")
	copyOf(t, saved, beside)
	must(t, os.Remove(db))
	want := fmt.Sprintf("Error: there is no database at %q; the newest good backup is of 2026-11-18T12:00:00Z\n"+
		"Try: name the right file with --db, or: firefighters restore %s --db %s\n", db, beside, db)
	for _, args := range [][]string{{"keys", "list"}, {"check"}, {"backup", db + "-new"}, {"history", "--tenant", "A"}} {
		if code, _, stderr := command(t, append(args, "--db", db)...); code != 1 || stderr != want {
			t.Errorf("%q: code %d, stderr:\n%swant:\n%s", args, code, stderr, want)
		}
	}
}

// TestUnusableBackupDir: it is said before the service listens.
func TestUnusableBackupDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for folder, fault := range map[string]string{
		filepath.Join(dir, "absent", "backups"): "cannot be made: ",
		filepath.Join(dir, "file"):              "is a file\nTry: name a folder: --backup-dir DIR\n",
	} {
		db := filepath.Join(t.TempDir(), "x.db")
		s := startWith(t, db, "serve", "--db", db, "--backup-dir", folder)
		s.mayFail = true
		want := fmt.Sprintf("Warning: no backups are made: the folder %s %s", folder, fault)
		if said := s.stderr.String(); !strings.Contains(said, want) || !strings.Contains(said, "\nTry: ") {
			t.Errorf("stderr %s", said)
		}
	}
}

func TestBackupFlags(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--backup-every", "soon"}, {"--backup-every", "0h"}, {"--backup-every", ""}, {"--backup-keep", "0"}, {"--backup-keep", "x"}} {
		code, _, stderr := command(t, append([]string{"serve", "--db", filepath.Join(t.TempDir(), "x.db")}, flags...)...)
		if code != 2 || !strings.Contains(stderr, flags[0]) {
			t.Errorf("%q: code %d, stderr %q", flags, code, stderr)
		}
	}
}

// TestSyncFolder: a warning, and it serves.
func TestSyncFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "Dropbox")
	must(t, os.Mkdir(folder, 0o700))
	s := startOn(t, filepath.Join(folder, "x.db"))
	if !strings.Contains(s.stderr.String(), "Warning: the database is in a folder of Dropbox") {
		t.Errorf("stderr %s", s.stderr)
	}
}
