package acceptance

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tagOf returns the only entity tag of an answer, which must be weak or strong as weak says.
func (a answer) tagOf(t *testing.T, weak bool) string {
	t.Helper()
	tags := a.header["Etag"]
	if len(tags) != 1 || strings.HasPrefix(tags[0], `W/"`) != weak || !strings.HasSuffix(tags[0], `"`) {
		t.Fatalf("entity tags of the %d: %q", a.status, tags)
	}
	return tags[0]
}

// TestETags checks that the tag depends only on the record.
func TestETags(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.do(t, "POST", collection, ana).wants(t, 201)
	path, first := made.header.Get("Location"), made.tagOf(t, false)
	same := func(about, want string) {
		t.Helper()
		for _, method := range []string{"GET", "HEAD"} {
			if got := s.do(t, method, path, "").wants(t, 200).tagOf(t, false); got != want {
				t.Errorf("%s: %s returns the tag %s, want %s", about, method, got, want)
			}
		}
	}
	same("created", first)
	if again := s.do(t, "PUT", path, ana).wants(t, 200).tagOf(t, false); again != first {
		t.Errorf("the tag after an identical PUT is %s, want %s", again, first)
	}
	second := s.do(t, "PUT", path, `{"firstName":"Eva","lastName":"B"}`).wants(t, 200).tagOf(t, false)
	same("replaced", second)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent'`)
	third := s.do(t, "GET", path, "").tagOf(t, false)
	same("changed by the platform", third)
	if first == second || second == third || first == third {
		t.Errorf("tags %s, %s, %s of different states", first, second, third)
	}
	if back := s.do(t, "PUT", path, ana).wants(t, 200).tagOf(t, false); back == first {
		t.Error("the tag after a PUT does not depend on the platform's fields")
	}
	if other := s.do(t, "POST", collection, ana).tagOf(t, false); other == first {
		t.Error("two records have the same tag")
	}
	last := s.do(t, "GET", path, "").tagOf(t, false)
	s.stop(t)
	if again := startOn(t, s.db).as(s.key).do(t, "GET", path, "").tagOf(t, false); again != last {
		t.Errorf("the tag after a restart is %s, want %s", again, last)
	}
}

// TestIfMatch checks that a request whose If-Match fails changes nothing. Package httpapi
// tests all forms of the header.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, method := range []string{"PUT", "PATCH", "DELETE", "GET", "HEAD"} {
		made := s.do(t, "POST", collection, ana).wants(t, 201)
		path, tag := made.header.Get("Location"), made.tagOf(t, false)
		before, counted := s.do(t, "GET", path, "").body, s.contentOf(t)
		for match, status := range map[string]int{`"x"`: 412, `W/"x-gzip"`: 412, `x`: 400} {
			if a := s.do(t, method, path, `{"firstName":"Eva","lastName":"B"}`, "If-Match", match).wants(t, status); status == 400 && method != "HEAD" && a.faults(t) != "If-Match invalid" {
				t.Errorf("faults: %s", a.faults(t))
			}
		}
		if after := s.do(t, "GET", path, "").body; after != before || s.contentOf(t) != counted {
			t.Errorf("%s was rejected, but %s became %s", method, before, after)
		}
		s.do(t, method, path, `{"firstName":"Eva","lastName":"B"}`, "If-Match", `"x",W/`+tag[:len(tag)-1]+`-gzip"`).wants(t, map[bool]int{true: 204, false: 200}[method == "DELETE"])
	}
}

// contentOf returns counters that change with every write.
func (s *testService) contentOf(t *testing.T) string {
	t.Helper()
	var content string
	scanSQL(t, s.db, `SELECT (SELECT count(*) FROM changes) || ' ' || (SELECT total(updated_at) FROM firefighters) || ' ' ||
		(SELECT sum(version) FROM tenants) || ' ' || (SELECT count(*) FROM imports)`, &content)
	return content
}

// TestIfNoneMatch checks that a client that has the newest version receives no body.
func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.do(t, "POST", collection, ana)
	path, tag := made.header.Get("Location"), made.tagOf(t, false)
	for _, tt := range []struct {
		noneMatch         string
		reading, changing int
	}{
		{tag, 304, 412},
		{`"x", W/"y",W/` + tag, 304, 412},
		{tag[:len(tag)-1] + `-br"`, 304, 412},
		{`*`, 304, 412},
		{`"x"`, 200, 200},
		{`x`, 400, 400},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := s.do(t, method, path, "", "If-None-Match", tt.noneMatch).wants(t, tt.reading)
			if tt.reading == 304 && (a.tagOf(t, false) != tag || a.body != "" || a.header.Get("Content-Length") != "" || a.header.Get("Date") == "") {
				t.Errorf("%s If-None-Match: %s: %v %q", method, tt.noneMatch, a.header, a.body)
			}
		}
		s.do(t, "PUT", path, ana, "If-None-Match", tt.noneMatch).wants(t, tt.changing)
	}
	s.do(t, "GET", path, "", "If-Match", `"x"`, "If-None-Match", tag).wants(t, 412)
	s.do(t, "GET", path, "", "If-Match", tag, "If-None-Match", tag).wants(t, 304)
	s.do(t, "GET", path, "", "If-Modified-Since", time.Now().UTC().Format(http.TimeFormat)).wants(t, 200)
	s.do(t, "DELETE", path, "", "If-None-Match", "*").wants(t, 412)
	s.do(t, "DELETE", path, "", "If-Match", tag, "If-None-Match", `"x"`).wants(t, 204)
}

// TestEditors checks that concurrent edits of one record, each with the tag that the client
// read, lose no change.
func TestEditors(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"A","lastName":"B","phoneNumber":"0"}`)
	path, countedForm := collection+"/"+id, `{"id":"`+id+`","firstName":"A","lastName":"B","phoneNumber":"%d"`
	const editors, each = 8, 10
	var running sync.WaitGroup
	for range editors {
		running.Go(func() {
			for done := 0; done < each && !t.Failed(); {
				got, err := s.try(t, "GET", path, nil)
				n := 0
				if _, counted := fmt.Sscanf(got.body, countedForm, &n); err != nil || counted != nil {
					t.Errorf("%d %s %v %v", got.status, got.body, err, counted)
					return
				}
				body := strings.NewReader(fmt.Sprintf(`{"firstName":"A","lastName":"B","phoneNumber":"%d"}`, n+1))
				put, err := s.try(t, "PUT", path, body, "If-Match", got.header.Get("ETag"))
				switch {
				case err == nil && put.status == 200:
					done++
				case err != nil || put.status != 412:
					t.Errorf("%d %s %v", put.status, put.body, err)
				}
			}
		})
	}
	running.Wait()
	var f wireRecord
	decode(t, s.do(t, "GET", path, "").body, &f)
	if want := fmt.Sprint(editors * each); *f.PhoneNumber != want {
		t.Errorf("the record counts %s changes, want %s", *f.PhoneNumber, want)
	}
	if changes := historyOf(t, s.db, "default"); len(changes) != 1+editors*each {
		t.Errorf("the history has %d changes", len(changes))
	}
}

const idempotencyKey = "Idempotency-Key"

// post creates a record with an Idempotency-Key.
func (c client) post(t *testing.T, key, body string) answer {
	t.Helper()
	return c.do(t, "POST", collection, body, idempotencyKey, key)
}

// repeats checks that again repeats the first answer and is marked as a replay.
func (again answer) repeats(t *testing.T, first answer) {
	t.Helper()
	if again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("Idempotency-Replayed is wrong in the headers %v and %v", first.header, again.header)
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

// TestRepeatedCreate checks that a repeated create returns the first answer and creates
// nothing, even if the record has changed since.
func TestRepeatedCreate(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.post(t, "a1", ana).wants(t, 201)
	path := first.header.Get("Location")
	if first.tagOf(t, false) != s.do(t, "GET", path, "").tagOf(t, false) {
		t.Error("the tag differs from the tag of the record")
	}
	again := func() { t.Helper(); s.post(t, "a1", ana).repeats(t, first) }
	again()
	s.post(t, `"a1"`, ana).repeats(t, first) // the form in the draft of the RFC
	s.do(t, "PUT", path, `{"firstName":"Eva","lastName":"B"}`).wants(t, 200)
	again()
	s.do(t, "DELETE", path, "").wants(t, 204)
	again()
	for _, other := range []string{ana + " ", `{"firstName":"Eva","lastName":"B"}`, `{}`, `x`} {
		if a := s.post(t, "a1", other).wants(t, 422); a.header.Get("Location")+a.header.Get("ETag") != "" {
			t.Errorf("the 422 has the headers %v", a.header)
		}
	}
	s.stop(t)
	startOn(t, s.db).as(s.key).post(t, "a1", ana).repeats(t, first)
	if changes := historyOf(t, s.db, "default"); len(changes) != 3 {
		t.Errorf("%d changes, want 3", len(changes))
	}
}

// TestKeysApart checks that an Idempotency-Key applies to one API key only, and to creates
// only.
func TestKeysApart(t *testing.T) {
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
	if records, otherRecords := s.list(t, "").TotalCount, other.list(t, "").TotalCount; len(ids) != 9 || records != 7 || otherRecords != 3 {
		t.Errorf("%d ids, %d and %d records", len(ids), records, otherRecords)
	}
	reader.post(t, "a", ana).wants(t, 403)
	s.as("").post(t, "a", ana).wants(t, 401)
	path := collection + "/" + s.create(t, ana)
	for range 2 {
		a := s.do(t, "PUT", path, ana, idempotencyKey, "a").wants(t, 200)
		if a.header.Get("Idempotency-Replayed") != "" {
			t.Error("a PUT returned a stored answer")
		}
	}
	s.do(t, "DELETE", path, "", idempotencyKey, "a").wants(t, 204)
}

// TestRefusedCreate checks that the key of a rejected create can be used again.
func TestRefusedCreate(t *testing.T) {
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
	s.post(t, "kx", `{"firstName":"`+x100+`x","lastName":"B"}`).wants(t, 400)
	s.post(t, "kx", ana).wants(t, 201)
}

// TestCopiesInFlight checks that a copy of a create in progress must wait, and other requests
// do not.
func TestCopiesInFlight(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	second := s.as(newKey(t, s.db, "default"))
	unlock := lockForWriting(t, s.db) // keeps creates waiting
	answers := make(chan answer, 4)
	send := func(c client, key string) {
		go func() {
			a, err := c.try(t, "POST", collection, strings.NewReader(ana), idempotencyKey, key)
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
	}
	send(s.client, "a")
	send(s.client, "a")
	if a := (<-answers).wants(t, 409); a.header.Get("Retry-After") == "" {
		t.Errorf("%v", a.header)
	}
	send(s.client, "b")
	send(second, "a")
	s.post(t, "a", `{}`).wants(t, 409)
	unlock()
	for range 3 {
		(<-answers).wants(t, 201)
	}
	s.post(t, "a", `{}`).wants(t, 422)
	if again := s.post(t, "a", ana).wants(t, 201); again.header.Get("Idempotency-Replayed") != "true" || s.list(t, "").TotalCount != 3 {
		t.Errorf("%v, %d records", again.header, s.list(t, "").TotalCount)
	}
}

// TestImportsInFlight checks that a copy of an import in progress must wait.
func TestImportsInFlight(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	unlock := lockForWriting(t, s.db) // keeps the import waiting
	answers := make(chan answer, 2)
	for range 2 {
		go func() {
			a, err := s.try(t, "POST", importsPath+"?apply=true", strings.NewReader(csvOf(2)), idempotencyKey, "a")
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
	}
	if a := (<-answers).wants(t, 409); a.header.Get("Retry-After") == "" || a.problem(t).Code != "in_flight" {
		t.Errorf("%v %s", a.header, a.body)
	}
	s.post(t, "a", ana).wants(t, 409)
	unlock()
	(<-answers).wants(t, 201)
	if total := s.list(t, "").TotalCount; total != 2 {
		t.Errorf("%d people", total)
	}
}

// TestCopiesAtOnce sends many copies of a create at the same time. It checks that one creates the
// record, and that the others return its answer or must wait.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	const rounds, copies = 15, 8
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
			t.Fatalf("round %d: %d creates, %d different answers, %d records", round, firsts.Load(), different, total)
		}
	}
}

// TestOldResponsesAreErased checks that a server deletes old stored responses.
func TestOldResponsesAreErased(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.post(t, "new", ana).wants(t, 201)
	s.stop(t)
	execSQL(t, s.db, `
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
		INSERT INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer)
		SELECT 1, 'old' || i, 1, 1000 + i, x'00', 'none', '{}' FROM n`)
	again := startOn(t, s.db)
	eventually(t, "the old responses to be deleted", func() bool {
		var n int
		scanSQL(t, again.db, `SELECT count(*) FROM replays`, &n)
		return n == 1
	})
	again.as(s.key).post(t, "new", ana).repeats(t, first)
}

// TestRepeatsAfterKill checks that creates that are repeated while the program is killed
// several times create one record each.
func TestRepeatsAfterKill(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	cmd, c := startProcess(t, db)
	const clients = 4
	var mu sync.Mutex
	bodies := map[string]string{} // the bodies of answers, by Idempotency-Key
	for run := range 2 {
		var running sync.WaitGroup
		for i := range clients {
			running.Go(func() {
				for n := 0; ; n++ {
					key := fmt.Sprintf("%d-%d", i, n)
					a, err := c.try(t, "POST", collection, strings.NewReader(ana), idempotencyKey, key)
					if err != nil {
						return // killed; the next run repeats all of these
					}
					mu.Lock()
					if known := bodies[key]; a.status != 201 || known != "" && known != a.body {
						t.Errorf("%s: %d %s, previously %s", key, a.status, a.body, known)
					}
					bodies[key] = a.body
					mu.Unlock()
				}
			})
		}
		eventually(t, "some more creates", func() bool { mu.Lock(); defer mu.Unlock(); return len(bodies) > 40*(run+1) })
		must(t, cmd.Process.Kill())
		cmd.Wait()
		running.Wait()
		key := c.key
		cmd, c = startProcess(t, db)
		c.key = key
	}
	different := map[string]bool{}
	for i := range clients {
		for n, last := 0, false; !last; n++ { // the last one was in flight when the program was killed
			key := fmt.Sprintf("%d-%d", i, n)
			known, body := bodies[key], c.post(t, key, ana).wants(t, 201).body
			if last = known == ""; !last && body != known {
				t.Errorf("%s: %s, previously %s", key, body, known)
			}
			bodies[key], different[body] = body, true
		}
	}
	if total := c.list(t, "").TotalCount; total != int64(len(bodies)) || len(different) != len(bodies) {
		t.Errorf("%d records and %d answers to %d creates", total, len(different), len(bodies))
	}
}
