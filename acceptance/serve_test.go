package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startProcess starts a service on db in a separate process.
func startProcess(t *testing.T, db string) (*exec.Cmd, client) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signals")
	}
	cmd, _ := process(t, "--db", db, "--listen", "127.0.0.1:0")
	return cmd, startedProcess(t, cmd)
}

// startedProcess starts a prepared service and returns a client with its key.
func startedProcess(t *testing.T, cmd *exec.Cmd) client {
	t.Helper()
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	output := cmd.Stdout.(*syncBuffer)
	address := regexp.MustCompile(`(?m)^Listening on (http://\S+)\n`)
	eventually(t, "the address", func() bool { return address.MatchString(output.String()) })
	return newClient(t, address.FindStringSubmatch(output.String())[1], keyForm.FindString(output.String()))
}

func TestFirstStart(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(path string) error{
		"no file":    func(string) error { return nil },
		"empty file": func(path string) error { return os.WriteFile(path, nil, 0o644) }, // like touch
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "odd näme %41 ?#&=;.db")
			must(t, prepare(path))
			s := startOn(t, path)
			out := s.stdout.String()
			s.logs(t, path)
			if s.key == "" || !strings.Contains(out, curl(s.key, s.url+collection)) {
				t.Errorf("stdout:\n%s\nstderr:\n%s", out, s.stderr)
			}
			s.create(t, ana)
			checkModes(t, filepath.Dir(path))
			s.stop(t)
			again := startOn(t, path)
			if keyForm.MatchString(again.stdout.String()) || strings.Contains(again.stderr.String(), "Created") {
				t.Errorf("second start: %s%s", again.stdout, again.stderr)
			}
			if l := again.as(s.key).list(t, ""); l.TotalCount != 1 {
				t.Errorf("%d records after a restart", l.TotalCount)
			}
		})
	}
}

// inUse is the error for a served database, without its hint.
func inUse(db string) string {
	return fmt.Sprintf("Error: the database %q is in use: another firefighters serves it\n", db)
}

// TestSecondServe checks that a second service on a served database reports that the database is in
// use, also if the port is in use, and that a service on another database reports a used port.
func TestSecondServe(t *testing.T) {
	t.Parallel()
	s := start(t)
	address := strings.TrimPrefix(s.url, "http://")
	want := inUse(s.db) + "Try: to open its page: firefighters open --db " + s.db + "\n"
	for _, listen := range []string{"127.0.0.1:0", address} {
		refuses(t, 1, want, "serve", "--db", s.db, "--listen", listen)
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(t.TempDir(), "link.db")
		must(t, os.Symlink(s.db, link))
		refuses(t, 1, want, "serve", "--db", link, "--listen", "127.0.0.1:0")
	}
	other := filepath.Join(t.TempDir(), "other.db")
	refuses(t, 1, fmt.Sprintf("Error: port %s is used by another program\nTry: another port: firefighters serve --db %s --rate-limit 5 --cors-origin http://a.example --listen 127.0.0.1:8081\n",
		strings.TrimPrefix(address, "127.0.0.1:"), other), "serve", "--db", other, "--listen", address, "--rate-limit", "5", "--cors-origin", "http://a.example")
	if found := namesIn(t, filepath.Dir(other)); len(found) > 0 {
		t.Errorf("files: %q", found)
	}
	s.create(t, ana)
}

// beginCreate starts a create and waits until the handler asks for its body. finish sends the body and
// returns the status of the answer.
func (c client) beginCreate(t *testing.T) (finish func() (status int)) {
	t.Helper()
	conn := c.dial(t)
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", collection, c.key, len(ana))
	reader := bufio.NewReader(conn)
	line, err := reader.ReadString('\n')
	if must(t, err); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("got %q", line)
	}
	reader.ReadString('\n')
	return func() int {
		t.Helper()
		io.WriteString(conn, ana)
		response, err := http.ReadResponse(reader, nil)
		must(t, err)
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		must(t, err)
		return response.StatusCode
	}
}

// takesNoMore waits until the server accepts no new connections.
func (c client) takesNoMore(t *testing.T) {
	t.Helper()
	eventually(t, "the service to stop listening", func() bool {
		probe, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
		if err == nil {
			probe.Close()
		}
		return err != nil
	})
}

// TestInFlight checks that a request in progress is answered when the program is stopped, and that its
// write is not lost.
func TestInFlight(t *testing.T) {
	t.Parallel()
	s := start(t)
	finish := s.beginCreate(t)
	s.cancel()
	s.takesNoMore(t)
	if status := finish(); status != 201 {
		t.Errorf("status %d", status)
	}
	s.stop(t)
	var count int
	if scanSQL(t, s.db, `SELECT count(*) FROM firefighters`, &count); count != 1 {
		t.Errorf("%d records", count)
	}
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
			if exists(db + "-wal") {
				t.Error("the database was not closed")
			}
		})
	}
}

// TestClosedTerminal checks that a demo whose terminal is closed, which sends the signal twice, answers
// requests in progress and leaves no files, and that the signal has no effect under nohup.
func TestClosedTerminal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signal")
	}
	for name, script := range map[string]string{"terminal": `exec "$@"`, "nohup": `trap "" HUP; exec "$@"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd, output := process(t, "demo", "--listen", "127.0.0.1:0")
			cmd.Args = append([]string{"sh", "-c", script, "sh"}, cmd.Args...)
			cmd.Path = "/bin/sh"
			cmd.Env = append(cmd.Env, "TMPDIR="+dir)
			hangups := make(chan os.Signal, 1) // prevents that the process inherits an ignored signal
			signal.Notify(hangups, syscall.SIGHUP)
			defer signal.Stop(hangups)
			c := startedProcess(t, cmd)
			if name == "nohup" {
				must(t, cmd.Process.Signal(syscall.SIGHUP))
				time.Sleep(300 * time.Millisecond) // time to end, if the signal were not ignored
				c.do(t, "GET", "/healthz", "").wants(t, 200)
				must(t, cmd.Process.Signal(syscall.SIGTERM))
			} else {
				finish := c.beginCreate(t)
				must(t, cmd.Process.Signal(syscall.SIGHUP))
				c.takesNoMore(t)
				must(t, cmd.Process.Signal(syscall.SIGHUP))
				if status := finish(); status != 201 {
					t.Errorf("status %d", status)
				}
			}
			if err := cmd.Wait(); err != nil || len(namesIn(t, dir)) > 0 {
				t.Errorf("%v, left behind: %q, output:\n%s", err, namesIn(t, dir), output)
			}
		})
	}
}

// TestEveryAddress checks that a service on all addresses prints an address that clients can use.
func TestEveryAddress(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, _ := process(t, "serve", "--db", db, "--listen", "0.0.0.0:0")
	s := serving(t, db, cmd)
	s.create(t, ana)
	if out := s.stdout.String(); strings.Contains(out, "0.0.0.0") || !strings.Contains(out, curl(s.key, s.url+collection)) {
		t.Errorf("stdout:\n%s", out)
	}
}

// TestCannotListen checks the hints for an address on which the service cannot listen. The invalid name
// is not sent to a resolver.
func TestCannotListen(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	hint := func(command string) string {
		return fmt.Sprintf("Try: for all addresses of this computer: %s --listen 0.0.0.0:8080\nTry: for this computer only: %[1]s --listen 127.0.0.1:8080\n", command)
	}
	refuses(t, 1, "Error: cannot listen on 203.0.113.1:8080: this computer does not have that address\n"+hint("firefighters serve --db "+db),
		"serve", "--db", db, "--listen", "203.0.113.1:8080")
	refuses(t, 1, "Error: cannot listen on host..invalid:8080: no computer has that name\n"+hint("firefighters demo"),
		"demo", "--listen", "host..invalid:8080")
}

// TestKill checks that no acknowledged write is lost when the program is killed.
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
		t.Errorf("%d records, but %d were acknowledged", total, len(ids))
	}
}

// TestLogIsDiscreet checks that the log contains no key and no personal data.
func TestLogIsDiscreet(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true // the trigger below causes an error
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
		c.do(t, "GET", collection, "", "X-Request-Id", "Canaryfirst<>")
	}
	s.try(t, "GET", collection, nil, "X-Large", strings.Repeat("canary@mail.example", 4000)) // rejected by net/http
	execSQL(t, s.db, `CREATE TRIGGER fails BEFORE UPDATE ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`)
	a := s.do(t, "PUT", one, body).wants(t, 500)
	s.logs(t, a.problem(t).RequestID)
	s.stop(t)
	log := strings.ToLower(s.stderr.String())
	for _, canary := range []string{"canary", "0998877665", strings.ToLower(s.key), strings.ToLower(s.key[3:20]), "bearer", id} {
		if strings.Contains(log, canary) {
			t.Errorf("%q is in the log:\n%s", canary, s.stderr)
		}
	}
}

// checkCounts compares the counters of the triggers with the records.
func checkCounts(t *testing.T, db string) {
	t.Helper()
	var wrong, sequence int
	scanSQL(t, db, `SELECT count(*) FROM tenants t
		WHERE live_count <> (SELECT count(*) FROM firefighters WHERE tenant_id = t.id AND deleted_at IS NULL)`, &wrong)
	scanSQL(t, db, `SELECT count(*) FROM tenants t
		WHERE last_seq < (SELECT coalesce(max(row) & 0xffffffff, 0) FROM firefighters WHERE tenant_id = t.id)`, &sequence)
	if wrong > 0 || sequence > 0 {
		t.Errorf("departments with a wrong live_count: %d, with too low a last_seq: %d", wrong, sequence)
	}
}

// TestOtherPrograms checks that totals stay correct when another program deletes or restores rows, and
// that no record can be moved to another department.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	s := start(t)
	newKey(t, s.db, "other")
	for range 4 {
		s.create(t, ana)
	}
	gone := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	for _, change := range []struct {
		sql   string
		total int64
	}{
		{`DELETE FROM firefighters WHERE deleted_at IS NOT NULL`, 4},
		{`DELETE FROM firefighters WHERE row & 0xffffffff = 2`, 3},
		{`UPDATE firefighters SET deleted_at = 1`, 0},
		{`UPDATE firefighters SET deleted_at = NULL`, 3},
	} {
		execSQL(t, s.db, change.sql)
		all, found := s.list(t, "").TotalCount, s.list(t, "search=ana").TotalCount
		if all != change.total || found != change.total {
			t.Errorf("%s: %d records and %d found by a search, want %d", change.sql, all, found, change.total)
		}
	}
	checkCounts(t, s.db)
	if _, err := openSQL(t, s.db).Exec(`UPDATE firefighters SET tenant_id = 2, row = row + (1 << 32)`); err == nil {
		t.Error("a record was moved to another department")
	}
}

// TestBusy checks that writes wait while another program keeps the database locked and then fail, while
// reads succeed. All wait at the same time here.
func TestBusy(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true // the log contains the failed writes
	path := s.db
	id, gone := s.create(t, ana), s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	unlock := lockForWriting(t, path)

	var running sync.WaitGroup
	locked := func(doing string) string {
		return fmt.Sprintf("Error: %s database %q: the database is locked by another program\n", doing, path)
	}
	of := []string{"--db", path, "--tenant", firstDepartment}
	running.Go(func() { refuses(t, 1, locked("writing to"), append([]string{"undelete", gone}, of...)...) })
	running.Go(func() { refuses(t, 1, locked("deleting from"), append([]string{"purge", "--yes", gone}, of...)...) })
	running.Go(func() {
		a, err := s.try(t, "PUT", collection+"/"+id, strings.NewReader(`{"firstName":"A","lastName":"B"}`))
		if err != nil || a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s, %v", a.status, a.header, a.body, err)
		}
	})
	running.Wait()
	if a := s.do(t, "GET", collection+"/"+id, "").wants(t, 200); !strings.Contains(a.body, "Ana") {
		t.Errorf("got %s", a.body)
	}
	unlock()
	if got := len(historyOf(t, path, firstDepartment)); got != 3 {
		t.Errorf("%d changes", got)
	}
	s.do(t, "PUT", collection+"/"+id, ana).wants(t, 200)
	works(t, append([]string{"purge", "--yes", gone}, of...)...)
}
