package backup_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Messages name files after links, and the temporary folder of macOS is behind one.
func init() {
	if folder, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		os.Setenv("TMPDIR", folder)
	}
}

// The tests have databases of a table of items: the owner, the latest time in
// milliseconds, keys, revoked keys and records.

var format = sqlite.Format{ApplicationID: 0x546f7953, Version: 2}

const (
	schema1 = `CREATE TABLE items (kind TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (kind, value) ON CONFLICT IGNORE)`
	schema2 = `ALTER TABLE items ADD COLUMN note TEXT`
)

// toy is the Content of these databases.
type toy struct{}

func (toy) Format() sqlite.Format { return format }

func (toy) Identify(c *sqlite.Conn) (id backup.Identity, err error) {
	const text = `SELECT (SELECT group_concat(value, char(10)) FROM items WHERE kind = 'owner'), (SELECT max(CAST (value AS INTEGER)) FROM items WHERE kind = 'time'),
		(SELECT group_concat(kind || value, ' ') FROM items)`
	err = c.QueryRow(text, nil, func(row sqlite.Row) {
		owners := strings.FieldsFunc(row.Text(0), func(r rune) bool { return r == '\n' })
		id = backup.Identity{IDs: owners, Time: time.UnixMilli(row.Int(1)).UTC(), Mark: row.Text(2)}
	})
	return id, err
}

func (toy) Summarize(ctx context.Context, c *sqlite.Conn) (s backup.Summary, err error) {
	const text = `SELECT (SELECT count(*) FROM items WHERE kind = 'record'), (SELECT count(*) FROM items WHERE kind = 'owner'),
		(SELECT count(*) FROM items WHERE kind = 'record' AND value LIKE 'damaged%')`
	err = c.QueryContext(ctx, text, nil, func(row sqlite.Row) {
		s = backup.Summary{Text: fmt.Sprintf("%d records", row.Int(0)), Empty: row.Int(1) == 0, Damaged: row.Int(2)}
	})
	return s, err
}

func (toy) Examine(_ context.Context, path string, found func(string)) (faults int, err error) {
	c, err := sqlite.OpenImmutable(path)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	err = c.Query(`SELECT value FROM items WHERE kind = 'fault'`, nil, func(row sqlite.Row) { faults++; found(row.Text(0)) })
	return faults, err
}

func (toy) CarryOver(old *sqlite.Conn) (func(*sqlite.Conn) (int64, error), error) {
	var revoked, latest []string
	err := old.Query(`SELECT kind, value FROM items WHERE kind IN ('revoked', 'time')`, nil, func(row sqlite.Row) {
		if row.Text(0) == "time" {
			latest = append(latest, row.Text(1))
		} else {
			revoked = append(revoked, row.Text(1))
		}
	})
	return func(restored *sqlite.Conn) (n int64, err error) {
		for _, value := range latest {
			_, err = restored.Exec(`INSERT INTO items (kind, value) VALUES ('time', ?)`, value)
		}
		for _, value := range revoked {
			changed, revokeErr := restored.Exec(`INSERT INTO items (kind, value) SELECT 'revoked', value FROM items WHERE kind = 'key' AND value = ?`, value)
			n, err = n+changed, errors.Join(err, revokeErr)
		}
		return n, err
	}, err
}

func (toy) Erased(c *sqlite.Conn, listed []string) (ids []string, err error) {
	ids = slices.Clone(listed)
	err = c.Query(`SELECT value FROM items WHERE kind = 'erased'`, nil, func(row sqlite.Row) { ids = append(ids, row.Text(0)) })
	slices.Sort(ids)
	return slices.Compact(ids), err
}

func (toy) Erase(restored *sqlite.Conn, ids []string) (erased int64, err error) {
	for _, id := range ids {
		n, deleteErr := restored.Exec(`DELETE FROM items WHERE kind = 'record' AND value = ?`, id)
		erased, err = erased+n, errors.Join(err, deleteErr)
	}
	return erased, err
}

func (toy) Renew(restored *sqlite.Conn) error {
	_, err := restored.Exec(`INSERT INTO items (kind, value) VALUES ('renewed', hex(randomblob(8)))`)
	return err
}

// newDatabase makes a database "x.db" in a folder of its own.
func newDatabase(t *testing.T, records int) string {
	t.Helper()
	path := newOldDatabase(t, records)
	must(t, format.Migrate(path, 1, 2, upgradeTo2))
	return path
}

func upgradeTo2(c *sqlite.Conn) error {
	_, err := c.Exec(schema2)
	return err
}

// newOldDatabase makes one of an older version of the schema.
func newOldDatabase(t *testing.T, records int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, format.Migrate(path, 0, 1, func(c *sqlite.Conn) error {
		_, err := c.Exec(schema1 + `; INSERT INTO items (kind, value) VALUES ('time', '1000000'), ('key', '1'), ('key', '2')`)
		_, ownerErr := c.Exec(`INSERT INTO items (kind, value) VALUES ('owner', ?)`, filepath.Dir(path))
		_, recordErr := c.Exec(insertRecords, int64(records))
		return errors.Join(err, ownerErr, recordErr)
	}))
	return path
}

const insertRecords = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT 1 + ?)
	INSERT INTO items (kind, value) SELECT 'record', hex(randomblob(8)) FROM numbers WHERE n > 0`

func addRecords(t *testing.T, path string, n int) {
	t.Helper()
	execSQL(t, path, insertRecords, int64(n))
}

func addItems(t *testing.T, path, kind string, values ...string) {
	t.Helper()
	for _, value := range values {
		execSQL(t, path, `INSERT INTO items (kind, value) VALUES (?, ?)`, kind, value)
	}
}

// largeDatabase makes one that is copied in a few steps.
func largeDatabase(t *testing.T, records int) string {
	t.Helper()
	path := newDatabase(t, records)
	execSQL(t, path, `CREATE TABLE filler AS SELECT zeroblob(12000000) AS filling`)
	return path
}

// backedUp makes a database of 20 records with two keys, and a backup in another
// folder, after which 10 of the records were added and key 2 was revoked.
func backedUp(t *testing.T) (db, saved string) {
	t.Helper()
	db, saved = newDatabase(t, 10), filepath.Join(t.TempDir(), "saved.db")
	makeBackup(t, db, saved)
	addRecords(t, db, 10)
	execSQL(t, db, `INSERT INTO items (kind, value) VALUES ('revoked', '2'), ('time', '2000000')`)
	return db, saved
}

func makeBackup(t *testing.T, db, target string) backup.Copy {
	t.Helper()
	made, err := backup.Job{Content: toy{}, Source: db, Target: target}.Run(t.Context())
	must(t, err)
	return made
}

func openDatabase(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	return db
}

func execSQL(t *testing.T, path, text string, args ...any) {
	t.Helper()
	db := openDatabase(t, path)
	must(t, db.Write(func(tx *sqlite.Tx) error {
		values := sqlite.Args{}
		for _, arg := range args {
			values = append(values, arg)
		}
		_, err := tx.Exec(text, values...)
		return err
	}))
	must(t, db.Close())
}

// count returns the number of items of a kind, in a copy or a database that is
// not in use and whole.
func count(t *testing.T, path, kind string) (n int) {
	t.Helper()
	if _, err := format.Verify(path); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.Peek(path)
	must(t, err)
	defer c.Close()
	found, err := c.QueryInt(`SELECT count(*) FROM items WHERE kind = ?`, kind)
	must(t, err)
	return int(found)
}

func records(t *testing.T, path string) int { t.Helper(); return count(t, path, "record") }

// names returns the names of the files in a folder, in their order.
func names(t *testing.T, folder string) (found []string) {
	t.Helper()
	return slices.Sorted(maps.Keys(contents(t, folder)))
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil && !e.IsDir() {
			t.Fatal(err)
		}
		found[e.Name()] = string(text)
	}
	return found
}

// checkModes makes sure that only their owner can read the files of a folder.
func checkModes(t *testing.T, folder string) {
	t.Helper()
	for _, name := range names(t, folder) {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

func copyOf(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, text, 0o600))
}

// damage makes a database unreadable but for its header.
func damage(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	copy(text[4096:], strings.Repeat("damage", 3000))
	must(t, os.WriteFile(path, text, 0o600))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// syncBuffer takes a log while a test reads it.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// asProgram is set where this test binary is a program of its own.
const asProgram = "TEST_BACKUP_AS"

func TestMain(m *testing.M) {
	what := os.Getenv(asProgram)
	if what == "" {
		os.Exit(m.Run())
	}
	var err error
	steps := &steps{last: os.Args[1], seen: map[string]int{}}
	progress := func(int, int) { steps.at("Progress") }
	switch args := os.Args[2:]; what {
	case "backup":
		_, err = backup.Job{Content: stopping{steps: steps}, Source: args[0], Target: args[1], Progress: progress}.Run(context.Background())
	case "encrypted backup":
		to, _ := backup.ParseRecipients([]string{"age1zh67zq77nqxsxx5f3gun8hzltm4dyhs4zlklzua68qec96vzwe0scztufu"})
		_, err = backup.Job{Content: stopping{steps: steps}, Source: args[0], Target: args[1], Progress: progress, EncryptTo: to}.Run(context.Background())
	case "restore":
		_, err = backup.Restore{Content: stopping{steps: steps}, Database: args[0], File: args[1], Progress: progress}.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// steps are the calls that a backup or restore makes, numbered for each name,
// as in "Identify 2". At the last one the program waits to be killed.
type steps struct {
	last string
	seen map[string]int
}

func (s *steps) at(name string) {
	s.seen[name]++
	if step := fmt.Sprint(name, " ", s.seen[name]); step == s.last {
		fmt.Println(step)
		time.Sleep(time.Minute)
	}
}

// stopping is a toy whose calls are steps.
type stopping struct {
	toy
	steps *steps
}

func (s stopping) Identify(c *sqlite.Conn) (backup.Identity, error) {
	s.steps.at("Identify")
	return s.toy.Identify(c)
}

func (s stopping) Summarize(ctx context.Context, c *sqlite.Conn) (backup.Summary, error) {
	s.steps.at("Summarize")
	return s.toy.Summarize(ctx, c)
}

func (s stopping) CarryOver(old *sqlite.Conn) (func(*sqlite.Conn) (int64, error), error) {
	write, err := s.toy.CarryOver(old)
	return func(restored *sqlite.Conn) (int64, error) {
		n, err := write(restored)
		s.steps.at("CarryOver")
		return n, err
	}, err
}

// program is a process that makes a backup or restores one, and waits at a step.
func program(what, step, db, file string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], step, db, file)
	cmd.Env = append(os.Environ(), asProgram+"="+what)
	return cmd
}

// kill runs the program and kills it at the step.
func kill(t *testing.T, cmd *exec.Cmd, step string) {
	t.Helper()
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	reached, _ := bufio.NewReader(output).ReadString('\n') // "" if it ends before
	cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || reached != step+"\n" {
		t.Fatalf("it was to be killed at %s: %v, after %q", step, err, reached)
	}
}
