package imports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Results of a row.
const (
	Added   = "added"
	Changed = "changed"
	Left    = "left" // unchanged
	Refused = "refused"
	Perhaps = "perhaps" // undecided: a possible duplicate, or an unclear name
	Skipped = "skipped" // left out: no person, by its look or by decision
)

// Outcome is the result of an import or its preview. Its JSON is the API response and the output of
// --json.
type Outcome struct {
	Number       *int64       `json:"number"`
	Applied      bool         `json:"applied"`
	Added        int          `json:"added"`
	Changed      int          `json:"changed"`
	Left         int          `json:"left"`
	Refused      int          `json:"refused"`
	Perhaps      int          `json:"perhaps"`
	Differ       int          `json:"differ"`       // unchanged people that Update would change
	SpellingOnly int          `json:"spellingOnly"` // unchanged people who differ in spelling only
	LeftOut      int          `json:"leftOut"`      // invalid fields that were left out
	File         FileInfo     `json:"file"`
	Dates        *string      `json:"dates"`
	Columns      []ColumnInfo `json:"columns"`
	Rows         []Row        `json:"rows"` // with Options.AllRows all; otherwise those not simply added or left unchanged
	Warnings     []string     `json:"warnings"`

	Questions []Question `json:"questions"`
	Skipped   int        `json:"skipped"`

	All   []Row         `json:"-"` // every row of the file, in order
	Notes []sheet.Note  `json:"-"` // the warnings as codes
	Same  *store.Import `json:"-"` // earlier import of the same file

	Unmatched int `json:"-"` // existing people whom no row matches

	twins    map[int]int // by index into All: the earlier row with the same values
	onlyOurs []Row       // for a comparison: people that match no row
	unclear  int         // for a comparison: people that only refused rows could match
}

// FileInfo describes how a file was read.
type FileInfo struct {
	Format    string  `json:"format"`
	Encoding  *string `json:"encoding"`
	Delimiter *string `json:"delimiter"`
	Sheet     *string `json:"sheet"`
}

// ColumnInfo is a column of the file. Field is null if the column is left out.
type ColumnInfo struct {
	Header string  `json:"header"`
	Field  *string `json:"field"`
}

// Row is the result of a row.
type Row struct {
	Row    int                `json:"row"`
	Result string             `json:"result"`
	ID     *string            `json:"id"`     // of the person, if known
	Errors record.FieldErrors `json:"errors"` // never null

	Twin    int                `json:"-"`                 // number of an earlier row with the same values; 0: none
	Like    []Like             `json:"like,omitempty"`    // possible matches, if Result is Perhaps
	Sole    bool               `json:"-"`                 // Like has one candidate, whom no other row means
	LeftOut record.FieldErrors `json:"leftOut,omitempty"` // errors of fields that were left out
	Skip    string             `json:"why,omitempty"`     // reason, if Result is Skipped
	Text    string             `json:"text,omitempty"`    // cells of the row, if Result is Skipped

	Name   string         `json:"-"`
	Fields record.Fields  `json:"-"` // of the row
	Before *record.Fields `json:"-"` // existing person
	After  *record.Fields `json:"-"` // person after the import
	Others []int          `json:"-"` // rows that match the same person
	People []string       `json:"-"` // people the row could match

	Ours *record.Firefighter `json:"-"` // for a person who is only in the department

	Deleted string `json:"-"` // id of the deleted person that the row names
}

// CouldGoWithout reports whether Options.LeaveOutBad would make a refused row valid.
func (r *Row) CouldGoWithout() bool {
	optional := record.FieldNames()[record.NameFields:]
	return r.Result == Refused && !slices.ContainsFunc(r.Errors, func(e record.FieldError) bool { return !slices.Contains(optional, e.Field) })
}

// Kind returns the kind of a possible duplicate, for Options.SameAll and AddAll.
func (r *Row) Kind() string { return kind(&r.Fields, r.Like) }

// Like is a possible duplicate of a row, or the two readings of its name.
type Like struct {
	ID       *string        `json:"id"` // nil for MixedNames
	Why      string         `json:"why"`
	Readings []mapping.Name `json:"readings,omitempty"` // for MixedNames

	Person record.Fields `json:"-"` // existing person
}

// Reasons for Perhaps.
const (
	EmailAndBirth = "email_and_birth"
	PhoneAndBirth = "phone_and_birth"
	Spelling      = "spelling" // names that differ only in hyphens and spaces
	SameName      = "name"     // same name, but nothing in common, or different dates of birth
	Swapped       = "swapped"  // first and last name swapped
	BirthAndName  = "birth_and_name"
	MixedNames    = "mixed_names" // the name is in the rarer format of its column
)

// Born is the kind of possible duplicates with SameName that have different dates of birth. The other
// kinds are reasons.
const Born = "name_and_birth"

// Codes of row errors, in addition to those of packages record and mapping.
const (
	Ambiguous = "ambiguous" // the row could match several people
	Exists    = "exists"    // the row was confirmed as new but matches an existing person
)

// Codes of the notes of an outcome. The first argument is the number of rows.
const (
	NoteTwins    = "twins"    // rows that repeat an earlier row
	NoteSpelling = "spelling" // rows with a different spelling of a value, which was not imported; then the existing value and the other one
	NoteApart    = "apart"    // rows with the name of an existing person or of another row that are other people
)

// setImported sets the number of the import and the ids of the people it wrote. Number 0 means no
// import.
func (o *Outcome) setImported(number int64, ids []string, allRows bool) {
	if number == 0 {
		return
	}
	o.Number = &number
	written := 0
	for i := range o.All {
		if row := &o.All[i]; row.Result == Added || row.Result == Changed {
			row.ID = &ids[written]
			written++
		}
	}
	for twin, first := range o.twins {
		o.All[twin].ID = o.All[first].ID
	}
	o.chooseRows(allRows)
}

// LeftPeople returns the number of unchanged people, without counting repeated rows.
func (o *Outcome) LeftPeople() int {
	n := o.Left
	for i := range o.All {
		if o.All[i].Twin != 0 && o.All[i].Result == Left {
			n--
		}
	}
	return n
}

func (o *Outcome) chooseRows(all bool) {
	if all {
		o.Rows = o.All
		return
	}
	o.Rows = []Row{}
	for _, row := range o.All {
		if row.Result != Added && row.Result != Left || len(row.LeftOut) > 0 {
			o.Rows = append(o.Rows, row)
		}
	}
}

// newOutcome returns the outcome of a decision. same is an earlier import of the same file.
func (f *File) newOutcome(d *decision, same *store.Import) *Outcome {
	count, leftOut, matched := map[string]int{}, 0, map[string]bool{}
	for i := range d.rows {
		if d.rows[i].Before != nil {
			matched[*d.rows[i].ID] = true
		}
		count[d.rows[i].Result]++
		leftOut += len(d.rows[i].LeftOut)
	}
	t := f.Table
	o := &Outcome{
		Added: count[Added], Changed: count[Changed], Left: count[Left], Refused: count[Refused], Perhaps: count[Perhaps],
		Differ: d.differ, SpellingOnly: d.spellOnly, LeftOut: leftOut, Skipped: count[Skipped],
		File:    FileInfo{t.Format, textOrNil(t.Encoding), textOrNil(t.Delimiter), textOrNil(t.Sheet)},
		Columns: []ColumnInfo{}, Dates: textOrNil(f.Mapped.Dates), All: d.rows, Same: same,
		Unmatched: d.size - len(matched),
		twins:     d.twins, onlyOurs: d.onlyOurs, unclear: d.unclear,
		Notes: slices.Concat(t.Notes, f.Mapped.Notes),
	}
	if n := len(d.twins); n > 0 {
		o.Notes = append(o.Notes, sheet.Note{Code: NoteTwins, Args: []any{n}})
	}
	if n := len(d.apart); n > 0 {
		o.Notes = append(o.Notes, sheet.Note{Code: NoteApart, Args: []any{n, sheet.Places{First: d.apart[:min(n, few)], More: n > few}}})
	}
	if d.spelled > 0 && !f.comparing {
		args := []any{d.spelled, sheet.Quoted(d.respell[0]), sheet.Quoted(d.respell[1])}
		o.Notes = append(o.Notes, sheet.Note{Code: NoteSpelling, Args: args})
	}
	for _, c := range f.Mapped.Columns {
		o.Columns = append(o.Columns, ColumnInfo{c.Header, textOrNil(mapping.MapName(c.Field))})
	}
	o.chooseRows(f.Options.AllRows)
	o.Questions = f.questions(o.All)
	o.Warnings = f.warnings(o)
	return o
}

// Digest returns a hexadecimal hash of everything that would be added, changed and left out.
func (o *Outcome) Digest() []byte {
	sum := sha256.New()
	for i := range o.All {
		row := &o.All[i]
		fmt.Fprintf(sum, "%d %q %q", row.Row, row.Result, row.Fields)
		if row.ID != nil {
			fmt.Fprintf(sum, " %q", *row.ID)
		}
		for _, c := range row.Changes() {
			fmt.Fprintf(sum, " %q", c)
		}
		sum.Write([]byte{'\n'})
	}
	return hex.AppendEncode(nil, sum.Sum(nil))
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// JSON returns the outcome as JSON, without HTML escapes: the API response, also stored to answer repeated
// requests.
func (o *Outcome) JSON() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(o) // encoding texts and numbers to memory cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Entry is the JSON form of an import in a department's history.
type Entry struct {
	Number   int64        `json:"number"`
	At       string       `json:"at"`
	Key      *store.KeyID `json:"key"` // null: imported by a command
	Label    *string      `json:"label"`
	File     *string      `json:"file"`
	Added    int          `json:"added"`
	Changed  int          `json:"changed"`
	UndoneAt *string      `json:"takenBackAt"` // null: not undone
}

// EntryOf returns the JSON form of an import.
func EntryOf(i store.Import) Entry {
	e := Entry{Number: i.Number, At: i.At.UTC().Format(record.InMillis), File: textOrNil(i.File), Added: i.Added, Changed: i.Changed}
	if i.Key != 0 {
		e.Key, e.Label = &i.Key, &i.Label
	}
	if !i.UndoneAt.IsZero() {
		e.UndoneAt = new(i.UndoneAt.UTC().Format(record.InMillis))
	}
	return e
}

// WriteReport writes the whole file as sheet.CSV or sheet.XLSX, with additional columns for the
// result and errors of each row. header names these columns; cells returns their texts.
func WriteReport(w io.Writer, format string, f *File, o *Outcome, header []string, cells func(Row) []string) error {
	return sheet.WriteTable(w, format, f.Table, header, func(i int) []string {
		if i >= len(o.All) { // no column has names in an uncertain encoding
			return make([]string, len(header))
		}
		return cells(o.All[i])
	})
}
