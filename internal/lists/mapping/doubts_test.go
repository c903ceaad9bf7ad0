package mapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestDoubts checks which dates raise a question, and how each answer reads them. A cell that starts
// with # is a number.
func TestDoubts(t *testing.T) {
	t.Parallel()
	for cells, want := range map[string]string{
		// UTC midnight
		"1985-04-12T22:00:00.000Z|1990-01-14T23:00:00.000Z|1970-07-30T22:00:00.000Z": "midnight 3: 1985-04-13 1990-01-15 1970-07-31, 1985-04-12T22:00:00Z 1990-01-14T23:00:00Z 1970-07-30T22:00:00Z",
		"1999-12-31 18:30:00|1990-05-15T00:00:00Z|1984-02-28T18:30Z":                 "midnight 2: 2000-01-01 1990-05-15 1984-02-29, 1999-12-31T18:30:00Z 1990-05-15 1984-02-28T18:30:00Z",
		"1985-04-12T23:00:00Z|1985-01-12T00:00:00Z|1986-01-12T00:00:00Z":             "midnight 1: 1985-04-13 1985-01-12 1986-01-12, 1985-04-12T23:00:00Z 1985-01-12 1986-01-12",
		"1985-04-12T23:00:00Z" + strings.Repeat("|1985-01-12T00:00:00Z", 19):         "1985-04-12T23:00:00Z" + strings.Repeat(" 1985-01-12", 19),
		"#31149.9166666667|#32888":                                                                                 "midnight 1: 1985-04-13 1990-01-15, 1985-04-12T22:00:00Z 1990-01-15",
		"1985-04-12T22:00:00+02:00|1990-01-14T23:00:00+01:00":                                                      "1985-04-12T22:00:00+02:00 1990-01-14T23:00:00+01:00",
		"1985-04-12T04:00:00Z|1990-01-14T05:00:00Z|1990-01-14T12:00:00Z":                                           "1985-04-12T04:00:00Z 1990-01-14T05:00:00Z 1990-01-14T12:00:00Z",
		"1985-04-12T13:12:00Z|1990-01-14T15:01:00Z|1990-01-14T20:40:00Z|1990-01-14T21:03:00Z|1990-01-14T22:03:00Z": "1985-04-12T13:12:00Z 1990-01-14T15:01:00Z 1990-01-14T20:40:00Z 1990-01-14T21:03:00Z 1990-01-14T22:03:00Z",

		// Half-swapped
		"#31110|25/12/1985|#25750|30/01/1966": "swapped 2: 1985-04-03 1985-12-25 1970-01-07 1966-01-30, 1985-03-04 1985-12-25 1970-07-01 1966-01-30",
		"1985-03-04|12/25/1985|5/30/1966":     "swapped 1: 1985-04-03 1985-12-25 1966-05-30, 1985-03-04 1985-12-25 1966-05-30",
		"#31110|25/12/1985|#33008|30/01/1966": "1985-03-04 1985-12-25 1990-05-15 1966-01-30",
		"#31110|25/12/1985|5/6/1985|#25750":   "1985-03-04 1985-12-25 1985-06-05 1970-07-01",
		"#31110|4 March 1985|#25750":          "1985-03-04 1985-03-04 1970-07-01",
		"#31110|25/12/1985":                   "1985-03-04 1985-12-25",
		"#31172|25/12/1985|30/01/1966":        "1985-05-05 1985-12-25 1966-01-30",

		// Placeholders
		"1.1.1900|15.5.1990|01.01.1900":                           "unknown 2:  1990-05-15 , 1900-01-01 1990-05-15 1900-01-01",
		"31.12.9999|15.5.1990|31.12.9999|30.12.1899|30.12.1899":   "unknown 4:  1990-05-15   , out_of_range 1990-05-15 out_of_range out_of_range out_of_range",
		"1.1.1985|1.1.1990|15.5.1990|1.1.1970":                    "unknown 3:   1990-05-15 , 1985-01-01 1990-01-01 1990-05-15 1970-01-01",
		"1970-01-01|1970-01-01":                                   "unknown 2:  , 1970-01-01 1970-01-01",
		"1.1.1985|1.1.1990|15.5.1990|15.5.1990|15.5.1990":         "1985-01-01 1990-01-01 1990-05-15 1990-05-15 1990-05-15",
		"1.1.1900|15.5.1990":                                      "1900-01-01 1990-05-15",
		"1.1.1990|1.1.1990" + strings.Repeat("|15.5.1990", 99):    "1990-01-01 1990-01-01" + strings.Repeat(" 1990-05-15", 99),
		"1.1.80|1.1.81|1.1.82" + strings.Repeat("|15.5.1990", 28): "1980-01-01 1981-01-01 1982-01-01" + strings.Repeat(" 1990-05-15", 28),
	} {
		table := &sheet.Table{Format: sheet.CSV, Header: []string{"Vorname", "Nachname", "geb."}}
		for i, text := range strings.Split(cells, "|") {
			cell := sheet.Cell{Text: text}
			if number, ok := strings.CutPrefix(text, "#"); ok {
				cell = sheet.Cell{Text: number, Kind: sheet.Number}
			}
			table.Rows = append(table.Rows, sheet.Row{Number: i + 2, Cells: []sheet.Cell{{Text: "Ana"}, {Text: "Kos"}, cell}})
		}
		read := func(answer string) (question, dates string) {
			r, err := Map(t.Context(), table, Options{Now: now, Answers: sheet.Answers{AskSwapped: answer, AskMidnight: answer, AskUnknown: answer}})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, p := range r.People {
				if len(p.Errors) > 0 {
					p.Fields.DateOfBirth = p.Errors[0].Code
				}
				all = append(all, strings.TrimSuffix(p.Fields.DateOfBirth, "T00:00:00Z"))
			}
			for _, q := range r.Questions {
				question += fmt.Sprintf("%s %d: ", q.Kind, q.Args[1])
				if q.Answer != answer || q.Blocks() != (answer == "") {
					t.Errorf("%s: %+v", cells, q)
				}
			}
			return question, strings.Join(all, " ")
		}
		question, got := read("")
		_, changed := read(Change)
		if _, kept := read(Keep); question != "" {
			got = question + got + ", " + kept
		} else if kept != got {
			t.Errorf("%s: %s, and %s without a question", cells, got, kept)
		}
		if got != want || question != "" && !strings.HasPrefix(got, question+changed+",") {
			t.Errorf("%s: %q, want %q", cells, got, want)
		}
		table.Ours = true
		if question, _ := read(""); question != "" {
			t.Errorf("%s in our own export: %s", cells, question)
		}
	}
}
