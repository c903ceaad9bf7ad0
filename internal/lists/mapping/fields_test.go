package mapping

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// complete returns a person with a different value in every field.
func complete(t *testing.T) record.Firefighter {
	t.Helper()
	f := record.Fields{FirstName: "Ana", LastName: "Horvat"}
	for d, value := range f.Each {
		right := slices.ContainsFunc([]string{"some " + d.Name, d.Name + "@example.org", "1990-05-15"}, func(try string) bool {
			*value = try
			normal, errs := f.Normalize(now)
			*value = *d.Of(&normal)
			return len(errs) == 0
		})
		if !right {
			t.Fatalf("no valid value for %s: add one here", d.Name)
		}
	}
	return record.Firefighter{ID: "0198c0de-0000-7000-8000-000000000001", Fields: f}
}

// TestNoFormatLosesAField checks that every export format can be imported with all fields, using
// only the headers.
func TestNoFormatLosesAField(t *testing.T) {
	t.Parallel()
	person := complete(t)
	for _, format := range sheet.Formats {
		var file bytes.Buffer
		err := sheet.WriteAll(t.Context(), &file, format, sheet.Form{},
			func(write func(*record.Firefighter) error) error { return write(&person) })
		if err != nil {
			t.Fatal(err)
		}
		table, err := sheet.Read(t.Context(), file.Bytes(), sheet.Options{})
		if err != nil {
			t.Fatal(format, err)
		}
		read, err := Map(t.Context(), table, Options{Now: now})
		if err != nil || len(read.People) != 1 {
			t.Fatalf("%s: %d people, %v", format, len(read.People), err)
		}
		if got := read.People[0]; got.ID != person.ID || len(got.Errors) > 0 || !reflect.DeepEqual(got.Fields, person.Fields) {
			t.Errorf("%s: %+v is read as %+v", format, person.Fields, got)
		}
	}
}

// TestHeadingsNameTheirField checks that each heading names its field and no other, alone and with
// neutral words, and so does the JSON name.
func TestHeadingsNameTheirField(t *testing.T) {
	t.Parallel()
	for _, f := range record.AllFields() {
		for _, heading := range append(strings.Fields(f.Headings), f.Name) {
			for _, header := range []string{heading, strings.ToUpper(heading) + " *", "member_" + heading} {
				if got := fieldOf(header); got != f.Name {
					t.Errorf("the header %q is %q, want %s", header, got, f.Name)
				}
			}
		}
		for _, word := range strings.Fields(f.Besides) {
			if got := fieldOf(word); got == f.Name {
				t.Errorf("header %q is %s, although the word is only a companion", word, got)
			}
		}
	}
}
