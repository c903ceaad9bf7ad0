package main

import (
	"bufio"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"firefighters/internal/demo"
	"firefighters/internal/record"
)

func TestFirstStart(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(path string) error{
		"no file":    func(string) error { return nil },
		"empty file": func(path string) error { return os.WriteFile(path, nil, 0o644) }, // as touch makes it
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "odd näme %41 ?#&=;.db")
			must(t, prepare(path))
			s := startOn(t, path)
			out := s.stdout.String()
			curl := fmt.Sprintf(`curl -H "Authorization: Bearer %s" %s/api/v1/firefighters`, s.key, s.url)
			if s.key == "" || !strings.Contains(out, curl+"\n") || !strings.Contains(s.stderr.String(), path) {
				t.Errorf("stdout:\n%s\nstderr:\n%s", out, s.stderr)
			}
			s.create(t, ana)
			checkModes(t, filepath.Dir(path))
			s.stop(t)
			again := startOn(t, path)
			if keyForm.MatchString(again.stdout.String()) || strings.Contains(again.stderr.String(), "Made") {
				t.Errorf("second start: %s%s", again.stdout, again.stderr)
			}
			if l := again.as(s.key).list(t, ""); l.TotalCount != 1 {
				t.Errorf("%d records after a restart", l.TotalCount)
			}
		})
	}
}

// checkModes sees to it that the files in dir are for their owner alone.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		info, err := e.Info()
		if must(t, err); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
}

// TestCleanStop: the database is one file again, and nobody else's.
func TestCleanStop(t *testing.T) {
	t.Parallel()
	s := start(t)
	for range 20 {
		s.create(t, ana)
	}
	s.stop(t)
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(s.db + suffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left behind: %s", suffix)
		}
	}
	if _, err := s.try(t, "GET", "/healthz", nil); err == nil {
		t.Error("it still answers")
	}
}

// TestHardLink: one file under two names is not served, for it would be twice.
func TestHardLink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("how many names a file has is not asked on Windows")
	}
	db := invented(t, 1, 1)
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Link(db, link))
	code, stdout, stderr := command(t, "serve", "--db", link, "--listen", "127.0.0.1:0")
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, fmt.Sprintf("Error: database %q has another name as well", link)) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	must(t, os.Remove(link))
	startOn(t, db)
}

func TestSecondServe(t *testing.T) {
	t.Parallel()
	s := start(t)
	code, stdout, stderr := command(t, "serve", "--db", s.db, "--listen", "127.0.0.1:0")
	if code != 1 || stdout != "" || !strings.Contains(stderr, s.db) || !strings.Contains(stderr, "in use") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(t.TempDir(), "link.db")
		must(t, os.Symlink(s.db, link))
		if code, _, stderr := command(t, "serve", "--db", link, "--listen", "127.0.0.1:0"); code != 1 || !strings.Contains(stderr, "in use") {
			t.Errorf("through a link: code %d, stderr %q", code, stderr)
		}
	}
	s.create(t, ana)
}

// TestInFlight: a request that is under way when the program is told to stop
// is answered, and what it wrote is there.
func TestInFlight(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		collection, s.key, len(ana))
	reader := bufio.NewReader(conn)
	line, err := reader.ReadString('\n') // which comes when the handler asks for the body
	if must(t, err); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("got %q", line)
	}
	reader.ReadString('\n')
	s.cancel()
	eventually(t, "the service to take no more", func() bool {
		probe, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			probe.Close()
		}
		return err != nil
	})
	io.WriteString(conn, ana)
	response, err := http.ReadResponse(reader, nil)
	must(t, err)
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 201 {
		t.Errorf("%d %s %v", response.StatusCode, body, err)
	}
	s.stop(t)
	var count int
	if scanSQL(t, s.db, `SELECT count(*) FROM firefighters`, &count); count != 1 {
		t.Errorf("%d records", count)
	}
}

// startProcess serves db in a process of its own.
func startProcess(t *testing.T, db string) (*exec.Cmd, client) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signals")
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, "--db", db, "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd, startCommand(t, cmd)
}

// startCommand starts a process that serves, and gives a client with its first
// key.
func startCommand(t *testing.T, cmd *exec.Cmd) client {
	t.Helper()
	out, errs := &syncBuffer{}, &syncBuffer{}
	cmd.Stdout, cmd.Stderr = out, errs
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	address := regexp.MustCompile(`(?m)^Listening on (http://\S+)\n`)
	eventually(t, "the address", func() bool { return address.MatchString(out.String()) })
	return newClient(t, address.FindStringSubmatch(out.String())[1], keyForm.FindString(out.String()))
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "x.db")
			cmd, c := startProcess(t, db)
			c.create(t, ana)
			must(t, cmd.Process.Signal(signal))
			if err := cmd.Wait(); err != nil {
				t.Errorf("exit: %v\n%s", err, cmd.Stderr)
			}
			if _, err := os.Stat(db + "-wal"); !errors.Is(err, os.ErrNotExist) {
				t.Error("the database was not closed")
			}
		})
	}
}

// TestKill: a write that was answered is there, even if the program had no
// time to end.
func TestKill(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, c := startProcess(t, db)
	var mu sync.Mutex
	var ids []string
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				a, err := c.try(t, "POST", collection, strings.NewReader(ana))
				if err != nil || a.status != 201 {
					return
				}
				mu.Lock()
				ids = append(ids, strings.TrimPrefix(a.header.Get("Location"), collection+"/"))
				mu.Unlock()
			}
		})
	}
	eventually(t, "some writes", func() bool { mu.Lock(); defer mu.Unlock(); return len(ids) > 100 })
	must(t, cmd.Process.Kill())
	cmd.Wait()
	clients.Wait()
	s := startOn(t, db)
	for _, id := range ids {
		s.as(c.key).do(t, "GET", collection+"/"+id, "").wants(t, 200)
	}
	if total := s.as(c.key).list(t, "").TotalCount; total < int64(len(ids)) || total > int64(len(ids)+8) {
		t.Errorf("%d records, of which %d were promised", total, len(ids))
	}
}

// testServer is a server on a store that the test can reach into.
type testServer struct {
	client
	server *server
	log    *syncBuffer
	close  func()
}

func openServer(t *testing.T, path string, now func() time.Time) *testServer {
	t.Helper()
	store, _, err := openStore(path, true, now)
	must(t, err)
	log := &syncBuffer{}
	server := newServer(store, slog.New(slog.NewJSONHandler(log, nil)))
	listening := httptest.NewServer(server)
	stop := sync.OnceFunc(func() {
		listening.Close()
		if err := store.close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
		sawLog(t.Name(), log.String())
		if t.Failed() {
			t.Log(log.String())
		}
	})
	t.Cleanup(stop)
	return &testServer{newClient(t, listening.URL, ""), server, log, stop}
}

// TestClockRunsBackwards: what has expired stays so on a machine that starts
// with a clock from before.
func TestClockRunsBackwards(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	at := func(h int) func() time.Time {
		return func() time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	}
	path := filepath.Join(t.TempDir(), "x.db")
	s := openServer(t, path, at(0))
	key := storeKey(t, s.server.store, noon.Add(time.Hour))
	s.as(key).do(t, "GET", collection, "").wants(t, 200)
	s.close()
	for _, hour := range []int{2, 0, -24 * 365 * 50, 1} {
		s := openServer(t, path, at(hour))
		a := s.as(key).do(t, "GET", collection, "").wants(t, 401)
		if !strings.Contains(a.problem(t).Detail, "expired") {
			t.Errorf("at hour %d: %s", hour, a.body)
		}
		expiry := noon.Add(time.Hour).UnixMilli()
		eventually(t, "the time to be saved", func() bool { return s.server.store.clock.saved.Load() >= expiry })
		s.close()
	}
}

// TestClockWithinOneRun: not even while it serves does the clock go back, nor
// do the times in the database.
func TestClockWithinOneRun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	set := func(to time.Time) { mu.Lock(); defer mu.Unlock(); now = to }
	path := filepath.Join(t.TempDir(), "x.db")
	s := openServer(t, path, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	noon := now
	key := storeKey(t, s.server.store, noon.Add(time.Hour))
	good := storeKey(t, s.server.store, time.Time{})
	set(noon.Add(2 * time.Hour))
	s.as(good).create(t, ana)
	set(noon)
	s.as(key).do(t, "GET", collection, "").wants(t, 401)
	s.as(good).create(t, ana)
	s.close()
	var first, second int64
	scanSQL(t, path, `SELECT min(created_at), max(created_at) FROM firefighters`, &first, &second)
	if first != second || first != noon.Add(2*time.Hour).UnixMilli() {
		t.Errorf("created at %v and %v", time.UnixMilli(first).UTC(), time.UnixMilli(second).UTC())
	}
}

// TestConcurrentWrites: whoever writes at the same time shares a transaction,
// and each gets an answer of its own.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	const clients, each = 32, 20
	ids := make([][]string, clients)
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			c := []client{s.client, other}[i%2]
			for n := range each {
				body := fmt.Sprintf(`{"firstName":"A%d","lastName":"B%d"}`, i, n)
				a, err := c.try(t, "POST", collection, strings.NewReader(body))
				if err != nil || a.status != 201 {
					t.Errorf("%d %s %v", a.status, a.body, err)
					return
				}
				ids[i] = append(ids[i], strings.TrimPrefix(a.header.Get("Location"), collection+"/"))
				if n%4 == 0 { // beside these a few that refuse
					if a, err := c.try(t, "DELETE", collection+"/"+nobody, nil); err != nil || a.status != 404 {
						t.Errorf("%d %s %v", a.status, a.body, err)
					}
				}
			}
		})
	}
	running.Wait()
	if t.Failed() {
		return
	}
	for i, c := range []client{s.client, other} {
		if total := c.list(t, "").TotalCount; total != clients*each/2 {
			t.Errorf("%d records, not %d", total, clients*each/2)
		}
		for n, id := range ids[i] {
			if a := c.do(t, "GET", collection+"/"+id, ""); !strings.Contains(a.body, fmt.Sprintf(`"A%d","lastName":"B%d"`, i, n)) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
	}
	checkCounts(t, s.db)
}

// checkCounts compares the counts that triggers keep with the records.
func checkCounts(t *testing.T, db string) {
	t.Helper()
	var wrong, sequence int
	scanSQL(t, db, `SELECT count(*) FROM tenants t
		WHERE live_count <> (SELECT count(*) FROM firefighters WHERE tenant_id = t.id AND deleted_at IS NULL)`, &wrong)
	scanSQL(t, db, `SELECT count(*) FROM tenants t
		WHERE last_seq < (SELECT coalesce(max(row) & 0xffffffff, 0) FROM firefighters WHERE tenant_id = t.id)`, &sequence)
	if wrong > 0 || sequence > 0 {
		t.Errorf("departments with a wrong live_count: %d, with a last_seq too low: %d", wrong, sequence)
	}
}

// TestRefusalInAGroup: writes that have gathered are one transaction, though
// one among them asks for a record as it is not. All in a transaction has one
// time, and this clock gives no time twice.
func TestRefusalInAGroup(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int64
	db := filepath.Join(t.TempDir(), "x.db")
	s := openServer(t, db, func() time.Time { return time.Unix(1e9+seconds.Add(1), 0) })
	store := s.server.store
	c := s.as(storeKey(t, store, time.Time{}))
	path := collection + "/" + c.create(t, ana)
	holding, let, held := make(chan bool), make(chan bool), make(chan error)
	go func() {
		held <- store.write(func(*transaction) error { close(holding); <-let; return nil })
	}()
	<-holding
	var running sync.WaitGroup
	send := func(status int, method, path string, headers ...string) {
		running.Go(func() {
			if a, err := c.try(t, method, path, strings.NewReader(ana), headers...); err != nil || a.status != status {
				t.Errorf("%s %s: %d %s %v", method, path, a.status, a.body, err)
			}
		})
	}
	const creates = 10
	for range creates {
		send(201, "POST", collection)
	}
	send(412, "PUT", path, "If-Match", `"another"`)
	send(412, "DELETE", path, "If-Match", `"another"`)
	eventually(t, "all to gather", func() bool {
		store.writer.mu.Lock()
		defer store.writer.mu.Unlock()
		return len(store.writer.waiting) == creates+2
	})
	close(let)
	running.Wait()
	must(t, <-held)
	var changes, transactions int
	scanSQL(t, db, `SELECT count(*), count(DISTINCT at) FROM changes WHERE id > 1`, &changes, &transactions)
	if changes != creates || transactions != 1 {
		t.Errorf("%d changes in %d transactions", changes, transactions)
	}
}

// TestRowsOutOfOrder: another program that writes a lower number after a higher
// one does not have the service give the higher one again.
func TestRowsOutOfOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, sequence := range []int{100, 50, 101, 1} {
		execSQL(t, s.db, `INSERT INTO firefighters (row, id, tenant_id, created_at, updated_at,
			first_name, last_name, first_key, last_key, search_text, phone_digits)
			VALUES (1 << 32 | ?1, printf('%036d', ?1), 1, 0, 0, 'A', 'B', 'a', 'b', '', '')`, sequence)
		checkCounts(t, s.db)
	}
	id := s.create(t, ana)
	var sequence int
	if scanSQL(t, s.db, `SELECT row & 0xffffffff FROM firefighters WHERE id = '`+id+`'`, &sequence); sequence != 102 {
		t.Errorf("the next record has the number %d", sequence)
	}
}

// TestChangesBehindItsBack: totals stay right when somebody erases or restores
// rows by SQL, and a record cannot be moved to another department.
func TestChangesBehindItsBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	newKey(t, s.db, "other")
	for range 4 {
		s.create(t, ana)
	}
	gone := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	changes := []struct {
		sql   string
		total int64
	}{
		{`DELETE FROM firefighters WHERE deleted_at IS NOT NULL`, 4},
		{`DELETE FROM firefighters WHERE row & 0xffffffff = 2`, 3},
		{`UPDATE firefighters SET deleted_at = 1`, 0},
		{`UPDATE firefighters SET deleted_at = NULL`, 3},
	}
	for _, change := range changes {
		execSQL(t, s.db, change.sql)
		all, found := s.list(t, "").TotalCount, s.list(t, "search=ana").TotalCount
		if all != change.total || found != change.total {
			t.Errorf("%s: %d records, of which a search finds %d, not %d", change.sql, all, found, change.total)
		}
	}
	checkCounts(t, s.db)
	if _, err := openSQL(t, s.db).Exec(`UPDATE firefighters SET tenant_id = 2, row = row + (1 << 32)`); err == nil {
		t.Error("a record was moved to another department")
	}
}

// TestPanics: the client gets a bland answer, the log the cause, and the next
// request is served as ever.
func TestPanics(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	key := storeKey(t, s.server.store, time.Time{})
	s.server.add(route{"GET", "/panic", public,
		func(*server, http.ResponseWriter, *http.Request, string, caller) error { panic("cause in a handler") }, nil})
	s.server.add(route{"POST", "/panic", public,
		func(s *server, _ http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
			return s.store.write(func(*transaction) error { panic("cause in a write") })
		}, nil})
	for method, cause := range map[string]string{"GET": "cause in a handler", "POST": "cause in a write"} {
		a := s.do(t, method, "/panic", "").wants(t, 500)
		if strings.Contains(a.body, "cause") || strings.Contains(a.body, ".go") || strings.Contains(a.body, "panic") {
			t.Errorf("the client is told: %s", a.body)
		}
		lines := 0
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, a.problem(t).RequestID) && strings.Contains(line, cause) && strings.Contains(line, "ERROR") {
				lines++
			}
		}
		if lines != 1 {
			t.Errorf("%d lines with the cause and the request id in the log:\n%s", lines, s.log)
		}
		s.as(key).create(t, ana)
	}
}

// TestPanicAmongOthers: writes that share a transaction with one that panics
// succeed.
func TestPanicAmongOthers(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	store := s.server.store
	key := storeKey(t, store, time.Time{})
	var running sync.WaitGroup
	for i := range 90 {
		running.Go(func() {
			switch i % 3 {
			case 0:
				if err := store.write(func(*transaction) error { panic("cause") }); err == nil {
					t.Error("a panic is no error")
				}
			case 1:
				if _, err := store.createFirefighter(1, 0, record.Fields{FirstName: "A", LastName: "B"}, attempt{}); err != nil {
					t.Errorf("creating: %v", err)
				}
			case 2:
				if err := store.deleteFirefighter(1, 0, nobody, conditions{}); !errors.Is(err, errNotFound) {
					t.Errorf("deleting: %v", err)
				}
			}
		})
	}
	running.Wait()
	if total := s.as(key).list(t, "").TotalCount; total != 30 {
		t.Errorf("%d records, not 30", total)
	}
}

// TestFull: a full disk stops writing, and that only while it is full.
func TestFull(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	key := storeKey(t, s.server.store, time.Time{})
	c := s.as(key)
	limit := func(pages int) { // as if the disk had room for no more
		_, err := s.server.store.writer.conn.queryNumber(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
		must(t, err)
	}
	id := c.create(t, ana)
	limit(1)
	made := 1
	for made < 10000 {
		a := c.do(t, "POST", collection, ana)
		if a.status == http.StatusInsufficientStorage {
			break
		}
		a.wants(t, 201)
		made++
	}
	for c.do(t, "PUT", collection+"/"+id, ana).status == 200 { // into room that there still is
	}
	c.do(t, "PUT", collection+"/"+id, ana).wants(t, http.StatusInsufficientStorage)
	c.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusInsufficientStorage)
	c.do(t, "POST", collection, ana).wants(t, http.StatusInsufficientStorage)
	if total := c.list(t, "").TotalCount; total != int64(made) {
		t.Errorf("%d records, not %d", total, made)
	}
	limit(1 << 30)
	c.create(t, ana)
}

// TestBusy: another program that keeps the database locked delays writes, and
// after a while they are refused; reading goes on.
func TestBusy(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	id := s.create(t, ana)
	db := openSQL(t, s.db)
	db.SetMaxOpenConns(1)
	_, err := db.Exec(`BEGIN IMMEDIATE`)
	must(t, err)
	a := s.do(t, "PUT", collection+"/"+id, `{"firstName":"A","lastName":"B"}`).wants(t, 503)
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if got := s.do(t, "GET", collection+"/"+id, "").wants(t, 200); !strings.Contains(got.body, "Ana") {
		t.Errorf("got %s", got.body)
	}
	_, err = db.Exec(`ROLLBACK`)
	must(t, err)
	s.do(t, "PUT", collection+"/"+id, ana).wants(t, 200)
}

// TestClosed: what comes while the store closes is told to come again.
func TestClosed(t *testing.T) {
	t.Parallel()
	store, _, err := openStore(filepath.Join(t.TempDir(), "x.db"), true, time.Now)
	must(t, err)
	key := storeKey(t, store, time.Time{})
	listening := httptest.NewServer(newServer(store, slog.New(slog.DiscardHandler)))
	defer listening.Close()
	c := newClient(t, listening.URL, key)
	id := c.create(t, ana)
	must(t, store.close())
	for _, a := range []answer{c.do(t, "POST", collection, ana), c.do(t, "GET", collection+"/"+id, ""),
		c.do(t, "PUT", collection+"/"+id, ana), c.do(t, "DELETE", collection+"/"+id, ""),
		c.do(t, "GET", collection, ""), c.do(t, "GET", "/readyz", ""), c.do(t, "GET", "/api/v1/whoami", "")} {
		if a.wants(t, 503); a.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %s", a.body)
		}
	}
}

// TestLogIsDiscreet: nothing of a key or a person reaches the log.
func TestLogIsDiscreet(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true // the trigger below makes one
	const body = `{"firstName":"Canaryfirst","lastName":"Canarylast","phoneNumber":"0998877665","email":"canary@mail.example"}`
	id := s.create(t, body)
	one := collection + "/" + id
	wrong := "ff_Canarykey" + strings.Repeat("0", 40)
	for _, c := range []client{s.client, s.as(""), s.as(wrong), s.as("Canarykey Canarykey")} {
		c.do(t, "GET", collection+"?search=Canaryfirst+0998877665&page=Canarylast", "")
		c.do(t, "GET", collection+"/canary@mail.example", "")
		c.do(t, "GET", "/Canaryfirst", "")
		c.do(t, "PUT", one, body)
		c.do(t, "PUT", one, strings.ReplaceAll(body, "email", "Canarymail"))
		c.do(t, "POST", collection, body+"Canarylast")
		c.do(t, "POST", collection, strings.Repeat(body, 1000))
		c.do(t, "Canary", collection, body)
		c.do(t, "GET", collection, "", "X-Request-Id", "Canaryfirst<>", "X-Large", strings.Repeat("canary@mail.example", 4000))
	}
	execSQL(t, s.db, `CREATE TRIGGER fails BEFORE UPDATE ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`)
	a := s.do(t, "PUT", one, body).wants(t, 500)
	if !strings.Contains(s.stderr.String(), a.problem(t).RequestID) {
		t.Errorf("the request that failed is not in the log:\n%s", s.stderr)
	}
	s.stop(t)
	log := strings.ToLower(s.stderr.String())
	for _, canary := range []string{"canary", "0998877665", strings.ToLower(s.key), strings.ToLower(s.key[3:20]), "bearer", id} {
		if strings.Contains(log, canary) {
			t.Errorf("%q is in the log:\n%s", canary, s.stderr)
		}
	}
}

// TestPublic: the two routes for the machine need no key and tell nothing.
func TestPublic(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := s.as("").do(t, "GET", path, "").wants(t, 200); strings.Contains(a.body, s.db) || !json.Valid([]byte(a.body)) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

// TestWALIsBounded: the -wal starts over under writes and reads that overlap
// without end.
func TestWALIsBounded(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "demo", "--people", "3000", "--db", db)
	var stop atomic.Bool
	var clients sync.WaitGroup
	for i := range 24 {
		clients.Go(func() {
			for !stop.Load() {
				if i%4 == 0 {
					s.list(t, "search=qqqq") // long, and finds nothing
				} else {
					s.create(t, ana)
				}
			}
		})
	}
	defer func() { stop.Store(true); clients.Wait() }()
	eventually(t, "some eighty megabytes to be written", func() bool {
		info, err := os.Stat(db + "-wal")
		must(t, err)
		if info.Size() > 48<<20 {
			t.Fatalf("the -wal has %d bytes", info.Size())
		}
		return s.list(t, "pageSize=1").TotalCount > 5500
	})
}

// TestPanicInScan: a panic while an answer is read leaves its statement whole.
func TestPanicInScan(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	for range 2 * readerCount {
		func() {
			defer func() {
				if p := recover(); p != "oops" {
					t.Errorf("recovered %v", p)
				}
			}()
			s.server.store.read(func(c *conn) error {
				return c.query(`SELECT only_row FROM service`, nil, func(values) { panic("oops") })
			})
		}()
	}
	must(t, s.server.store.ping())
}

// TestOddLock: what stands in the way of the lock is not taken for damage.
func TestOddLock(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 1)
	must(t, os.WriteFile(db+"-lock", []byte("something else altogether"), 0o600))
	code, _, stderr := command(t, "serve", "--db", db, "--listen", "127.0.0.1:0")
	if code != 1 || strings.Contains(stderr, "damaged") || !strings.Contains(stderr, "delete "+db+"-lock") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// TestHalfPage: a power cut in the middle of a page that is in the -wal too is
// no damage.
func TestHalfPage(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, c := startProcess(t, db)
	id := c.create(t, ana)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	file, err := os.OpenFile(db, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString(strings.Repeat("x", 100))
	must(t, err)
	must(t, file.Close())
	s := startOn(t, db)
	s.as(c.key).do(t, "GET", collection+"/"+id, "").wants(t, 200)
}

// TestLostPages: a page that cannot be read is an error to whoever asks for
// it, and not the end of the program, though the file is mapped into memory.
func TestLostPages(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 3000)
	s := startOn(t, db)
	s.mayFail = true
	c := s.as(newKey(t, db, demo.Department(0)))
	c.list(t, "")
	if err := os.Truncate(db, 8192); err != nil {
		return // a system that does not let go of a mapped file
	}
	for _, query := range []string{"sortBy=email", "search=ana", ""} {
		c.do(t, "GET", collection+"?"+query, "").wants(t, 500)
	}
	c.do(t, "GET", "/healthz", "").wants(t, 200)
	// It depends on whether the page was mapped before.
	if log := s.stderr.String(); !strings.Contains(log, errUnreadable.Error()) && !strings.Contains(log, "SQLite result") {
		t.Errorf("the log does not say why:\n%s", log)
	}
	s.cancel()
	<-s.done // with an error or without: the file is beyond saving
	s.stopOnce.Do(func() {})
}

// TestManyLostPages: what a page that cannot be read leaves behind is bounded,
// though it happens again and again.
func TestManyLostPages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which files are open")
	}
	db := invented(t, 1, 1000)
	whole, err := os.ReadFile(db)
	must(t, err)
	s := startOn(t, db)
	s.mayFail = true
	c := s.as(newKey(t, db, demo.Department(0)))
	for faults := 0; faults < 2*maxFaults+8*readerCount; faults += readerCount {
		file, err := os.OpenFile(db, os.O_WRONLY, 0)
		must(t, err)
		_, err = file.Write(whole)
		must(t, cmp.Or(err, file.Close()))
		for range readerCount { // each connection maps the file
			c.do(t, "GET", collection+"?pageSize=1", "")
		}
		must(t, os.Truncate(db, 8192))
		for range readerCount {
			c.do(t, "GET", collection+"?pageSize=1", "").wants(t, 500)
		}
	}
	if !strings.Contains(s.stderr.String(), errUnreadable.Error()) {
		t.Errorf("no page was lost:\n%s", s.stderr)
	}
	if open := openTimes(t, db); open > maxFaults+3*readerCount {
		t.Errorf("the file is open %d times", open)
	}
	s.cancel()
	<-s.done // as in TestLostPages
	s.stopOnce.Do(func() {})
}

// openTimes is how many descriptors of this process a file has.
func openTimes(t *testing.T, path string) (times int) {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, d := range descriptors {
		if target, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil && target == path {
			times++
		}
	}
	return times
}

// TestClockIsSavedByCommit: a time that was not committed is not taken for saved.
func TestClockIsSavedByCommit(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now).server.store
	failure := errors.New("for the test")
	err := s.write(func(t *transaction) error {
		if err := t.saveClock(); err != nil {
			return err
		}
		return failure
	})
	if saved := s.clock.saved.Load(); !errors.Is(err, failure) || saved != 0 {
		t.Errorf("saved %d, with the error %v", saved, err)
	}
	must(t, s.saveClock())
	if s.clock.saved.Load() == 0 {
		t.Error("not saved after the commit")
	}
}

// TestLastUseAtStop: a use just before the stop is written down, too.
func TestLastUseAtStop(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.as(newKey(t, s.db, "default")).list(t, "")
	s.stop(t)
	var last sql.NullInt64
	if scanSQL(t, s.db, `SELECT last_used_at FROM keys WHERE id = 2`, &last); !last.Valid {
		t.Error("the last use is lost")
	}
}
