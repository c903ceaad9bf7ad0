package lists

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// reading is what a page shows of a list: how it was read, and what can be
// corrected. Without a name there is no list yet, and the page asks for one.
type reading struct {
	Faults []view.Fault
	Name   string // of the file
	Token  string
	Text   string // that was pasted

	Format    string // a sentence: which kind of file it is
	DatesRead string // a sentence: in which order dates were read; empty: nothing had to be decided
	Columns   []previewColumn
	Used      []string      // columns, and what they are
	LeftOut   []string      // headers
	Open      bool          // how the list is read has to be looked at
	Dates     []view.Choice // empty: there are no dates to read
	Encodings []view.Choice // empty: the format has only one
	Unsure    []view.Choice // instead, where some could be meant: the names that differ
	Sheets    []view.Choice
	Sheet     string // that was read
	Asked     string // a question: which of them
	Encoding  string // that was chosen
	Notes     []string
	Names     []view.Choice // how a name without a comma can be read; empty: nobody has to say
	Ticks     ticks
	Answers   url.Values // about rows that the page has no field for
}

// previewColumn is one to say what it is.
type previewColumn struct {
	ID, Name      string // of its field
	Header, First string // First is the first value
	Fields        []view.Choice
	Fault         string
}

// Fault returns the last fault of a field, empty if it has none.
func (r reading) Fault(field string) (text string) {
	for _, f := range r.Faults {
		if f.Name == field {
			text = f.Fault
		}
	}
	return text
}

// reading returns what a page shows of a list.
func (v visit) reading(l *uploadedList) reading {
	r := reading{Faults: l.faults, Asked: l.asked, Encoding: l.options.Encoding}
	if l.keptList == nil || r.Fault("file") != "" {
		r.Text = l.text()
		return r
	}
	r.Open = len(l.faults) > 0
	r.Name, r.Token, r.Answers = quoted(l.name), l.token, url.Values{}
	for name, value := range l.answers {
		r.Answers.Set(name, value)
	}
	for _, name := range l.sheets {
		r.Sheets = append(r.Sheets, view.Choice{Value: name, Label: name, Chosen: name == l.options.Sheet})
	}
	if l.file == nil {
		if r.Fault("encoding") != "" {
			r.Encodings = v.encodings(l.options.Encoding)
		}
		return r
	}
	r.Sheet, r.Format = l.file.Table.Sheet, v.formatRead(l.file.Table)
	v.addColumns(&r, l.file)
	v.addEncodings(&r, l)
	if l.file.Mapped != nil {
		r.Notes = v.notes(slices.Concat(l.file.Table.Notes, l.file.Mapped.Notes))
	}
	return r
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
var columnFields = slices.Concat([]string{mapping.LeftOut}, view.FieldNames, []string{mapping.FullName, mapping.LastFirst, mapping.ID})

// addColumns adds what each column is.
func (v visit) addColumns(r *reading, f *imports.File) {
	if f.Mapped == nil {
		return
	}
	born := false
	for i, c := range f.Mapped.Columns {
		line := previewColumn{ID: columnID(i), Name: columnField + strconv.Itoa(i), Header: v.heading(c.Header)}
		line.First, line.Fault = short(firstValue(f.Table, i)), r.Fault(line.ID)
		line.Fields = v.columnChoices(f, i)
		r.Columns = append(r.Columns, line)
		born = born || c.Field == "dateOfBirth"
		if undecided(f, i) {
			continue
		}
		if c.Field == mapping.LeftOut {
			r.LeftOut = append(r.LeftOut, view.Isolate(cmp.Or(line.Header, line.First)))
		} else {
			r.Used = append(r.Used, used(cmp.Or(line.Header, line.First), v.fieldLabel(c.Field)))
		}
	}
	if born {
		r.Dates = choices(v.Visit, append([]string{""}, mapping.Orders...), f.Options.Dates, "import.dates.")
		if f.Mapped.Dates != "" && f.Options.Dates == "" {
			r.Dates[0].Label = v.Text("import.dates.found", v.Text("import.dates."+f.Mapped.Dates))
		}
		if f.Mapped.Dates != "" {
			r.DatesRead = v.Text("import.dates.read", v.Text("import.dates."+f.Mapped.Dates))
		}
	}
}

// undecided reports whether nothing is known of a column yet, because it is not
// settled which column is which.
func undecided(f *imports.File, number int) bool {
	_, given := f.Options.Columns[number]
	return !given && f.Mapped.Columns[number].Field == mapping.LeftOut && errors.As(f.Problem, new(*mapping.ColumnsError))
}

// columnChoices returns what a column can be.
func (v visit) columnChoices(f *imports.File, number int) (all []view.Choice) {
	chosen := f.Mapped.Columns[number].Field
	if undecided(f, number) {
		all, chosen = append(all, view.Choice{Value: byHeading, Label: v.Text("import.field.byHeading"), Chosen: true}), byHeading
	}
	for _, field := range columnFields {
		all = append(all, view.Choice{Value: field, Label: v.fieldLabel(field), Chosen: field == chosen})
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
func (v visit) encodings(chosen string) []view.Choice {
	chosen, _ = sheet.EncodingOf(chosen)
	return choices(v.Visit, append([]string{""}, sheet.Encodings...), chosen, "import.encoding.")
}

// addEncodings adds the encodings to choose from. Where some could be meant, it shows
// names as these read them.
func (v visit) addEncodings(r *reading, l *uploadedList) {
	if l.file.Table.Encoding == "" {
		return
	}
	unsure := l.file.Unsure
	if unsure == nil {
		r.Encodings = v.encodings(l.options.Encoding)
		return
	}
	for _, candidate := range unsure.Candidates {
		var names []string
		for _, name := range candidate.Names {
			names = append(names, quoted(name))
		}
		r.Unsure = append(r.Unsure, view.Choice{Value: candidate.Encoding, Label: strings.Join(names, ", "), Chosen: false})
	}
	if r.Fault("encoding") == "" {
		r.Faults = append(r.Faults, view.Fault{Name: "encoding", Fault: v.Text("import.encoding.unsure")})
	}
}

// ticks are choices that can be ticked.
type ticks []view.Choice

// add adds one that matters, or was ticked.
func (t *ticks) add(name, label string, chosen, matters bool) {
	if chosen || matters {
		*t = append(*t, view.Choice{Value: name, Label: label, Chosen: chosen})
	}
}

// readingTicks returns the choices about how a list is read.
func (v visit) readingTicks(l *uploadedList, found *imports.Outcome) (t ticks) {
	t.add("zero", v.Text("import.zero"), l.options.Zero, l.file.Mapped.NoZero > 0)
	could := slices.ContainsFunc(found.All, func(row imports.Row) bool { return row.CouldGoWithout() })
	t.add("leaveOutBad", v.Text("import.leaveOutBad"), l.options.LeaveOutBad, could)
	return t
}

// nameOrders returns how the names without a comma can be read, with some of them. It
// returns nothing where nobody has to say.
func (v visit) nameOrders(l *uploadedList, found *imports.Outcome) (orders []view.Choice) {
	asked, column := l.options.Names != "", slices.IndexFunc(l.file.Mapped.Columns, mapping.Column.IsFullName)
	var firstLast, lastFirst []string
	for i, row := range found.All {
		mixed := slices.ContainsFunc(row.Like, func(like imports.Like) bool { return like.Why == imports.MixedNames })
		asked = asked || mixed
		if len(firstLast) == shownSamples || column < 0 || l.released || strings.Contains(l.file.CellText(i, column), ",") {
			continue
		}
		one := mapping.Name{First: row.Fields.FirstName, Last: row.Fields.LastName}
		other := mapping.Name{First: one.Last, Last: one.First}
		if mixed {
			one, other = row.Like[0].Readings[0], row.Like[0].Readings[1]
		}
		if l.options.Names == mapping.LastFirstName || l.file.Mapped.Columns[column].Field == mapping.LastFirst {
			one, other = other, one
		}
		firstLast = append(firstLast, v.Text("import.names.sample", quoted(one.First), quoted(one.Last)))
		lastFirst = append(lastFirst, v.Text("import.names.sample", quoted(other.First), quoted(other.Last)))
	}
	if !asked {
		return nil
	}
	for i, samples := range [][]string{firstLast, lastFirst} {
		order := mapping.NameOrders[i]
		orders = append(orders, view.Choice{Value: order, Label: strings.Join(samples, "; "), Chosen: order == l.options.Names})
	}
	return orders
}

const shownSamples = 3
