package acceptance

import (
	"net/url"
	"strings"
	"testing"
)

func TestCursorRefused(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 5)
	next := s.do(t, "GET", collection+"?pageSize=2&sortBy=lastName", "").links(t)["next"]
	for _, wrong := range []string{"?cursor=x", strings.Replace(next, collection, "", 1) + "&sortDir=asc", strings.Replace(next, collection, "", 1) + "&cursor=2"} {
		a := s.do(t, "GET", collection+wrong, "").wants(t, 400)
		if faults := a.faults(t); !strings.HasPrefix(faults, "cursor ") {
			t.Errorf("%s: %s", wrong, faults)
		}
	}
	if got := s.do(t, "GET", collection+"?cursor=x.y&sortDir=up", "").wants(t, 400).faults(t); got != "sortDir invalid, cursor invalid" && got != "cursor invalid, sortDir invalid" {
		t.Errorf("two faults: %s", got)
	}
	if a := s.do(t, "GET", collection+"?cursor=x", ""); !strings.Contains(a.problem(t).Detail, "Begin again with the first page") {
		t.Error(a.body)
	}
	tag := s.do(t, "GET", next, "").header.Get("ETag")
	s.do(t, "GET", next, "", "If-None-Match", tag).wants(t, 304)
	u, err := url.Parse(next)
	must(t, err)
	if cursor := u.Query().Get("cursor"); cursor == "" || len(cursor) > 500 || u.Query().Get("page") != "2" {
		t.Errorf("next is %s", next)
	}
}

// TestWalkByIDs follows the links of a list of a hundred records that are selected by id.
func TestWalkByIDs(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 120)
	next := collection + "?pageSize=30&sortBy=email"
	for _, f := range s.list(t, "pageSize=100").Data.Items {
		next += "&id=" + f.ID
	}
	met := map[string]bool{}
	for pages := 0; next != ""; pages++ {
		if pages == 4 {
			t.Fatal("the list has no end")
		}
		a := s.do(t, "GET", next, "").wants(t, 200)
		var l wireList
		decode(t, a.body, &l)
		for _, f := range l.Data.Items {
			met[f.ID] = true
		}
		next = ""
		if a.header["Link"] != nil { // the last page of a long query has no links
			next = a.links(t)["next"]
		}
	}
	if len(met) != 100 {
		t.Errorf("%d people of 100", len(met))
	}
}
