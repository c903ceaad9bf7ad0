package lists

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// rowsShown is the maximum number of rows on a page.
const rowsShown = 200

// previewRows are the rows of a list on the page.
type previewRows struct {
	Like        []previewRow // possible duplicates
	Kinds       []rowKind    // of several undecided possible duplicates
	RefusedRows rowTable
	SkippedRows rowTable
	Rows        rowTable // all other rows
	More        int      // number of rows not shown
}

// rowKind is a kind of possible duplicates that one answer can settle.
type rowKind struct {
	Name string
	Text string
	Rows int  // number of rows
	Same bool // a row has only one candidate, whom no other row means
}

// rowTable is a table of rows below a heading with an id.
type rowTable struct {
	Heading string
	Rows    []previewRow
}

// previewRow is a row of a list with its result.
type previewRow struct {
	Row     int
	Name    string
	Link    string // address of the person; empty: none
	Result  string // as in imports.Row
	Values  string // of a new person or a possible duplicate
	Changes []view.Difference
	Reasons []string // for its refusal
	LeftOut []string // fields left out, with reasons
	Cells   []previewCell
	Twin    int    // number of a row with the same values; 0: none
	Who     string // form field for the person; empty: no choice
	Skip    string // form field to leave out the row; empty: no choice
	Hidden  bool   // a hidden field means that the row is taken unless the box is checked

	Undecided bool // no person is chosen
	Add       bool // chosen as a new person
	Like      []candidate
}

// previewCell is a form field to correct a cell.
type previewCell struct{ ID, Name, Label, Value string }

// candidate is an existing person that a row could match.
type candidate struct {
	ID, Text, Why string
	Changes       []view.Difference
	Chosen        bool
}

// resultOrder is the order of the results on the page, after the rows that need a decision or
// correction.
var resultOrder = []string{imports.Skipped, imports.Perhaps, imports.Changed, imports.Added, imports.Left}

// previewRows returns up to rowsShown rows for the page. Rows that need attention come first.
func (v visit) previewRows(l *uploadedList, rows []imports.Row) (r previewRows) {
	refused := func(row *imports.Row) bool { return row.Result == imports.Refused && !l.needsDecision(row) }
	reserved := 0 // room for refused rows
	for i := range rows {
		if reserved < rowsShown/2 && refused(&rows[i]) {
			reserved++
		}
	}
	budget, left := l.newFieldBudget(), rowsShown-reserved
	r.RefusedRows.Heading, r.SkippedRows.Heading, r.Rows.Heading = "refused", "skipped", "rows"
	r.Kinds = v.rowKinds(rows)
	each := func(wanted func(*imports.Row) bool, show func(int, imports.Row)) {
		for i := range rows {
			if left > 0 && wanted(&rows[i]) {
				left--
				show(i, rows[i])
			}
		}
	}
	each(l.needsDecision, func(_ int, row imports.Row) {
		shown := v.previewRow(row)
		v.addDecision(budget, &shown, row)
		shown.addSkip(budget)
		r.Like = append(r.Like, shown)
	})
	left += reserved
	each(refused, func(i int, row imports.Row) {
		shown := v.previewRow(row)
		shown.Cells = v.cells(budget, i, row)
		shown.addSkip(budget)
		r.RefusedRows.Rows = append(r.RefusedRows.Rows, shown)
	})
	for _, result := range resultOrder {
		each(func(row *imports.Row) bool { return row.Result == result && !l.needsDecision(row) }, func(_ int, row imports.Row) {
			shown, table := v.previewRow(row), &r.Rows
			if shown.addSkip(budget); row.Result == imports.Skipped {
				table = &r.SkippedRows
			}
			table.Rows = append(table.Rows, shown)
		})
	}
	r.More = len(rows) - len(r.Like) - len(r.RefusedRows.Rows) - len(r.SkippedRows.Rows) - len(r.Rows.Rows)
	return r
}

// rowKinds returns the kinds of several undecided rows.
func (v visit) rowKinds(rows []imports.Row) (kinds []rowKind) {
	all := map[string]*rowKind{}
	for i := range rows {
		row := &rows[i]
		if len(row.Like) == 0 || row.Like[0].ID == nil {
			continue
		}
		kind := row.Kind()
		if all[kind] == nil {
			all[kind] = &rowKind{Name: kind, Text: v.words().Kind(kind)}
		}
		all[kind].Rows++
		all[kind].Same = all[kind].Same || row.Sole
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Rows > 1 {
			kinds = append(kinds, *all[name])
		}
	}
	return kinds
}

// dropShown removes the answers that have a field on the page.
func (r *previewRows) dropShown(answers url.Values) {
	for _, row := range slices.Concat(r.Like, r.RefusedRows.Rows, r.SkippedRows.Rows, r.Rows.Rows) {
		answers.Del(row.Who)
		answers.Del(row.Skip)
		for _, cell := range row.Cells {
			answers.Del(cell.Name)
		}
	}
}

// previewRow returns a row for display. A row without a name is named by its other values.
func (v visit) previewRow(row imports.Row) previewRow {
	l := previewRow{Row: row.Row, Name: "–", Result: row.Result, Twin: row.Twin}
	for _, name := range []string{v.valuesOf(row.Fields), row.Name, row.Text} {
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
	case row.Result == imports.Skipped:
		l.Values = v.words().Skip(row.Skip)
	}
	return l
}

// addSkip adds the form field to leave out a row.
func (r *previewRow) addSkip(budget *fieldBudget) {
	name := skipField + strconv.Itoa(r.Row)
	if budget.spend(name, leaveOut) && !budget.skips[r.Row] {
		r.Skip, r.Hidden, budget.skips[r.Row] = name, r.Result == imports.Skipped || budget.list.options.Keep[r.Row], true
	}
}

// needsDecision reports whether a row is a possible duplicate, decided or not.
func (l *uploadedList) needsDecision(row *imports.Row) bool {
	return l.decision(row.Row) != "" || slices.ContainsFunc(row.Like, func(like imports.Like) bool { return like.ID != nil })
}

// decision returns the decision about a row: addNew, the ID of a person, or an empty text.
func (l *uploadedList) decision(number int) string {
	if l.options.Add[number] {
		return addNew
	}
	return l.options.Same[number]
}

// fieldBudget limits the form fields for rows to the capacity of a form.
type fieldBudget struct {
	list    *uploadedList
	fields  int // remaining
	bytes   int // remaining for the values of new fields
	form    int // remaining bytes of the encoded form
	claimed map[int]bool
	skips   map[int]bool // rows with a field to leave them out
}

const (
	maxFieldBytes = 8 << 10

	columnBytes = 32       // for the field of a column
	otherBytes  = 10 << 10 // for the other fields, and for longer values that are typed
)

func (l *uploadedList) newFieldBudget() *fieldBudget {
	const others = 50 // fields that do not belong to a column or row
	columns := len(l.file.Mapped.Columns)
	budget := &fieldBudget{list: l, fields: upload.MaxParts - columns - others, bytes: maxFieldBytes,
		form: site.MaxForm - columns*columnBytes - otherBytes, claimed: map[int]bool{}, skips: map[int]bool{}}
	for name, value := range l.answers {
		budget.spend(name, value)
	}
	return budget
}

// spend subtracts a field from the budget and reports whether it fits into the form.
func (budget *fieldBudget) spend(name, value string) bool {
	budget.fields--
	budget.form -= len(name) + len(url.QueryEscape(value)) + len("=&")
	return budget.fields >= 0 && budget.form >= 0
}

// claim reports whether a row number has no fields yet. In a file of several lists, rows may share a
// number.
func (budget *fieldBudget) claim(number int) bool {
	if budget.claimed[number] {
		return false
	}
	budget.claimed[number] = true
	return true
}

// cells returns form fields for the cells that cause the errors of a row or could identify its
// person. at is the position of the row in the list.
func (v visit) cells(budget *fieldBudget, at int, row imports.Row) (cells []previewCell) {
	if budget.list.released || !budget.claim(row.Row) {
		return nil
	}
	for _, column := range faultyColumns(budget.list.file, row.Errors) {
		text := budget.list.file.CellText(at, column)
		name := cellField + strconv.Itoa(row.Row) + "." + strconv.Itoa(column)
		if len(text) > longest || budget.bytes < len(text) || !budget.spend(name, text) {
			continue
		}
		budget.bytes -= len(text)
		heading := v.heading(budget.list.file.Mapped.Columns[column].Header)
		if heading == "" {
			heading = v.Text("import.columns.unnamed")
		}
		cells = append(cells, previewCell{strings.ReplaceAll(name, ".", "-"), name, heading, text})
	}
	return cells
}

// faultyColumns returns the columns where a correction can resolve errors of a row.
func faultyColumns(f *imports.File, errors record.FieldErrors) (columns []int) {
	faulty := map[string]bool{}
	for _, e := range errors {
		switch {
		case e.Field == mapping.FullName && e.Code != mapping.CellError: // several people match
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

// addDecision adds the choice of the person that a row belongs to.
func (v visit) addDecision(budget *fieldBudget, shown *previewRow, row imports.Row) {
	shown.Values = v.valuesOf(row.Fields)
	name := whoField + strconv.Itoa(row.Row)
	if !budget.spend(name, uuid.Max.String()) || !budget.claim(row.Row) {
		return
	}
	answer := budget.list.decision(row.Row)
	shown.Who, shown.Add, shown.Undecided = name, answer == addNew, answer == ""
	if answer == addNew {
		return
	}
	if row.Before != nil && row.ID != nil && *row.ID == answer {
		shown.Like, shown.Changes = []candidate{v.candidate(row, answer, *row.Before, "")}, nil
		shown.Like[0].Chosen = true
		if row.After != nil { // the import changes only some fields
			shown.Like[0].Changes = v.Differences(*row.Before, *row.After)
		}
	}
	for _, like := range row.Like {
		if like.ID != nil {
			shown.Like = append(shown.Like, v.candidate(row, *like.ID, like.Person, v.words().Why(&row, like)))
		}
	}
}

// candidate returns an existing person that a row could match, with the differences.
func (v visit) candidate(row imports.Row, id string, person record.Fields, why string) candidate {
	c := candidate{ID: id, Text: v.Text("import.perhaps.same", view.NameOf(person)), Why: why}
	c.Changes = v.Differences(person, person.With(&row.Fields))
	if day := v.Birth(person); day != "" {
		c.Text = v.Text("import.perhaps.born", view.NameOf(person), day)
	}
	return c
}
