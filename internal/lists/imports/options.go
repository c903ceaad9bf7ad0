package imports

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Options are those of an import.
type Options struct {
	Name string // of the file, for people

	// How to read the file where it does not say it itself. Languages are those in which
	// its names may be, the likeliest first, as "hr".
	Languages              []string
	Sheet, Encoding, Dates string
	Names                  string           // as in mapping.Options
	Columns                map[int]string   // as in mapping.Options
	Headers                []mapping.Header // as in mapping.Options
	Zero                   bool             // as in mapping.Options
	LeaveOutBad            bool             // as in mapping.Options
	Corrections            Corrections

	// What to do with the people in it.
	Update   bool // people who are there are changed
	Spelling bool // with Update: also where only the spelling of a name differs
	SkipBad  bool // good rows go in although others are refused
	Apply    bool
	AllRows  bool // the JSON of the outcome has all rows

	// Said is the digest of the outcome that somebody was told. Where another one has come
	// of it since, nothing is imported. nil: any will do.
	Said []byte

	// Who the rows are that are perhaps somebody who is there: by the number of a row.
	Same       map[int]string // it is the person with this id
	Add        map[int]bool   // it is somebody new
	AddPerhaps bool           // all others of them are new, too

	Progress func(done int) error // as in store.NewImport

	Department string // where the tenant is 0: as store.NewImport has it
	New        bool
}

// RowsError says that Options name a row that the file does not have, or say two things
// of one.
type RowsError struct {
	Option string // same or add
	Code   string
	Row    int
}

// Codes of a RowsError.
const (
	RowsUnknown = "unknown" // the file has no such row
	RowsBoth    = "both"    // Same and Add both name it
)

func (e *RowsError) Error() string { return "rows: " + e.Code }

// checkRows returns the error about the rows that Same and Add name, nil for none.
func (o *Options) checkRows(people []mapping.Person) error {
	if len(o.Same)+len(o.Add) == 0 {
		return nil
	}
	numbers := map[int]bool{}
	for i := range people {
		numbers[people[i].Row] = true
	}
	for _, row := range slices.Sorted(maps.Keys(o.Same)) {
		switch {
		case !numbers[row]:
			return &RowsError{"same", RowsUnknown, row}
		case o.Add[row]:
			return &RowsError{"same", RowsBoth, row}
		}
	}
	for _, row := range slices.Sorted(maps.Keys(o.Add)) {
		if !numbers[row] {
			return &RowsError{"add", RowsUnknown, row}
		}
	}
	return nil
}

// mapping returns how to read the people of a table.
func (o *Options) mapping(now time.Time) mapping.Options {
	return mapping.Options{
		Columns: o.Columns, Headers: o.Headers, Dates: o.Dates, Names: o.Names,
		Zero: o.Zero, LeaveOutBad: o.LeaveOutBad, Now: now,
	}
}

// SetSame takes over that a row is somebody who is there, as "12=ID" or "12:ID". The error
// is a *record.TextError.
func (o *Options) SetSame(text string) error {
	at := strings.IndexAny(text, "=:")
	if at < 0 {
		return wrongSame(text)
	}
	row, ok := parseRow(text[:at])
	id, err := record.ParseID(text[at+1:])
	if !ok || err != nil {
		return wrongSame(text)
	}
	if before := o.Same[row]; before != "" && before != id {
		return &record.TextError{Code: record.Duplicate, Fault: fmt.Sprintf("says of row %d that it is two people", row)}
	}
	if o.Same == nil {
		o.Same = map[int]string{}
	}
	o.Same[row] = id
	return nil
}

// rowForm is the number of a row: no file has a row with more digits.
var rowForm = regexp.MustCompile(`^0{0,9}[1-9][0-9]{0,8}$`)

func parseRow(text string) (row int, ok bool) {
	row, _ = strconv.Atoi(text) // rowForm is of numbers alone
	return row, rowForm.MatchString(text)
}

func wrongSame(text string) error {
	const want = "must be the number of a row and the id of a person, like 12=0191e2c4-1b5a-7000-8000-000000000001, not "
	return &record.TextError{Code: record.Invalid, Fault: want + strconv.Quote(text)}
}

// AllRows is the value of the parameter rows that sets Options.AllRows.
const AllRows = "all"

// perhapsAll stands for all rows that are perhaps somebody who is there.
const perhapsAll = "perhaps"

// SetAdd takes over that a row is somebody new: its number, or "perhaps" for all such
// rows. The error is a *record.TextError.
func (o *Options) SetAdd(text string) error {
	if text == perhapsAll {
		o.AddPerhaps = true
		return nil
	}
	row, ok := parseRow(text)
	if !ok {
		return &record.TextError{Code: record.Invalid, Fault: "must be the number of a row, or perhaps, not " + strconv.Quote(text)}
	}
	if o.Add == nil {
		o.Add = map[int]bool{}
	}
	o.Add[row] = true
	return nil
}
