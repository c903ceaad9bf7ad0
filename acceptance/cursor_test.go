package acceptance

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// linkWalk goes through a list by the links to the next page alone.
type linkWalk struct {
	first, next string // addresses
	met         map[string]int
	last        string // the id of the last person met
}

// step reads the next page.
func (w *linkWalk) step(t *testing.T, s *testService) {
	t.Helper()
	a := s.do(t, "GET", w.next, "").wants(t, 200)
	var l wireList
	decode(t, a.body, &l)
	if w.next = ""; a.header["Link"] != nil { // the last page of a long query has none
		w.next = a.links(t)["next"]
	}
	if l.Data.HasNextPage != (w.next != "") {
		t.Errorf("%s: hasNextPage is %t, next is %q", w.first, l.Data.HasNextPage, w.next)
	}
	for _, f := range l.Data.Items {
		w.met[f.ID]++
		w.last = f.ID
	}
}

// allIDs reads the ids of a list page by page.
func (s *testService) allIDs(t *testing.T, selection string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for page, more := 1, true; more; page++ {
		l := s.list(t, fmt.Sprintf("pageSize=100&page=%d%s", page, selection)).Data
		for _, f := range l.Items {
			ids[f.ID] = true
		}
		more = l.HasNextPage
	}
	return ids
}

// TestWalkByLinks: who follows the links of a list meets everybody once who was there all
// the time, while others write. Package store tries many more changes.
func TestWalkByLinks(t *testing.T) {
	t.Parallel()
	for people, pageSize := range map[string]int{"60": 9, "400": 70} {
		t.Run(people, func(t *testing.T) {
			t.Parallel()
			s := startDemo(t, people)
			walkByLinks(t, s, pageSize)
		})
	}
}

func walkByLinks(t *testing.T, s *testService, pageSize int) {
	t.Helper()
	all := s.allIDs(t, "")
	var walks []*linkWalk
	for _, field := range record.SortFields {
		for _, direction := range []string{"asc", "desc&hasEmail=true"} {
			first := fmt.Sprintf("%s?pageSize=%d&sortBy=%s&sortDir=%s", collection, pageSize, field, direction)
			walks = append(walks, &linkWalk{first: first, next: first, met: map[string]int{}})
		}
	}
	touched := map[string]bool{}
	for under, turn := len(walks), 0; under > 0; turn++ {
		under = 0
		for i, w := range walks {
			if w.next == "" {
				continue
			}
			under++
			w.step(t, s)
			if (i+turn)%3 > 0 || touched[w.last] {
				continue
			}
			touched[w.last] = true
			switch person := collection + "/" + w.last; (i + turn) / 3 % 3 {
			case 0:
				s.do(t, "DELETE", person, "").wants(t, 204)
			case 1:
				s.do(t, "PUT", person, fmt.Sprintf(`{"firstName":"A%d","lastName":"M"}`, turn)).wants(t, 200)
				s.do(t, "PUT", person, `{"firstName":"Z","lastName":"Z","email":"z@example.com"}`).wants(t, 200)
			default:
				touched[s.create(t, fmt.Sprintf(`{"firstName":"A%d","lastName":"%s"}`, turn, strings.Repeat("🚒", 100)))] = true
			}
		}
	}
	withEmail := s.allIDs(t, "&hasEmail=true")
	for _, w := range walks {
		for id := range all {
			want := 1
			if strings.Contains(w.first, "hasEmail") && !withEmail[id] {
				want = 0
			}
			if !touched[id] && w.met[id] != want {
				t.Errorf("%s: %s was met %d times, not %d", w.first, id, w.met[id], want)
			}
		}
	}
}

func TestCursorRefused(t *testing.T) {
	t.Parallel()
	s := startDemo(t, "5")
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

// TestWalkByIDs: a list of a hundred people by their ids has links, too.
func TestWalkByIDs(t *testing.T) {
	t.Parallel()
	s := startDemo(t, "120")
	w := &linkWalk{next: collection + "?pageSize=30&sortBy=email", met: map[string]int{}}
	for _, f := range s.list(t, "pageSize=100").Data.Items {
		w.next += "&id=" + f.ID
	}
	for steps := 1; w.next != ""; steps++ {
		if w.step(t, s); steps > 4 {
			t.Fatal("there is no end")
		}
	}
	if len(w.met) != 100 {
		t.Errorf("%d people of 100", len(w.met))
	}
}
