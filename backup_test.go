package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"firefighters/internal/osutil"
)

// namesIn are the files of a folder.
func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// large is a database of a few records that takes many steps to copy.
func large(t *testing.T, records int) string {
	t.Helper()
	db := invented(t, 1, records)
	execSQL(t, db, `CREATE TABLE filler AS SELECT zeroblob(12000000) AS filling`)
	return db
}

// recordsIn opens a copy in a place of its own, as check sees it, and counts.
func recordsIn(t *testing.T, backup string) (n int) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "copy.db")
	text, err := os.ReadFile(backup)
	must(t, err)
	must(t, os.WriteFile(db, text, 0o600))
	if code, _, stderr := command(t, "check", "--db", db); code != 0 {
		t.Fatalf("%s: %s", backup, stderr)
	}
	scanSQL(t, db, `SELECT count(*) FROM firefighters`, &n)
	return n
}

// writing creates records one after the other until stop, which gives how many.
func (s *service) writing(t *testing.T) (stop func() int) {
	ended, n := make(chan bool), 0
	var clients sync.WaitGroup
	clients.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				s.create(t, ana)
				n++
			}
		}
	})
	return func() int { close(ended); clients.Wait(); return n }
}

var savedForm = regexp.MustCompile(`^Saved (\d+) records of (\d+) departments in (\S+) \((\d+\.\d) MB, (\d+\.\d) seconds\)\.\n$`)

// TestBackup: of a database that is written to meanwhile, and of one at rest.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := startOn(t, invented(t, 2, 600))
	s.key = newKey(t, s.db, "A")
	target := filepath.Join(t.TempDir(), "saved.db")
	stop := s.writing(t)
	eventually(t, "a record", func() bool { return s.list(t, "").TotalCount > 0 })
	code, stdout, stderr := command(t, "backup", target, "--db", s.db)
	written := stop()
	found := savedForm.FindStringSubmatch(stdout)
	if code != 0 || stderr != "" || found == nil || found[2] != "3" || found[3] != target {
		t.Fatalf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if n := recordsIn(t, target); fmt.Sprint(n) != found[1] || n <= 600 || n > 600+written {
		t.Errorf("%d records, of 600 and up to %d; %s", n, written, stdout)
	}
	header, err := os.ReadFile(target)
	if must(t, err); header[18] != 1 || header[19] != 1 {
		t.Error("it is in WAL mode, and so not one file")
	}
	if names := namesIn(t, filepath.Dir(target)); len(names) != 1 {
		t.Errorf("left beside it: %q", names)
	}
	checkModes(t, filepath.Dir(target))
	s.stop(t)
	if names := namesIn(t, filepath.Dir(s.db)); len(names) != 2 {
		t.Errorf("left beside the database: %q", names)
	}
	if code, stdout, stderr := command(t, "backup", target, "--db", s.db, "--force"); code != 0 || recordsIn(t, target) != 600+written {
		t.Errorf("of a database at rest: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestBackupRefusals: what is there stays as it is.
func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 10)
	dir := t.TempDir()
	there, folder, live := filepath.Join(dir, "there.db"), filepath.Join(dir, "folder"), filepath.Join(dir, "live.db")
	must(t, os.WriteFile(there, []byte("precious"), 0o600))
	must(t, os.Mkdir(folder, 0o700))
	must(t, os.WriteFile(live+"-wal", nil, 0o600))
	missing := filepath.Join(dir, "missing", "x.db")
	before := contents(t, dir)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{there, "--db", db}, 1, fmt.Sprintf("Error: %q is there already\nTry: another name, or --force to replace it\n", there)},
		{[]string{folder, "--db", db, "--force"}, 1, fmt.Sprintf("Error: %q is not a file\nTry: another name for the backup\n", folder)},
		{[]string{db, "--db", db, "--force"}, 1, fmt.Sprintf("Error: %q is the database itself\nTry: firefighters backup NEWFILE --db %s\n", db, db)},
		{[]string{db + "-wal", "--db", db, "--force"}, 1, fmt.Sprintf("Error: %q is the database itself\nTry: firefighters backup NEWFILE --db %s\n", db+"-wal", db)},
		{[]string{live, "--db", db, "--force"}, 1,
			fmt.Sprintf("Error: %q is, or was, a database in use: there is %q\nTry: another name for the backup\n", live, live+"-wal")},
		{[]string{missing, "--db", db}, 1,
			fmt.Sprintf("Error: the folder of %q does not exist\nTry: make it first: mkdir %s\n", missing, filepath.Dir(missing))},
		{[]string{filepath.Join(dir, "new.db"), "--db", filepath.Join(dir, "absent.db")}, 1, ""},
		{[]string{db, "--db", filepath.Join(dir, "absent.db")}, 1,
			fmt.Sprintf("Error: there is no database at %q\nTry: firefighters backup NEWFILE --db %s, to save that one\n", filepath.Join(dir, "absent.db"), db)},
		{[]string{"--db", db}, 2, "Error: backup: say which file to save to\nTry: firefighters backup --help\n"},
	} {
		code, stdout, stderr := command(t, append([]string{"backup"}, tt.args...)...)
		if code != tt.code || stdout != "" || tt.want != "" && stderr != tt.want {
			t.Errorf("%q: code %d, stdout %q, stderr:\n%swant:\n%s", tt.args, code, stdout, stderr, tt.want)
		}
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("the folder was %q and is %q", before, after)
	}
}

// spaceOf is a disk of this size with so much left.
func spaceOf(free, total int64) func(string) (osutil.Space, error) {
	return func(string) (osutil.Space, error) { return osutil.Space{Free: free, Total: total}, nil }
}

// TestRoom: a backup that does not fit is not begun.
func TestRoom(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, tt := range []struct {
		name           string
		size, free, of int64
		part           int64
		fits           bool
	}{
		{"plenty", 10 * mega, 100 * mega, 1000 * mega, 0, true},
		{"just", 10 * mega, 12 * mega, 1000 * mega, 0, true},
		{"not quite", 10 * mega, 12*mega - 1, 1000 * mega, 0, false},
		{"full", 0, 0, 1000 * mega, 0, false},
		{"just above the last tenth", 10 * mega, 112 * mega, 1000 * mega, reservedPart, true},
		{"into the last tenth", 10 * mega, 112*mega - 1, 1000 * mega, reservedPart, false},
	} {
		if err := roomFor(spaceOf(tt.free, tt.of), tt.part)("/backups", tt.size); (err == nil) != tt.fits {
			t.Errorf("%s: %v", tt.name, err)
		} else if err != nil && (!strings.Contains(err.Error(), "/backups") || strings.Contains(blandly(err), "/")) {
			t.Errorf("%s: %v; %s", tt.name, err, blandly(err))
		}
	}
	db, target := invented(t, 1, 10), filepath.Join(t.TempDir(), "x.db")
	b := &backup{source: db, target: target, room: roomFor(spaceOf(mega, 1000*mega), 0)}
	if _, err := b.make(t.Context()); err == nil || len(namesIn(t, filepath.Dir(target))) > 0 {
		t.Errorf("a backup on a full disk: %v, and there is %q", err, namesIn(t, filepath.Dir(target)))
	}
}

// TestBackupStopped: one that is told to stop leaves nothing, wherever it is.
func TestBackupStopped(t *testing.T) {
	t.Parallel()
	db, dir := large(t, 10), t.TempDir()
	for name, step := range map[string]func(stop func(), done, total int){
		"while it copies": func(stop func(), _, _ int) { stop() },
		"while it checks": func(stop func(), done, total int) {
			if done == total {
				stop()
			}
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		b := &backup{source: db, target: filepath.Join(dir, "x.db"), room: roomFor(osutil.SpaceOf, 0),
			step: func(done, total int) { step(stop, done, total) }}
		if _, err := b.make(ctx); !errors.Is(err, context.Canceled) || len(namesIn(t, dir)) > 0 {
			t.Errorf("%s: %v, and there is %q", name, err, namesIn(t, dir))
		}
	}
}

// TestBackupOfDamage: a copy that does not pass its check gets no name.
func TestBackupOfDamage(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 600)
	file, err := os.OpenFile(db, os.O_RDWR, 0)
	must(t, err)
	_, err = file.WriteAt([]byte(strings.Repeat("damage", 2000)), 30*4096)
	must(t, errors.Join(err, file.Close()))
	target := filepath.Join(t.TempDir(), "x.db")
	code, stdout, stderr := command(t, "backup", target, "--db", db)
	want := fmt.Sprintf("Error: database %q is damaged: a copy of it does not pass the check\nTry: firefighters check --db %s\n", db, db)
	if code != 1 || stdout != "" || stderr != want || len(namesIn(t, filepath.Dir(target))) > 0 {
		t.Errorf("code %d, stdout %q, stderr:\n%s, and there is %q", code, stdout, stderr, namesIn(t, filepath.Dir(target)))
	}
}

// TestOneBackupAtATime: the second refuses while the first is under way.
func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	db, dir := invented(t, 1, 10), t.TempDir()
	b := &backup{source: db, target: filepath.Join(dir, "x.db"), room: roomFor(osutil.SpaceOf, 0)}
	b.step = func(int, int) {
		code, _, stderr := command(t, "backup", filepath.Join(dir, "y.db"), "--db", db)
		if want := "Error: a backup of it is being made by another firefighters\nTry: again when that is done\n"; code != 1 || stderr != want {
			t.Errorf("code %d, stderr %q", code, stderr)
		}
	}
	if _, err := b.make(t.Context()); err != nil {
		t.Error(err)
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("there is %q", names)
	}
}

// TestBackupMeetsAnother: a file that comes to be while the copy is made stays.
func TestBackupMeetsAnother(t *testing.T) {
	t.Parallel()
	db, target := invented(t, 1, 10), filepath.Join(t.TempDir(), "x.db")
	b := &backup{source: db, target: target, room: roomFor(osutil.SpaceOf, 0)}
	b.step = func(int, int) { must(t, os.WriteFile(target, []byte("precious"), 0o600)) }
	_, err := b.make(t.Context())
	if text, _ := os.ReadFile(target); err == nil || string(text) != "precious" || len(namesIn(t, filepath.Dir(target))) != 1 {
		t.Errorf("%v; %q", err, text)
	}
}

// TestLeftover: what a backup that was killed has left may have its name
// already, and is then not written to.
func TestLeftover(t *testing.T) {
	t.Parallel()
	db, dir := invented(t, 1, 10), t.TempDir()
	first := &backup{source: db, target: filepath.Join(dir, "first.db"), room: roomFor(osutil.SpaceOf, 0)}
	_, err := first.make(t.Context())
	must(t, err)
	must(t, os.Link(first.target, first.partial()))
	must(t, os.WriteFile(first.partial()+"-journal", nil, 0o600))
	execSQL(t, db, `DELETE FROM firefighters`)
	second := *first
	second.target = filepath.Join(dir, "second.db")
	_, err = second.make(t.Context())
	must(t, err)
	if names := namesIn(t, dir); len(names) != 2 || recordsIn(t, first.target) != 10 || recordsIn(t, second.target) != 0 {
		t.Errorf("there is %q", names)
	}
}

// programCommand is a command of the program in a process of its own.
func programCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	return cmd
}

// TestBackupKilled: whenever it is killed there is a whole backup or none, and
// the next one clears away what was left.
func TestBackupKilled(t *testing.T) {
	t.Parallel()
	db, dir := large(t, 50), t.TempDir()
	target := filepath.Join(dir, "x.db")
	began := time.Now()
	must(t, programCommand(t, "backup", target, "--db", db).Run())
	takes := time.Since(began)
	killed := 0
	for i := range 12 {
		os.Remove(target)
		cmd := programCommand(t, "backup", target, "--db", db)
		must(t, cmd.Start())
		time.Sleep(takes * time.Duration(i) / 12)
		must(t, cmd.Process.Kill())
		if cmd.Wait() != nil {
			killed++
		}
		if exists(target) && recordsIn(t, target) != 50 {
			t.Fatalf("killed after %v, it left a backup that is not whole", takes*time.Duration(i)/12)
		}
	}
	if code, _, stderr := command(t, "backup", target, "--db", db, "--force"); code != 0 || killed == 0 {
		t.Errorf("code %d, stderr %q; %d killed", code, stderr, killed)
	}
	if names := namesIn(t, dir); len(names) != 1 || recordsIn(t, target) != 50 || exists(db+"-backup-lock") {
		t.Errorf("there is %q", names)
	}
}

// TestUpgradeBackup: before a database of an older version is touched, it is
// saved beside.
func TestUpgradeBackup(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	copyOf(t, filepath.Join("testdata", "v1.db"), db)
	code, _, stderr := command(t, "check", "--db", db)
	kept, err := filepath.Glob(db + ".before-upgrade-*")
	must(t, err)
	if code != 0 || len(kept) != 1 || stderr != fmt.Sprintf("Upgrading the database %s; as it is now it will stay in %s.\n", db, kept[0]) {
		t.Fatalf("code %d, stderr %q, kept %q", code, stderr, kept)
	}
	var before, after int
	scanSQL(t, db, `PRAGMA user_version`, &after)
	scanSQL(t, kept[0], `PRAGMA user_version`, &before)
	if before != 1 || after != schemaVersion {
		t.Errorf("from %d to %d", before, after)
	}
	// The way back.
	if code, _, stderr := command(t, "restore", kept[0], "--db", db); code != 0 {
		t.Fatalf("code %d, stderr %q", code, stderr)
	}
	if _, stdout, stderr := command(t, "check", "--db", db); stdout != "The database is sound.\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

// TestUpgradeCutOff: however often an upgrade fails or is cut off, there is one
// copy at most, and it is of the database as it is.
func TestUpgradeCutOff(t *testing.T) {
	t.Parallel()
	failing := golden(t)
	execSQL(t, failing, `DROP TRIGGER firefighter_made`)
	for range 2 {
		if code, _, stderr := command(t, "check", "--db", failing); code != 1 || len(upgradeCopies(t, failing)) > 0 {
			t.Errorf("code %d, stderr %q, kept %q", code, stderr, upgradeCopies(t, failing))
		}
	}
	for name, change := range map[string]string{"as it was": ``, "changed since": `UPDATE tenants SET version = version + 1`} {
		db := golden(t)
		first := db + beforeUpgrade + "20260101T000000Z"
		if code, _, stderr := command(t, "backup", first, "--db", db); code != 0 {
			t.Fatal(stderr)
		}
		execSQL(t, db, change)
		want := []string{first}
		_, _, stderr := command(t, "check", "--db", db)
		copies := upgradeCopies(t, db)
		if change != "" && len(copies) == 2 {
			want = append(want, copies[1])
		}
		if !slices.Equal(copies, want) || !strings.HasSuffix(stderr, " will stay in "+want[len(want)-1]+".\n") || len(want) == 1 && change != "" {
			t.Errorf("%s: kept %q, stderr %q", name, copies, stderr)
		}
	}
}

func upgradeCopies(t *testing.T, db string) []string {
	t.Helper()
	copies, err := filepath.Glob(db + beforeUpgrade + "*")
	must(t, err)
	return copies
}

// TestUpgradeInUse: nobody upgrades what an older program serves.
func TestUpgradeInUse(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	copyOf(t, filepath.Join("testdata", "v1.db"), db)
	release, err := lockDatabase(db)
	must(t, err)
	defer release()
	if code, _, stderr := command(t, "keys", "list", "--db", db); code != 1 || !strings.Contains(stderr, errInUse.Error()) {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	if version := headerVersion(db); version != 1 {
		t.Errorf("it has version %d", version)
	}
}

// TestSmallDisk fills a real one.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root on Linux can mount a small disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	db := large(t, 10)
	target := filepath.Join(dir, "x.db")
	code, _, stderr := command(t, "backup", target, "--db", db)
	if code != 1 || !strings.HasPrefix(stderr, fmt.Sprintf("Error: too little room in %q: 2.1 MB are free, and ", dir)) {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	b := &backup{source: db, target: target, room: func(string, int64) error { return nil }} // as if filled meanwhile
	if _, err := b.make(t.Context()); err == nil || blandly(err) != "the disk is full" || len(namesIn(t, dir)) > 0 {
		t.Errorf("%v; there is %q", err, namesIn(t, dir))
	}
}
