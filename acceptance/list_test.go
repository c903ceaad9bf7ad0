package acceptance

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestEnvelope(t *testing.T) {
	t.Parallel()
	s := start(t)
	empty := `{"data":{"items":[],"page":1,"pageSize":20,"totalCount":0,"totalPages":0,` +
		`"hasPreviousPage":false,"hasNextPage":false},"totalCount":0}`
	if got := s.do(t, "GET", collection, "").wants(t, 200).body; got != empty {
		t.Errorf("got  %s\nwant %s", got, empty)
	}
	record := s.do(t, "POST", collection, ana).body
	one := `{"data":{"items":[` + record + `],"page":1,"pageSize":20,"totalCount":1,"totalPages":1,` +
		`"hasPreviousPage":false,"hasNextPage":false},"totalCount":1}`
	for _, query := range []string{"", "?", "?page=&pageSize=&search=&sortBy=&sortDir=", "?page=1&search=%20"} {
		if got := s.do(t, "GET", collection+query, "").wants(t, 200).body; got != one {
			t.Errorf("got  %s\nwant %s", got, one)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 45 {
		s.create(t, fmt.Sprintf(`{"firstName":"A%02d","lastName":"B"}`, i))
	}
	tests := []struct {
		query, first            string
		items                   int
		page, size, last, total int64
	}{
		{"", "A44", 20, 1, 20, 3, 45},
		{"page=3", "A04", 5, 3, 20, 3, 45},
		{"page=03&pageSize=020", "A04", 5, 3, 20, 3, 45},
		{"page=4", "", 0, 4, 20, 3, 45},
		{"page=2&pageSize=15", "A29", 15, 2, 15, 3, 45},
		{"pageSize=1&page=45", "A00", 1, 45, 1, 45, 45},
		{"pageSize=101", "A44", 45, 1, 100, 1, 45},
		{"pageSize=" + strings.Repeat("9", 500), "A44", 45, 1, 100, 1, 45},
		{"page=9007199254740991&pageSize=100", "", 0, 9007199254740991, 100, 1, 45},
		{"page=2&search=a1&pageSize=4", "A15", 4, 2, 4, 3, 10},
		{"page=4&search=a1&pageSize=4", "", 0, 4, 4, 3, 10},
		{"search=zzz", "", 0, 1, 20, 0, 0},
		{"page=&pageSize=2&page=2", "A42", 2, 2, 2, 23, 45},
	}
	for _, tt := range tests {
		l := s.list(t, tt.query)
		d, first := l.Data, ""
		if len(d.Items) > 0 {
			first = d.Items[0].FirstName
		}
		if len(d.Items) != tt.items || first != tt.first || d.Page != tt.page || d.PageSize != tt.size || d.TotalPages != tt.last ||
			d.TotalCount != tt.total || l.TotalCount != tt.total || d.HasPreviousPage != (tt.page > 1) || d.HasNextPage != (tt.page < tt.last) {
			t.Errorf("%s: %+v", tt.query, l)
		}
	}
}

// TestParametersRefused checks invalid parameters. Package record tests each rule.
func TestParametersRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct{ query, faults string }{
		{"page=0", "page out_of_range"},
		{"page=1.5", "page invalid"},
		{"page=1&page=2", "page duplicate"},
		{"pageSize=-9", "pageSize out_of_range"},
		{"search=%ff", "search invalid"},
		{"sortBy=FirstName", "sortBy invalid"},
		{"page=%zz", "query invalid"},
		{"page=0&pageSize=0&search=" + strings.Repeat("a", 101) + "&sortBy=x&sortDir=x",
			"page out_of_range, pageSize out_of_range, search too_long, sortBy invalid, sortDir invalid"},
	}
	for _, tt := range tests {
		if a := s.do(t, "GET", collection+"?"+tt.query, "").wants(t, 400); !sameFaults(a.faults(t), tt.faults) {
			t.Errorf("%s: got %s, want %s", tt.query, a.faults(t), tt.faults)
		}
	}
}

// people are records in the order of their creation.
var people = []string{
	`{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":"a.cov@example.com","dateOfBirth":"1990-05-15T00:00:00+02:00"}`,
	`{"firstName":"Boris 100%","lastName":"Đ_\"*q","phoneNumber":"Ext. A-7/12","email":"boris34-56@x.hr"}`,
	`{"firstName":"ana","lastName":"Straße","phoneNumber":"(092)2345678","dateOfBirth":"1990-05-14T23:00:00Z"}`,
	`{"firstName":"Dø","lastName":"O'Neil \\ Ñu","email":"91@x.hr"}`,
}

// TestSortAndSearch checks the examples of the contract. TestModel of package store covers many
// more.
func TestSortAndSearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	number := map[string]string{}
	for i, body := range people {
		number[s.create(t, body)] = strconv.Itoa(i + 1)
	}
	tests := []struct{ query, want string }{
		{"", "4321"},
		{"sortDir=asc", "1234"},
		{"sortBy=createdAt&sortDir=DESC", "4321"},
		{"sortBy=firstName&sortDir=asc", "1324"}, // ties by the last name
		{"sortBy=lastName&sortDir=Asc", "1243"},
		{"sortBy=email&sortDir=asc", "4123"}, // records without a value come last
		{"sortBy=email&sortDir=desc", "2143"},
		{"sortBy=phoneNumber&sortDir=asc", "3124"},
		{"sortBy=dateOfBirth&sortDir=asc", "1324"}, // by instant
	}
	for search, want := range map[string]string{
		"ČOVIĆ": "1", "c\u030covic\u0301": "1", "cov ana": "1", "ana boris": "", "anacov": "", "strasse": "3", "do": "4",
		"a": "123", "ñ": "134", "example": "1", "091 234": "1", "(091)234": "1", "091-234": "1", "2345678": "13", "712": "2", "7/12": "2",
		"34-56": "123", "(91)": "1", "91": "14", "091a": "", "%": "2", "_": "2", `"`: "2", "*": "2", `\`: "4", "'": "4", "a%a": "", "\x00": "",
		strings.Repeat("č", 100): "",
	} {
		tests = append(tests, struct{ query, want string }{"sortDir=asc&search=" + url.QueryEscape(search), want})
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			l := s.list(t, tt.query)
			got := ""
			for _, f := range l.Data.Items {
				got += number[f.ID]
			}
			if got != tt.want || l.TotalCount != int64(len(tt.want)) {
				t.Errorf("got %q of %d, want %q", got, l.TotalCount, tt.want)
			}
		})
	}
}

var linkForm = regexp.MustCompile(`^<([^<>" ]+)>; rel="([a-z]+)"$`)

// links returns the targets of an answer's Link header by their relation.
func (a answer) links(t *testing.T) map[string]string {
	t.Helper()
	targets := map[string]string{}
	for _, link := range strings.Split(strings.Join(a.header["Link"], ", "), ", ") {
		parts := linkForm.FindStringSubmatch(link)
		if parts == nil || targets[parts[2]] != "" {
			t.Fatalf("Link: %q", a.header["Link"])
		}
		targets[parts[2]] = parts[1]
	}
	return targets
}

// TestLinks walks through whole lists, forwards and backwards, only by links.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 7 {
		s.create(t, fmt.Sprintf(`{"firstName":"Änne %d","lastName":"O'B & Co"}`, i))
	}
	for _, tt := range []struct{ query, page string }{
		{"pageSize=3", ""},
		{"search=%C3%A4nne+b%20%26&search=&sortBy&hasEmail=0&sortDir=asc&pageSize=3", "%70age=1&"},
		{"search=O'B+&pageSize=3&sortBy=lastName", "page=&"},
	} {
		t.Run(tt.page+tt.query, func(t *testing.T) {
			first := s.do(t, "GET", collection+"?"+tt.page+tt.query, "").wants(t, 200)
			s.walkLinks(t, first, parameters(t, tt.query))
		})
	}
	if one := s.do(t, "GET", collection+"/"+s.create(t, ana), ""); one.header["Link"] != nil {
		t.Errorf("a record has links: %v", one.header)
	}
	past := s.do(t, "GET", collection+"?page=9007199254740991&pageSize=100", "").links(t)
	invalid := s.do(t, "GET", collection+"?page=0", "")
	if invalid.header["Link"] != nil || past["prev"] != past["last"] || past["next"] != "" {
		t.Errorf("past the end: %v; invalid page: %v", past, invalid.header)
	}
}

// parameters returns the parameters that links keep: all except page and cursor.
func parameters(t *testing.T, query string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B"))
	must(t, err)
	values.Del("page")
	values.Del("cursor")
	return values
}

// walkLinks follows next from the first of three pages to the last, and prev back.
func (s *testService) walkLinks(t *testing.T, first answer, want url.Values) {
	t.Helper()
	relations := func(a answer) (all string) {
		links := a.links(t)
		for _, rel := range []string{"first", "prev", "next", "last"} {
			target, ok := links[rel]
			if !ok {
				continue
			}
			u, err := url.Parse(target)
			must(t, err)
			if got := parameters(t, u.RawQuery); u.Path != collection || u.IsAbs() || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s is %s with the parameters %v, want %v", rel, target, got, want)
			}
			all += rel + u.Query().Get("page") + " "
		}
		return all
	}
	var bodies []string
	a := first
	for _, want := range []string{"first1 next2 last3 ", "first1 prev1 next3 last3 ", "first1 prev2 last3 "} {
		if bodies = append(bodies, a.body); relations(a) != want {
			t.Fatalf("the links of page %d are %s, want %s", len(bodies), relations(a), want)
		}
		if next := a.links(t)["next"]; next != "" {
			a = s.do(t, "GET", next, "").wants(t, 200)
		}
	}
	for i := 1; i >= 0; i-- {
		if a = s.do(t, "GET", a.links(t)["prev"], "").wants(t, 200); a.body != bodies[i] {
			t.Errorf("page %d on the way back is %s, want %s", i+1, a.body, bodies[i])
		}
	}
	for rel, i := range map[string]int{"first": 0, "last": 2} {
		if b := s.do(t, "GET", a.links(t)[rel], "").wants(t, 200); b.body != bodies[i] {
			t.Errorf("%s returns %s", rel, b.body)
		}
	}
	seen := map[string]bool{}
	for _, body := range bodies {
		var l wireList
		decode(t, body, &l)
		for _, f := range l.Data.Items {
			seen[f.ID] = true
		}
	}
	if len(seen) != 7 {
		t.Errorf("%d different records", len(seen))
	}
}

// TestLinksByID checks that the headers of a list by ids fit into the 4 KB that nginx accepts, and that
// its links reach everyone.
func TestLinksByID(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 100)
	var ids []string
	for _, f := range s.list(t, "pageSize=100").Data.Items {
		ids = append(ids, f.ID)
	}
	for n := 1; n <= len(ids); n++ {
		for _, query := range []string{"", "&pageSize=7&sortBy=lastName&hasEmail=true&search=a"} {
			next, seen, total := collection+"?id="+strings.Join(ids[:n], ",")+query, 0, int64(0)
			for next != "" {
				a := s.do(t, "GET", next, "").wants(t, 200)
				var headers bytes.Buffer
				must(t, a.header.Write(&headers))
				if headers.Len() > 3600 {
					t.Fatalf("%d bytes of headers for %d ids: %s", headers.Len(), n, &headers)
				}
				var l wireList
				decode(t, a.body, &l)
				seen, total, next = seen+len(l.Data.Items), l.TotalCount, ""
				if a.header["Link"] != nil {
					next = a.links(t)["next"]
				}
			}
			if int64(seen) != total || query == "" && seen != n {
				t.Errorf("%d people of %d for %d ids%s", seen, total, n, query)
			}
		}
	}
}

// TestLongQueries checks that links do not repeat empty parameters of a long query.
func TestLongQueries(t *testing.T) {
	t.Parallel()
	s := start(t)
	if a := s.do(t, "GET", collection+longQuery(1000), "").wants(t, 200); strings.Count(a.header.Get("Link"), "search=&") != 250 {
		t.Errorf("Link: %q", a.header.Get("Link"))
	}
	if a := s.do(t, "GET", collection+longQuery(60_000), "").wants(t, 200); a.header["Link"] != nil {
		t.Errorf("Link of %d bytes", len(a.header.Get("Link")))
	}
}

func longQuery(size int) string { return "?" + strings.Repeat("search=&", size/8) }

// TestListTag checks that the tag changes exactly when the department changes.
func TestListTag(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	id := s.create(t, ana)
	other.create(t, ana)
	one := collection + "/" + id
	other.do(t, "GET", collection, "", "If-None-Match", s.listTag(t)).wants(t, 200) // each department has had one change
	seen := map[string]string{}
	changed := func(what string, change func()) {
		t.Helper()
		own, foreign := s.listTag(t), other.listTag(t)
		if change(); s.listTag(t) == own {
			t.Errorf("the tag is the same after %s", what)
		}
		if other.listTag(t) != foreign {
			t.Errorf("the tag of another department changed after %s", what)
		}
		if before, ok := seen[own]; ok {
			t.Errorf("the tag before %s was already used before %s", what, before)
		}
		seen[own] = what
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
		t.Error("a rejected request changed the tag")
	}
	s.stop(t)
	again := startOn(t, s.db)
	if a := again.as(s.key).do(t, "GET", collection, "", "If-None-Match", before).wants(t, 200); a.tagOf(t, true) == before {
		t.Error("after a restart the tag is the same")
	}
}

// listTag returns the tag of a department's lists. It checks that all lists have it and accept
// it in If-None-Match.
func (c client) listTag(t *testing.T) string {
	t.Helper()
	tag := c.do(t, "GET", collection, "").wants(t, 200).tagOf(t, true)
	for _, query := range []string{"", "?page=9", "?search=ana&sortBy=email"} {
		for _, method := range []string{"GET", "HEAD"} {
			if got := c.do(t, method, collection+query, "").wants(t, 200).tagOf(t, true); got != tag {
				t.Errorf("%s %s has the tag %s, want %s", method, query, got, tag)
			}
			a := c.do(t, method, collection+query, "", "If-None-Match", `"x", `+tag).wants(t, 304)
			if a.tagOf(t, true) != tag || a.body != "" || a.header.Get("Vary") != "Accept-Encoding" || a.header.Get("Link") != "" {
				t.Errorf("304 of %s %s: %v", method, query, a.header)
			}
			c.do(t, method, collection+query, "", "If-Match", `"x"`).wants(t, 200) // a list ignores it
		}
	}
	for _, query := range []string{"page=0", "sortBy=x", "search=%ff"} {
		c.do(t, "GET", collection+"?"+query, "", "If-None-Match", tag).wants(t, 400)
	}
	return tag
}

// TestListTagsUnderWrites checks that during writes a tag always comes with the same content.
// Otherwise a later 304 would keep old content.
func TestListTagsUnderWrites(t *testing.T) {
	t.Parallel()
	s := start(t)
	var writing, reading sync.WaitGroup
	ended := make(chan bool)
	writing.Go(func() {
		for range 50 {
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
					t.Errorf("%s: %d %v, tag %s, first %s, then %s", query, a.status, err, tag, before, a.body)
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

// TestListTagOfALargeDepartment checks that a list has the same tag whether the answer comes from
// SQL or from the index.
func TestListTagOfALargeDepartment(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 250)
	before := s.listTag(t)
	if s.create(t, ana); s.listTag(t) == before {
		t.Error("the tag is the same after a create")
	}
}

// TestUnchangedList checks that a 304 reads no record, not even a damaged one.
func TestUnchangedList(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	s.create(t, ana)
	execSQL(t, s.db, `UPDATE firefighters SET first_name = 'Damaged'`)
	failed := s.do(t, "GET", collection, "").wants(t, 500)
	if failed.header.Get("ETag") != "" {
		t.Errorf("an error has the tag %s", failed.header.Get("ETag"))
	}
	tag := s.do(t, "GET", collection+"?search=nothing", "").wants(t, 200).tagOf(t, true) // a search without a result reads no record
	for _, query := range []string{"", "?pageSize=100", "?sortBy=lastName"} {
		s.do(t, "GET", collection+query, "", "If-None-Match", tag).wants(t, 304)
	}
}
