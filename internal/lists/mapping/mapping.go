// Package mapping reads people out of a table: which column is which field, in
// which order dates are written, and each row by the rules of a record.
package mapping

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// What a column can be: the name of a field in JSON, or one of these.
const (
	LeftOut   = ""                   // nothing that we keep
	ID        = "id"                 // our id
	FullName  = "name"               // first and last name in one cell
	LastFirst = "lastName firstName" // likewise, the last name first
)

// Orders in which a date is written.
const (
	DMY = "dmy"
	MDY = "mdy"
	YMD = "ymd"
)

// Orders are all of them.
var Orders = []string{DMY, MDY, YMD}

// Options say what the table does not.
type Options struct {
	Columns map[int]string // by the number of the column, from 0: what it is; it wins over the header
	Headers []Header       // by a header, compared folded: what its column is (--map)
	Dates   string         // order of dates; empty: by the columns
	Names   string         // how a name without a comma is read, in a column that has names with one, too; empty: not said
	Zero    bool           // a phone number without a leading zero or plus gets a 0, in a column where others have one

	// LeaveOutBad says that a row goes without a date of birth, an e-mail address or a
	// phone number that the record refuses.
	LeaveOutBad bool

	Now time.Time
}

// Header says what the column with a header is. Several of them can say phoneNumber or
// email: the first one that is filled counts, row by row.
type Header struct{ Header, Field string }

// How a name without a comma is read.
const (
	FirstLast     = "first-last"
	LastFirstName = "last-first"
)

// NameOrders are both of them.
var NameOrders = []string{FirstLast, LastFirstName}

// Column is a column of the table.
type Column struct {
	Header string
	Field  string // one of the constants above, or the name of a field
}

// IsName reports whether the column has names.
func (c Column) IsName() bool {
	return c.Field == "firstName" || c.Field == "lastName" || c.IsFullName()
}

// IsFullName reports whether first and last names stand in the column.
func (c Column) IsFullName() bool { return c.Field == FullName || c.Field == LastFirst }

// Person is a row as a record.
type Person struct {
	Row    int                // its number in the file
	ID     string             // our id, canonical; empty: none
	Fields record.Fields      // normalized; a cell that is empty is an empty field
	Errors record.FieldErrors // what is wrong with the row; empty: nothing
	// LostPhone is a phone number whose digits a spreadsheet has lost, as
	// 4.41E+11. It is refused unless the person's record holds exactly that. Then
	// Fields.PhoneNumber is empty, and Errors does not have it.
	LostPhone string
	// LeftOut is what was wrong with fields that the person goes without.
	LeftOut record.FieldErrors
	// Readings are those of a name that stands in the rarer form of its column, where
	// nobody has said how it is read. nil: it is sure.
	Readings []Name
	// Titled is a full name with its titles and suffixes where they stand, and the last name
	// behind: it may stand so in a record. Empty: it is the name.
	Titled string
}

// Name is a first and a last name.
type Name struct {
	First string `json:"firstName"`
	Last  string `json:"lastName"`
}

// Name returns the name of the person for a message, as far as the row has one.
func (p *Person) Name() string {
	return strings.TrimSpace(p.Fields.FirstName + " " + p.Fields.LastName)
}

// Result is a table as people.
type Result struct {
	Columns []Column // one for each header of the table
	Dates   string   // order in which dates were read; empty: no cell needed one
	People  []Person // one for each row
	NoZero  int      // phone numbers that Options.Zero would put a 0 before
	Notes   []sheet.Note
}

// Codes of the notes of a result.
const (
	NoteTwoDigits   = "twoDigitYears" // number: dates whose year has two digits
	NoteSplit       = "splitNames"    // cell, first name, last name: how names of one column were split; up to three notes
	NoteNoDate      = "noDate"        // number, text: cells that other programs write for no date, such as 0/0/00
	NoteNotOurID    = "notOurID"      // header: a column "id" that holds no ids of ours
	NoteGuessedName = "splitGuess"    // number: names of more than two words
	NoteFirstFilled = "firstFilled"   // Field, headers: columns of which the first that is filled counts, in their order
	NoteFirstByKind = "firstByKind"   // likewise, and the headers of the columns that say the kind of each value
	NoteNoFax       = "noFax"         // number: cells that were not taken because they are those of a fax or the like
	NoteJoined      = "joined"        // number: cells with several values, of which the first was taken
	NoteNoZero      = "noZero"        // number: phone numbers without a 0 or + in columns where others have one
	NoteZero        = "zero"          // number: of those, how many got a 0
	NoteTitles      = "titles"        // number, places: titles that are no part of a name
	NoteCapitals    = "capitals"      // likewise: people of whom a name is in capitals throughout
)

// FieldName is the name of a field in the arguments of a note.
type FieldName string

// Headers are several headers in the arguments of a note.
type Headers []string

// ColumnsError says that it is not clear which column is which field.
type ColumnsError struct {
	Code    string
	Field   string   // that several columns could be; empty for other codes
	Headers []string // the columns concerned; for ColumnsNoName and ColumnsNoHeader all headers

	// Settled is what Options.Headers can say, too, so that one of the columns of a
	// ColumnsTwice is Field. It is empty where headers cannot tell the columns apart, or
	// Options say it of several.
	Settled Header
}

func (e *ColumnsError) Error() string { return "columns: " + e.Code }

// Codes of a ColumnsError.
const (
	ColumnsTwice    = "twice"    // several columns could be Field
	ColumnsNoName   = "noName"   // no column has names
	ColumnsNoHeader = "noHeader" // the first row is not a header: it has an e-mail address, a date or a phone number
	ColumnsUnknown  = "unknown"  // Options name a column that the table does not have, or a field that there is not
)

// DatesError says that nothing settles the order of dates.
type DatesError struct {
	Header  string
	Example string
	// Conflict: one cell says day first and another one month first. Example is
	// the first of them, Other the second.
	Other string
}

func (e *DatesError) Error() string { return "dates: nothing settles their order" }

// Columns returns what each column of a table is, as far as that is known.
func Columns(t *sheet.Table, o Options) []Column {
	c, _ := chooseColumns(t, o)
	return c.columns
}

// Map reads the people of a table. The error is a *ColumnsError or a
// *DatesError; then the result has the columns as far as they are known. Or it is
// that of ctx.
func Map(ctx context.Context, t *sheet.Table, o Options) (*Result, error) {
	c, unclear := chooseColumns(t, o)
	r := &Result{Columns: c.columns, Notes: c.notes}
	if unclear != nil {
		return r, unclear
	}
	births, err := readBirths(ctx, t, r.Columns, o)
	if err != nil {
		return r, err
	}
	r.Dates = births.reported
	names, err := readNames(ctx, t, r.Columns, o)
	if err != nil {
		return r, err
	}
	m := mapper{
		table: t, columns: r.Columns, several: c.several, births: births, names: names,
		phones: readPhones(t, r.Columns, o), now: o.Now, leaveOutBad: o.LeaveOutBad,
	}
	r.People = make([]Person, len(t.Rows))
	for i := range t.Rows {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		r.People[i] = m.person(i)
	}
	r.NoZero = m.phones.without
	r.Notes = slices.Concat(r.Notes, m.severalNotes(), m.phones.notes(), names.notes(), births.notes())
	return r, nil
}
