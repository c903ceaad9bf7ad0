package lists

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// importOutcome is what an import would do.
type importOutcome struct {
	Added, Changed, Left, Refused, Perhaps, Differ, LeftOut int

	Ready   int    // people who go in when the button is pressed; 0: the button cannot be pressed
	Without string // the button that leaves out all other rows; empty: there is none
	Why     string // a sentence: why the button cannot be pressed; empty: it can
	Same    string // a sentence: the list was imported before; empty: it was not

	Unknown  int    // rows with an id that nobody has
	Deleted  int    // rows with the id of somebody who was deleted
	IDColumn string // number of the column of the ids

	previewRows
}

func (v visit) importOutcome(l *uploadedList, found *imports.Outcome) *importOutcome {
	r := &importOutcome{Added: found.Added, Changed: found.Changed, Left: found.LeftPeople(), Refused: found.Refused, Perhaps: found.Perhaps,
		Differ: found.Differ, LeftOut: found.LeftOut}
	r.previewRows = v.previewRows(l, found.All)
	r.addUnknown(l, found)
	if same := found.Same; same != nil {
		r.Same = v.words().SameFile(same.Number, v.Lang.Moment(same.At.Local()))
	}
	switch {
	case l.file.Unsure != nil:
		r.Why = v.Text("import.why.encoding")
	case found.Refused+found.Perhaps > 0:
		var why, without []string
		if found.Perhaps > 0 {
			why = append(why, v.Count("import.why.perhaps", found.Perhaps, v.Text("import.again")))
			without = append(without, v.Count("import.without.perhaps", found.Perhaps))
		}
		if found.Refused > 0 {
			key := "import.why.refused"
			if l.released {
				key = "import.why.tooMany"
			}
			why = append(why, v.Count(key, found.Refused, v.Text("import.again")))
			without = append(without, v.Count("import.without.refused", found.Refused))
		}
		r.Why = strings.Join(why, " ")
		if ready := found.Added + found.Changed; ready > 0 {
			r.Without = v.Count("import.do.without", ready, strings.Join(without, v.Text("import.without.and")))
		}
	case found.Added+found.Changed == 0 && r.Left > 0 && !l.options.Update:
		r.Why = v.Text("import.why.left")
		if found.Differ > 0 {
			r.Why += " " + v.Text("import.why.differ", v.Text("import.update"), v.Text("import.again"))
		}
	case found.Added+found.Changed == 0:
		r.Why = v.Text("import.why.nothing")
	default:
		r.Ready = found.Added + found.Changed
	}
	return r
}

// addUnknown adds the rows with ids that nobody has now.
func (r *importOutcome) addUnknown(l *uploadedList, found *imports.Outcome) {
	for _, row := range found.All {
		switch {
		case !slices.ContainsFunc(row.Errors, isUnknown), l.answered(row.Row) != "": // by no id of the list
		case row.Deleted != "":
			r.Deleted++
		default:
			r.Unknown++
		}
	}
	r.IDColumn = strconv.Itoa(slices.IndexFunc(l.file.Mapped.Columns, func(c mapping.Column) bool { return c.Field == mapping.ID }))
}

// importTicks returns the choices about what becomes of the rows.
func (v visit) importTicks(l *uploadedList, found *imports.Outcome) (t ticks) {
	o := l.options
	isAsked := func(row imports.Row) bool { return l.isAsked(&row) }
	t.add("update", v.Text("import.update"), o.Update, found.Left+found.Changed > 0 || slices.ContainsFunc(found.All, isAsked))
	t.add("spelling", v.Text("import.spelling"), o.Spelling, slices.ContainsFunc(found.Notes, isSpelling))
	t.add("addPerhaps", v.Text("import.perhaps.all"), o.AddPerhaps, found.Perhaps > manyPerhaps)
	return t
}

// isSpelling reports whether a note says that spellings are kept.
func isSpelling(n sheet.Note) bool { return n.Code == imports.NoteSpelling }

// manyPerhaps is the number of rows that are perhaps somebody who is there from which on
// one tick can answer for all.
const manyPerhaps = 5
