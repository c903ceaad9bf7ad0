package office

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// What somebody says about single rows is kept with the list, because an address has no
// room for it, nor a page for the fields of all rows.

// Fields of the form about a row: "cell.12.3" is the text of the fourth cell of row 12,
// and "who.12" says who the row is: the id of a person, addNew, or nothing.
const (
	cellField = "cell."
	whoField  = "who."
	addNew    = "add"
)

// maxAnswers is the size of all answers about the rows of a list, in bytes.
const maxAnswers = 256 << 10

// answer keeps what a form says about the rows of a list, and returns all that was said.
// What was said of another sheet or encoding says nothing.
func (k *keptLists) answer(one *keptList, form url.Values) (map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	reread := form.Has("sheet") && form.Get("sheet") != form.Get("was.sheet") ||
		form.Has("was.encoding") && form.Get("encoding") != form.Get("was.encoding")
	all := maps.Clone(one.answers)
	if all == nil || reread {
		all = map[string]string{}
	}
	for name := range form {
		value := form.Get(name)
		switch isWho := strings.HasPrefix(name, whoField); {
		case reread:
		case isWho && value == "":
			delete(all, name)
		case isWho, strings.HasPrefix(name, cellField):
			all[name] = value
		}
	}
	size := 0
	for name, value := range all {
		size += len(name) + len(value)
	}
	if size > maxAnswers {
		return nil, &httpapi.Problem{Kind: httpapi.TooLarge}
	}
	one.answers = all
	return maps.Clone(all), nil
}

func cellName(row, column int) string {
	return cellField + strconv.Itoa(row) + "." + strconv.Itoa(column)
}

// takeAnswers takes over what was said about the rows of a list. No browser sends what it
// cannot read.
func takeAnswers(o *imports.Options, answers map[string]string) {
	o.Corrections = imports.Corrections{}
	for name, value := range answers {
		if row, ok := strings.CutPrefix(name, whoField); ok && value == addNew {
			o.SayAdd(row)
		} else if ok {
			o.SaySame(row + "=" + value)
		}
		place, _ := strings.CutPrefix(name, cellField)
		above, below, _ := strings.Cut(place, ".")
		row, err := strconv.Atoi(above)
		column, wrong := strconv.Atoi(below)
		if err != nil || wrong != nil {
			continue
		}
		if o.Corrections[row] == nil {
			o.Corrections[row] = map[int]string{}
		}
		o.Corrections[row][column] = value
	}
}

// broughtCell is a field that corrects a cell.
type broughtCell struct{ ID, Name, Label, Value string }

// candidate is somebody whom a row could be.
type candidate struct {
	ID, Text, Why string
	Changes       []view.Difference
	Chosen        bool
}

// asker makes the fields of rows, as many as a form can have.
type asker struct {
	list   *broughtList
	fields int // that there is room for
	bytes  int // of their values
	asked  map[int]bool
}

// A form has a limit in bytes, which also has the columns of the list.
const maxAskedBytes = 8 << 10

func (l *broughtList) newAsker() *asker {
	const others = 50 // fields that are not about a column or a row
	return &asker{l, upload.MaxParts - len(l.file.Mapped.Columns) - others, maxAskedBytes, map[int]bool{}}
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
func (v visit) cells(a *asker, at int, row imports.Row) (cells []broughtCell) {
	if a.list.released || !a.once(row.Row) {
		return nil
	}
	for _, column := range faultyColumns(a.list.file, row.Errors) {
		text := a.list.file.CellText(at, column)
		if a.fields--; a.fields < 0 || len(text) > longest || a.bytes < len(text) {
			continue
		}
		a.bytes -= len(text)
		name := cellName(row.Row, column)
		heading := v.heading(a.list.file.Mapped.Columns[column].Header)
		if heading == "" {
			heading = v.Text("import.columns.unnamed")
		}
		cells = append(cells, broughtCell{strings.ReplaceAll(name, ".", "-"), name, heading, text})
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

// isAsked reports whether somebody has to say who a row is, or has said it.
func (l *broughtList) isAsked(row *imports.Row) bool {
	return l.answered(row.Row) != "" || slices.ContainsFunc(row.Like, func(like imports.Like) bool { return like.ID != nil })
}

// askWho adds the choice who a row is.
func (v visit) askWho(a *asker, shown *broughtRow, row imports.Row) {
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
	c := candidate{ID: id, Text: v.Text("import.perhaps.same", view.NameOf(person)), Why: why, Changes: v.Differences(person, person.With(&row.Fields))}
	if day := v.Birth(person); day != "" {
		c.Text = v.Text("import.perhaps.born", view.NameOf(person), day)
	}
	return c
}

// answered returns what was said of a row: addNew, the id of a person, or nothing.
func (l *broughtList) answered(number int) string {
	if l.options.Add[number] {
		return addNew
	}
	return l.options.Same[number]
}
