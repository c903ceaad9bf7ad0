package record

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

func TestParseQuery(t *testing.T) {
	t.Parallel()
	newest := Query{Page: 1, PageSize: 20, SortBy: ByCreatedAt, Descending: true}
	with := func(change func(*Query)) Query { q := newest; change(&q); return q }
	sized := func(page, size int64) Query { return with(func(q *Query) { q.Page, q.PageSize = page, size }) }
	sorted := func(by SortField, descending bool) Query {
		return with(func(q *Query) { q.SortBy, q.Descending = by, descending })
	}
	tests := []struct {
		query string
		want  Query
	}{
		{"", newest},
		{"page=&pageSize=&search=&sortBy=&sortDir=", newest},
		{"search=%20", newest},
		{"page=03&pageSize=020", sized(3, 20)},
		{"page=9007199254740991&pageSize=100", sized(1<<53-1, 100)},
		{"pageSize=101", sized(1, 100)},
		{"pageSize=9223372036854775808", sized(1, 100)},
		{"pageSize=" + strings.Repeat("9", 500), sized(1, 100)},
		{"page=&pageSize=2&page=2", sized(2, 2)},
		{"sortBy=createdAt&sortDir=asc", sorted(ByCreatedAt, false)},
		{"sortBy=firstName", sorted(ByFirstName, true)},
		{"sortBy=lastName&sortDir=DESC", sorted(ByLastName, true)},
		{"sortBy=email&sortDir=Asc", sorted(ByEmail, false)},
		{"sortBy=phoneNumber&sortDir=desc", sorted(ByPhoneNumber, true)},
		{"sortBy=dateOfBirth&sortDir=asc", sorted(ByDateOfBirth, false)},
		{"sortBy=updatedAt", sorted(ByUpdatedAt, true)},
		{"search=Ana", with(func(q *Query) { q.Terms = []Term{{Text: "ana"}} })},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			if got, err := ParseQuery(tt.query); err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestParseQueryRejects(t *testing.T) {
	t.Parallel()
	tests := []struct{ query, want string }{
		{"page=0", "page out_of_range"},
		{"page=-1", "page out_of_range"},
		{"page=%2B1", "page out_of_range"},
		{"page=1.5", "page invalid"},
		{"page=x", "page invalid"},
		{"page=1e3", "page invalid"},
		{"page=0x1", "page invalid"},
		{"page=1_0", "page invalid"},
		{"page=%D9%A1", "page invalid"}, // Arabic digit
		{"page=%201", "page invalid"},
		{"page=9007199254740992", "page out_of_range"},
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
		{"page=%zz", "query invalid"},
		{"page=0&pageSize=0&search=" + strings.Repeat("a", 101) + "&sortBy=x&sortDir=x",
			"page out_of_range, pageSize out_of_range, search too_long, sortBy invalid, sortDir invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			_, err := ParseQuery(tt.query)
			var errs FieldErrors
			if !errors.As(err, &errs) || codes(errs) != tt.want {
				t.Errorf("got %q, want %q", codes(errs), tt.want)
			}
		})
	}
	_, err := ParseQuery("sortBy=name")
	if want := "createdAt, firstName, lastName, email, phoneNumber, dateOfBirth, updatedAt"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not list the fields", err)
	}
}

// TestParseWithDefaults checks that absent and invalid parameters keep the defaults.
func TestParseWithDefaults(t *testing.T) {
	t.Parallel()
	defaults := Query{Page: 3, PageSize: 100, SortBy: ByLastName, Descending: true}
	tests := []struct {
		query, faults string
		want          Query
	}{
		{"", "", defaults},
		{"page=&sortBy=&sortDir=&pageSize=", "", defaults},
		{"page=2&pageSize=5&sortBy=email&sortDir=asc", "", Query{Page: 2, PageSize: 5, SortBy: ByEmail}},
		{"sortDir=asc", "", Query{Page: 3, PageSize: 100, SortBy: ByLastName}},
		{"page=0&sortBy=email", "page", Query{Page: 3, PageSize: 100, SortBy: ByEmail, Descending: true}},
		{"page=99999999999999999999", "page", defaults},
		{"pageSize=-1&page=2", "pageSize", Query{Page: 2, PageSize: 100, SortBy: ByLastName, Descending: true}},
		{"sortBy=age&sortDir=asc", "sortBy", Query{Page: 3, PageSize: 100, SortBy: ByLastName}},
		{"sortDir=up", "sortDir", defaults},
		{"search=%ff&page=2", "search", Query{Page: 2, PageSize: 100, SortBy: ByLastName, Descending: true}},
		{"page=x&sortBy=x&sortDir=x&search=" + strings.Repeat("x", 101), "page, search, sortBy, sortDir", defaults},
	}
	for _, tt := range tests {
		got, err := defaults.Parse(tt.query)
		var faults FieldErrors
		errors.As(err, &faults)
		var names []string
		for _, f := range faults {
			names = append(names, f.Field)
		}
		if !reflect.DeepEqual(got, tt.want) || strings.Join(names, ", ") != tt.faults {
			t.Errorf("%q: got %+v with faults in %q, want %+v with faults in %q", tt.query, got, names, tt.want, tt.faults)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, query := range []string{"", "page=2&pageSize=7&search=%C4%8Cov+091&sortBy=email&sortDir=asc", "page=-1&page=",
		"pageSize=99999999999999999999", "search=%ff", "search=%00+%22", "sortBy=;x&a=b;c", "%zz",
		"search=%CC%81+(091)-2&page=9223372036854775807", "search=%EF%BC%91+%E2%84%8C",
		"email=Ana@x.hr&phoneNumber=%2B385&id=01A1F83C-64F7-795D-BC35-4C6516093415,&birthMonth=05&hasEmail=0&updatedSince=2026-11-23t10:00:00.00049%2B01:00",
		"email=ana+b@x.hr&phoneNumber=x&id=1&birthMonth=13&hasEmail=no&updatedSince=2026-11-23"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := ParseQuery(query)
		if err != nil {
			var errs FieldErrors
			if !errors.As(err, &errs) || len(errs) == 0 {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		if q.Page < 1 || q.PageSize < 1 || q.PageSize > maxPageSize || q.Offset() < 0 ||
			!slices.Contains(SortFields, q.SortBy) || len(q.Terms) > maxSearch/2 {
			t.Fatalf("%q became %+v", query, q)
		}
		checkFilter(t, query, q)
		checkNumber(t, query, q.Number)
		for _, term := range q.Terms {
			if term.Text == "" || fold.String(term.Text) != term.Text || strings.Contains(term.Text+term.Expanded, "\n") ||
				fold.String(term.Expanded) != term.Expanded {
				t.Fatalf("%q became the term %q", query, term)
			}
			checkNumber(t, query, term.Number)
		}
	})
}
