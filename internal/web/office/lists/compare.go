package lists

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// comparePage is the Data of compare.html.
type comparePage struct {
	Reading reading
	Result  *comparison // nil: no list, or an unreadable one
}

// comparison is a list compared with the department.
type comparison struct {
	Date   time.Time
	Counts []string // messages for each group and the people without a difference
	Groups []comparedGroup
}

// comparedGroup is a table of a group that is not empty.
type comparedGroup struct {
	ID      string
	Title   string
	Columns []string // between the name and the row number
	Lines   []comparedLine
	More    int // number of lines not shown
}

// comparedLine is a line of a comparedGroup.
type comparedLine struct {
	Name, Link, Why string
	Cells           []string
	Row             int
}

// mostCompared is the maximum number of lines of a group on the page.
const mostCompared = 500

// compareList asks for a list, or shows its differences to the department. It changes nothing.
func compareList(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	data := comparePage{Reading: v.reading(l)}
	if l.isRead() {
		l.release()
		found, err := l.file.Compare(v.R.Context(), v.Store, v.Session.Tenant)
		if err != nil {
			return err
		}
		data.Result = v.comparison(found)
		data.Reading.Notes = v.notes(found.Outcome.Notes)
		data.Reading.Ticks = v.readingTicks(l, found.Outcome)
		data.Reading.ask(v, found.Outcome)
	}
	p := site.Page{Title: v.Text("compare.title"), Section: "compare", Wrong: len(data.Reading.Faults) > 0, Data: data}
	return v.Render(l.status(""), "compare", p)
}

func (v visit) comparison(found *imports.Comparison) *comparison {
	c := &comparison{Date: v.Now()}
	for _, group := range found.Groups {
		n := len(group.Rows)
		if n > 0 || group.Name != imports.Probably && group.Name != imports.NotSure {
			c.Counts = append(c.Counts, v.Count("compare.count."+group.Name, n))
		}
		if n > 0 {
			c.Groups = append(c.Groups, v.comparedGroup(group))
		}
	}
	c.Counts = append(c.Counts, v.Count("compare.count.same", found.Same))
	if n := found.Outcome.SpellingOnly; n > 0 {
		c.Counts = append(c.Counts, v.Count("compare.count.spelling", n))
	}
	if found.Unclear > 0 {
		c.Counts = append(c.Counts, v.Count("compare.count.unclear", found.Unclear))
	}
	return c
}

func (v visit) comparedGroup(group imports.Group) comparedGroup {
	c := comparedGroup{ID: group.Name, Title: v.Text("compare." + group.Name), Columns: []string{v.Text("import.details")}}
	switch group.Name {
	case imports.Probably, imports.Differ:
		c.Columns = []string{v.Text("history.field"), v.Text("compare.ours"), v.Text("compare.theirs")}
	case imports.NotSure:
		c.Columns = []string{v.Text("import.reason")}
	}
	findings := group.Findings(v.findingWords())
	c.More = max(0, len(findings)-mostCompared)
	for _, f := range findings[:len(findings)-c.More] {
		line := comparedLine{Name: v.previewRow(*f.Row).Name, Why: f.Why, Row: f.Row.Row}
		if f.ID != nil && group.Name != imports.NotSure {
			line.Link = view.PersonPath(*f.ID)
		}
		switch change := f.Change; {
		case group.Name == imports.NotSure:
			line.Why, line.Cells = "", []string{f.Why}
		case len(c.Columns) == 1:
			line.Cells = []string{change.Ours + change.Theirs}
		case change.Field == "":
			line.Cells = make([]string, len(c.Columns))
		default:
			line.Cells = []string{change.Field, cmp.Or(change.Ours, "–"), cmp.Or(change.Theirs, "–")}
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// findingWords returns the texts of findings in the user's language.
func (v visit) findingWords() imports.FindingWords {
	return imports.FindingWords{
		Values: v.valuesOf,
		Changes: func(row *imports.Row) (changes []imports.FieldChange) {
			for _, d := range v.Differences(*row.Before, *row.After) {
				changes = append(changes, imports.FieldChange{Field: d.Label, Ours: d.Old, Theirs: d.New})
			}
			return changes
		},
		Why: func(row *imports.Row) string {
			if row.Result == imports.Perhaps {
				return v.words().Why(row, row.Like[0])
			}
			return strings.Join(v.previewRow(*row).Reasons, " ")
		},
	}
}

// reportComparison responds with a workbook of all findings.
func reportComparison(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	if !l.isRead() {
		return compareList(v)
	}
	l.file.Release()
	found, err := l.file.Compare(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	var header []string
	for _, key := range []string{"compare.finding", "import.row", "import.field.id", "deleted.name", "history.field",
		"compare.ours", "compare.theirs", "import.reason"} {
		header = append(header, v.Text(key))
	}
	titles := map[string]string{}
	for _, name := range imports.GroupNames {
		titles[name] = v.Text("compare." + name)
	}
	return v.sendReportFile("compare.file", sheet.XLSX, func(to io.Writer) error {
		return found.WriteReport(to, sheet.XLSX, header, titles, v.findingWords())
	})
}
