package office

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// reading is what a page shows of a list: how it was read, and what can be
// corrected. Without a name there is no list yet, and the page asks for one.
type reading struct {
	Faults []fault
	Fault  map[string]string // the faults by field
	Name   string            // of the file
	Token  string
	Hash   string
	Text   string   // that was pasted
	Kept   []choice // fields of the form, by name and value, for a list that is brought again

	Format    string // a sentence: which kind of file it is
	DatesRead string // a sentence: in which order dates were read; empty: nothing had to be decided
	Columns   []broughtColumn
	Used      []string // columns, and what they are
	LeftOut   []string // headers
	Open      bool     // how the list is read has to be looked at
	Dates     []choice // empty: there are no dates to read
	Encodings []choice // empty: the format has only one
	Unsure    []choice // instead, where two could be meant: the names that differ
	Sheets    []choice
	Sheet     string // that was read
	Notes     []string

	Update, SkipBad bool
}

// broughtColumn is one to say what it is.
type broughtColumn struct {
	ID, Name      string // of its field
	Header, First string // First is the first value
	Fields        []choice
	Fault         string
}

// reading returns what a page shows of a list.
func (v visit) reading(l *broughtList) reading {
	r := reading{Faults: l.faults, Fault: map[string]string{}, Update: l.options.Update, SkipBad: l.options.SkipBad}
	for _, f := range l.faults {
		r.Fault[f.Name] = f.Fault
	}
	if l.keptList == nil || r.Fault["file"] != "" {
		r.Text, r.Kept = l.text(), v.readingChoices()
		return r
	}
	r.Open = len(l.faults) > 0
	r.Name, r.Token = quoted(l.name), l.token
	for _, name := range l.sheets {
		r.Sheets = append(r.Sheets, choice{name, name, name == l.options.Sheet})
	}
	if l.file == nil {
		if r.Fault["encoding"] != "" {
			r.Encodings = v.encodings(l.options.Encoding)
		}
		return r
	}
	r.Hash, r.Sheet, r.Format = l.hash(), l.file.Table.Sheet, v.formatRead(l.file.Table)
	v.addColumns(&r, l.file)
	v.addEncodings(&r, l)
	if l.file.Mapped != nil {
		for _, note := range slices.Concat(l.file.Table.Notes, l.file.Mapped.Notes) {
			r.Notes = append(r.Notes, v.words().Note(note))
		}
	}
	return r
}

// maxText is the length of the longest text that a page shows again, in bytes. It
// gets up to five times as long in HTML.
const maxText = 64 << 10

// text returns the text of a list that was pasted, nothing if that is long.
func (l *broughtList) text() string {
	if l.keptList == nil || !l.pasted || len(l.content) > maxText {
		return ""
	}
	return string(l.content)
}

// readingFields are the fields of a form that say how to read a list, beside those of its
// columns.
var readingFields = []string{"sheet", "was.sheet", "encoding", "dates", "update", "skipBad", "hash"}

// readingChoices returns the fields of the form that say how to read a list, each by its
// name and value.
func (v visit) readingChoices() (all []choice) {
	form := v.form()
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if slices.Contains(readingFields, name) || strings.HasPrefix(name, columnField) {
			all = append(all, choice{Value: name, Label: form.Get(name)})
		}
	}
	return all
}

// readingPath returns the address of the page at path that reads a list as the form says.
// Back, reload and a choice of another language lead there.
func (v visit) readingPath(path string, u *keptList) string {
	if u == nil {
		return path
	}
	query := url.Values{"token": {u.token}}
	for _, field := range v.readingChoices() {
		query.Set(field.Value, field.Label)
	}
	if sheets := v.form()["sheets"]; sheets != nil {
		query["sheets"] = sheets
	}
	return path + "?" + query.Encode()
}

// formatRead says which kind of file a list is.
func (v visit) formatRead(t *sheet.Table) string {
	switch {
	case t.Format == sheet.XLSX:
		return v.Text("import.format.xlsx", quoted(t.Sheet))
	case t.Format != sheet.CSV:
		return v.Text("import.format." + t.Format)
	case t.Delimiter == "":
		return v.Text("import.format.lone", t.Encoding)
	}
	return v.Text("import.format.csv", v.Text("import.delimiter."+delimiters[t.Delimiter]), t.Encoding)
}

var delimiters = map[string]string{",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

// columnFields are what a column can be.
var columnFields = append([]string{mapping.LeftOut}, slices.Concat(fieldNames, []string{mapping.FullName, mapping.LastFirst, mapping.ID})...)

// addColumns adds what each column is.
func (v visit) addColumns(r *reading, f *imports.File) {
	if f.Mapped == nil {
		return
	}
	born := false
	for i, c := range f.Mapped.Columns {
		line := broughtColumn{ID: columnID(i), Name: columnField + strconv.Itoa(i), Header: v.heading(c.Header), First: short(firstValue(f.Table, i))}
		line.Fault = r.Fault[line.ID]
		line.Fields = v.columnChoices(f, i)
		r.Columns = append(r.Columns, line)
		born = born || c.Field == "dateOfBirth"
		if undecided(f, i) {
			continue
		}
		if c.Field == mapping.LeftOut {
			r.LeftOut = append(r.LeftOut, site.Isolate(cmp.Or(line.Header, line.First)))
		} else {
			r.Used = append(r.Used, used(cmp.Or(line.Header, line.First), v.fieldLabel(c.Field)))
		}
	}
	if born {
		r.Dates = v.choices(append([]string{""}, mapping.Orders...), f.Options.Dates, "import.dates.")
		if f.Mapped.Dates != "" && f.Options.Dates == "" {
			r.Dates[0].Label = v.Text("import.dates.found", v.Text("import.dates."+f.Mapped.Dates))
		}
		if f.Mapped.Dates != "" {
			r.DatesRead = v.Text("import.dates.read", v.Text("import.dates."+f.Mapped.Dates))
		}
	}
}

// heading returns the heading of a column. Contacts have none of their own: theirs are
// the names of our fields.
func (v visit) heading(header string) string {
	if slices.Contains(fieldNames, header) {
		return v.fieldLabel(header)
	}
	return short(header)
}

// used names a column and what it is, once where both are the same.
func used(heading, label string) string {
	if strings.EqualFold(heading, label) {
		return label
	}
	return site.Isolate(heading) + " (" + label + ")"
}

// undecided reports whether nothing is known of a column yet, because it is not
// settled which column is which.
func undecided(f *imports.File, number int) bool {
	_, given := f.Options.Columns[number]
	return !given && f.Mapped.Columns[number].Field == mapping.LeftOut && errors.As(f.Problem, new(*mapping.ColumnsError))
}

// columnChoices returns what a column can be.
func (v visit) columnChoices(f *imports.File, number int) (all []choice) {
	chosen := f.Mapped.Columns[number].Field
	if undecided(f, number) {
		all, chosen = append(all, choice{byHeading, v.Text("import.field.byHeading"), true}), byHeading
	}
	for _, field := range columnFields {
		all = append(all, choice{field, v.fieldLabel(field), field == chosen})
	}
	return all
}

// firstValue returns the first value of a column, for people to know it by.
func firstValue(t *sheet.Table, column int) string {
	for _, row := range t.Rows {
		if text := row.Cell(column).Text; text != "" {
			return text
		}
	}
	return ""
}

// encodings returns those to choose from. The first leaves it to the program.
func (v visit) encodings(chosen string) []choice {
	return v.choices(append([]string{""}, sheet.Encodings...), chosen, "import.encoding.")
}

// addEncodings adds the encodings to choose from. Where two could be meant, it
// shows names as both read them.
func (v visit) addEncodings(r *reading, l *broughtList) {
	if l.file.Table.Encoding == "" {
		return
	}
	if len(l.file.Differs) == 0 {
		r.Encodings = v.encodings(l.options.Encoding)
		return
	}
	var west, east []string
	for _, d := range l.file.Differs {
		west, east = append(west, quoted(d.As1252)), append(east, quoted(d.As1250))
	}
	r.Unsure = []choice{{sheet.Windows1252, strings.Join(west, ", "), false}, {sheet.Windows1250, strings.Join(east, ", "), false}}
	r.Faults = append(r.Faults, fault{"encoding", v.Text("import.encoding.unsure")})
	r.Fault["encoding"] = v.Text("import.encoding.unsure")
}
