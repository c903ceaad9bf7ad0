package main

import (
	"strings"
	"sync"
	"testing"
	"time"
)

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
