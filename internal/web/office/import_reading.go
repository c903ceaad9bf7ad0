package office

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
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
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
	Columns   []broughtColumn
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
}

// broughtColumn is one to say what it is.
type broughtColumn struct {
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
func (v visit) reading(l *broughtList) reading {
	r := reading{Faults: l.faults, Asked: l.asked, Encoding: l.options.Encoding}
	if l.keptList == nil || r.Fault("file") != "" {
		r.Text = l.text()
		return r
	}
	r.Open = len(l.faults) > 0
	r.Name, r.Token = quoted(l.name), l.token
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

// notes returns notes as sentences.
func (v visit) notes(notes []sheet.Note) (all []string) {
	for _, note := range notes {
		all = append(all, v.words().Note(note))
	}
	return all
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
var readingFields = []string{"sheet", "was.sheet", "encoding", "dates", "names", "zero", "leaveOutBad", "update", "spelling", "addPerhaps"}

// readingPath returns the address of the page at path that reads a list as the form says.
// Back, reload and a choice of another language lead there.
func (v visit) readingPath(path string, list *keptList) string {
	if list == nil {
		return path
	}
	query := url.Values{"token": {list.token}}
	for name, values := range v.form() {
		switch {
		case name == "sheets":
			query[name] = values
		case slices.Contains(readingFields, name), strings.HasPrefix(name, columnField):
			query[name] = values[:1]
		}
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
var columnFields = append([]string{mapping.LeftOut}, slices.Concat(view.FieldNames, []string{mapping.FullName, mapping.LastFirst, mapping.ID})...)

// addColumns adds what each column is.
func (v visit) addColumns(r *reading, f *imports.File) {
	if f.Mapped == nil {
		return
	}
	born := false
	for i, c := range f.Mapped.Columns {
		line := broughtColumn{ID: columnID(i), Name: columnField + strconv.Itoa(i), Header: v.heading(c.Header), First: short(firstValue(f.Table, i))}
		line.Fault = r.Fault(line.ID)
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

// heading returns the heading of a column. Contacts have none of their own: theirs are
// the names of our fields.
func (v visit) heading(header string) string {
	if slices.Contains(view.FieldNames, header) {
		return v.fieldLabel(header)
	}
	return short(header)
}

// used names a column and what it is, once where both are the same.
func used(heading, label string) string {
	if strings.EqualFold(heading, label) {
		return label
	}
	return view.Isolate(heading) + " (" + label + ")"
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
func (v visit) addEncodings(r *reading, l *broughtList) {
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

// words are the sentences about lists in the visitor's language.
func (v visit) words() imports.Words {
	quote := func(text string) string { return v.Text("import.quoted", text) }
	return imports.Words{Language: v.Lang, Show: quoted,
		Quote: func(text string) string { return quote(quoted(text)) },
		Field: func(name string) string { return quote(v.fieldLabel(name)) }}
}

// shownHeaders is how many headers of a list stand in a sentence.
const shownHeaders = 20

// explain adds what is wrong with the list as a whole, and what to do. It returns an
// error that is not about the list.
func (l *broughtList) explain(v visit, err error) error {
	if file, ok := errors.AsType[*sheet.FileError](err); ok && file.Code == sheet.FileSheets {
		l.sheets, l.asked = file.Sheets, v.words().Say(err)
		return nil
	}
	if errors.As(err, new(*imports.EncodingError)) {
		l.faults = append(l.faults, view.Fault{Name: "encoding", Fault: v.Text("import.encoding.unsure")})
		return nil
	}
	said := err
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok && len(e.Headers) > shownHeaders {
		some := *e
		some.Headers = append(e.Headers[:shownHeaders:shownHeaders], "…")
		said = &some
	}
	what, do, ok := v.words().Explain(said)
	if !ok {
		return err
	}
	field, choose := l.cure(err)
	if choose != "" {
		do = v.Text("import.choose." + choose)
	}
	l.faults = append(l.faults, view.Fault{Name: field, Fault: strings.TrimSpace(what + " " + do)})
	return nil
}

// cure returns the id of the field that can cure what is wrong with the list, and
// which message asks to choose there, if one does.
func (l *broughtList) cure(err error) (field, choose string) {
	var file *sheet.FileError
	var columns *mapping.ColumnsError
	var dates *mapping.DatesError
	switch {
	case errors.As(err, &file) && file.Sheets != nil:
		l.sheets = file.Sheets
		return "sheet", "sheet"
	case file != nil && file.Code == sheet.FileEncoding:
		return "encoding", "encoding"
	case errors.As(err, &columns) && columns.Code == mapping.ColumnsTwice:
		at := slices.IndexFunc(l.file.Mapped.Columns, func(c mapping.Column) bool { return slices.Contains(columns.Headers, c.Header) })
		return columnID(max(0, at)), "columns"
	case columns != nil && columns.Code == mapping.ColumnsUnknown:
		return columnID(0), "columns"
	case columns != nil && columns.Code == mapping.ColumnsNoName:
		return columnID(0), ""
	case errors.As(err, &dates) && dates.Other != "":
		return "dates", "order"
	case dates != nil:
		return "dates", "dates"
	}
	return "file", "" // it can be cured in the list alone
}

func columnID(number int) string { return "column-" + strconv.Itoa(number) }

// fieldLabel returns what people call what a column can be.
func (v visit) fieldLabel(field string) string {
	switch field {
	case mapping.LeftOut:
		return v.Text("import.field.none")
	case mapping.FullName:
		return v.Text("import.field.name")
	case mapping.LastFirst:
		return v.Text("import.field.reversed")
	case mapping.ID:
		return v.Text("import.field.id")
	}
	return v.Text("field." + field)
}

// rowsShown is the number of rows of a list on a page.
const rowsShown = 200

// broughtRow is a row of a list, and what becomes of it.
type broughtRow struct {
	Row     int
	Name    string
	Link    string // address of the person; empty: there is none
	Result  string // one of the constants of package imports
	Values  string // of a row that says something new
	Changes []view.Difference
	Reasons []string // why it is refused
	LeftOut []string // what it goes without
	Cells   []broughtCell
	Twin    int    // another row that says the same; 0: none
	Who     string // the field that says who it is; empty: nobody has to say

	Undecided bool // nobody has said who it is
	Add       bool // it is somebody new
	Like      []candidate
}

// resultOrder is the order of the results on the page, behind the rows that somebody has to
// say something about.
var resultOrder = []string{imports.Perhaps, imports.Changed, imports.Added, imports.Left}

// broughtRows returns the rows of a list for the page, those that need a look first, as
// many as there is room for.
func (v visit) broughtRows(l *broughtList, rows []imports.Row) (r broughtRows) {
	refused := func(row *imports.Row) bool { return row.Result == imports.Refused && !l.isAsked(row) }
	reserved := 0 // room for refused rows
	for i := range rows {
		if reserved < rowsShown/2 && refused(&rows[i]) {
			reserved++
		}
	}
	ask, left := l.newAsker(), rowsShown-reserved
	r.RefusedRows.Heading, r.Rows.Heading = "refused", "rows"
	each := func(wanted func(*imports.Row) bool, show func(int, imports.Row)) {
		for i := range rows {
			if left > 0 && wanted(&rows[i]) {
				left--
				show(i, rows[i])
			}
		}
	}
	each(l.isAsked, func(_ int, row imports.Row) {
		shown := v.broughtRow(row)
		v.askWho(ask, &shown, row)
		r.Like = append(r.Like, shown)
	})
	left += reserved
	each(refused, func(i int, row imports.Row) {
		shown := v.broughtRow(row)
		shown.Cells = v.cells(ask, i, row)
		r.RefusedRows.Rows = append(r.RefusedRows.Rows, shown)
	})
	for _, result := range resultOrder {
		each(func(row *imports.Row) bool { return row.Result == result && !l.isAsked(row) }, func(_ int, row imports.Row) {
			r.Rows.Rows = append(r.Rows.Rows, v.broughtRow(row))
		})
	}
	r.More = len(rows) - len(r.Like) - len(r.RefusedRows.Rows) - len(r.Rows.Rows)
	return r
}

// broughtRow returns a row for the page. One without a name is called by what else it says.
func (v visit) broughtRow(row imports.Row) broughtRow {
	l := broughtRow{Row: row.Row, Name: "–", Result: row.Result, Twin: row.Twin}
	for _, name := range []string{v.valuesOf(row.Fields), row.Name} {
		if record.Visible(name) {
			l.Name = short(name)
		}
	}
	if row.ID != nil && row.Before != nil {
		l.Link = view.PersonPath(*row.ID)
	}
	for _, e := range row.Errors {
		l.Reasons = append(l.Reasons, v.refusal(e, row))
	}
	for _, e := range row.LeftOut {
		l.LeftOut = append(l.LeftOut, v.Text("import.leftOut", v.fieldLabel(e.Field), v.refusal(e, row)))
	}
	switch {
	case row.Result == imports.Changed && row.Before != nil && row.After != nil:
		l.Changes = v.Differences(*row.Before, *row.After)
	case row.Result == imports.Added:
		l.Values = v.valuesOf(row.Fields)
	}
	return l
}

// valuesOf returns what is known about a person beside the name.
func (v visit) valuesOf(f record.Fields) string {
	var all []string
	shown := view.FieldValues(v.Shown(f))
	for _, name := range view.FieldNames[record.NameFields:] {
		if shown[name] != "" {
			all = append(all, view.Isolate(shown[name]))
		}
	}
	return strings.Join(all, " · ")
}

// refusal says why a row is refused.
func (v visit) refusal(e record.FieldError, row imports.Row) string {
	if text, ok := v.words().Row(e, &row); ok {
		return text
	}
	if isUnknown(e) && row.Deleted != "" {
		return v.Text("import.reason.id.deleted")
	}
	if e.Code == mapping.CellError {
		return v.Text("import.reason.cell_error", v.fieldLabel(e.Field))
	}
	for _, key := range []string{"import.reason." + e.Field + "." + e.Code, "fault." + e.Field + "." + e.Code} {
		if text := v.Text(key); text != key {
			return text
		}
	}
	return e.Detail
}

// longest is the number of characters that a page shows of a text from a list. A
// cell may have megabytes.
const longest = 200

// short returns a text from a list as a page shows it.
func short(text string) string { return lang.Short(text, longest) }

// quoted returns a text from a list for a sentence.
func quoted(text string) string { return view.Isolate(short(text)) }
