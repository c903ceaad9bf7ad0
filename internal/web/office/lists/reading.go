package lists

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// reading shows how a list was read, with choices to correct it. If Name is empty, the page asks for
// a list.
type reading struct {
	Faults []view.Fault
	Name   string // of the file
	Token  string
	Text   string // pasted text

	Format    string // description of the file format
	DatesRead string // message about the order of dates; empty: unambiguous
	Columns   []previewColumn
	Used      []string      // columns and their meanings
	LeftOut   []string      // headers
	Open      bool          // show the choices initially
	Dates     []view.Choice // empty: no column of dates
	Encodings []view.Choice // empty: no choice
	Sheets    []view.Choice
	Sheet     string // the sheet that was read
	HeaderRow int    // number of the header row; 0: no choice
	Question  string // asks which sheet to read
	Encoding  string // as chosen
	Notes     []string
	Questions []question
	Ticks     ticks
	Answers   url.Values // about rows without a field on the page
}

// question is a question about a list, with a group of choices.
type question struct {
	Kind, Text, IfNone string
	Options            []option
}

type option struct {
	view.Choice
	Example string // what the list then means; empty: none
}

// ask adds the questions. A question has no other choice on the page.
func (r *reading) ask(v visit, found *imports.Outcome) {
	words := v.words()
	for _, q := range found.Questions {
		shown := question{Kind: q.Kind, Text: words.Question(q.Question), IfNone: words.IfNone(q.Question)}
		for _, o := range q.Options {
			label, example := words.Option(q.Kind, o)
			shown.Options = append(shown.Options, option{view.Choice{Value: o.Value, Label: label, Chosen: o.Value == q.Answer}, example})
		}
		r.Questions = append(r.Questions, shown)
		switch q.Kind {
		case sheet.AskEncoding:
			r.Encodings = nil
		case mapping.AskDates:
			r.Dates = nil
		}
	}
}

// previewColumn is a column with a choice of its meaning.
type previewColumn struct {
	ID, Name      string // of the form field
	Header, First string // First is the first value
	Fields        []view.Choice
	Fault         string
}

// Fault returns the last fault of a field, or an empty text.
func (r reading) Fault(field string) (text string) {
	for _, f := range r.Faults {
		if f.Name == field {
			text = f.Fault
		}
	}
	return text
}

func (v visit) reading(l *uploadedList) reading {
	r := reading{Faults: l.faults, Question: l.question, Encoding: l.options.Answers[sheet.AskEncoding]}
	if l.keptList == nil || r.Fault("file") != "" {
		r.Text = l.text()
		return r
	}
	r.Open = len(l.faults) > 0
	r.Name, r.Token, r.Answers = short(l.name), l.token, url.Values{}
	for name, value := range l.answers {
		r.Answers.Set(name, value)
	}
	for _, name := range l.sheets {
		r.Sheets = append(r.Sheets, view.Choice{Value: name, Label: name, Chosen: name == l.options.Sheet})
	}
	if l.file == nil {
		if r.Fault("encoding") != "" {
			r.Encodings = v.encodings(r.Encoding)
		}
		return r
	}
	r.Sheet, r.Format = l.file.Table.Sheet, v.formatRead(l.file.Table)
	if t := l.file.Table; t.Format == sheet.CSV || t.Format == sheet.XLSX {
		r.HeaderRow = t.HeaderRow
	}
	v.addColumns(&r, l.file)
	if l.file.Table.Encoding != "" {
		r.Encodings = v.encodings(r.Encoding)
	}
	if l.file.Mapped != nil {
		r.Notes = v.notes(slices.Concat(l.file.Table.Notes, l.file.Mapped.Notes))
	}
	return r
}

// formatRead describes the file format of a list.
func (v visit) formatRead(t *sheet.Table) string {
	switch {
	case t.Format == sheet.XLSX:
		return v.Text("import.format.xlsx", short(t.Sheet))
	case t.Format != sheet.CSV:
		return v.Text("import.format." + t.Format)
	case t.Delimiter == "":
		return v.Text("import.format.lone", t.Encoding)
	}
	return v.Text("import.format.csv", v.Text("import.delimiter."+delimiters[t.Delimiter]), t.Encoding)
}

var delimiters = map[string]string{",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

// columnFields are the possible meanings of a column.
var columnFields = slices.Concat([]string{mapping.LeftOut}, view.FieldNames, []string{mapping.FullName, mapping.LastFirst, mapping.ID})

// addColumns adds the columns with their meanings, and the order of dates.
func (v visit) addColumns(r *reading, f *imports.File) {
	if f.Mapped == nil {
		return
	}
	hasDates := false
	for i, c := range f.Mapped.Columns {
		line := previewColumn{ID: columnID(i), Name: columnField + strconv.Itoa(i), Header: v.heading(c.Header)}
		line.First, line.Fault = short(firstValue(f.Table, i)), r.Fault(line.ID)
		line.Fields = v.columnChoices(f, i)
		r.Columns = append(r.Columns, line)
		hasDates = hasDates || c.Field == "dateOfBirth"
		if undecided(f, i) {
			continue
		}
		if c.Field == mapping.LeftOut {
			r.LeftOut = append(r.LeftOut, cmp.Or(line.Header, line.First))
		} else {
			r.Used = append(r.Used, columnUse(cmp.Or(line.Header, line.First), v.fieldLabel(c.Field)))
		}
	}
	if hasDates {
		chosen := f.Options.Answers[mapping.AskDates]
		r.Dates = v.answers(mapping.AskDates, mapping.Orders, chosen, "import.dates.")
		if read := f.Mapped.Dates; read != "" {
			label, _ := v.words().Option(mapping.AskDates, sheet.Option{Value: read})
			r.DatesRead = v.Text("import.dates.read", label)
			if chosen == "" {
				r.Dates[0].Label = v.Text("import.dates.found", label)
			}
		}
	}
}

// undecided reports whether the meaning of a column is still open, because the columns could not be
// recognized.
func undecided(f *imports.File, number int) bool {
	_, isChosen := f.Options.Columns[number]
	return !isChosen && f.Mapped.Columns[number].Field == mapping.LeftOut && errors.As(f.Problem, new(*mapping.ColumnsError))
}

// columnChoices returns the possible meanings of a column.
func (v visit) columnChoices(f *imports.File, number int) (all []view.Choice) {
	chosen := f.Mapped.Columns[number].Field
	if undecided(f, number) || f.Mapped.Columns[number].Asked {
		all, chosen = append(all, view.Choice{Value: byHeading, Label: v.Text("import.field.byHeading"), Chosen: true}), byHeading
	}
	for _, field := range columnFields {
		all = append(all, view.Choice{Value: field, Label: v.fieldLabel(field), Chosen: field == chosen})
	}
	return all
}

// firstValue returns the first value of a column, which helps people recognize it.
func firstValue(t *sheet.Table, column int) string {
	for _, row := range t.Rows {
		if text := row.Cell(column).Text; text != "" {
			return text
		}
	}
	return ""
}

// encodings returns the encodings to choose from, after a choice to detect the encoding.
func (v visit) encodings(chosen string) []view.Choice {
	return v.answers(sheet.AskEncoding, sheet.Encodings, chosen, "import.encoding.")
}

// answers returns the answers to a question to choose from, after a choice to detect the answer with
// the key detect.
func (v visit) answers(kind string, values []string, chosen, detect string) []view.Choice {
	all := []view.Choice{{Label: v.Text(detect), Chosen: chosen == ""}}
	for _, value := range values {
		label, _ := v.words().Option(kind, sheet.Option{Value: value})
		all = append(all, view.Choice{Value: value, Label: label, Chosen: value == chosen})
	}
	return all
}

// ticks are checkboxes.
type ticks []view.Choice

// add adds a checkbox that matters or is checked.
func (t *ticks) add(name, label string, chosen, matters bool) {
	if chosen || matters {
		*t = append(*t, view.Choice{Value: name, Label: label, Chosen: chosen})
	}
}

// readingTicks returns the checkboxes for reading a list.
func (v visit) readingTicks(l *uploadedList, found *imports.Outcome) (t ticks) {
	isUseful := slices.ContainsFunc(found.All, func(row imports.Row) bool { return row.CouldGoWithout() })
	t.add("leaveOutBad", v.Text("import.leaveOutBad"), l.options.LeaveOutBad, isUseful)
	return t
}
