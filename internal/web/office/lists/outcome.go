package lists

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// importOutcome is the preview of an import.
type importOutcome struct {
	Tally                    []count // what would happen to rows, by result
	Skipped, LeftOut, Differ int

	Ready   int    // people that the button imports; 0: the button is disabled
	Without string // label of the button that skips all other rows; empty: none
	Why     string // reason why the button is disabled; empty: enabled
	Same    string // message that the list was already imported; empty: it was not

	Unknown  int    // rows with an ID of no person
	Deleted  int    // rows with the ID of a deleted person
	IDColumn string // number of the ID column

	previewRows
}

func (v visit) importOutcome(l *uploadedList, found *imports.Outcome) *importOutcome {
	r := &importOutcome{Skipped: found.Skipped, LeftOut: found.LeftOut, Differ: found.Differ}
	r.addTally(v, found)
	r.previewRows = v.previewRows(l, found.All)
	r.addUnknown(l, found)
	if same := found.Same; same != nil {
		r.Same = v.words().SameFile(same.Number, v.Lang.Moment(same.At.Local()))
	}
	switch {
	case found.Open() != nil:
		r.Why = v.Text("import.why.questions", v.Text("import.again"))
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
	case found.Added+found.Changed == 0 && found.LeftPeople() > 0 && !l.options.Update:
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

// count is the number of rows with a result, and a sentence about them.
type count struct {
	Name  string
	Count int
	Text  string
}

// addTally adds the number of rows with each result that occurs, and of people who would be added.
func (r *importOutcome) addTally(v visit, found *imports.Outcome) {
	asked := 0 // undecided rows that are no possible duplicates
	for i := range found.All {
		if row := &found.All[i]; row.Result == imports.Perhaps && row.Like[0].ID == nil {
			asked++
		}
	}
	for _, c := range []count{
		{imports.Added, found.Added, ""}, {imports.Changed, found.Changed, ""}, {imports.Left, found.LeftPeople(), ""},
		{imports.Perhaps, found.Perhaps - asked, ""}, {"asked", asked, ""}, {imports.Refused, found.Refused, ""},
		{imports.Skipped, found.Skipped, ""},
	} {
		if c.Count == 0 && c.Name != imports.Added {
			continue
		}
		c.Text = v.Count("import.count."+c.Name, c.Count)
		if c.Name == imports.Left && found.Differ > 0 {
			c.Text += " " + v.Count("import.count.differ", found.Differ)
		}
		r.Tally = append(r.Tally, c)
	}
}

// addUnknown counts the rows with the ID of no person or of a deleted person.
func (r *importOutcome) addUnknown(l *uploadedList, found *imports.Outcome) {
	for _, row := range found.All {
		switch {
		case !slices.ContainsFunc(row.Errors, isUnknown), l.decision(row.Row) != "": // a decision replaces the ID
		case row.Deleted != "":
			r.Deleted++
		default:
			r.Unknown++
		}
	}
	r.IDColumn = strconv.Itoa(slices.IndexFunc(l.file.Mapped.Columns, func(c mapping.Column) bool { return c.Field == mapping.ID }))
}

// importTicks returns the checkboxes for the result of rows.
func (v visit) importTicks(l *uploadedList, found *imports.Outcome) (t ticks) {
	o := l.options
	needsDecision := func(row imports.Row) bool { return l.needsDecision(&row) }
	t.add("update", v.Text("import.update"), o.Update, found.Left+found.Changed > 0 || slices.ContainsFunc(found.All, needsDecision))
	t.add("spelling", v.Text("import.spelling"), o.Spelling, o.Update && slices.ContainsFunc(found.Notes, isSpelling))
	for _, kind := range slices.Sorted(maps.Keys(o.SameAll)) {
		t.add(sameAllField+kind, v.Text("import.all", v.words().Kind(kind), v.Text("import.all.same")), true, true)
	}
	for _, kind := range slices.Sorted(maps.Keys(o.AddAll)) {
		t.add(addAllField+kind, v.Text("import.all", v.words().Kind(kind), v.Text("import.all.add")), true, true)
	}
	return t
}

// isSpelling reports whether a note is about unchanged spellings.
func isSpelling(n sheet.Note) bool { return n.Code == imports.NoteSpelling }
