package imports

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// What becomes of a row.
const (
	Added   = "added"
	Changed = "changed"
	Left    = "left" // as it is
	Refused = "refused"
	Perhaps = "perhaps" // somebody must say who it is, or how it is read
)

// Outcome is what an import does or would do. Its JSON is that of the API and of
// --json.
type Outcome struct {
	Number   *int64       `json:"number"`
	Applied  bool         `json:"applied"`
	Added    int          `json:"added"`
	Changed  int          `json:"changed"`
	Left     int          `json:"left"`
	Refused  int          `json:"refused"`
	Perhaps  int          `json:"perhaps"`
	Differ   int          `json:"differ"`  // of those left as they are: people whom the row would change with Update
	LeftOut  int          `json:"leftOut"` // fields that were left out because the record refuses them
	File     FileInfo     `json:"file"`
	Dates    *string      `json:"dates"`
	Columns  []ColumnInfo `json:"columns"`
	Rows     []Row        `json:"rows"` // those that are not plainly added or left, or with Options.AllRows all
	Warnings []string     `json:"warnings"`

	All   []Row         `json:"-"` // every row of the file, in its order
	Notes []sheet.Note  `json:"-"` // the warnings, without words
	Same  *store.Import `json:"-"` // the same file was imported before

	twins    map[int]int // positions in All: of one that agrees with an earlier row, that row
	onlyOurs []Row       // for a comparison: people whom no row means
	unclear  int         // for a comparison: people whom only refused rows could mean
}

// FileInfo says how a file was read.
type FileInfo struct {
	Format    string  `json:"format"`
	Encoding  *string `json:"encoding"`
	Delimiter *string `json:"delimiter"`
	Sheet     *string `json:"sheet"`
}

// ColumnInfo is a column of the file. Field is null where it is left out.
type ColumnInfo struct {
	Header string  `json:"header"`
	Field  *string `json:"field"`
}

// Row is what becomes of a row.
type Row struct {
	Row    int                `json:"row"`
	Result string             `json:"result"`
	ID     *string            `json:"id"`     // of the person it means, if there is one by now
	Errors record.FieldErrors `json:"errors"` // never null

	Twin    int                `json:"-"`                 // the number of an earlier row with the same values; 0: none
	Like    []Like             `json:"like,omitempty"`    // whom a row that is Perhaps could be
	LeftOut record.FieldErrors `json:"leftOut,omitempty"` // what was wrong with the fields that it goes without

	Name   string         `json:"-"`
	Fields record.Fields  `json:"-"` // of the row
	Before *record.Fields `json:"-"` // of the person who is there
	After  *record.Fields `json:"-"` // what they would be
	Others []int          `json:"-"` // rows that mean the same person
	People []string       `json:"-"` // names of the people it could mean

	Ours *record.Firefighter `json:"-"` // of a person who is only in the department: the record

	Deleted string `json:"-"` // the id that it has, or is said to have, if it is that of a person who was deleted
}

// CouldGoWithout reports whether a row is refused only for fields that Options.LeaveOutBad
// would leave out.
func (r *Row) CouldGoWithout() bool {
	optional := record.FieldNames()[record.NameFields:]
	return r.Result == Refused && !slices.ContainsFunc(r.Errors, func(e record.FieldError) bool { return !slices.Contains(optional, e.Field) })
}

// Like is somebody whom a row could be, or two readings of its name.
type Like struct {
	ID       *string        `json:"id"` // nil for MixedNames
	Why      string         `json:"why"`
	Readings []mapping.Name `json:"readings,omitempty"` // of MixedNames

	Person record.Fields `json:"-"` // who is there
}

// Why a row is Perhaps.
const (
	EmailAndBirth = "email_and_birth"
	PhoneAndBirth = "phone_and_birth"
	Spelling      = "spelling" // the name but for ue/ü, ae/ä, oe/ö, ss/ß, hyphen, space, title or suffix
	Swapped       = "swapped"  // first and last name
	BirthAndName  = "birth_and_name"
	MixedNames    = "mixed_names" // the name stands in the rarer form of its column
)

// Codes of the errors of a row beside those of packages record and mapping.
const (
	Ambiguous = "ambiguous" // it could be several people
	Exists    = "exists"    // somebody has said that it is somebody new, but it means a person who is there
)

// Codes of the notes of an outcome. Each has a number of rows.
const (
	NoteTwins    = "twins"    // that agree with an earlier row in all fields that are read
	NoteSpelling = "spelling" // that spell a name or an e-mail address in another way, which was kept
)

// setMade sets the number of the import, and the ids of those it has written. 0 is no
// import.
func (o *Outcome) setMade(number int64, ids []string, allRows bool) {
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

// LeftPeople returns the number of people who stay as they are, without counting duplicate
// rows.
func (o *Outcome) LeftPeople() int {
	n := o.Left
	for i := range o.All {
		if o.All[i].Twin != 0 && o.All[i].Result == Left {
			n--
		}
	}
	return n
}

// chooseRows chooses the rows of the JSON: all of them, or those that are not plainly
// added or left.
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

// newOutcome returns the outcome of a decision. same is an import of the same file.
func (f *File) newOutcome(d *decision, same *store.Import) *Outcome {
	count, leftOut := map[string]int{}, 0
	for i := range d.rows {
		count[d.rows[i].Result]++
		leftOut += len(d.rows[i].LeftOut)
	}
	t := f.Table
	o := &Outcome{
		Added: count[Added], Changed: count[Changed], Left: count[Left], Refused: count[Refused], Perhaps: count[Perhaps],
		Differ: d.differ, LeftOut: leftOut,
		File:    FileInfo{t.Format, textOrNil(t.Encoding), textOrNil(t.Delimiter), textOrNil(t.Sheet)},
		Columns: []ColumnInfo{}, Dates: textOrNil(f.Mapped.Dates), All: d.rows, Same: same,
		twins: d.twins, onlyOurs: d.onlyOurs, unclear: d.unclear,
		Notes: slices.Concat(t.Notes, f.Mapped.Notes),
	}
	for _, n := range []struct {
		code  string
		count int
	}{{NoteTwins, len(d.twins)}, {NoteSpelling, d.spelled}} {
		if n.count > 0 {
			o.Notes = append(o.Notes, sheet.Note{Code: n.code, Args: []any{n.count}})
		}
	}
	for _, c := range f.Mapped.Columns {
		o.Columns = append(o.Columns, ColumnInfo{c.Header, textOrNil(mapping.MapName(c.Field))})
	}
	o.chooseRows(f.Options.AllRows)
	o.Warnings = f.warnings(o)
	return o
}

// Digest returns a hash, in hexadecimal digits, of what would be added, changed and left out.
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

// textOrNil returns nil for an empty text.
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// JSON returns the outcome as JSON: the answer of the API, and what is stored of it
// for a request that is sent again.
func (o *Outcome) JSON() []byte {
	var b bytes.Buffer
	o.WriteJSON(&b) // cannot fail
	return b.Bytes()
}

// encode returns a value as JSON. It escapes what JSON demands, and not what HTML
// does.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(value) // to memory, of texts and numbers: it cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// WriteJSON writes what JSON returns, row by row: that of a file of which all rows
// are refused can have 40 MB. The error is that of w.
func (o *Outcome) WriteJSON(w io.Writer) error {
	const rows = `"rows":[` // stands in no text, where quotes are escaped
	frame := *o
	frame.Rows = []Row{}
	head, tail, _ := bytes.Cut(encode(frame), []byte(rows))
	out := bufio.NewWriterSize(w, 64<<10)
	out.Write(head)
	out.WriteString(rows)
	for i := range o.Rows {
		if i > 0 {
			out.WriteByte(',')
		}
		if _, err := out.Write(encode(&o.Rows[i])); err != nil {
			return err
		}
	}
	out.Write(tail)
	return out.Flush()
}

// Entry is an import of a department in JSON.
type Entry struct {
	Number   int64        `json:"number"`
	At       string       `json:"at"`
	Key      *store.KeyID `json:"key"` // null: a command did it
	Label    *string      `json:"label"`
	File     *string      `json:"file"`
	Added    int          `json:"added"`
	Changed  int          `json:"changed"`
	UndoneAt *string      `json:"takenBackAt"` // null: it was not undone
}

// EntryOf returns an import in JSON.
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

// WriteReport writes the whole file back with more columns, which say what becomes
// of each row, and why it is refused. cells returns those of a row. The format is
// sheet.CSV or sheet.XLSX.
func WriteReport(w io.Writer, format string, f *File, o *Outcome, header []string, cells func(Row) []string) error {
	return sheet.WriteTable(w, format, f.withDays(), header, func(i int) []string { return cells(o.All[i]) })
}

// withDays returns the table with dates of birth that people can read, and that a
// CSV can hold: days where a workbook has their serial numbers.
func (f *File) withDays() *sheet.Table {
	at := slices.IndexFunc(f.Mapped.Columns, func(c mapping.Column) bool { return c.Field == "dateOfBirth" })
	t := *f.Table
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		if at < 0 || at >= len(row.Cells) || row.Cells[at].Kind != sheet.Number {
			continue
		}
		if day, ok := t.Day(row.Cells[at].Text); ok {
			cells := slices.Clone(row.Cells)
			cells[at] = sheet.Cell{Text: day}
			if len(day) == len(time.DateOnly) && day >= sheet.FirstDate {
				cells[at].Kind = sheet.Date
			}
			t.Rows[i].Cells = cells
		}
	}
	return &t
}
