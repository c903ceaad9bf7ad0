package acceptance

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// longWait is the wait in seconds of requests that a change must end. No test takes that long.
const longWait = 60

// awaiting is a request that waits for changes on a separate connection.
type awaiting struct {
	began  time.Time
	answer chan answer // closed without an answer if the connection ends
	leave  func()
}

// await sends a request that waits for changes after a position.
func (c client) await(t *testing.T, after string, seconds int) awaiting {
	t.Helper()
	conn := c.dial(t)
	a := awaiting{time.Now(), make(chan answer, 1), func() { conn.Close() }}
	_, err := fmt.Fprintf(conn, "GET %s?after=%s&wait=%d HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", changesPath, after, seconds, c.key)
	must(t, err)
	go func() {
		defer close(a.answer)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return
		}
		if read, err := readAnswer(response); err == nil {
			a.answer <- read
		}
	}()
	return a
}

// gets returns the answer, which must come before the end of a long wait.
func (a awaiting) gets(t *testing.T, status int) answer {
	t.Helper()
	got, ok := <-a.answer
	if took := time.Since(a.began); !ok || took >= longWait*time.Second {
		t.Fatalf("answered %t, after %v", ok, took)
	}
	got.check(t, "GET")
	return got.wants(t, status)
}

// getsItems checks the number of changes in the answer.
func (a awaiting) getsItems(t *testing.T, want int) (next string) {
	t.Helper()
	var feed wireFeed
	decode(t, a.gets(t, 200).body, &feed)
	if len(feed.Items) != want || feed.More {
		t.Errorf("%d changes, want %d: %+v", len(feed.Items), want, feed)
	}
	return feed.Next
}

// stillWaits checks that there is no answer yet. It also gives the service time to receive all earlier
// requests.
func (a awaiting) stillWaits(t *testing.T) {
	t.Helper()
	select {
	case got := <-a.answer:
		t.Fatalf("answered: %d %s", got.status, got.body)
	case <-time.After(100 * time.Millisecond):
	}
}

// TestWaitForChanges checks that exactly the changes of the department end a wait, whichever process
// makes them.
func TestWaitForChanges(t *testing.T) {
	t.Parallel()
	s := start(t, "--rate-limit", "1000")
	other := s.as(newKey(t, s.db, "other"))
	start := s.changes(t, "", 1000).Next
	one, two, foreign := s.await(t, start, longWait), s.await(t, "", longWait), other.await(t, "", longWait)
	foreign.stillWaits(t)
	id := s.create(t, ana)
	next := one.getsItems(t, 1)
	two.getsItems(t, 1)
	foreign.stillWaits(t)
	one = s.await(t, next, longWait)
	one.stillWaits(t)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent'`) // not part of the changes
	people := filepath.Join(t.TempDir(), "people.csv")
	must(t, os.WriteFile(people, []byte(csvOf(3)), 0o600))
	works(t, "import", people, "--apply", "--tenant", "default", "--db", s.db)
	next = one.getsItems(t, 3)
	one = s.await(t, next, longWait)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	next = one.getsItems(t, 1)
	one = s.await(t, next, longWait)
	one.stillWaits(t)
	works(t, "undelete", id, "--db", s.db, "--tenant", "default")
	next = one.getsItems(t, 1)
	s.await(t, start, longWait).getsItems(t, 6) // changes already exist
	foreign.stillWaits(t)
	foreign.leave()
	began := time.Now()
	if last := s.await(t, next, 1).getsItems(t, 0); last != next || time.Since(began) < time.Second {
		t.Errorf("without a change: next %s, want %s, after %v", last, next, time.Since(began))
	}
}

// TestWaitParameter checks that wait must be a whole number of seconds and applies only to GET, and that
// an invalid position is rejected at once.
func TestWaitParameter(t *testing.T) {
	t.Parallel()
	s := start(t)
	for query, want := range map[string]string{"wait=-1": "wait out_of_range", "wait=x": "wait invalid", "wait=1.5": "wait invalid",
		"wait=1&wait=2": "wait duplicate", "wait=PT1S": "wait invalid"} {
		if got := s.do(t, "GET", changesPath+"?"+query, "").wants(t, 400).faults(t); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	began := time.Now()
	for _, query := range []string{"", "wait=", "wait=0"} {
		s.do(t, "GET", changesPath+"?"+query, "").wants(t, 200)
	}
	s.do(t, "HEAD", changesPath+"?wait=60", "").wants(t, 200)
	if p := s.do(t, "GET", changesPath+"?wait=60&after=x", "").wants(t, 410).problem(t); p.Code != "position" {
		t.Errorf("%+v", p)
	}
	s.as("ff_wrong").do(t, "GET", changesPath+"?wait=60", "").wants(t, 401)
	s.create(t, ana)
	for _, wait := range []string{"1", "60", "61", "99999999999999999999"} {
		s.do(t, "GET", changesPath+"?wait="+wait, "").wants(t, 200)
	}
	if took := time.Since(began); took >= longWait*time.Second {
		t.Errorf("some requests waited: %v", took)
	}
}

// TestWaitOfKey checks that a waiting request gets no changes if its key has been revoked or has expired.
func TestWaitOfKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	revoked, expired := s.as(newKey(t, s.db, "default")), s.as(newKey(t, s.db, "default", "--expires", "1y"))
	one, two, three := revoked.await(t, "", longWait), expired.await(t, "", longWait), s.await(t, "", longWait)
	three.stillWaits(t)
	works(t, "keys", "revoke", "2", "--db", s.db)
	execSQL(t, s.db, `UPDATE keys SET expires_at = 1 WHERE id = 3`)
	s.create(t, ana)
	if p := one.gets(t, 401).problem(t); p.Code != "key_revoked" {
		t.Errorf("%+v", p)
	}
	if p := two.gets(t, 401).problem(t); p.Code != "key_expired" {
		t.Errorf("%+v", p)
	}
	three.getsItems(t, 1)
}
