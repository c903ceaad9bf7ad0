package record

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParseFilter(t *testing.T) {
	t.Parallel()
	ids := func(n int) string { return strings.Repeat(anaID+",", n) }
	tests := []struct {
		query string
		ids   int
		want  Filter
	}{
		{"email=+%C4%8CoVic@Example.com%20", 0, Filter{Email: "ČoVic@Example.com"}},
		{"email=c%CC%8Covic%E2%80%8B@x.hr%EF%BB%BF", 0, Filter{Email: "čovic@x.hr"}},
		{"phoneNumber=%2B385+(0)91/234-5678", 0, Filter{PhoneDigits: "3850912345678"}},
		{"id=" + strings.ToUpper(anaID), 1, Filter{}},
		{"id=" + anaID + "&id=&id=" + anaID + ",%20" + anaID, 3, Filter{}},
		{"id=" + ids(100), 100, Filter{}},
		{"birthMonth=1", 0, Filter{BirthMonth: 1}},
		{"birthMonth=012", 0, Filter{BirthMonth: 12}},
		{"hasEmail=true&hasPhoneNumber=false&hasDateOfBirth=0", 0, Filter{HasEmail: new(true), HasPhoneNumber: new(false), HasDateOfBirth: new(false)}},
		{"updatedSince=1970-01-01T00:00:01Z", 0, Filter{UpdatedSince: 1000}},
		{"updatedSince=1970-01-01t01:00:01.001%2b01:00", 0, Filter{UpdatedSince: 1001}},
		{"updatedSince=1970-01-01T00:00:01.0010000001Z", 0, Filter{UpdatedSince: 1001}},
		{"updatedSince=1970-01-01T00:00:01.001000001z", 0, Filter{UpdatedSince: 1002}},
		{"updatedSince=1970-01-01T01:01%2B01", 0, Filter{UpdatedSince: 60_000}},
		{"updatedSince=1970-01-01T00:00:01,5Z[UTC]", 0, Filter{UpdatedSince: 1500}},
		{"updatedSince=0001-01-01T00:00:00Z", 0, Filter{}},
	}
	for _, tt := range tests {
		q, err := ParseQuery(tt.query)
		if err != nil || len(q.IDs) != tt.ids || slices.ContainsFunc(q.IDs, func(id string) bool { return id != anaID }) || !reflect.DeepEqual(q.Filter, tt.want) {
			t.Errorf("%.200s: %+v, %v", tt.query, q, err)
		}
		if whole := tt.ids == 0 && tt.want == (Filter{}); q.IsWhole() != whole {
			t.Errorf("%.200s: IsWhole is %t", tt.query, !whole)
		}
		p := ParseParameters(tt.query)
		if exported := p.Export(); p.Err() != nil || !reflect.DeepEqual(exported.Filter, q.Filter) || !slices.Equal(exported.IDs, q.IDs) {
			t.Errorf("%.200s: export query is %+v, %v", tt.query, exported, p.Err())
		}
		presence := Filter{HasEmail: tt.want.HasEmail, HasPhoneNumber: tt.want.HasPhoneNumber, HasDateOfBirth: tt.want.HasDateOfBirth}
		if office, err := (Query{}).Parse(tt.query); err != nil || office.IDs != nil || !reflect.DeepEqual(office.Filter, presence) {
			t.Errorf("%.200s: page query is %+v, %v", tt.query, office, err)
		}
	}
}

func TestParseFilterRejects(t *testing.T) {
	t.Parallel()
	tests := []struct{ query, want string }{
		{"id=&email=&phoneNumber=&birthMonth=&hasEmail=&hasPhoneNumber=&hasDateOfBirth=&updatedSince=", "id invalid, email invalid, phoneNumber invalid, " +
			"birthMonth invalid, hasEmail invalid, hasPhoneNumber invalid, hasDateOfBirth invalid, updatedSince invalid"}, // must not match everyone
		{"email", "email invalid"},
		{"id=&id=", "id invalid"},
		{"email=ana", "email invalid"},
		{"email=%20", "email invalid"},       // must not match everyone
		{"email=%E2%80%8B", "email invalid"}, // the same
		{"id=,", "id invalid"},
		{"id=&id=%20", "id invalid"},
		{"email=ana+b@x.hr", "email invalid"}, // unescaped plus
		{"email=Ana <ana@x.hr>", "email invalid"},
		{"email=a@x.hr,b@x.hr", "email invalid"},
		{"email=%ff@x.hr", "email invalid"},
		{"email=" + strings.Repeat("a", 250) + "@x.hr", "email too_long"},
		{"email=a@x.hr&email=a@x.hr", "email duplicate"},
		{"phoneNumber=none", "phoneNumber invalid"},
		{"phoneNumber=+", "phoneNumber invalid"},
		{"phoneNumber=%D9%A1", "phoneNumber invalid"}, // Arabic digit
		{"id=x", "id invalid"},
		{"id=" + anaID + "x", "id invalid"},
		{"id=x,y&id=z", "id invalid"},
		{"id=" + strings.Repeat(anaID+",", 101), "id out_of_range"},
		{"birthMonth=0", "birthMonth out_of_range"},
		{"birthMonth=13", "birthMonth out_of_range"},
		{"birthMonth=-1", "birthMonth out_of_range"},
		{"birthMonth=" + strings.Repeat("9", 40), "birthMonth out_of_range"},
		{"birthMonth=May", "birthMonth invalid"},
		{"hasEmail=no", "hasEmail invalid"},
		{"hasPhoneNumber=TRUE", "hasPhoneNumber invalid"},
		{"hasDateOfBirth=true&hasDateOfBirth=false", "hasDateOfBirth duplicate"},
		{"updatedSince=2026-11-23", "updatedSince invalid"},
		{"updatedSince=2026-11-23Z", "updatedSince invalid"},
		{"updatedSince=2026-11-23T10:00:00", "updatedSince invalid"},
		{"updatedSince=2026-11-23T24:00:00Z", "updatedSince invalid"},
		{"updatedSince=2026-11-23T10:00:00+01:00", "updatedSince invalid"}, // unescaped plus
		{"updatedSince=2026-02-30T10:00:00Z", "updatedSince invalid"},
		{"updatedSince=yesterday", "updatedSince invalid"},
		{"page=0&email=x&phoneNumber=x&id=x&birthMonth=x&hasEmail=x&hasPhoneNumber=x&hasDateOfBirth=x&updatedSince=x", "page out_of_range, id invalid, " +
			"email invalid, phoneNumber invalid, birthMonth invalid, hasEmail invalid, hasPhoneNumber invalid, hasDateOfBirth invalid, updatedSince invalid"},
	}
	for _, tt := range tests {
		_, err := ParseQuery(tt.query)
		var errs FieldErrors
		if !errors.As(err, &errs) || codes(errs) != tt.want {
			t.Errorf("%.200s: %s, want %s", tt.query, codes(errs), tt.want)
		}
	}
}

// checkFilter checks the invariants of a parsed filter.
func checkFilter(t *testing.T, query string, q Query) {
	t.Helper()
	f := q.Filter
	normal, errs := Fields{FirstName: "A", LastName: "B", Email: f.Email}.Normalize(today)
	if normal.Email != f.Email || len(errs) > 0 || Digits(f.PhoneDigits) != f.PhoneDigits || f.BirthMonth < 0 || f.BirthMonth > 12 || f.UpdatedSince < 0 ||
		len(q.IDs) > maxIDs || q.IDs != nil && len(q.IDs) == 0 || fmt.Sprint(q.IDs) != strings.ToLower(fmt.Sprint(q.IDs)) {
		t.Fatalf("%q became %+v", query, q)
	}
}
