package lists

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// rowsShown is the number of rows of a list on a page.
const rowsShown = 200

// previewRows are the rows of a list on the page.
type previewRows struct {
	Like        []previewRow // perhaps somebody who is there
	RefusedRows rowTable
	Rows        rowTable // all others
	More        int      // rows that are not shown
}

// rowTable is a table of rows below a heading with an id.
type rowTable struct {
	Heading string
	Rows    []previewRow
}

// previewRow is a row of a list, and what becomes of it.
type previewRow struct {
	Row     int
	Name    string
	Link    string // address of the person; empty: there is none
	Result  string // one of the constants of package imports
	Values  string // of a row that says something new
	Changes []view.Difference
	Reasons []string // why it is refused
	LeftOut []string // what it goes without
	Cells   []previewCell
	Twin    int    // another row that says the same; 0: none
	Who     string // the field that says who it is; empty: nobody has to say

	Undecided bool // nobody has said who it is
	Add       bool // it is somebody new
	Like      []candidate
}

// previewCell is a field that corrects a cell.
type previewCell struct{ ID, Name, Label, Value string }

// candidate is somebody whom a row could be.
type candidate struct {
	ID, Text, Why string
	Changes       []view.Difference
	Chosen        bool
}

// resultOrder is the order of the results on the page, behind the rows that somebody has to
// say something about.
var resultOrder = []string{imports.Perhaps, imports.Changed, imports.Added, imports.Left}

// previewRows returns the rows of a list for the page, those that need a look first, as
// many as there is room for.
func (v visit) previewRows(l *uploadedList, rows []imports.Row) (r previewRows) {
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
		shown := v.previewRow(row)
		v.askWho(ask, &shown, row)
		r.Like = append(r.Like, shown)
	})
	left += reserved
	each(refused, func(i int, row imports.Row) {
		shown := v.previewRow(row)
		shown.Cells = v.cells(ask, i, row)
		r.RefusedRows.Rows = append(r.RefusedRows.Rows, shown)
	})
	for _, result := range resultOrder {
		each(func(row *imports.Row) bool { return row.Result == result && !l.isAsked(row) }, func(_ int, row imports.Row) {
			r.Rows.Rows = append(r.Rows.Rows, v.previewRow(row))
		})
	}
	r.More = len(rows) - len(r.Like) - len(r.RefusedRows.Rows) - len(r.Rows.Rows)
	return r
}

// dropShown removes the answers for which the page has fields.
func (r *previewRows) dropShown(answers url.Values) {
	for _, row := range r.Like {
		answers.Del(row.Who)
	}
	for _, row := range r.RefusedRows.Rows {
		for _, cell := range row.Cells {
			answers.Del(cell.Name)
		}
	}
}

// previewRow returns a row for the page. One without a name is called by what else it says.
func (v visit) previewRow(row imports.Row) previewRow {
	l := previewRow{Row: row.Row, Name: "–", Result: row.Result, Twin: row.Twin}
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

// isAsked reports whether somebody has to say who a row is, or has said it.
func (l *uploadedList) isAsked(row *imports.Row) bool {
	return l.answered(row.Row) != "" || slices.ContainsFunc(row.Like, func(like imports.Like) bool { return like.ID != nil })
}

// answered returns what was said of a row: addNew, the id of a person, or nothing.
func (l *uploadedList) answered(number int) string {
	if l.options.Add[number] {
		return addNew
	}
	return l.options.Same[number]
}

// asker makes the fields of rows, as many as a form can have.
type asker struct {
	list   *uploadedList
	fields int // that there is room for
	bytes  int // of their values
	asked  map[int]bool
}

// A form has a limit in bytes, which also has the columns of the list.
const maxAskedBytes = 8 << 10

func (l *uploadedList) newAsker() *asker {
	const others = 50 // fields that are not about a column or a row
	return &asker{l, upload.MaxParts - len(l.file.Mapped.Columns) - len(l.answers) - others, maxAskedBytes, map[int]bool{}}
}

// once reports whether fields of a row can be made. The rows of a file of several lists may
// have the same number.
func (a *asker) once(number int) bool {
	if a.asked[number] {
		return false
	}
	a.asked[number] = true
	return true
}

// cells returns fields for the cells that have the faults of a row, or that could tell who
// it is. at is its position in the list.
func (v visit) cells(a *asker, at int, row imports.Row) (cells []previewCell) {
	if a.list.released || !a.once(row.Row) {
		return nil
	}
	for _, column := range faultyColumns(a.list.file, row.Errors) {
		text := a.list.file.CellText(at, column)
		if a.fields--; a.fields < 0 || len(text) > longest || a.bytes < len(text) {
			continue
		}
		a.bytes -= len(text)
		name := cellField + strconv.Itoa(row.Row) + "." + strconv.Itoa(column)
		heading := v.heading(a.list.file.Mapped.Columns[column].Header)
		if heading == "" {
			heading = v.Text("import.columns.unnamed")
		}
		cells = append(cells, previewCell{strings.ReplaceAll(name, ".", "-"), name, heading, text})
	}
	return cells
}

// faultyColumns returns the columns that can have the faults of a row.
func faultyColumns(f *imports.File, errors record.FieldErrors) (columns []int) {
	faulty := map[string]bool{}
	for _, e := range errors {
		switch {
		case e.Field == mapping.FullName && e.Code != mapping.CellError: // it is not certain whom the row means
			faulty["email"], faulty["dateOfBirth"] = true, true
		case e.Field == mapping.FullName, e.Field == "firstName", e.Field == "lastName":
			faulty[e.Field], faulty[mapping.FullName], faulty[mapping.LastFirst] = true, true, true
		default:
			faulty[e.Field] = true
		}
	}
	for column, c := range f.Mapped.Columns {
		if c.Field != mapping.LeftOut && faulty[c.Field] {
			columns = append(columns, column)
		}
	}
	return columns
}

// askWho adds the choice who a row is.
func (v visit) askWho(a *asker, shown *previewRow, row imports.Row) {
	shown.Values = v.valuesOf(row.Fields)
	if a.fields--; a.fields < 0 || !a.once(row.Row) {
		return
	}
	answer := a.list.answered(row.Row)
	shown.Who, shown.Add, shown.Undecided = whoField+strconv.Itoa(row.Row), answer == addNew, answer == ""
	if answer == addNew {
		return
	}
	if row.Before != nil && row.ID != nil && *row.ID == answer {
		shown.Like, shown.Changes = []candidate{v.candidate(row, answer, *row.Before, "")}, nil
		shown.Like[0].Chosen = true
		if row.After != nil { // that is what is taken over
			shown.Like[0].Changes = v.Differences(*row.Before, *row.After)
		}
	}
	for _, like := range row.Like {
		if like.ID != nil {
			shown.Like = append(shown.Like, v.candidate(row, *like.ID, like.Person, v.words().Why(like.Why)))
		}
	}
}

// candidate returns somebody whom a row could be, with what differs.
func (v visit) candidate(row imports.Row, id string, person record.Fields, why string) candidate {
	c := candidate{ID: id, Text: v.Text("import.perhaps.same", view.NameOf(person)), Why: why}
	c.Changes = v.Differences(person, person.With(&row.Fields))
	if day := v.Birth(person); day != "" {
		c.Text = v.Text("import.perhaps.born", view.NameOf(person), day)
	}
	return c
}
