package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestFilters checks that SQL, the index and exports apply filters alike. Each list starts with the
// newest records.
func TestFilters(t *testing.T) {
	t.Parallel()
	for _, size := range []int{150, 250} {
		s, letter := newLarge(t, size), map[string]string{}
		updated := int64(0)
		for i, f := range []record.Fields{
			{FirstName: "Ana", LastName: "Qq", Email: "čović@Example.com", PhoneNumber: "+385 91 0000000", DateOfBirth: "1990-05-31T23:30:00-05:00"},
			{FirstName: "Boris", LastName: "Qq", Email: "covic@example.com", PhoneNumber: "(385)91-000 00 00", DateOfBirth: "1990-06-01T00:30:00+02:00"},
			{FirstName: "Cvita", LastName: "Qq"},
			{FirstName: "Đuro", LastName: "Qq", Email: "ČOVIĆ@example.COM", PhoneNumber: "385 91 0000000 1"},
			{FirstName: "Eva", LastName: "Qq", Email: "o'neil+1@x.hr", PhoneNumber: "none"},
		} {
			time.Sleep(2 * time.Millisecond)
			created := create(t, s, ours, f)
			letter[created.ID] = string(rune('a' + i))
			if i == 3 {
				updated = created.UpdatedAt
			}
		}
		of := map[string]string{}
		for id, l := range letter {
			of[l] = id
		}
		since := func(after time.Duration) string {
			return time.UnixMilli(updated).Add(after).UTC().Format(time.RFC3339Nano)
		}
		for query, want := range map[string]string{
			"email=%C4%8CoVi%C4%86%40example.com": "da",
			"email=COVIC@EXAMPLE.COM":             "b",
			"email=covic@example.co":              "",
			"email=o'neil%2b1@X.hr":               "e",
			"phoneNumber=385910000000":            "ba",
			"phoneNumber=%2b385+91+000-00-00":     "ba",
			"phoneNumber=0000000":                 "",
			"birthMonth=5&search=qq":              "a",
			"birthMonth=6&search=qq":              "b",
			"hasEmail=false&search=qq":            "c",
			"hasEmail=true&search=qq":             "edba",
			"hasPhoneNumber=false&search=qq":      "c",
			"hasPhoneNumber=true&search=qq":       "edba",
			"hasDateOfBirth=true&search=qq":       "ba",
			"hasDateOfBirth=0":                    "edc",
			"updatedSince=" + since(0):            "ed",
			"updatedSince=" + since(1):            "e",
			"updatedSince=" + since(-1):           "ed",
			"id=" + of["a"] + "," + of["c"]:       "ca",
			"id=" + nobody:                        "",
			"id=" + of["a"] + "&id=" + strings.ToUpper(of["b"]) + "&hasEmail=true&search=boris": "b",
			"hasDateOfBirth=false&hasEmail=true&search=qq&sortBy=firstName&sortDir=asc":         "de",
		} {
			q, err := record.ParseQuery(query)
			must(t, err)
			got, other := "", int64(0)
			p, err := s.List(ours, q)
			must(t, err)
			for _, f := range p.Items {
				if got += letter[f.ID]; letter[f.ID] == "" {
					other++
				}
			}
			if got != want || !strings.Contains(query, "hasDateOfBirth=0") && (p.Total != int64(len(want)) || other > 0) {
				t.Errorf("%s of %d: %s and %d others of %d, want %s", query, size, got, other, p.Total, want)
			}
			all, err := s.IDs(ours, q)
			must(t, err)
			var exported []string
			must(t, s.Each(ours, q, func(f *record.Firefighter) error { exported = append(exported, f.ID); return nil }))
			if int64(len(all)) != p.Total || !slices.Equal(all, exported) || !slices.Equal(all[:len(p.Items)], ids(p.Items)) {
				t.Errorf("%s of %d: %d ids and %d people, want %d", query, size, len(all), len(exported), p.Total)
			}
		}
		if byIndex(t, s) != (size >= 200) {
			t.Errorf("%d people: the wrong one of SQL and the index answers", size)
		}
	}
}
