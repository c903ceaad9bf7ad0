package store_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

func TestPages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 45 {
		create(t, s, ours, record.Fields{FirstName: fmt.Sprintf("A%02d", i), LastName: "B"})
		create(t, s, theirs, ana)
	}
	tests := []struct {
		query, first string
		items        int
		total        int64
	}{
		{"", "A44", 20, 45},
		{"page=3", "A04", 5, 45},
		{"page=4", "", 0, 45},
		{"page=2&pageSize=15", "A29", 15, 45},
		{"pageSize=1&page=45", "A00", 1, 45},
		{"pageSize=100", "A44", 45, 45},
		{"page=9007199254740991&pageSize=100", "", 0, 45},
		{"page=2&search=a1&pageSize=4", "A15", 4, 10},
		{"page=4&search=a1&pageSize=4", "", 0, 10},
		{"search=ana", "", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			p := list(t, s, ours, tt.query)
			if len(p.Items) != tt.items || p.Total != tt.total || tt.items > 0 && p.Items[0].FirstName != tt.first {
				t.Errorf("%d items of %d: %+v", len(p.Items), p.Total, p.Items)
			}
		})
	}
}

// TestLetters: each letter leads to the first person of that letter, whether SQLite or
// the index sorts. Only a whole list by last name that is longer than a page has letters.
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
				t.Errorf("%q of %d: letters %v and %v, not %v", query, size, first.Letters, whole.Letters, want)
			}
		}
	}
}

func TestSorting(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	number := map[string]string{}
	for i, f := range []record.Fields{
		{FirstName: "Čedo", LastName: "Babić", Email: "b@x.hr", PhoneNumber: "200", DateOfBirth: "1990-05-15T00:00:00+02:00"},
		{FirstName: "ana", LastName: "Zorić"},
		{FirstName: "Ana", LastName: "Anić", Email: "A@x.hr", PhoneNumber: "100", DateOfBirth: "1990-05-14T23:00:00Z"},
		{FirstName: "cedo", LastName: "BABIC", Email: "B@X.hr", PhoneNumber: "200", DateOfBirth: "1990-05-14T22:00:00Z"},
		{FirstName: "Žarko", LastName: "Čović"},
		{FirstName: "Zarko", LastName: "C\u030covic\u0301"},
		{FirstName: "Ana", LastName: "Babić"},
	} {
		number[create(t, s, ours, f).ID] = strconv.Itoa(i + 1)
	}
	tests := []struct{ query, want string }{
		{"", "7654321"},
		{"sortDir=asc", "1234567"},
		{"sortBy=createdAt", "7654321"},
		{"sortBy=firstName", "6541273"},
		{"sortBy=firstName&sortDir=Asc", "3721456"},
		{"sortBy=lastName&sortDir=desc", "2654173"},
		{"sortBy=lastName&sortDir=asc", "3714562"},
		{"sortBy=email&sortDir=desc", "4137652"},
		{"sortBy=email&sortDir=asc", "3142567"},
		{"sortBy=phoneNumber&sortDir=desc", "4137652"},
		{"sortBy=phoneNumber&sortDir=asc", "3142567"},
		{"sortBy=dateOfBirth&sortDir=desc", "3417652"},
		{"sortBy=dateOfBirth&sortDir=asc", "1432567"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			got, paged := "", ""
			for _, f := range list(t, s, ours, tt.query).Items {
				got += number[f.ID]
			}
			for page := range 4 {
				for _, f := range list(t, s, ours, fmt.Sprintf("%s&pageSize=2&page=%d", tt.query, page+1)).Items {
					paged += number[f.ID]
				}
			}
			if got != tt.want || paged != tt.want {
				t.Errorf("got %s, and %s page by page, want %s", got, paged, tt.want)
			}
		})
	}
}

// searchCases have the letters of the records that a search finds.
var searchCases = []struct{ search, want string }{
	{"", "abcd"},
	{"ANA", "a"},
	{"ČOVIĆ", "a"},
	{"c\u030covic\u0301", "a"},
	{"  ana\u00a0\u2003cov\t", "a"},
	{"ana boris", ""},
	{"anacov", ""},    // not over two fields
	{"com091", ""},    // nor these
	{"\"covic\"", ""}, // no phrase
	{"STRAẞE", "c"},
	{"d", "bd"},  // đ and d
	{"a", "abc"}, // one letter
	{"@", "abd"}, // of e-mail
	{"091 234", "a"},
	{"(091)234", "a"},
	{"+091", "a"},
	{"234 5678", "ac"},
	{"345678 ana", "a"},
	{"5678091", ""},
	{"(092)", "c"},
	{"7/12", "b"},
	{"A-7", "b"},     // what a phone number has besides digits is folded
	{"(3456)", "ac"}, // digits of phone numbers, not of e-mail addresses
	{"34-56", "abc"}, // e-mail as it is, phone numbers by their digits
	{"91", "ad"},
	{"091a", ""},
	{"%", "b"},
	{"_", "b"},
	{"*", "b"},
	{"\\", "d"},
	{"o'neil", "d"},
	{"a%a", ""},
	{"a*", ""},
	{"ana OR boris", ""},
	{"\x00", ""},
	{"ana\x00", ""},
	{"\u0301", "abcd"}, // folds to nothing
	{"９１", "ad"},       // folds to 91
	{strings.Repeat("a b ", 25), "b"},
	{strings.Repeat("č", 100), ""},
}

// spellingCases are for the people of TestSearchSpellings.
var spellingCases = []struct{ search, want string }{
	{"mueller", "ab"},
	{"Müller", "abc"},
	{"mu\u0308ller", "abc"},
	{"muller", "ac"}, // there is no ü in it
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
	{"+386 92 354 3631", "a"}, // of no country
	{"09235436", "acd"},
	{"0923543", "ac"}, // fewer than seven digits
	{"0923543631 müller", "ac"},
	{"092 354 3631 müller", "ac"}, // by their digits
	{"3543631", "acd"},
	{"092 - 354 / 3631", "acd"},
	{"092 % 354", ""},
	{"092 354 3632", ""},
}

// TestSearchSpellings: by SQL, by the index, and in an export.
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

func TestSearch(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	letter := map[string]string{}
	for i, f := range []record.Fields{
		{FirstName: "Ana", LastName: "Čović", PhoneNumber: "091 234 5678", Email: "a.cov@example.com"},
		{FirstName: "Boris 100%", LastName: `Đ_"*q`, PhoneNumber: "Ext. A-7/12", Email: "boris34-56@x.hr"},
		{FirstName: "C", LastName: "Straße", PhoneNumber: "(092)2345678"},
		{FirstName: "Dø", LastName: `O'Neil \ Ñu`, Email: "91@x.hr"},
	} {
		letter[create(t, s, ours, f).ID] = "abcd"[i : i+1]
		create(t, s, theirs, f)
		createDeleted(t, s, ours, f)
	}
	for _, tt := range searchCases {
		t.Run(tt.search, func(t *testing.T) {
			p := list(t, s, ours, "sortDir=asc&search="+url.QueryEscape(tt.search))
			got := ""
			for _, f := range p.Items {
				got += letter[f.ID]
			}
			if got != tt.want || p.Total != int64(len(tt.want)) {
				t.Errorf("got %q of %d, want %q", got, p.Total, tt.want)
			}
		})
	}
}

// TestVersion: the version changes with each change of a record of the
// department and with nothing else. The list has it.
func TestVersion(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	version := func() int64 {
		t.Helper()
		n, err := s.Version(ours)
		must(t, err)
		if listed := list(t, s, ours, "search=zzz").Version; listed != n {
			t.Errorf("the list has version %d, not %d", listed, n)
		}
		return n
	}
	f := create(t, s, ours, ana)
	changes := []func() error{
		func() error { _, err := s.Create(ours, 0, ana, nil); return err },
		func() error { _, err := s.Replace(ours, 0, f.ID, f.Fields, asIs); return err },
		func() error { return s.Delete(ours, 0, f.ID, asIs) },
		func() error { return s.Undelete(ours, 0, []string{f.ID}) },
		func() error {
			return tryExec(t, s, `UPDATE firefighters SET invitation_status = 'sent' WHERE id = ?`, f.ID)
		},
	}
	for i, change := range changes {
		before := version()
		create(t, s, theirs, ana)
		must(t, s.SaveClock())
		if version() != before {
			t.Error("the version changes without a change")
		}
		must(t, change())
		if version() == before {
			t.Errorf("the version stays the same after change %d", i)
		}
	}
}

// TestListsOfOneMoment: while there are no, one and two records in turn, a page,
// its total and its version are of one moment.
func TestListsOfOneMoment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	shown := map[string]func(total int64) int64{ // the number of items for a total
		"":                  func(total int64) int64 { return total },
		"search=ana":        func(total int64) int64 { return total },
		"pageSize=1&page=2": func(total int64) int64 { return max(0, total-1) },
		"page=9":            func(int64) int64 { return 0 },
	}
	var totals sync.Map // by version
	var stop atomic.Bool
	var readers sync.WaitGroup
	for query, want := range shown {
		q := parse(t, query)
		readers.Go(func() {
			for !stop.Load() {
				p, err := s.List(ours, q)
				if err != nil || int64(len(p.Items)) != want(p.Total) {
					t.Errorf("%q: %d items of %d, %v", query, len(p.Items), p.Total, err)
				}
				if known, _ := totals.LoadOrStore(p.Version, p.Total); known != p.Total {
					t.Errorf("%q: %d records, and elsewhere %d of the same version", query, p.Total, known)
				}
			}
		})
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		for _, f := range []record.Firefighter{create(t, s, ours, ana), create(t, s, ours, ana)} {
			must(t, s.Delete(ours, 0, f.ID, asIs))
		}
	}
	stop.Store(true)
	readers.Wait()
}

// ordersBySQL are the orders of a list as one writes them by hand.
var ordersBySQL = map[record.SortField][2]string{
	record.ByCreatedAt:   {"row", "row DESC"},
	record.ByFirstName:   {"first_key, last_key, row", "first_key DESC, last_key DESC, row DESC"},
	record.ByLastName:    {"last_key, first_key, row", "last_key DESC, first_key DESC, row DESC"},
	record.ByEmail:       {"email IS NULL, email_key, row", "email IS NULL, email_key DESC, row DESC"},
	record.ByPhoneNumber: {"phone_number IS NULL, phone_key, row", "phone_number IS NULL, phone_key DESC, row DESC"},
	record.ByDateOfBirth: {"date_of_birth IS NULL, born_at, row", "date_of_birth IS NULL, born_at DESC, row DESC"},
	record.ByUpdatedAt:   {"updated_at, row", "updated_at DESC, row DESC"},
}

// checkLists compares the whole list in every order, and two searches, with
// ordersBySQL.
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
		t.Fatalf("%q by %s %s: the ids are %v, not %v", search, field, direction, all, want)
	}
}
