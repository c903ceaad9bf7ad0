package backup_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Messages contain resolved paths, and the temporary folder of macOS is a symbolic link.
func init() {
	if folder, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		os.Setenv("TMPDIR", folder)
	}
}

// format is the format of the program's databases, and next the format of a later version of
// the program.
var (
	format = store.Format(readSchema(), 1)
	next   = store.Format(readSchema()+"ALTER TABLE tenants ADD COLUMN note TEXT;", 2)
)

func readSchema() string {
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func upgradeTo2(c *sqlite.Conn) error {
	_, err := c.Exec(`ALTER TABLE tenants ADD COLUMN note TEXT`)
	return err
}

// department is the name of the department with the records and keys of a database.
const department = "Engine 7"

// databases counts the databases, so that each is created in a different second.
var databases atomic.Int64

// newDatabase creates a database "x.db" in a separate folder, with records and the keys 1 and 2.
func newDatabase(t *testing.T, records int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, format.Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, format.Schema) }))
	created := time.Date(2026, 1, 1, 0, 0, int(databases.Add(1)), 0, time.UTC)
	s, err := store.Open(path, func() time.Time { return created })
	must(t, err)
	must(t, s.AddDepartments([]store.Department{{Name: department, People: people(records)}}))
	for range 2 {
		must(t, s.CreateKey(store.NewKey{Tenant: department, Scope: store.ScopeWrite}, func(string) error { return nil }))
	}
	must(t, s.Close())
	return path
}

func people(n int) (all []record.Fields) {
	for i := range n {
		all = append(all, record.Fields{FirstName: "Ivan", LastName: fmt.Sprint("Horvat ", i)})
	}
	return all
}

// inStore calls do with the store of a database.
func inStore(t *testing.T, path string, do func(*store.Store) error) {
	t.Helper()
	s, err := store.Open(path, time.Now)
	must(t, err)
	must(t, do(s))
	must(t, s.Close())
}

func addRecords(t *testing.T, path string, n int) {
	t.Helper()
	addDepartment(t, path, store.Department{Name: department, People: people(n)})
}

func addDepartment(t *testing.T, path string, d store.Department) {
	t.Helper()
	inStore(t, path, func(s *store.Store) error { return s.AddDepartments([]store.Department{d}) })
}

func revokeKey(t *testing.T, path string, id store.KeyID) {
	t.Helper()
	inStore(t, path, func(s *store.Store) error {
		tenant, err := s.Tenant(department)
		if err == nil {
			_, err = s.RevokeKey(tenant, id)
		}
		return err
	})
}

// fill adds a number of bytes to a database.
func fill(t *testing.T, path string, bytes int) {
	t.Helper()
	execSQL(t, path, `INSERT INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer)
		VALUES (1, 'filler', 1, 0, x'00', '', hex(zeroblob(?)))`, int64(bytes/2))
}

// largeDatabase creates a database that takes several steps to copy.
func largeDatabase(t *testing.T, records int) string {
	t.Helper()
	path := newDatabase(t, records)
	fill(t, path, 12e6)
	return path
}

// backedUp creates a database with 20 records and two keys. The backup in another folder lacks 10 of
// the records, and key 2 was revoked after it.
func backedUp(t *testing.T) (db, saved string) {
	t.Helper()
	db, saved = newDatabase(t, 10), filepath.Join(t.TempDir(), "saved.db")
	makeBackup(t, db, saved)
	addRecords(t, db, 10)
	revokeKey(t, db, 2)
	return db, saved
}

func makeBackup(t *testing.T, db, target string) backup.Copy {
	t.Helper()
	copied, err := backup.Job{Format: format, Source: db, Target: target}.Run(t.Context())
	must(t, err)
	return copied
}

func execSQL(t *testing.T, path, text string, args ...any) {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
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

// queryInt returns a number from a copy, or from an undamaged database that is not in use.
func queryInt(t *testing.T, path, query string) int64 {
	t.Helper()
	if _, err := next.Verify(path); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.Peek(path)
	must(t, err)
	defer c.Close()
	found, err := c.QueryInt(query)
	must(t, err)
	return found
}

func records(t *testing.T, path string) int {
	t.Helper()
	return int(queryInt(t, path, `SELECT count(*) FROM firefighters`))
}

// ids returns the IDs of the records in a database.
func ids(t *testing.T, path string) (all []string) {
	t.Helper()
	c, err := sqlite.Peek(path)
	must(t, err)
	defer c.Close()
	must(t, c.Query(`SELECT id FROM firefighters ORDER BY row`, nil, func(row sqlite.Row) { all = append(all, row.Text(0)) }))
	return all
}

// names returns the sorted names of the files in a folder.
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

// checkModes checks that only the owner can read the files in a folder.
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

// damage makes a database unreadable except for its header.
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

// syncBuffer receives a log while a test reads it.
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

// asProgram is an environment variable that makes this test binary run as another program.
const asProgram = "TEST_BACKUP_AS"

func TestMain(m *testing.M) {
	what := os.Getenv(asProgram)
	if what == "" {
		os.Exit(m.Run())
	}
	var err error
	steps := &steps{last: os.Args[1], seen: map[string]int{}}
	progress := func(int, int) { steps.at("Progress") }
	job := backup.Job{Format: steps.format(), Source: os.Args[2], Target: os.Args[3], Progress: progress}
	switch what {
	case "backup":
		_, err = job.On(steps.space).Run(context.Background())
	case "encrypted backup":
		job.EncryptTo, _ = backup.ParseRecipients([]string{"age1zh67zq77nqxsxx5f3gun8hzltm4dyhs4zlklzua68qec96vzwe0scztufu"})
		_, err = job.Run(context.Background())
	case "restore":
		_, err = backup.Restore{Format: steps.format(), Database: os.Args[2], File: os.Args[3], Progress: progress}.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// steps counts the calls of a backup or restore for each name, as in "Check 2". At the step last, the
// program waits to be killed.
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

// format returns the format of the databases. Each check of a schema is a step.
func (s *steps) format() sqlite.Format {
	f := format
	f.Check = func(c *sqlite.Conn) error {
		s.at("Check")
		return format.Check(c)
	}
	return f
}

// space returns the free space for a copy. The call is a step.
func (s *steps) space(folder string) (osutil.Space, error) {
	s.at("Room")
	return plenty(folder)
}

// program returns a process that creates or restores a backup and waits at a step.
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
	reached, _ := bufio.NewReader(output).ReadString('\n') // "" if the program ends early
	cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || reached != step+"\n" {
		t.Fatalf("not killed at %s: %v, output %q", step, err, reached)
	}
}
