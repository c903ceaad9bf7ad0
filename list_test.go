package main

import (
	"errors"
	"firefighters/internal/fold"
	"firefighters/internal/record"
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
	for _, query := range []string{"", "?", "?page=&pageSize=&search=&sortBy=&sortDir=", "?page=1&search=%20&x=1&Page=0"} {
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
		query, first     string
		items            int
		page, size, last int64
	}{
		{"", "A44", 20, 1, 20, 3},
		{"page=3", "A04", 5, 3, 20, 3},
		{"page=03&pageSize=020", "A04", 5, 3, 20, 3},
		{"page=4", "", 0, 4, 20, 3},
		{"page=2&pageSize=15", "A29", 15, 2, 15, 3},
		{"pageSize=1&page=45", "A00", 1, 45, 1, 45},
		{"pageSize=45", "A44", 45, 1, 45, 1},
		{"pageSize=100", "A44", 45, 1, 100, 1},
		{"pageSize=101", "A44", 45, 1, 100, 1},
		{"pageSize=9223372036854775807", "A44", 45, 1, 100, 1},
		{"pageSize=9223372036854775808", "A44", 45, 1, 100, 1},
		{"pageSize=" + strings.Repeat("9", 500), "A44", 45, 1, 100, 1},
		{"page=9223372036854775807&pageSize=100", "", 0, 9223372036854775807, 100, 1},
		{"page=92233720368547759", "", 0, 92233720368547759, 20, 3},
		{"page=2&search=a1&pageSize=4", "A15", 4, 2, 4, 3},
		{"page=4&search=a1&pageSize=4", "", 0, 4, 4, 3},
		{"search=zzz", "", 0, 1, 20, 0},
		{"page=&pageSize=2&page=2", "A42", 2, 2, 2, 23},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			l := s.list(t, tt.query)
			d, total := l.Data, int64(45)
			if strings.Contains(tt.query, "a1") {
				total = 10
			} else if strings.Contains(tt.query, "zzz") {
				total = 0
			}
			if len(d.Items) != tt.items || d.Page != tt.page || d.PageSize != tt.size || d.TotalPages != tt.last ||
				d.TotalCount != total || l.TotalCount != total ||
				d.HasPreviousPage != (tt.page > 1) || d.HasNextPage != (tt.page < tt.last) {
				t.Errorf("%+v", l)
			}
			if tt.items > 0 && d.Items[0].FirstName != tt.first {
				t.Errorf("first is %s", d.Items[0].FirstName)
			}
		})
	}
}

func TestParametersRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct{ query, faults string }{
		{"page=0", "page out_of_range"},
		{"page=-1", "page out_of_range"},
		{"page=1.5", "page invalid"},
		{"page=x", "page invalid"},
		{"page=1e3", "page invalid"},
		{"page=0x1", "page invalid"},
		{"page=1_0", "page invalid"},
		{"page=%D9%A1", "page invalid"}, // an Arabic digit
		{"page=%201", "page invalid"},
		{"page=9223372036854775808", "page out_of_range"},
		{"page=1&page=2", "page duplicate"},
		{"pageSize=0", "pageSize out_of_range"},
		{"pageSize=-9", "pageSize out_of_range"},
		{"pageSize=ten", "pageSize invalid"},
		{"pageSize=2.0", "pageSize invalid"},
		{"pageSize=1&pageSize=1", "pageSize duplicate"},
		{"search=a&search=b", "search duplicate"},
		{"search=%ff", "search invalid"},
		{"search=" + strings.Repeat("a", 101), "search too_long"},
		{"sortBy=FirstName", "sortBy invalid"},
		{"sortBy=id", "sortBy invalid"},
		{"sortBy=firstName,lastName", "sortBy invalid"},
		{"sortBy=row;DROP", "sortBy invalid"},
		{"sortDir=up", "sortDir invalid"},
		{"sortDir=ascending", "sortDir invalid"},
		{"page=0&pageSize=0&search=" + strings.Repeat("a", 101) + "&sortBy=x&sortDir=x",
			"page out_of_range, pageSize out_of_range, search too_long, sortBy invalid, sortDir invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			a := s.do(t, "GET", collection+"?"+tt.query, "").wants(t, 400)
			if !sameFaults(a.faults(t), tt.faults) {
				t.Errorf("got %s, want %s", a.faults(t), tt.faults)
			}
		})
	}
	s.do(t, "GET", collection+"?page=%zz", "").wants(t, 400)
	a := s.do(t, "GET", collection+"?sortBy=name", "").wants(t, 400)
	for _, field := range []string{"createdAt", "firstName", "lastName", "email", "phoneNumber", "dateOfBirth"} {
		if !strings.Contains(a.problem(t).Detail, field) {
			t.Errorf("%q does not list %s", a.problem(t).Detail, field)
		}
	}
}

// sortRecords in the order of their creation.
var sortRecords = []string{
	`{"firstName":"Čedo","lastName":"Babić","email":"b@x.hr","phoneNumber":"200","dateOfBirth":"1990-05-15T00:00:00+02:00"}`,
	`{"firstName":"ana","lastName":"Zorić"}`,
	`{"firstName":"Ana","lastName":"Anić","email":"A@x.hr","phoneNumber":"100","dateOfBirth":"1990-05-14T23:00:00Z"}`,
	`{"firstName":"cedo","lastName":"BABIC","email":"B@X.hr","phoneNumber":"200","dateOfBirth":"1990-05-14T22:00:00Z"}`,
	`{"firstName":"Žarko","lastName":"Čović"}`,
	`{"firstName":"Zarko","lastName":"C\u030covic\u0301"}`,
	`{"firstName":"Ana","lastName":"Babić"}`,
}

func TestSorting(t *testing.T) {
	t.Parallel()
	s := start(t)
	number := map[string]string{}
	for i, body := range sortRecords {
		number[s.create(t, body)] = strconv.Itoa(i + 1)
	}
	tests := []struct{ query, want string }{
		{"", "7654321"},
		{"sortDir=asc", "1234567"},
		{"sortBy=createdAt", "7654321"},
		{"sortBy=createdAt&sortDir=asc", "1234567"},
		{"sortBy=firstName", "6541273"},
		{"sortBy=firstName&sortDir=DESC", "6541273"},
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
			for _, f := range s.list(t, tt.query).Data.Items {
				got += number[f.ID]
			}
			for page := range 4 {
				for _, f := range s.list(t, fmt.Sprintf("%s&pageSize=2&page=%d", tt.query, page+1)).Data.Items {
					paged += number[f.ID]
				}
			}
			if got != tt.want || paged != tt.want {
				t.Errorf("got %s, and %s page by page, want %s", got, paged, tt.want)
			}
		})
	}
}

// searchRecords by their first letters: a, b, c, d.
var searchRecords = []string{
	`{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":"a.cov@example.com"}`,
	`{"firstName":"Boris 100%","lastName":"Đ_\"*q","phoneNumber":"Ext. A-7/12","email":"boris34-56@x.hr"}`,
	`{"firstName":"C","lastName":"Straße","phoneNumber":"(092)2345678"}`,
	`{"firstName":"Dø","lastName":"O'Neil \\ Ñu","email":"91@x.hr"}`,
}

var searchCases = []struct{ search, want string }{
	{"", "abcd"},
	{"   ", "abcd"},
	{"ana", "a"},
	{"ANA", "a"},
	{"cov", "a"},
	{"ČOVIĆ", "a"},
	{"c\u030covic\u0301", "a"},
	{"cov ana", "a"},
	{"  ana\u00a0\u2003cov\t", "a"},
	{"ana ana an", "a"},
	{"ana boris", ""},
	{"anacov", ""},    // not over two fields
	{"covica", ""},    // nor these
	{"com091", ""},    // nor these
	{"\"covic\"", ""}, // no phrase
	{"strasse", "c"},  // ß
	{"STRAẞE", "c"},
	{"d", "bd"},  // đ and d
	{"do", "d"},  // ø
	{"a", "ac"},  // one letter; in a phone number it is a capital
	{"ñ", "ad"},  // n
	{"@", "abd"}, // of e-mail
	{"a.cov@example.COM", "a"},
	{"example", "a"},
	{"x.hr", "bd"},
	{"091 234", "a"},
	{"(091)234", "a"},
	{"091-234", "a"},
	{"0912345678", "a"},
	{"+091", "a"},
	{"234 5678", "ac"},
	{"2345678", "ac"},
	{"345678 ana", "a"},
	{"091 234 ana cov", "a"},
	{"5678091", ""},
	{"(092)", "c"},
	{"712", "b"},
	{"7.1.2", "b"},
	{"7/12", "b"},
	{"A-7", ""},      // the folded term is not in the phone number as stored
	{"(3456)", "ac"}, // digits of phone numbers, not of e-mail addresses
	{"34-56", "abc"}, // e-mail as it stands, phone numbers by their digits
	{"34-56@", "abc"},
	{"91", "ad"},
	{"(91)", "a"},
	{"091a", ""},
	{"%", "b"},
	{"_", "b"},
	{"\"", "b"},
	{"*", "b"},
	{"\\", "d"},
	{"'", "d"},
	{"o'neil", "d"},
	{"100%", "b"},
	{"a%a", ""},
	{"a_a", ""},
	{"a*", ""},
	{"ana OR boris", ""},
	{"-", "b"},
	{"/", "b"},
	{"\x00", ""},
	{"ana\x00", ""},
	{"\ufffd", ""},
	{"\u0301", "abcd"}, // folds to nothing
	{"９１", "ad"},       // folds to 91
	{"١", ""},
	{strings.Repeat("a", 100), ""},
	{"  " + strings.Repeat("ana ", 25) + "  ", "a"},
	{strings.Repeat("č", 100), ""},
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	letter := map[string]string{}
	for i, body := range searchRecords {
		letter[s.create(t, body)] = "abcd"[i : i+1]
	}
	other := s.as(newKey(t, s.db, "other"))
	for _, body := range searchRecords {
		other.create(t, body)
	}
	for _, tt := range searchCases {
		t.Run(tt.search, func(t *testing.T) {
			l := s.list(t, "sortDir=asc&search="+url.QueryEscape(tt.search))
			got := ""
			for _, f := range l.Data.Items {
				got += letter[f.ID]
			}
			if got != tt.want || l.TotalCount != int64(len(tt.want)) {
				t.Errorf("got %q of %d, want %q", got, l.TotalCount, tt.want)
			}
		})
	}
}

func FuzzListQuery(f *testing.F) {
	for _, query := range []string{"", "page=2&pageSize=7&search=%C4%8Cov+091&sortBy=email&sortDir=asc", "page=-1&page=", "pageSize=99999999999999999999",
		"search=%ff", "search=%00+%22", "sortBy=;x&a=b;c", "%zz", "search=%CC%81+(091)-2&page=9223372036854775807", "search=%EF%BC%91+%E2%84%8C"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := parseListQuery(query)
		if err != nil {
			var faults record.FieldErrors
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		known := slices.ContainsFunc(sortFields, func(f sortField) bool {
			return q.order() == f.ascending || q.order() == f.descending
		})
		if q.page < 1 || q.pageSize < 1 || q.pageSize > maxPageSize || q.offset() < 0 || !known || len(q.terms) > maxSearch/2 {
			t.Fatalf("%q became %+v", query, q)
		}
		for _, term := range q.terms {
			digits := strings.Trim(term.digits, "0123456789")
			if term.text == "" || fold.String(term.text) != term.text || strings.Contains(term.text, "\n") ||
				term.digits == "" || digits != "" && term.digits != noDigits {
				t.Fatalf("%q became the term %q", query, term)
			}
		}
		if condition, args := matching(q.terms); strings.Count(condition, "?") != len(args) {
			t.Fatalf("%q became %s with %d arguments", query, condition, len(args))
		}
	})
}

// TestListsOfOneMoment: while there are none, one and two records in turn, what
// a page shows, its total and its tag are of one moment. It takes luck to meet
// another one, and so many requests that they do not go over the network; a slow
// machine asks less.
func TestListsOfOneMoment(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	key := storeKey(t, s.server.store, time.Time{})
	shown := map[string]func(total int64) int64{ // how many of so many
		"":                  func(total int64) int64 { return total },
		"search=ana":        func(total int64) int64 { return total },
		"pageSize=1&page=2": func(total int64) int64 { return max(0, total-1) },
		"page=9":            func(int64) int64 { return 0 },
	}
	var totals sync.Map // by the tags
	var running sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(shown)))
	for query, want := range shown {
		running.Go(func() {
			defer left.Add(-1)
			for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
				a := s.answerTo("GET", collection+"?"+query, key, "")
				var l wireList
				if decode(t, a.body, &l); int64(len(l.Data.Items)) != want(l.TotalCount) {
					t.Errorf("%q: %s", query, a.body)
				}
				if known, _ := totals.LoadOrStore(a.header.Get("ETag"), l.TotalCount); known != l.TotalCount {
					t.Errorf("%q: %d records, and elsewhere %d with the same tag", query, l.TotalCount, known)
				}
			}
		})
	}
	for left.Load() > 0 {
		for _, path := range []string{
			s.answerTo("POST", collection, key, ana).wants(t, 201).header.Get("Location"),
			s.answerTo("POST", collection, key, ana).wants(t, 201).header.Get("Location"),
		} {
			s.answerTo("DELETE", path, key, "").wants(t, 204)
		}
	}
	running.Wait()
}

// answerTo is the server's answer to a request that does not come over the
// network.
func (s *testServer) answerTo(method, path, key, body string) answer {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return answer{w.Code, w.Result().Header, w.Body.String()}
}
