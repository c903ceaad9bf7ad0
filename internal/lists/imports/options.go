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
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Options configure an import.
type Options struct {
	Name string // display name of the file

	// How to read the file. Empty values are detected. Languages lists the likely languages of the
	// names, such as "hr", the likeliest first. Country is the country of the department.
	Languages   []string
	Country     string
	Sheet       string
	HeaderRow   int              // its number; 0: find it
	Answers     sheet.Answers    // as in mapping.Options
	Columns     map[int]string   // as in mapping.Options
	Headers     []mapping.Header // as in mapping.Options
	LeaveOutBad bool             // as in mapping.Options
	Corrections Corrections
	Skip, Keep  map[int]bool // as in mapping.Options

	// What to import.
	Update   bool // change existing people
	Spelling bool // with Update: also change values that differ only in spelling
	SkipBad  bool // import valid rows even if others are refused
	Apply    bool
	AllRows  bool // include all rows in the JSON outcome

	// Confirmed is the Digest of the outcome that a person confirmed. Nothing is imported if the
	// outcome has changed. nil: no confirmation required.
	Confirmed []byte

	// Decisions about possible duplicates, by row number.
	Same map[int]string // id of the existing person
	Add  map[int]bool   // a new person
	// Decisions about all other rows of some kinds, or of All. A row is not the same person if it
	// has several candidates, or if another row means the candidate.
	SameAll, AddAll map[string]bool

	Progress func(done int) error // as in store.NewImport

	Department string // if tenant is 0: as in store.NewImport
	New        bool
}

// RowsError reports an invalid row number in an option.
type RowsError struct {
	Option string // same, add, skip, keep or headerRow
	Code   string
	Row    int
}

// Codes of a RowsError.
const (
	RowsUnknown = "unknown" // no such row
	RowsBoth    = "both"    // both Same and Add name the row
	RowsData    = "data"    // the header row contains an e-mail address, date or phone number
	RowsLast    = "last"    // no rows are below the header row
)

func (e *RowsError) Error() string { return "rows: " + e.Code }

func (o *Options) checkRows(people []mapping.Person) error {
	if len(o.Same)+len(o.Add)+len(o.Skip)+len(o.Keep) == 0 {
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
	for _, option := range []string{"add", "skip", "keep"} {
		rows := map[string]map[int]bool{"add": o.Add, "skip": o.Skip, "keep": o.Keep}[option]
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			if !numbers[row] {
				return &RowsError{option, RowsUnknown, row}
			}
		}
	}
	return nil
}

func (o *Options) mapping(now time.Time) mapping.Options {
	return mapping.Options{
		Columns: o.Columns, Headers: o.Headers, Country: o.Country, Answers: o.Answers, Skip: o.Skip, Keep: o.Keep,
		LeaveOutBad: o.LeaveOutBad, Now: now,
	}
}

// SetSame records that a row is an existing person, such as "12=ID" or "12:ID". With All, each row
// with one candidate is that person. The error is a *record.TextError.
func (o *Options) SetSame(text string) error {
	if text == All {
		o.SameAll = map[string]bool{All: true}
		return nil
	}
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
		return &record.TextError{Code: record.Duplicate, Fault: fmt.Sprintf("assigns row %d to two people", row)}
	}
	if o.Same == nil {
		o.Same = map[int]string{}
	}
	o.Same[row] = id
	return nil
}

// rowForm matches a row number. No file has rows with more digits.
var rowForm = regexp.MustCompile(`^0{0,9}[1-9][0-9]{0,8}$`)

func parseRow(text string) (row int, ok bool) {
	row, _ = strconv.Atoi(text) // rowForm permits only digits
	return row, rowForm.MatchString(text)
}

func wrongSame(text string) error {
	const want = "must be all, or a row number and the id of a person, like 12=0191e2c4-1b5a-7000-8000-000000000001, not "
	return &record.TextError{Code: record.Invalid, Fault: want + strconv.Quote(text)}
}

// AllRows is the value of the parameter rows that sets Options.AllRows.
const AllRows = "all"

// All stands for all kinds of possible duplicates in Options.SameAll and AddAll.
const All = "all"

const perhapsAll = "perhaps"

// SetSkip records that a row is left out, or, unless skip is set, that it is a person. text is a row
// number. The error is a *record.TextError.
func (o *Options) SetSkip(text string, skip bool) error {
	row, ok := parseRow(text)
	if !ok {
		return &record.TextError{Code: record.Invalid, Fault: "must be a row number, not " + strconv.Quote(text)}
	}
	if o.Skip == nil {
		o.Skip, o.Keep = map[int]bool{}, map[int]bool{}
	}
	if skip {
		o.Skip[row] = true
	} else {
		o.Keep[row] = true
	}
	return nil
}

// SetAdd records that a row is a new person. text is a row number, or "perhaps" for all possible
// duplicates. The error is a *record.TextError.
func (o *Options) SetAdd(text string) error {
	if text == perhapsAll {
		o.AddAll = map[string]bool{All: true}
		return nil
	}
	row, ok := parseRow(text)
	if !ok {
		return &record.TextError{Code: record.Invalid, Fault: "must be a row number or perhaps, not " + strconv.Quote(text)}
	}
	if o.Add == nil {
		o.Add = map[int]bool{}
	}
	o.Add[row] = true
	return nil
}
