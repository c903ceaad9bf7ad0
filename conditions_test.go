package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// tagOf gives the one entity tag of an answer, which is strong or weak.
func (a answer) tagOf(t *testing.T, weak bool) string {
	t.Helper()
	tags := a.header["Etag"]
	if len(tags) != 1 || strings.HasPrefix(tags[0], `W/"`) != weak || !strings.HasSuffix(tags[0], `"`) {
		t.Fatalf("the entity tags of %d are %q", a.status, tags)
	}
	return tags[0]
}

// TestETags: the tag is of what is answered, whoever answers it.
func TestETags(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.do(t, "POST", collection, ana).wants(t, 201)
	path, first := made.header.Get("Location"), made.tagOf(t, false)
	same := func(about, want string) {
		t.Helper()
		for _, method := range []string{"GET", "HEAD"} {
			if got := s.do(t, method, path, "").wants(t, 200).tagOf(t, false); got != want {
				t.Errorf("%s: %s gives %s, not %s", about, method, got, want)
			}
		}
	}
	same("created", first)
	if again := s.do(t, "PUT", path, ana).wants(t, 200).tagOf(t, false); again != first {
		t.Errorf("the same once more has the tag %s, not %s", again, first)
	}
	second := s.do(t, "PUT", path, `{"firstName":"Eva","lastName":"B"}`).wants(t, 200).tagOf(t, false)
	same("replaced", second)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent'`)
	third := s.do(t, "GET", path, "").tagOf(t, false)
	same("changed by the platform", third)
	if first == second || second == third || first == third {
		t.Errorf("tags %s, %s, %s of what is not the same", first, second, third)
	}
	if back := s.do(t, "PUT", path, ana).wants(t, 200).tagOf(t, false); back == first {
		t.Error("PUT does not count what the platform has written")
	}
	if other := s.do(t, "POST", collection, ana).tagOf(t, false); other == first {
		t.Error("two records have one tag")
	}
	last := s.do(t, "GET", path, "").tagOf(t, false)
	s.stop(t)
	if again := startOn(t, s.db).as(s.key).do(t, "GET", path, "").tagOf(t, false); again != last {
		t.Errorf("after a restart the tag is %s, not %s", again, last)
	}
}

// TestIfMatch: TAG stands for the tag that the record has.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct {
		match  string
		status int // 0 is success
	}{
		{`TAG`, 0},
		{`*`, 0},
		{` * `, 0},
		{`"x", TAG`, 0},
		{`"x",TAG,W/"y"`, 0},
		{`,, "a,b" , TAG ,`, 0},
		{`"é", TAG`, 0},
		{`"x"`, 412},
		{`W/TAG`, 412},
		{`"x", W/TAG`, 412},
		{`""`, 412},
		{`"*"`, 412},
		{`,`, 412},
		{`x`, 400},
		{`TAG TAG`, 400},
		{`TAGx`, 400},
		{`"x`, 400},
		{`"`, 400},
		{`"x y"`, 400},
		{`w/TAG`, 400},
		{`W/ TAG`, 400},
		{`W/*`, 400},
		{`*, TAG`, 400},
		{`TAG, *`, 400},
		{`**`, 400},
		{"'x'", 400},
	}
	for _, method := range []string{"PUT", "DELETE", "GET", "HEAD"} {
		for _, tt := range tests {
			t.Run(method+" "+tt.match, func(t *testing.T) { s.checkIfMatch(t, method, tt.match, tt.status) })
		}
	}
	t.Run("two headers", func(t *testing.T) {
		made := s.do(t, "POST", collection, ana)
		path := made.header.Get("Location")
		s.do(t, "PUT", path, ana, "If-Match", `"x"`, "If-Match", made.tagOf(t, false)).wants(t, 200)
		s.do(t, "PUT", path, ana, "If-Match", `"x"`, "If-Match", `"y"`).wants(t, 412)
		s.do(t, "PUT", path, ana, "If-Match", `*`, "If-Match", `*`).wants(t, 400)
	})
}

func (s *service) checkIfMatch(t *testing.T, method, match string, status int) {
	made := s.do(t, "POST", collection, ana).wants(t, 201)
	path := made.header.Get("Location")
	before, counted := s.do(t, "GET", path, "").body, s.contentOf(t)
	a := s.do(t, method, path, `{"firstName":"Eva","lastName":"B"}`, "If-Match", strings.ReplaceAll(match, "TAG", made.tagOf(t, false)))
	if status == 0 {
		a.wants(t, map[string]int{"PUT": 200, "DELETE": 204, "GET": 200, "HEAD": 200}[method])
		return
	}
	if a.wants(t, status); status == 400 && method != "HEAD" && a.faults(t) != "If-Match invalid" {
		t.Errorf("faults: %s", a.faults(t))
	}
	if after := s.do(t, "GET", path, "").body; after != before || s.contentOf(t) != counted {
		t.Errorf("refused, and yet %s became %s", before, after)
	}
}

// contentOf is all that a write changes, in numbers.
func (s *service) contentOf(t *testing.T) string {
	t.Helper()
	var content string
	scanSQL(t, s.db, `SELECT (SELECT count(*) FROM changes) || ' ' || (SELECT sum(updated_at) FROM firefighters) || ' ' ||
		(SELECT sum(version) FROM tenants)`, &content)
	return content
}

// TestIfNoneMatch: who has the newest is told so, and nothing else.
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
		{"W/" + tag, 304, 412},
		{`"x", W/"y",` + tag, 304, 412},
		{`*`, 304, 412},
		{`"x"`, 200, 200},
		{`W/"x"`, 200, 200},
		{`,`, 200, 200},
		{`x`, 400, 400},
		{`*,"x"`, 400, 400},
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

// TestConditionOrder: a request that would be refused without its conditions
// is refused for that.
func TestConditionOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	reader := s.as(newKey(t, s.db, "default", "--scope", "read"))
	other := s.as(newKey(t, s.db, "other"))
	id := s.create(t, ana)
	one, gone := collection+"/"+id, collection+"/"+nobody
	for _, header := range []string{`"x"`, `*`, `bad`} {
		on := func(c client, method, path, body string, status int) {
			t.Helper()
			c.do(t, method, path, body, "If-Match", header).wants(t, status)
		}
		missing, bad := 404, 412
		switch header {
		case "bad":
			missing, bad = 400, 400
		case "*":
			bad = 200
		}
		for _, method := range []string{"PUT", "DELETE", "GET", "HEAD"} {
			on(s.as(""), method, one, ana, 401)
			on(s.as("x"), method, gone, "x", 401)
			on(s.client, method, gone, ana, missing)
			on(other, method, one, ana, missing)
			on(s.client, method, collection+"/x", ana, 400)
		}
		on(reader, "PUT", one, "x", 403)
		on(reader, "DELETE", gone, "", 403)
		on(s.client, "PUT", gone, `{}`, 400)
		on(s.client, "PUT", one, `{}`, 400)
		on(s.client, "PUT", one, `x`, 400)
		on(s.client, "PUT", one, ana, bad)
	}
}

// TestEditors: of many who edit one record, each by what it has read, nobody
// undoes another's change.
func TestEditors(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"A","lastName":"B","phoneNumber":"0"}`)
	path, countedForm := collection+"/"+id, `{"id":"`+id+`","firstName":"A","lastName":"B","phoneNumber":"%d"`
	const editors, each = 16, 10
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
		t.Errorf("%s changes are left of %s", *f.PhoneNumber, want)
	}
	if changes := historyOf(t, s.db, "default"); len(changes) != 1+editors*each {
		t.Errorf("the history tells of %d changes", len(changes))
	}
}

// TestDamagedMatch: a damaged record has no tag to read, and * replaces it.
func TestDamagedMatch(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	c := s.as(storeKey(t, s.server.store, time.Time{}))
	made := c.do(t, "POST", collection, ana)
	path := made.header.Get("Location")
	must(t, s.server.store.write(func(t *transaction) error {
		_, err := t.exec(`UPDATE firefighters SET first_name = 'Damaged'`)
		return err
	}))
	c.do(t, "GET", path, "", "If-None-Match", made.tagOf(t, false)).wants(t, 500)
	c.do(t, "PUT", path, ana, "If-Match", made.tagOf(t, false)).wants(t, 412)
	c.do(t, "PUT", path, ana, "If-Match", "*").wants(t, 200)
}

func TestParseETags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: `[]`, ` ,`: `[]`, `*`: `[*]`, `"*"`: `["*"]`, `"a" , W/"b,c"`: `["a" W/"b,c"]`, "\"\x80\"": "[\"\x80\"]",
	} {
		if list, ok := parseETags(text); !ok || fmt.Sprint(list) != want {
			t.Errorf("%q is %v, %t", text, list, ok)
		}
	}
	for _, text := range []string{"\"a\x01\"", "\"a\tb\"", "\"\x7f\"", `W/`, `W/"`, `"a"W/"b"`, `*,*`} {
		if list, ok := parseETags(text); ok {
			t.Errorf("%q is %v", text, list)
		}
	}
}

// FuzzParseETags: what is read is entity tags, and read again is the same.
func FuzzParseETags(f *testing.F) {
	for _, seed := range []string{``, `*`, `"a"`, `W/"a", "b"`, `"a,b",,`, `"`, `W/`, "\"\x80\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := parseETags(text)
		if !ok {
			return
		}
		for _, tag := range list {
			opaque := strings.TrimPrefix(tag, "W/")
			if tag != anyTag && (len(opaque) < 2 || opaque[0] != '"' || strings.Count(opaque, `"`) != 2 || !strings.HasSuffix(opaque, `"`)) {
				t.Fatalf("%q has %q", text, tag)
			}
			if !list.has(tag, false) || tag != anyTag && list.has(tag, true) == strings.HasPrefix(tag, "W/") {
				t.Fatalf("%q has and has not %q", text, tag)
			}
		}
		again, ok := parseETags(strings.Join(list, ", "))
		if !ok || fmt.Sprint(again) != fmt.Sprint(list) {
			t.Fatalf("%q is %q, then %q", text, list, again)
		}
	})
}
