// Package mapping converts the rows of a table to people. It determines the field of each column
// and the order of dates, and validates each row by the rules of a record.
package mapping

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Values of Column.Field, in addition to the JSON names of fields.
const (
	LeftOut   = ""                   // not imported
	ID        = "id"                 // record id
	FullName  = "name"               // first and last name in one cell
	LastFirst = "lastName firstName" // the same with the last name first
)

// Date orders.
const (
	DMY = "dmy"
	MDY = "mdy"
	YMD = "ymd"
)

// Orders are all date orders.
var Orders = []string{DMY, MDY, YMD}

// Options override or supplement what the table shows.
type Options struct {
	Columns map[int]string // fields by column, from 0; override the header
	Headers []Header       // fields by header, compared folded (--map)
	Country string         // of the department (ISO 3166-1 alpha-2); empty: unknown
	Answers sheet.Answers  // to questions

	// Rows that are left out, and rows that are taken although they do not look like people, by
	// number.
	Skip, Keep map[int]bool

	// LeaveOutBad imports rows without invalid dates of birth, email addresses and phone numbers.
	LeaveOutBad bool

	Now time.Time
}

// Header assigns a field to all columns with a header. If several assign phoneNumber or email, the
// first filled column of each row counts.
type Header struct{ Header, Field string }

// Orders of a name without a comma.
const (
	FirstLast     = "first-last"
	LastFirstName = "last-first"
)

// Kinds of questions.
const (
	AskDates    = "dates"    // the order of dates; its answers are Orders
	AskColumns  = "columns"  // whether to use columns that look like a field: change or keep
	AskSwapped  = "swapped"  // whether to swap day and month of dates: change or keep
	AskMidnight = "midnight" // whether dates with a time mean the following day: change or keep
	AskUnknown  = "unknown"  // whether repeated dates mean no date: change or keep
	AskNames    = "names"    // the order of names without a comma, where others have one; its answers are NameOrders
	AskZero     = "zero"     // whether to put a 0 before phone numbers in a column where others have one: true, or false by default
)

// Answers to questions whether to change something.
const (
	Change = "change"
	Keep   = "keep"
)

// NameOrders are all name orders.
var NameOrders = []string{FirstLast, LastFirstName}

// Column is a column of the table.
type Column struct {
	Header string
	Field  string // a constant above, or the name of a field
	Asked  bool   // the question AskColumns is about the column
}

// IsName reports whether the column contains names.
func (c Column) IsName() bool {
	return c.Field == "firstName" || c.Field == "lastName" || c.IsFullName()
}

// IsFullName reports whether the column contains first and last names.
func (c Column) IsFullName() bool { return c.Field == FullName || c.Field == LastFirst }

// Person is a row as a record.
type Person struct {
	Row    int                // row number in the file
	ID     string             // canonical record id; empty: none
	Fields record.Fields      // normalized; empty cells are empty fields
	Errors record.FieldErrors // empty: the row is valid
	// Doubts are errors of values that only an existing record can have, such as the phone number
	// 4.41E+11, which a spreadsheet rounded. The import refuses the row unless that record contains
	// exactly these values.
	Doubts record.FieldErrors
	// LeftOut are the errors of fields dropped by LeaveOutBad.
	LeftOut record.FieldErrors
	// Skip is the reason to leave out the row, and Text its cells. The person is empty then. Empty:
	// the row is a person.
	Skip, Text string
	// Readings are the possible readings of a name in the rarer format of its column. nil: the name
	// is clear.
	Readings []Name
	Reversed Name // the other reading of a name without a comma if nothing states the order
}

// Name is a first and a last name.
type Name struct {
	First string `json:"firstName"`
	Last  string `json:"lastName"`
}

// Name returns the full name, or the part that the row has.
func (p *Person) Name() string {
	return strings.TrimSpace(p.Fields.FirstName + " " + p.Fields.LastName)
}

// Result is a table converted to people.
type Result struct {
	Columns []Column // one per column of the table
	Dates   string   // date order; empty: no cell required one
	People  []Person // one per row
	Notes   []sheet.Note

	Questions []sheet.Question
}

// Codes of the notes of a result, with their arguments.
const (
	NoteUsual       = "usualOrder"    // number, example: dates in the order that is usual in the country
	NoteTwoDigits   = "twoDigitYears" // number, year, year: dates with two-digit years, and how the first one was read
	NoteLooksNames  = "looksNames"    // header: a column that looks like full names
	NoteSplit       = "splitNames"    // cell, first name, last name: how a name was split; up to three notes
	NoteNoValue     = "noValue"       // number, text: cells that mean no value, such as n/a or 0/0/00
	NoteNotOurID    = "notOurID"      // header: a column "id" without record ids
	NoteGuessedName = "splitGuess"    // number: names of more than two words
	NoteFirstFilled = "firstFilled"   // FieldName, headers: columns in order of preference; the first filled one counts
	NoteFirstByKind = "firstByKind"   // the same, plus the headers of columns with the kind of each value
	NoteParts       = "parts"         // FieldName, headers, texts, text: columns that were joined, and an example
	NoteNoFax       = "noFax"         // number: skipped fax numbers and similar
	NoteJoined      = "joined"        // number: cells with several values, of which the first was used
	NoteNoZero      = "noZero"        // number: phone numbers without a 0 or + in columns where others have one
	NoteZero        = "zero"          // number: phone numbers that got a 0
	NoteTitles      = "titles"        // number, places: salutations and ranks removed from names
	NoteNoTitles    = "noTitles"      // number, text: cells of a column of titles that are left out
	NoteCapitals    = "capitals"      // number, places: people with a name in capitals
	NoteByCapitals  = "byCapitals"    // number, cell, first name, last name: names split by the capitals of the last name
	NoteRemarks     = "remarks"       // number, cell, name: remarks removed from names

	// Number, before, after: imported cells without what does not belong to their value. Package sheet
	// has more such codes.
	NoteInvisible  = "invisible"  // invisible characters; without before
	NoteLineBreaks = "lineBreaks" // line breaks and tabs, replaced by " / " in phone numbers and by a space elsewhere
	NoteAddress    = "address"    // text around an e-mail address, such as mailto:, a name or other addresses
	NotePlace      = "place"      // text around a date of birth, such as a place
	NotePointZero  = "pointZero"  // .0 after a phone number

	NoteMerged      = "merged"        // number, before, after: rows to which the value of a merged cell applies; without before
	NoteHidden      = "hiddenColumns" // headers of columns that the sheet hides
	NoteStruckCells = "struckCells"   // number, before, after: cells that are struck through, in rows that are not
)

// FieldName is the name of a field in the arguments of a note.
type FieldName string

// Headers are column headers in the arguments of a note.
type Headers []string

// ColumnsError reports that the fields of the columns are unclear.
type ColumnsError struct {
	Code    string
	Field   string   // for ColumnsTwice
	Headers []string // columns concerned; all for ColumnsNoName and ColumnsNoHeader

	// Settled is an entry for Options.Headers that resolves a ColumnsTwice. It is empty if headers
	// cannot tell the columns apart or the options cause the conflict.
	Settled Header
}

func (e *ColumnsError) Error() string { return "columns: " + e.Code }

// Codes of a ColumnsError.
const (
	ColumnsTwice    = "twice"    // several columns could be Field
	ColumnsNoName   = "noName"   // no column contains names
	ColumnsNoHeader = "noHeader" // the first row contains data: an email address, date or phone number
	ColumnsUnknown  = "unknown"  // Options name an unknown column or field
)

// Columns returns the columns of a table, as far as they are clear.
func Columns(t *sheet.Table, o Options) []Column {
	c, _ := chooseColumns(t, o)
	return c.columns
}

// Map converts the rows of a table to people. The error is a *ColumnsError or the error of ctx. With
// the first, the result still has the known columns.
func Map(ctx context.Context, t *sheet.Table, o Options) (*Result, error) {
	c, unclear := chooseColumns(t, o)
	r := &Result{Columns: c.columns, Notes: c.notes}
	if unclear != nil {
		return r, unclear
	}
	if slices.ContainsFunc(r.Columns, func(c Column) bool { return c.Field == ID }) {
		ours := *t // an export of this program: nothing in it is left out or raises a question
		ours.Ours, t = true, &ours
	}
	prepared, rows := c.prepare(t, o, o.skips(t, r.Columns)), t.Rows
	skips := prepared.skips
	t = withoutSkipped(&prepared.Table, skips)
	births, err := readBirths(ctx, t, r.Columns, o, &c.tally)
	if err != nil {
		return r, err
	}
	r.Dates = births.reported
	names, err := readNames(ctx, t, r.Columns, o, &c.tally)
	if err != nil {
		return r, err
	}
	m := mapper{
		table: t, columns: r.Columns, several: c.several, births: births, names: names,
		phones: readPhones(t, r.Columns, o, &c.tally), notes: &c.tally, now: o.Now, leaveOutBad: o.LeaveOutBad,
	}
	r.People = make([]Person, len(t.Rows))
	for i := range t.Rows {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if skips != nil && skips[i] != "" {
			r.People[i] = Person{Row: rows[i].Number, Skip: skips[i], Text: rows[i].Text()}
			continue
		}
		r.People[i] = m.person(i)
	}
	if !t.Ours {
		r.Questions = slices.Concat(c.questions, births.questions, names.questions(), m.phones.questions())
	}
	r.Notes = inOrder(append(c.notes, names.examples()...))
	return r, nil
}
