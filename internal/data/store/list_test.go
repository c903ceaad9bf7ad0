package store_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// TestLetters checks that each letter leads to its first person, by SQL and by the index. Only a
// whole list by last name that is longer than a page has letters.
func TestLetters(t *testing.T) {
	t.Parallel()
	for _, size := range []int{150, 250} {
		s := newLarge(t, size)
		for _, last := range []string{"čović", "Đurić", "3M", "Ωmega"} {
			create(t, s, ours, record.Fields{FirstName: "Ana", LastName: last})
		}
		for _, query := range []string{"", "sortDir=desc", "search=a", "search=a&sortDir=desc", "search=nobody", "sortBy=firstName"} {
			q, err := record.Query{Page: 1, PageSize: 40, SortBy: record.ByLastName, Letters: true}.Parse(query)
			must(t, err)
			first, err := s.List(ours, q)
			must(t, err)
			q.PageSize = 1000
			whole, err := s.List(ours, q)
			must(t, err)
			var want []store.Letter
			for i, f := range whole.Items {
				letter := string([]rune(fold.String(f.LastName))[:1])
				if n := len(want); len(q.Terms) == 0 && q.SortBy == record.ByLastName && (n == 0 || want[n-1].Letter != letter) {
					want = append(want, store.Letter{Letter: letter, Before: int64(i)})
				}
			}
			if !slices.Equal(first.Letters, want) || whole.Letters != nil {
				t.Errorf("%q of %d: letters %v and %v, want %v", query, size, first.Letters, whole.Letters, want)
			}
		}
	}
}

// spellingCases are searches among the people of TestSearchSpellings.
var spellingCases = []struct{ search, want string }{
	{"mueller", "ab"},
	{"Müller", "abc"},
	{"mu\u0308ller", "abc"},
	{"muller", "ac"}, // not an umlaut
	{"muell", "ab"},
	{"mue", "ab"},
	{"mu", "abc"},
	{"ell", "b"}, // not the e of a ü
	{"juergen", "ab"},
	{"jürgen mueller", "ab"},
	{"mueller-jaeger", "b"},
	{"müller-jäger", "b"},
	{"größe", "d"},
	{"groesse", "d"},
	{"GRÖSSE", "d"},
	{"josip", "c"},
	{"joe", "d"}, // Jörg, not Josip
	{"buero", "b"},
	{"büro", "b"},
	{"091 büro", "b"},
	{"joerg@x.de", "d"},
	{"0923543631", "acd"},
	{"092 354 3631", "acd"},
	{"+385 92 354 3631", "acd"},
	{"+385(0)923543631", "acd"},
	{"00385923543631", "acd"},
	{"+386 92 354 3631", "a"}, // unknown country prefix
	{"09235436", "acd"},
	{"0923543", "ac"}, // fewer than seven digits
	{"0923543631 müller", "ac"},
	{"092 354 3631 müller", "ac"}, // a number and a name
	{"3543631", "acd"},
	{"092 - 354 / 3631", "acd"},
	{"092 % 354", ""},
	{"092 354 3632", ""},
}

// TestSearchSpellings searches by SQL, by the index, and in an export.
func TestSearchSpellings(t *testing.T) {
	t.Parallel()
	all := []record.Fields{
		{FirstName: "Jürgen", LastName: "Müller", PhoneNumber: "092 354 3631"},
		{FirstName: "Juergen", LastName: "Mueller-Jäger", PhoneNumber: "091 234 BÜRO"},
		{FirstName: "Josip", LastName: "Muller", PhoneNumber: "+385 (0)92 354 3631"},
		{FirstName: "Ana", LastName: "Größe", PhoneNumber: "00385 92 354 3631", Email: "Jörg@x.de"},
	}
	for name, others := range map[string]int{"small": 0, "large": 250} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, newFile(t), time.Now)
			var people []record.Fields
			for range others {
				people = append(people, record.Fields{FirstName: "X", LastName: "Y"})
			}
			must(t, s.AddDepartments([]store.Department{{Name: "Engine 7", People: append(people, all...)}}))
			for _, tt := range spellingCases {
				got := func(items []record.Firefighter) (letters string) {
					for _, f := range items {
						letters += string(rune('a' + slices.Index(all, f.Fields)))
					}
					return letters
				}
				query := "sortDir=asc&search=" + url.QueryEscape(tt.search)
				p := list(t, s, ours, query)
				if listed, exported := got(p.Items), got(each(t, s, ours, query)); listed != tt.want || exported != tt.want || p.Total != int64(len(tt.want)) {
					t.Errorf("%q: %q of %d, and %q in an export; want %q", tt.search, listed, p.Total, exported, tt.want)
				}
			}
			if others > 0 && !byIndex(t, s) {
				t.Error("the index does not answer")
			}
		})
	}
}

// ordersBySQL are the orders of a list, written by hand.
var ordersBySQL = map[record.SortField][2]string{
	record.ByCreatedAt:   {"row", "row DESC"},
	record.ByFirstName:   {"first_key, last_key, row", "first_key DESC, last_key DESC, row DESC"},
	record.ByLastName:    {"last_key, first_key, row", "last_key DESC, first_key DESC, row DESC"},
	record.ByEmail:       {"email IS NULL, email_key, row", "email IS NULL, email_key DESC, row DESC"},
	record.ByPhoneNumber: {"phone_number IS NULL, phone_key, row", "phone_number IS NULL, phone_key DESC, row DESC"},
	record.ByDateOfBirth: {"date_of_birth IS NULL, born_at, row", "date_of_birth IS NULL, born_at DESC, row DESC"},
	record.ByUpdatedAt:   {"updated_at, row", "updated_at DESC, row DESC"},
}

// checkLists compares the whole list in every order, and two searches, with ordersBySQL.
func checkLists(t *testing.T, s *store.Store) {
	t.Helper()
	for _, field := range record.SortFields {
		checkList(t, s, "", field, "asc", ordersBySQL[field][0])
		checkList(t, s, "", field, "desc", ordersBySQL[field][1])
	}
	checkList(t, s, "an", record.ByFirstName, "asc", ordersBySQL[record.ByFirstName][0])
	checkList(t, s, "09", record.ByPhoneNumber, "desc", ordersBySQL[record.ByPhoneNumber][1])
}

func checkList(t *testing.T, s *store.Store, search string, field record.SortField, direction, order string) {
	t.Helper()
	var got []string
	for page, total := 1, int64(1); int64(len(got)) < total; page++ {
		p := list(t, s, ours, fmt.Sprintf("search=%s&sortBy=%s&sortDir=%s&pageSize=90&page=%d", search, field, direction, page))
		if total = p.Total; len(p.Items) == 0 && total > 0 {
			t.Fatalf("%q by %s %s: page %d of %d records is empty", search, field, direction, page, total)
		}
		got = append(got, ids(p.Items)...)
	}
	var want []string
	must(t, s.DB().Read(func(c *sqlite.Conn) error {
		return c.Query(`SELECT id FROM firefighters WHERE tenant_id = 1 AND deleted_at IS NULL
			AND (instr(search_text, ?1) OR instr(phone_digits, ?1) AND ?1 GLOB '[0-9]*') ORDER BY `+order, sqlite.Args{search},
			func(row sqlite.Row) { want = append(want, row.Text(0)) })
	}))
	if !slices.Equal(got, want) {
		t.Fatalf("%q by %s %s:\ngot  %v\nwant %v", search, field, direction, got, want)
	}
	all, err := s.IDs(ours, parse(t, fmt.Sprintf("search=%s&sortBy=%s&sortDir=%s&pageSize=1", search, field, direction)))
	if must(t, err); !slices.Equal(all, want) {
		t.Fatalf("%q by %s %s: the ids are %v, want %v", search, field, direction, all, want)
	}
}
