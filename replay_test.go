package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const idempotencyKey = "Idempotency-Key"

// post creates with an Idempotency-Key.
func (c client) post(t *testing.T, key, body string) answer {
	t.Helper()
	return c.do(t, "POST", collection, body, idempotencyKey, key)
}

// repeats fails unless again is first once more, and says so.
func (again answer) repeats(t *testing.T, first answer) {
	t.Helper()
	if again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("which is the first of %v and %v?", first.header, again.header)
	}
	x, y := maps.Clone(first.header), maps.Clone(again.header)
	for _, name := range []string{"Date", "X-Request-Id", "Idempotency-Replayed"} {
		x.Del(name)
		y.Del(name)
	}
	if again.status != first.status || again.body != first.body || fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("first %d %v %s, then %d %v %s", first.status, x, first.body, again.status, y, again.body)
	}
}

// TestReplay: the same create once more is answered as it was, whatever has
// become of the record, and makes none.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.post(t, "a1", ana).wants(t, 201)
	path := first.header.Get("Location")
	if first.tagOf(t, false) != s.do(t, "GET", path, "").tagOf(t, false) {
		t.Error("the tag is not the record's")
	}
	again := func() { t.Helper(); s.post(t, "a1", ana).repeats(t, first) }
	again()
	s.post(t, `"a1"`, ana).repeats(t, first) // as the draft writes it
	s.do(t, "PUT", path, `{"firstName":"Eva","lastName":"B"}`).wants(t, 200)
	again()
	s.do(t, "DELETE", path, "").wants(t, 204)
	again()
	for _, other := range []string{ana + " ", `{"firstName":"Eva","lastName":"B"}`, `{}`, `x`} {
		if a := s.post(t, "a1", other).wants(t, 422); a.header.Get("Location")+a.header.Get("ETag") != "" {
			t.Errorf("422 with %v", a.header)
		}
	}
	s.stop(t)
	startOn(t, s.db).as(s.key).post(t, "a1", ana).repeats(t, first)
	if changes := historyOf(t, s.db, "default"); len(changes) != 3 {
		t.Errorf("%d changes, not 3", len(changes))
	}
}

// TestReplayScope: an Idempotency-Key means something to one API key only.
func TestReplayScope(t *testing.T) {
	t.Parallel()
	s := start(t)
	second := s.as(newKey(t, s.db, "default"))
	other := s.as(newKey(t, s.db, "other"))
	reader := s.as(newKey(t, s.db, "default", "--scope", "read"))
	ids := map[string]bool{}
	for _, c := range []client{other, second, s.client} {
		for _, key := range []string{"a", "A", `"b"`} {
			first := c.post(t, key, ana).wants(t, 201)
			c.post(t, key, ana).repeats(t, first)
			ids[first.header.Get("Location")] = true
		}
	}
	s.do(t, "POST", collection, ana).wants(t, 201)
	if mine, theirs := s.list(t, "").TotalCount, other.list(t, "").TotalCount; len(ids) != 9 || mine != 7 || theirs != 3 {
		t.Errorf("%d ids, %d and %d records", len(ids), mine, theirs)
	}
	reader.post(t, "a", ana).wants(t, 403)
	s.as("").post(t, "a", ana).wants(t, 401)
	path := collection + "/" + s.create(t, ana)
	for range 2 { // it is for POST alone
		a := s.do(t, "PUT", path, ana, idempotencyKey, "a").wants(t, 200)
		if a.header.Get("Idempotency-Replayed") != "" {
			t.Error("a PUT was replayed")
		}
	}
	s.do(t, "DELETE", path, "", idempotencyKey, "a").wants(t, 204)
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	x255 := strings.Repeat("x", 255)
	for _, good := range []string{"x", "8e03978e-40d5-43dd-bc93-6894a57f9324", x255, `"` + x255[1:] + `"`, "a,b;c=1", "!#'()~", "  padded\t", `"my key"`, `"a\"b"`, `"a\\b"`} {
		first := s.post(t, good, ana).wants(t, 201)
		s.post(t, good, ana).repeats(t, first)
	}
	before := s.list(t, "").TotalCount
	for _, bad := range []string{"", `""`, `"`, `"a`, `a"`, `"a"b`, "a b", "a\tb", `a\b`, `"a\b"`, "é", x255 + "x", `"` + x255 + `x"`} {
		if a := s.post(t, bad, ana).wants(t, 400); a.faults(t) != "Idempotency-Key invalid" {
			t.Errorf("%q: %s", bad, a.body)
		}
	}
	s.do(t, "POST", collection, ana, idempotencyKey, "a", idempotencyKey, "a").wants(t, 400)
	if s.list(t, "").TotalCount != before {
		t.Error("a refused create has made a record")
	}
}

// TestAttemptsOfOthers: attempts of two API keys are not taken for one, though
// their numbers and Idempotency-Keys, written one after the other, are the same.
func TestAttemptsOfOthers(t *testing.T) {
	t.Parallel()
	var as attempts
	end, ok := as.begin(attempt{by: 1, key: "23"})
	if _, again := as.begin(attempt{by: 1, key: "23"}); !ok || again {
		t.Errorf("begun: %t, and again: %t", ok, again)
	}
	for _, other := range []attempt{{by: 12, key: "3"}, {by: 1, key: "2"}, {by: 1, key: " 23"}} {
		if _, ok := as.begin(other); !ok {
			t.Errorf("key %d with %q collides", other.by, other.key)
		}
	}
	end()
	if _, ok := as.begin(attempt{by: 1, key: "23"}); !ok {
		t.Error("it does not end")
	}
}

// TestDamagedReplay: a kept answer that is not what the service wrote is not
// given again.
func TestDamagedReplay(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{`answer = replace(answer, 'Ana', 'Anb')`, `record_id = '` + nobody + `'`, `checksum = checksum + 1`} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.mayFail = true
			first := s.post(t, "k", ana).wants(t, 201)
			s.post(t, "k", ana).repeats(t, first)
			execSQL(t, s.db, `UPDATE replays SET `+damage)
			if a := s.post(t, "k", ana).wants(t, 500); a.header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%v", a.header)
			}
			if l := s.list(t, ""); l.TotalCount != 1 {
				t.Errorf("%d records", l.TotalCount)
			}
		})
	}
}

// TestRefusalsAreNotKept: the key of a create that was refused may be used
// again for the create as it should have been.
func TestRefusalsAreNotKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	for status, body := range map[int]string{400: `{}`, 413: largeBody(maxBody + 1)} {
		key := fmt.Sprint("k", status)
		s.post(t, key, body).wants(t, status)
		s.post(t, key, body).wants(t, status)
		s.post(t, key, ana).wants(t, 201)
		s.post(t, key, body).wants(t, map[int]int{400: 422, 413: 413}[status])
	}
	s.do(t, "POST", collection, ana, idempotencyKey, "k415", "Content-Type", "text/plain").wants(t, 415)
	s.post(t, "k415", ana).wants(t, 201)
	s.post(t, "kx", `{"firstName":"`+x100+`x","lastName":"B"}`).wants(t, 400) // which the store refuses
	s.post(t, "kx", ana).wants(t, 201)
}

// TestInFlightCopies: while a create is under way a copy of it is told to
// wait, and nobody else.
func TestInFlightCopies(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	store := s.server.store
	var keys []client
	for range 12 {
		keys = append(keys, s.as(storeKey(t, store, time.Time{})))
	}
	one, twelve := keys[0], keys[11]
	held, release := make(chan bool), make(chan bool)
	let := sync.OnceFunc(func() { close(release) })
	defer let()
	var running sync.WaitGroup
	running.Go(func() {
		must(t, store.write(func(*transaction) error {
			close(held)
			<-release
			return nil
		}))
	})
	<-held
	answers := make(chan answer, 3)
	sent := func(c client, key string) {
		running.Go(func() {
			a, err := c.try(t, "POST", collection, strings.NewReader(ana), idempotencyKey, key)
			if err != nil || a.status != 201 {
				t.Errorf("%d %s %v", a.status, a.body, err)
			}
			answers <- a
		})
	}
	inFlight := func() int {
		s.server.attempts.mu.Lock()
		defer s.server.attempts.mu.Unlock()
		return len(s.server.attempts.inFlight)
	}
	for i, other := range []struct {
		c   client
		key string
	}{{one, "2x"}, {twelve, "x"}, {one, "x"}} { // which are not the same
		sent(other.c, other.key)
		eventually(t, "a create to be under way", func() bool { return inFlight() == i+1 })
	}
	for _, body := range []string{ana, `{}`} {
		a := one.post(t, "x", body).wants(t, 409)
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%v", a.header)
		}
	}
	let()
	running.Wait()
	one.post(t, "x", `{}`).wants(t, 422)
	again := one.post(t, "x", ana).wants(t, 201)
	if again.header.Get("Idempotency-Replayed") != "true" || inFlight() != 0 || one.list(t, "").TotalCount != 3 {
		t.Errorf("%v, in flight: %d", again.header, inFlight())
	}
}

// TestCopiesAtOnce: of many copies of one create, sent at once, one makes the
// record; the others are told of it or to wait.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	const rounds, copies = 40, 8
	for round := range rounds {
		var running sync.WaitGroup
		var firsts atomic.Int64
		var bodies sync.Map
		for range copies {
			running.Go(func() {
				a, err := s.try(t, "POST", collection, strings.NewReader(ana), idempotencyKey, fmt.Sprint("round", round))
				switch {
				case err != nil || a.status != 201 && a.status != 409:
					t.Errorf("%d %s %v", a.status, a.body, err)
				case a.status == 201:
					if bodies.Store(a.body, true); a.header.Get("Idempotency-Replayed") == "" {
						firsts.Add(1)
					}
				}
			})
		}
		running.Wait()
		different := 0
		bodies.Range(func(any, any) bool { different++; return true })
		if total := s.list(t, "").TotalCount; firsts.Load() != 1 || different != 1 || total != int64(round+1) {
			t.Fatalf("round %d: %d made it, %d different answers, %d records", round, firsts.Load(), different, total)
		}
	}
}

// TestReplayExpiry: after a day the key is as good as new.
func TestReplayExpiry(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	now.Store(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), func() time.Time { return time.UnixMilli(now.Load()) })
	store := s.server.store
	c := s.as(storeKey(t, store, time.Time{}))
	kept := func() (n int64) {
		must(t, store.read(func(c *conn) (err error) { n, err = c.queryNumber(`SELECT count(*) FROM replays`); return err }))
		return n
	}
	first := c.post(t, "a", ana).wants(t, 201)
	now.Add((24*time.Hour - time.Millisecond).Milliseconds())
	c.post(t, "b", ana).wants(t, 201)
	c.post(t, "a", ana).repeats(t, first)
	if must(t, store.clearAnswers(t.Context())); kept() != 2 {
		t.Errorf("%d answers are kept, not 2", kept())
	}
	now.Add(1)
	second := c.post(t, "a", `{"firstName":"Eva","lastName":"B"}`).wants(t, 201)
	if second.header.Get("Location") == first.header.Get("Location") || kept() != 2 {
		t.Errorf("after a day: %v, %d answers kept", second.header, kept())
	}
	c.post(t, "a", ana).wants(t, 422)
	now.Add((24*time.Hour - time.Millisecond).Milliseconds())
	if must(t, store.clearAnswers(t.Context())); kept() != 1 {
		t.Errorf("%d answers are kept, not 1", kept())
	}
	c.post(t, "a", ana).wants(t, 422)
	now.Add(1)
	if must(t, store.clearAnswers(t.Context())); kept() != 0 || c.list(t, "").TotalCount != 3 {
		t.Errorf("%d answers are kept, not 0", kept())
	}
}

// watchedContext does something whenever it is asked whether it has ended.
type watchedContext struct {
	context.Context
	asked func()
}

func (c watchedContext) Err() error { c.asked(); return c.Context.Err() }

const oldAnswersSQL = `
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
	INSERT INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer, checksum)
	SELECT 1, 'old' || i, 1, 1000 + i, x'00', 'none', '{}', 0 FROM n`

// TestAnswersAreCleared: old answers go some at a time, so that others may
// write in between, and a server does it by itself.
func TestAnswersAreCleared(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	store := s.server.store
	fill := func(t *transaction) error { _, err := t.exec(oldAnswersSQL); return err }
	must(t, store.write(fill))
	s.as(storeKey(t, store, time.Time{})).post(t, "new", ana).wants(t, 201)
	var left []int64
	watched := watchedContext{t.Context(), func() {
		must(t, store.read(func(c *conn) error {
			n, err := c.queryNumber(`SELECT count(*) FROM replays`)
			left = append(left, n)
			return err
		}))
	}}
	if must(t, store.clearAnswers(watched)); !slices.Equal(left, []int64{1201, 701, 201}) {
		t.Errorf("answers before each step: %v", left)
	}
	must(t, store.write(fill))
	path := s.path(t)
	s.close()
	running := startOn(t, path)
	eventually(t, "the old answers to be erased", func() bool {
		var n int
		scanSQL(t, running.db, `SELECT count(*) FROM replays`, &n)
		return n == 1
	})
}

// TestReplayAfterKill: creates that are sent again and again while the program
// is killed, again and again, make one record each.
func TestReplayAfterKill(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, c := startProcess(t, db)
	const clients = 8
	var mu sync.Mutex
	made := map[string]string{} // the bodies of answers, by Idempotency-Key
	for run := range 3 {
		var running sync.WaitGroup
		for i := range clients {
			running.Go(func() {
				for n := 0; ; n++ {
					key := fmt.Sprintf("%d-%d", i, n)
					a, err := c.try(t, "POST", collection, strings.NewReader(ana), idempotencyKey, key)
					if err != nil {
						return // killed; the next run begins with all of these again
					}
					mu.Lock()
					if known := made[key]; a.status != 201 || known != "" && known != a.body {
						t.Errorf("%s: %d %s, before that %s", key, a.status, a.body, known)
					}
					made[key] = a.body
					mu.Unlock()
				}
			})
		}
		eventually(t, "some more creates", func() bool { mu.Lock(); defer mu.Unlock(); return len(made) > 60*(run+1) })
		must(t, cmd.Process.Kill())
		cmd.Wait()
		running.Wait()
		key := c.key
		cmd, c = startProcess(t, db)
		c.key = key
	}
	for i := range clients { // what was under way when it was killed for the last time
		n := 0
		for ; made[fmt.Sprintf("%d-%d", i, n)] != ""; n++ {
		}
		key := fmt.Sprintf("%d-%d", i, n)
		made[key] = c.post(t, key, ana).wants(t, 201).body
	}
	different := map[string]bool{}
	for _, body := range made {
		different[body] = true
	}
	if total := c.list(t, "").TotalCount; total != int64(len(made)) || len(different) != len(made) {
		t.Errorf("%d records and %d answers to %d creates", total, len(different), len(made))
	}
}

// TestReplayAfterPurge: what was erased for good is in no kept answer.
func TestReplayAfterPurge(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, other := s.post(t, "a", ana).wants(t, 201), s.post(t, "b", ana).wants(t, 201)
	path := first.header.Get("Location")
	s.do(t, "DELETE", path, "").wants(t, 204)
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", strings.TrimPrefix(path, collection+"/"))
	var kept int
	if scanSQL(t, s.db, `SELECT count(*) FROM replays`, &kept); kept != 1 {
		t.Errorf("%d answers are kept, not 1", kept)
	}
	s.post(t, "b", ana).repeats(t, other)
	anew := s.post(t, "a", ana).wants(t, 201)
	if anew.header.Get("Idempotency-Replayed") != "" || anew.header.Get("Location") == path {
		t.Errorf("%v", anew.header)
	}
}
