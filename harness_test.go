package main

// The tests of the root look inside the server, or need a clock or streams of their
// own. What a user can see, the tests in acceptance/ check.

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Messages name files after links, and the temporary folder of macOS is behind one.
func init() {
	if folder, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		os.Setenv("TMPDIR", folder)
	}
}

const (
	collection = "/api/v1/firefighters"
	ana        = `{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":"ana@example.com","dateOfBirth":"1990-05-15"}`
	nobody     = "01890000-0000-7000-8000-000000000000" // no record has this id
	// patience is for machines that are busy; nothing takes that long.
	patience = 2 * time.Minute
)

// must ends the test on an error that is not what it tests.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ready.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// syncBuffer holds what a program writes while a test reads it.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
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

// client sends requests with one key.
type client struct{ url, key string }

func (c client) as(key string) client { c.key = key; return c }

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request, with further headers as name, value, name, value.
func (c client) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	must(t, err)
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Add(pair[0], pair[1])
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return answer{response.StatusCode, response.Header, string(text)}
}

// create makes a record and returns its id.
func (c client) create(t *testing.T, body string) (id string) {
	t.Helper()
	a := c.do(t, "POST", collection, body).wants(t, 201)
	return strings.TrimPrefix(a.header.Get("Location"), collection+"/")
}

// wants fails unless the answer has this status. A refusal must be a problem.
func (a answer) wants(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%d, not %d: %s", a.status, status, a.body)
	}
	if kind := a.header.Get("Content-Type"); status >= 400 && kind != "application/problem+json" {
		t.Errorf("%d with Content-Type %q", status, kind)
	}
	return a
}

// problem is the body of a refusal.
type problem struct{ Code, Detail, RequestID string }

func (a answer) problem(t *testing.T) (p problem) {
	t.Helper()
	must(t, json.Unmarshal([]byte(a.body), &p))
	return p
}

// bareServer is a server without the program around it. Nothing runs there
// beside the requests, and a test can reach into it.
type bareServer struct {
	client
	server *server
}

// startBare starts one on a new database, with a clock and a key of the
// department A.
func startBare(t *testing.T, now func() time.Time) *bareServer {
	t.Helper()
	b, _ := startAt(t, filepath.Join(t.TempDir(), "x.db"), now)
	b.key = b.newKey(t, time.Time{})
	return b
}

// startAt starts a bare server, without a key, on the database at path. It makes one if
// there is none.
func startAt(t *testing.T, path string, now func() time.Time) (b *bareServer, stop func()) {
	t.Helper()
	made, err := schema.Open(cli.Env{Context: t.Context(), Stderr: io.Discard}, path, true)
	must(t, err)
	must(t, made.Close())
	s, err := store.Open(path, now) // again, with the clock
	must(t, err)
	b = &bareServer{server: newServer(serviceOf(t, s))}
	listening := httptest.NewServer(b.server)
	b.url = listening.URL
	stop = sync.OnceFunc(func() {
		listening.Close()
		s.Close()
	})
	t.Cleanup(stop)
	return b, stop
}

// serviceOf returns a service without limits, pages or backups.
func serviceOf(t *testing.T, s *store.Store) site.Service {
	log := slog.New(slog.DiscardHandler)
	return site.Service{Store: s, Callers: callers.New(s, log, nil), Log: log, Connections: 1 << 20, Stopping: t.Context()}
}

// newKey makes a key of the department A; a zero time is none.
func (b *bareServer) newKey(t *testing.T, expires time.Time) (key string) {
	t.Helper()
	must(t, b.server.Store.CreateKey(store.NewKey{Tenant: "A", Scope: store.ScopeWrite, ExpiresAt: expires}, func(made string) error {
		key = made
		return nil
	}))
	return key
}

// openSQL opens the database as another program does.
func openSQL(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// execSQL changes the database as another program.
func execSQL(t *testing.T, path, query string, args ...any) {
	t.Helper()
	_, err := openSQL(t, path).Exec(query, args...)
	must(t, err)
}

// scanSQL reads one row of the database as another program.
func scanSQL(t *testing.T, path, query string, dest ...any) {
	t.Helper()
	must(t, openSQL(t, path).QueryRow(query).Scan(dest...))
}

// run runs a command, without the settings in the environment of who runs the tests. It
// returns when the command is done or, for a server, when ctx ends.
// A failure is also written to stderr, as the program writes it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var text strings.Builder
	env := cli.Env{Context: ctx, Stdin: stdin, Stdout: stdout, Stderr: io.MultiWriter(stderr, &text)}
	if code := cli.Execute(env, newRoot(), args, schema.Explain); code != 0 {
		return fmt.Errorf("exit code %d: %s", code, &text)
	}
	return nil
}

// works runs a command that must succeed.
func works(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if err := run(t.Context(), args, strings.NewReader(""), &out, &errs); err != nil {
		t.Fatalf("%q: %v, stdout %q", args, err, &out)
	}
	return out.String(), errs.String()
}

// newKey makes a key of a department by command.
func newKey(t *testing.T, db, tenant string) string {
	t.Helper()
	stdout, _ := works(t, "keys", "create", "--db", db, "--tenant", tenant, "--new")
	return strings.TrimSpace(stdout)
}

// served is a program that serves, as run starts it, and a client without a key.
type served struct {
	client
	stdout syncBuffer
	stderr io.Writer
	stop   func()
}

// serving waits until serve says where it listens.
func serving(t *testing.T, stderr io.Writer, serve func(ctx context.Context, stdout, stderr io.Writer) error) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s, done := &served{stderr: stderr}, make(chan error, 1)
	go func() { done <- serve(ctx, &s.stdout, stderr) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		must(t, <-done)
	})
	t.Cleanup(s.stop)
	address := regexp.MustCompile(`(?m)^Listening on (https?://\S+)\n`)
	eventually(t, "the address", func() bool { return address.MatchString(s.stdout.String()) })
	s.url = address.FindStringSubmatch(s.stdout.String())[1]
	return s
}
