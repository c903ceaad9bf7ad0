package sheet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

var now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// checkAgainPeople writes people in a format and compares them with what is read.
func checkAgainPeople(t *testing.T, format string, people ...record.Firefighter) {
	t.Helper()
	table, err := Read(t.Context(), write(t, format, people...), Options{})
	if err != nil {
		t.Fatalf("%s of %+v: %v", format, people[:1], err)
	}
	if table.Format != format || len(table.Rows) != len(people) {
		t.Fatalf("%s: read as %s with %d rows, want %d", format, table.Format, len(table.Rows), len(people))
	}
	for i, row := range table.Rows {
		want := map[string]string{"id": people[i].ID}
		for d, value := range people[i].Each {
			want[d.Name] = *value
		}
		for name, text := range want {
			if got := textIn(table, row, name); got != text {
				t.Fatalf("%s: %s %q is read as %q", format, name, text, got)
			}
		}
	}
}

// textIn returns the text of a row in a column. A date alone is a date of birth at
// midnight UTC.
func textIn(t *Table, row Row, name string) string {
	i := slices.Index(t.Header, name)
	if i < 0 || i >= len(row.Cells) {
		return ""
	}
	text := row.Cells[i].Text
	if row.Cells[i].Kind == Number {
		text, _ = t.Day(text)
	}
	if name == "dateOfBirth" && len(text) == len(time.DateOnly) {
		text += midnight
	}
	return text
}

// scripts are ranges from which names are made.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Han, unicode.Hangul, unicode.Devanagari,
	unicode.Thai, unicode.Ethiopic, unicode.Georgian, unicode.Armenian, unicode.Mn, unicode.So, unicode.Sm, unicode.Po, unicode.Cf,
	unicode.Noncharacter_Code_Point,
}

// special are texts that a format could take for something of its own.
var special = []string{"]]>", "'", "=", "+", "-", "@", "''", "\"", ",", ";", "|", "\\", "\\n", "\\,", ":", "=20", "=\r", "_x0041_", "_x005F_", "&amp;", "<b>", " ", "  ",
	"\u00a0", "\u202e", "\u200f", "\u200d", "\u0301", "\u2028", "\u0085", "\ufeff", "\ufffe", "🚒", "👩🏽‍🚒", "0049", "1E5", "1990-05-15", "#N/A", "TRUE", "null", "BEGIN:VCARD", "sep=;", "id", "tel:5", "data:x", "''Two", "'="}

func anyText(random *rand.Rand, pieces int) string {
	var b strings.Builder
	script := scripts[random.IntN(len(scripts))]
	for range random.IntN(pieces) {
		if random.IntN(4) == 0 {
			b.WriteString(special[random.IntN(len(special))])
			continue
		}
		b.WriteRune(letter(random, script))
	}
	return b.String()
}

func letter(random *rand.Rand, script *unicode.RangeTable) rune {
	if n := len(script.R16); n > 0 {
		r := script.R16[random.IntN(n)]
		return rune(r.Lo + uint16(random.IntN(int((r.Hi-r.Lo)/r.Stride)+1))*r.Stride)
	}
	return rune(script.R32[0].Lo)
}

var births = []string{"", "1990-05-15", "1900-01-01", "1900-02-28", "1900-03-01", "2026-11-22", "1988-02-29T23:30:00.5+02:00", "1970-01-01T00:00:00-00:00",
	"1970-01-01T00:00:00+00:00", "2000-12-31T23:59:59.123456789012Z"}

// anyone returns a person by the rules of a record.
func anyone(random *rand.Rand, id int) record.Firefighter {
	for {
		fields, errs := record.Fields{
			FirstName: anyText(random, 20), LastName: anyText(random, 30), PhoneNumber: anyText(random, 15),
			Email:       []string{"", "ana@example.com", `"a, b;c"@example.com`, "+a@example.com", "=a@example.com", "č@example.com"}[random.IntN(6)],
			DateOfBirth: births[random.IntN(len(births))],
		}.Normalize(now)
		if len(errs) == 0 {
			f := record.Firefighter{ID: fmt.Sprintf("0198c0de-0000-7000-8000-%012x", id), Fields: fields}
			if random.IntN(3) == 0 {
				f.InvitationStatus, f.UserID = new(anyText(random, 5)), new("\xff=\n")
			}
			return f
		}
	}
}

// TestRoundTrip: what is written in any format is read as the same people, whatever
// their names.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(11, 22))
			checkAgainPeople(t, format, people...)
			for i, text := range special {
				if fields, errs := (record.Fields{FirstName: text, LastName: text, PhoneNumber: text}).Normalize(now); len(errs) == 0 {
					checkAgainPeople(t, format, record.Firefighter{ID: fmt.Sprintf("0198c0de-0000-7000-8000-%012x", i), Fields: fields})
				}
			}
			for id := range 100 {
				checkAgainPeople(t, format, anyone(random, id))
			}
			var all []record.Firefighter
			for id := range 1500 {
				all = append(all, anyone(random, id))
			}
			checkAgainPeople(t, format, all...)
		})
	}
}
