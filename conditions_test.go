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

// TestListTag: it changes with any change of the department, and no other.
func TestListTag(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	id := s.create(t, ana)
	other.create(t, ana)
	one := collection + "/" + id
	other.do(t, "GET", collection, "", "If-None-Match", s.listTag(t)).wants(t, 200) // although both have changed once
	seen := map[string]string{}
	changed := func(what string, change func()) {
		t.Helper()
		mine, theirs := s.listTag(t), other.listTag(t)
		if change(); s.listTag(t) == mine {
			t.Errorf("the tag is the same after %s", what)
		}
		if other.listTag(t) != theirs {
			t.Errorf("the tag of another department is not the same after %s", what)
		}
		if before, ok := seen[mine]; ok {
			t.Errorf("the tag before %s was there before %s", what, before)
		}
		seen[mine] = what
	}
	changed("a create", func() { s.create(t, ana) })
	changed("a replacement", func() { s.do(t, "PUT", one, ana).wants(t, 200) })
	changed("a change by the platform", func() {
		execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent' WHERE id = ?`, id)
	})
	changed("a deletion", func() { s.do(t, "DELETE", one, "").wants(t, 204) })
	changed("an undeletion", func() { works(t, "undelete", "--db", s.db, "--tenant", "default", id) })
	before := s.listTag(t)
	s.do(t, "PUT", one, `{}`).wants(t, 400)
	s.do(t, "PUT", one, ana, "If-Match", `"x"`).wants(t, 412)
	s.do(t, "DELETE", collection+"/"+nobody, "").wants(t, 404)
	if s.listTag(t) != before {
		t.Error("what was refused has changed the tag")
	}
	other.do(t, "GET", collection, "", "If-None-Match", before).wants(t, 200)
	s.stop(t)
	again := startOn(t, s.db)
	if a := again.as(s.key).do(t, "GET", collection, "", "If-None-Match", before).wants(t, 200); a.tagOf(t, true) == before {
		t.Error("after a restart the tag is the same")
	}
}

// listTag gives the tag of a department's lists, and sees to it that all
// have it and honour it.
func (c client) listTag(t *testing.T) string {
	t.Helper()
	tag := c.do(t, "GET", collection, "").wants(t, 200).tagOf(t, true)
	for _, query := range []string{"", "?page=9", "?search=ana&sortBy=email"} {
		for _, method := range []string{"GET", "HEAD"} {
			if got := c.do(t, method, collection+query, "").wants(t, 200).tagOf(t, true); got != tag {
				t.Errorf("%s %s has the tag %s, not %s", method, query, got, tag)
			}
			a := c.do(t, method, collection+query, "", "If-None-Match", `"x", `+tag).wants(t, 304)
			if a.tagOf(t, true) != tag || a.body != "" || a.header.Get("Vary") != "Accept-Encoding" || a.header.Get("Link") != "" {
				t.Errorf("304 of %s %s: %v", method, query, a.header)
			}
			c.do(t, method, collection+query, "", "If-None-Match", `*`).wants(t, 304)
			c.do(t, method, collection+query, "", "If-None-Match", `"x"`).wants(t, 200)
			c.do(t, method, collection+query, "", "If-Match", tag).wants(t, 412) // it is weak
			c.do(t, method, collection+query, "", "If-Match", `*`).wants(t, 200)
		}
	}
	for _, query := range []string{"page=0", "sortBy=x", "search=%ff"} {
		c.do(t, "GET", collection+"?"+query, "", "If-None-Match", tag).wants(t, 400)
	}
	c.do(t, "GET", collection, "", "If-None-Match", "x").wants(t, 400)
	return tag
}

// TestListTagsUnderWrites: whoever reads while others write never gets a tag
// with what was there before or after, or a later 304 would keep it.
func TestListTagsUnderWrites(t *testing.T) {
	t.Parallel()
	s := start(t)
	var writing, reading sync.WaitGroup
	ended := make(chan bool)
	writing.Go(func() {
		for range 300 {
			a, err := s.try(t, "POST", collection, strings.NewReader(ana))
			if err == nil {
				a, err = s.try(t, "DELETE", a.header.Get("Location"), nil)
			}
			if err != nil || a.status != 204 {
				t.Errorf("%d %s %v", a.status, a.body, err)
				return
			}
		}
	})
	for _, query := range []string{"", "?page=2", "?search=ana", "?search=ana&page=2", "?sortBy=email"} {
		reading.Go(func() {
			bodies := map[string]string{}
			for {
				a, err := s.try(t, "GET", collection+query, nil)
				tag := a.header.Get("ETag")
				if before, ok := bodies[tag]; err != nil || a.status != 200 || ok && before != a.body {
					t.Errorf("%s: %d %v, tag %s, once %s, then %s", query, a.status, err, tag, before, a.body)
					return
				}
				bodies[tag] = a.body
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(ended)
	reading.Wait()
}

// TestListTagOfALargeDepartment: a list that comes from a roll has the tag of
// one that does not.
func TestListTagOfALargeDepartment(t *testing.T) {
	t.Parallel()
	r := newRollTest(t, largeDepartment+10, time.Hour)
	seen := map[string]bool{}
	for range 3 {
		id := r.c.create(t, ana)
		seen[r.c.listTag(t)] = true
		r.c.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
		seen[r.c.listTag(t)] = true
		r.followed(t)
	}
	if len(seen) != 6 {
		t.Errorf("%d tags of 6 states", len(seen))
	}
}

// TestListUnread: to say that nothing has changed no record is read, not even
// one that could not be.
func TestListUnread(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	s.create(t, ana)
	execSQL(t, s.db, `UPDATE firefighters SET first_name = 'Damaged'`)
	failed := s.do(t, "GET", collection, "").wants(t, 500)
	if failed.header.Get("ETag") != "" {
		t.Errorf("an error has the tag %s", failed.header.Get("ETag"))
	}
	s.do(t, "GET", collection, "", "If-None-Match", `"x"`).wants(t, 500)
	tag := s.do(t, "GET", collection+"?search=nothing", "").wants(t, 200).tagOf(t, true) // which reads no whole record
	for _, query := range []string{"", "?pageSize=100", "?sortBy=lastName"} {
		s.do(t, "GET", collection+query, "", "If-None-Match", tag).wants(t, 304)
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
