package acceptance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// recordsIn checks a copy of a backup in a separate folder and returns the number of its
// records.
func recordsIn(t *testing.T, backup string) (n int) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "copy.db")
	copyOf(t, backup, db)
	works(t, "check", "--db", db)
	scanSQL(t, db, `SELECT count(*) FROM firefighters`, &n)
	return n
}

// writing creates records in a loop. The returned stop ends it and returns their number.
func (s *testService) writing(t *testing.T) (stop func() int) {
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

var savedForm = regexp.MustCompile(`^Saved (\d+) records? of (\d+) departments? in (.+) \((\d+\.\d) MB, (\d+\.\d) seconds\)\.\n$`)

// TestBackup checks a backup of a database under writes and one of an idle database.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := startOn(t, invented(t, 2, 600))
	s.key = newKey(t, s.db, "A")
	target := filepath.Join(t.TempDir(), "saved.db")
	stop := s.writing(t)
	eventually(t, "a record", func() bool { return s.list(t, "").TotalCount > 0 })
	stdout, stderr := works(t, "backup", target, "--db", s.db)
	written := stop()
	found := savedForm.FindStringSubmatch(stdout)
	if stderr != "" || found == nil || found[2] != "3" || found[3] != target {
		t.Fatalf("stdout %q, stderr %q", stdout, stderr)
	}
	if n := recordsIn(t, target); fmt.Sprint(n) != found[1] || n <= 600 || n > 600+written {
		t.Errorf("%d records, want 600 and up to %d more; %s", n, written, stdout)
	}
	header, err := os.ReadFile(target)
	if must(t, err); header[18] != 1 || header[19] != 1 {
		t.Error("the backup is in WAL mode, so it is not a single file")
	}
	if names := namesIn(t, filepath.Dir(target)); len(names) != 1 {
		t.Errorf("files next to the backup: %q", names)
	}
	checkModes(t, filepath.Dir(target))
	s.stop(t)
	if names := namesIn(t, filepath.Dir(s.db)); !slices.Equal(names, []string{".x.db-notes", "x.db"}) {
		t.Errorf("files next to the database: %q", names)
	}
	if works(t, "backup", target, "--db", s.db, "--force"); recordsIn(t, target) != 600+written {
		t.Errorf("backup of an idle database: %d records", recordsIn(t, target))
	}
}

// TestBackupRefusals checks that a rejected backup changes no existing file.
func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 10)
	dir := t.TempDir()
	existing, folder, live := filepath.Join(dir, "there.db"), filepath.Join(dir, "folder"), filepath.Join(dir, "live.db")
	must(t, os.WriteFile(existing, []byte("precious"), 0o600))
	must(t, os.Mkdir(folder, 0o700))
	must(t, os.WriteFile(live+"-wal", nil, 0o600))
	missing, saved := filepath.Join(dir, "missing", "x.db"), filepath.Join(dir, "saved.db")
	works(t, "backup", saved, "--db", db)
	before := contents(t, dir)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{existing, "--db", db}, 1, fmt.Sprintf("Error: %q already exists\nTry: to replace it, add --force\n", existing)},
		{[]string{saved, "--db", db}, 1, fmt.Sprintf("Error: %q already exists\nTry: to replace it, add --force\n", saved)},
		{[]string{"", "--db", db}, 2, "Error: missing argument FILE\nTry: firefighters backup --help\n"},
		{[]string{folder, "--db", db, "--force"}, 1, fmt.Sprintf("Error: writing the backup %q: it is not a file\n", folder)},
		{[]string{db, "--db", db, "--force"}, 1, fmt.Sprintf("Error: writing the backup %q: it is the database itself\n", db)},
		{[]string{db + "-wal", "--db", db, "--force"}, 1, fmt.Sprintf("Error: writing the backup %q: it is the database itself\n", db+"-wal")},
		{[]string{live, "--db", db, "--force"}, 1, fmt.Sprintf("Error: writing the backup %q: its name belongs to a database in use\n", live)},
		{[]string{missing, "--db", db}, 1,
			fmt.Sprintf("Error: the folder of %q does not exist\nTry: mkdir %s\n", missing, filepath.Dir(missing))},
		{[]string{filepath.Join(dir, "new.db"), "--db", filepath.Join(dir, "absent.db")}, 1, noDatabase(filepath.Join(dir, "absent.db"))},
		{[]string{"--db", db}, 2, "Error: missing argument FILE\nTry: firefighters backup --help\n"},
	} {
		refuses(t, tt.code, tt.want, append([]string{"backup"}, tt.args...)...)
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("the folder changed from %q to %q", before, after)
	}
}

// TestBackupOfDamage checks that a copy that fails its check is not kept.
func TestBackupOfDamage(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 600)
	overwrite(t, db, 30*4096, strings.Repeat("damage", 2000))
	target := filepath.Join(t.TempDir(), "x.db")
	refuses(t, 1, fmt.Sprintf("Error: the database %q is damaged\nTry: firefighters restore FILE --db %s\n", db, db),
		"backup", target, "--db", db)
	if names := namesIn(t, filepath.Dir(target)); len(names) > 0 {
		t.Errorf("files left: %q", names)
	}
}

// TestOneBackupAtATime checks that a second backup waits for the first, and fails after ten seconds.
func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	db, target := invented(t, 1, 10), filepath.Join(t.TempDir(), "x.db")
	release, err := sqlite.LockFile(db + "-backup-lock")
	must(t, err)
	refuses(t, 1, fmt.Sprintf("Error: locking database %q: another backup is running\n", db), "backup", target, "--db", db)
	time.AfterFunc(300*time.Millisecond, func() { release() })
	works(t, "backup", target, "--db", db)
	if names := namesIn(t, filepath.Dir(target)); len(names) != 1 || exists(db+"-backup-lock") {
		t.Errorf("files in the folder: %q", names)
	}
}

// readyz is the answer of /readyz of a service with backups.
type readyz struct {
	Status string       `json:"status"`
	Backup backup.State `json:"backup"`
	figures
}

func (c client) readyz(t *testing.T) (r readyz) {
	t.Helper()
	decode(t, c.do(t, "GET", "/readyz", "").wants(t, 200).body, &r)
	return r
}

// TestServeBackups checks that the service makes a backup at startup and then regularly.
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
		r, names := s.readyz(t), namesIn(t, dir)
		return r.Backup.Last.After(first) && recordsIn(t, filepath.Join(dir, names[len(names)-1])) == 1
	})
	s.stop(t)
	for _, name := range namesIn(t, dir) {
		if !strings.HasPrefix(name, "x-20") || !strings.HasSuffix(name, "Z.db") {
			t.Errorf("unexpected file %q", name)
		}
	}
	checkModes(t, dir)
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	if n := len(namesIn(t, dir)); n < 1 || n > 2 {
		t.Errorf("%d backups", n)
	}
	if noted, _ := backup.NotedSettings(db); noted.Dir != dir || noted.Every != time.Second || noted.Keep != 2 {
		t.Errorf("noted settings: %+v", noted)
	}
	// A recent backup is not repeated.
	again := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	before := namesIn(t, dir)
	eventually(t, "the service to find the backup", func() bool { r := again.readyz(t); return r.Backup.OK && r.Backup.Last != nil })
	again.stop(t)
	if after := namesIn(t, dir); !slices.Equal(before, after) {
		t.Errorf("the backups changed from %q to %q", before, after)
	}
	startOn(t, db).stop(t)
	if noted, isNoted := backup.NotedSettings(db); isNoted {
		t.Errorf("without backups: noted settings: %+v", noted)
	}
}

// TestAdvice checks that commands that reject a damaged database name the newest valid
// backup and how to restore it, and that this works.
func TestAdvice(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	dir := t.TempDir()
	good := filepath.Join(dir, "x-20261118T120000Z.db")
	copyOf(t, saved, good)
	must(t, os.WriteFile(filepath.Join(dir, "x-20261119T120000Z.db"), []byte("cut off"), 0o600))
	copyOf(t, saved, filepath.Join(filepath.Dir(db), "x-20261117T120000Z.db"))
	damage(t, db)
	text, err := os.ReadFile(db)
	must(t, err)
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
		refuses(t, 1, fmt.Sprintf("Error: the database %q is damaged; the newest valid backup was made at 2026-11-%sT12:00:00Z\n"+
			"Try: firefighters restore %s --db %s\n", db, tt.day, tt.best, db), tt.args...)
	}
	if now, err := os.ReadFile(db); err != nil || string(now) != string(text) {
		t.Errorf("the damaged file changed: %v", err)
	}
	works(t, "restore", good, "--db", db)
	if l := startOn(t, db).as(keys[0]).list(t, ""); l.TotalCount != 10 {
		t.Errorf("%d records", l.TotalCount)
	}
}

// TestMissing checks that the service creates a missing database that has backups only with --new.
func TestMissing(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	named := filepath.Join(t.TempDir(), "x-20261118T120000Z.db")
	copyOf(t, saved, named)
	must(t, os.Remove(db))
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--db", db, "--backup-dir", filepath.Dir(named)}
	refuses(t, 1, fmt.Sprintf("Error: there is no database %q, but there are backups of a database with this name; "+
		"the newest valid backup was made at 2026-11-18T12:00:00Z\nTry: firefighters restore %s --db %[3]s\n"+
		"Try: after that: firefighters %[4]s\nTry: to create an empty database: firefighters %[4]s --new\n",
		db, named, db, strings.Join(serve, " ")), serve...)
	if exists(db) {
		t.Error("the database was created")
	}
	startWith(t, db, append(serve, "--new")...).stop(t)
	startWith(t, db, serve...)
}

// TestUnused checks that a command or a server without the backup folder does not get around the refusal
// of TestMissing, for a database that no server has used yet or one whose server had that folder.
func TestUnused(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	named := filepath.Join(t.TempDir(), "x-20261118T120000Z.db")
	copyOf(t, saved, named)
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--db", db, "--backup-dir", filepath.Dir(named)}
	startWith(t, db, serve...).stop(t)
	must(t, os.Remove(db))
	for _, args := range [][]string{{"keys", "create", "--db", db}, {"serve", "--listen", "127.0.0.1:0", "--db", db}} {
		code, _, stderr := runCommand(t, args...)
		if code != 1 || !strings.Contains(stderr, "there is no database") || !strings.Contains(stderr, " --new\n") {
			t.Errorf("%q: %d, %s", args, code, stderr)
		}
	}
	other := filepath.Join(t.TempDir(), "x.db")
	works(t, "keys", "create", "--db", other)
	serve[4] = other
	if code, _, stderr := runCommand(t, serve...); code != 1 || !strings.Contains(stderr, "is empty, but there are backups") {
		t.Errorf("an unused database: %d, %s", code, stderr)
	}
	startWith(t, other, append(serve, "--new")...).stop(t)
	startWith(t, other, serve...)
}

// TestMissingElsewhere checks that commands that do not create a database name the backup.
func TestMissingElsewhere(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	beside := filepath.Join(filepath.Dir(db), "x-20261118T120000Z.db")
	copyOf(t, saved, beside)
	must(t, os.Remove(db))
	want := fmt.Sprintf("Error: there is no database %q; the newest valid backup was made at 2026-11-18T12:00:00Z\n"+
		"Try: firefighters restore %s --db %s\n", db, beside, db)
	for _, args := range [][]string{{"keys", "list"}, {"check"}, {"backup", db + "-new"}, {"history", "--tenant", "A"}} {
		refuses(t, 1, want, append(args, "--db", db)...)
	}
}

// noBackups is what serve prints without --backup-dir.
const noBackups = "there are no backups. For a daily backup to another disk, add: --backup-dir DIR\n"

// TestBackupWarnings checks that serve reports in one line that there are no backups, and
// warns about backups on the same disk as the database.
func TestBackupWarnings(t *testing.T) {
	t.Parallel()
	const sameDisk = "Warning: the backups are on the same disk as the database and would be lost with it\nTry: --backup-dir DIR, on another disk\n"
	type start struct{ dir, want string }
	starts := []start{{"", noBackups}, {filepath.Join(t.TempDir(), "backups"), sameDisk}}
	if dir, err := os.MkdirTemp("/dev/shm", "firefighters-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		if !osutil.SameDisk(dir, t.TempDir()) {
			starts = append(starts, start{dir, ""})
		}
	}
	for _, tt := range starts {
		db := filepath.Join(t.TempDir(), "x.db")
		args := []string{"serve", "--db", db}
		if tt.dir != "" {
			args = append(args, "--backup-dir", tt.dir)
		}
		s := startWith(t, db, args...)
		s.stop(t) // waits for all output
		stderr := s.stderr.String()
		if !strings.HasPrefix(stderr, "Created the database "+db+".\n"+tt.want) ||
			strings.Count(stderr, "Warning: ") != strings.Count(tt.want, "Warning: ") {
			t.Errorf("backups in %q: stderr %q", tt.dir, stderr)
		}
	}
	demo := startDemo(t, "1")
	if demo.stop(t); strings.Contains(demo.stderr.String(), "backup") {
		t.Errorf("demo: stderr %q", demo.stderr)
	}
}

// TestUnusableBackupDir checks that serve warns about an unusable folder at startup and that
// /readyz reports it.
func TestUnusableBackupDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for folder, fault := range map[string]string{
		filepath.Join(dir, "absent", "backups"): "making ",
		filepath.Join(dir, "file"):              "writing ",
	} {
		db := filepath.Join(t.TempDir(), "x.db")
		s := startWith(t, db, "serve", "--db", db, "--backup-dir", folder)
		s.mayFail = true
		s.logs(t, "Warning: no backups are made: "+fault, folder)
		eventually(t, "the failure", func() bool { return !s.readyz(t).Backup.OK })
		if r := s.readyz(t); r.Status != "ready" || r.Backup.Since == nil || r.Backup.Detail == "" || strings.Contains(r.Backup.Detail, dir) {
			t.Errorf("%s: %+v", folder, r)
		}
	}
}

// backupName returns the name of a scheduled backup of the database x.db.
func backupName(at time.Time) string { return "x-" + at.UTC().Format("20060102T150405Z") + ".db" }

// serveRefused returns what serve prints about a database that it rejects.
func serveRefused(t *testing.T, db, backups string) string {
	t.Helper()
	code, stdout, stderr := runCommand(t, "serve", "--db", db, "--backup-dir", backups, "--listen", "127.0.0.1:0")
	if code != 1 || stdout != "" {
		t.Errorf("code %d, stdout %q", code, stdout)
	}
	return stderr
}

// TestSharedFolder checks that the advice names the backup of the right database if a folder
// has backups of two databases with the same name.
func TestSharedFolder(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir, at := t.TempDir(), time.Date(2025, 11, 20, 12, 0, 0, 0, time.UTC)
	own := filepath.Join(dir, backupName(at))
	copyOf(t, saved, own)
	other := filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "Engine 7")
	works(t, "backup", filepath.Join(dir, backupName(at.Add(time.Hour))), "--db", other)
	execSQL(t, db, `PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'changes'`) // looks like damage
	if stderr, want := serveRefused(t, db, dir), "restore "+own+" --db "+db+"\n"; !strings.HasSuffix(stderr, want) {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}

// TestBackupsOfRenamed checks that a database keeps its backups when a department is renamed
// and when its first department is removed.
func TestBackupsOfRenamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, name := filepath.Join(dir, "x.db"), time.Now().UTC().Add(-time.Hour).Format("x-20060102T150405Z.db")
	newKey(t, db, "default")
	newKey(t, db, "Engine 7")
	works(t, "backup", filepath.Join(dir, name), "--db", db)
	lists := func(want bool, db string) {
		t.Helper()
		if stdout, _ := works(t, "backup", "list", "--db", db, "--backup-dir", dir); strings.Contains(stdout, name) != want {
			t.Errorf("the backups of %s: %s", db, stdout)
		}
	}
	for _, change := range []string{"rename default A", "rename A B", "remove B --yes"} {
		works(t, append([]string{"departments"}, append(strings.Fields(change), "--db", db)...)...)
		lists(true, db)
	}
	other := filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "default")
	lists(false, other)
}
