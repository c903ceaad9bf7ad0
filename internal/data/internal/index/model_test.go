package index

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// terms returns the search terms of a text.
func terms(t *testing.T, search string) []record.Term {
	t.Helper()
	q, err := record.ParseQuery("search=" + url.QueryEscape(search))
	if err != nil {
		t.Fatal(err)
	}
	return q.Terms
}

// list is the model of a whole list: it filters and sorts the records as the
// contract says, with nothing prepared. It returns row numbers.
func (t *tenant) list(q record.Query) (numbers []int64) {
	var found []tenantRecord
	for _, r := range t.records {
		if matches(r.Fields, q) && r.lets(q.Filter) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b tenantRecord) int { return compare(a, b, q) })
	for _, r := range found {
		numbers = append(numbers, r.number)
	}
	return numbers
}

// matches is the model of a search. What a term is, and when a number is another form
// of one, is for the tests of record.
func matches(f record.Fields, q record.Query) bool {
	for _, t := range q.Terms {
		found := t.Number.In(record.Digits(f.PhoneNumber))
		for _, text := range []string{f.FirstName, f.LastName, f.Email, f.PhoneNumber} {
			expanded := fold.Expanded(text)
			found = found || strings.Contains(fold.String(text), t.Text) ||
				t.Expanded != "" && (strings.Contains(expanded, t.Expanded) || strings.Contains(fold.String(text), t.Expanded))
		}
		if !found {
			return q.Number.In(record.Digits(f.PhoneNumber))
		}
	}
	return true
}

// lets is the model of a filter.
func (r tenantRecord) lets(f record.Filter) bool {
	has := func(want *bool, value string) bool { return want == nil || *want == (value != "") }
	return (f.Email == "" || strings.EqualFold(r.Email, f.Email)) &&
		(f.PhoneDigits == "" || record.Digits(r.PhoneNumber) == f.PhoneDigits) &&
		(f.BirthMonth == 0 || month(r.Fields) == f.BirthMonth) &&
		has(f.HasEmail, r.Email) && has(f.HasPhoneNumber, r.PhoneNumber) && has(f.HasDateOfBirth, r.DateOfBirth) &&
		r.updated >= f.UpdatedSince
}

// month returns the month of a date of birth as it was sent, 0 for none.
func month(f record.Fields) int64 {
	if f.DateOfBirth == "" {
		return 0
	}
	return int64(f.Born().Month())
}

// compare is the order of the contract. Records without a value are last in
// both directions.
func compare(a, b tenantRecord, q record.Query) int {
	valueA, valueB := value(a.Fields, q.SortBy), value(b.Fields, q.SortBy)
	if (valueA == "") != (valueB == "") {
		return strings.Compare(valueB, valueA)
	}
	by := compareValues(a.Fields, b.Fields, q.SortBy)
	if q.SortBy == record.ByUpdatedAt {
		by = cmp.Compare(a.updated, b.updated)
	}
	c := cmp.Or(by, cmp.Compare(a.number, b.number))
	if q.Descending {
		return -c
	}
	return c
}

// value returns what must be there for a record not to be last.
func value(f record.Fields, by record.SortField) string {
	switch by {
	case record.ByEmail:
		return f.Email
	case record.ByPhoneNumber:
		return f.PhoneNumber
	case record.ByDateOfBirth:
		return f.DateOfBirth
	}
	return "always"
}

func compareValues(a, b record.Fields, by record.SortField) int {
	folded := func(a, b string) int { return strings.Compare(fold.String(a), fold.String(b)) }
	switch by {
	case record.ByFirstName:
		return cmp.Or(folded(a.FirstName, b.FirstName), folded(a.LastName, b.LastName))
	case record.ByLastName:
		return cmp.Or(folded(a.LastName, b.LastName), folded(a.FirstName, b.FirstName))
	case record.ByEmail:
		return folded(a.Email, b.Email)
	case record.ByPhoneNumber:
		return folded(a.PhoneNumber, b.PhoneNumber)
	case record.ByDateOfBirth:
		return a.Born().Compare(b.Born())
	}
	return 0
}

// TestModel compares every page of many lists with the model.
func TestModel(t *testing.T) {
	t.Parallel()
	searches := []string{"", "ana", "Ana babić", "x.hr", "a", "@", "7/12", "091 234", "(091)", "34-56", "%", "_",
		"strasse o'neil", "5678 cedo", "zz", "A-7", "a-7", "mueller", "müller", "MÜLLER-jaeger juergen",
		"jürgen", "ue", "0912345678", "091 234 5678", "+385 91 234 5678", "091 - 234", "ana 00385912345678", "büro", "buero 091"}
	c, table := NewCache(), newTenant(333)
	for _, search := range searches {
		t.Run(search, func(t *testing.T) {
			q := record.Query{Terms: terms(t, search), Letters: true}
			for _, q.SortBy = range record.SortFields {
				for _, q.Descending = range []bool{false, true} {
					table.comparePages(t, c, q)
				}
			}
		})
	}
}

// TestFilters compares every page of lists that are narrowed, also while they are searched.
func TestFilters(t *testing.T) {
	t.Parallel()
	yes, no := new(true), new(false)
	filters := []record.Filter{{Email: "A@x.HR"}, {Email: "á@X.hr"}, {Email: "a\u0301@x.hr"}, {Email: "x.hr"}, {Email: "nobody@x.hr"},
		{PhoneDigits: "0912345678"}, {PhoneDigits: "00385912345678"}, {PhoneDigits: "712"}, {PhoneDigits: "7"},
		{BirthMonth: 5}, {BirthMonth: 1}, {BirthMonth: 12},
		{HasEmail: yes}, {HasEmail: no}, {HasPhoneNumber: yes}, {HasPhoneNumber: no}, {HasDateOfBirth: yes}, {HasDateOfBirth: no},
		{UpdatedSince: 10}, {UpdatedSince: 19}, {UpdatedSince: 20},
		{Email: "a@x.hr", HasDateOfBirth: no}, {PhoneDigits: "0912345678", BirthMonth: 5, HasEmail: yes, UpdatedSince: 3}}
	for _, size := range []int{333, 320} {
		c, table := NewCache(), newTenant(size)
		for _, filter := range filters {
			for _, search := range []string{"", "ana", "a 091", "zz"} {
				q := record.Query{Terms: terms(t, search), Filter: filter, Letters: true}
				for _, q.SortBy = range []record.SortField{record.ByCreatedAt, record.ByLastName, record.ByDateOfBirth} {
					q.Descending = !q.Descending
					table.comparePages(t, c, q)
				}
			}
		}
	}
}

// comparePages compares all pages of a list that the index answers, in two
// sizes, and one past the end.
func (t *tenant) comparePages(test *testing.T, c *Cache, q record.Query) {
	test.Helper()
	want := t.list(q)
	total := int64(len(want))
	for _, q.PageSize = range []int64{7, 100} {
		for q.Page = 1; q.Offset() <= total+q.PageSize; q.Page++ {
			got, ok, err := pageOf(c, 1, t, q)
			if !ok && q.IsWhole() && q.SortBy == record.ByCreatedAt && q.Offset() < farOffset {
				continue
			}
			page := want[min(q.Offset(), total):min(q.Offset()+q.PageSize, total)]
			if !ok || err != nil || got.Total != total || !slices.Equal(got.Rows, page) {
				test.Fatalf("%+v: %t, %v\ngot  %v\nwant %v of %d", q, ok, err, got, page, total)
			}
			if letters := t.letters(q, want); !slices.Equal(got.Letters, letters) {
				test.Fatalf("%+v has the letters %v, not %v", q, got.Letters, letters)
			}
		}
	}
}

// letters is the model of the letters of a list of these row numbers.
func (t *tenant) letters(q record.Query, list []int64) (all []Letter) {
	if !q.HasLetters(int64(len(list))) {
		return nil
	}
	for i, number := range list {
		at := slices.IndexFunc(t.records, func(r tenantRecord) bool { return r.number == number })
		letter := string([]rune(fold.String(t.records[at].LastName))[:1])
		if len(all) == 0 || all[len(all)-1].Letter != letter {
			all = append(all, Letter{letter, int64(i)})
		}
	}
	return all
}
