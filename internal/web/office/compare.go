package office

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// comparePage is the Data of compare.html.
type comparePage struct {
	Reading reading
	Result  *comparison // nil: there is nothing to compare yet
}

// comparison is a list compared with the department.
type comparison struct {
	Date   time.Time
	Counts []string // a sentence for each group, and for the people without a difference
	Groups []comparedGroup
}

// comparedGroup is a group of a comparison that is not empty, as a table.
type comparedGroup struct {
	ID      string
	Title   string
	Columns []string // between the name and the number of the row
	Lines   []comparedLine
	More    int // rows that are not shown
}

// comparedLine is a row or, for rows that differ, one field of a row.
type comparedLine struct {
	Name, Link, Why string
	Cells           []string
	Row             int
}

// mostCompared is the number of lines of a group on the page.
const mostCompared = 500

// compareList asks for a list, or shows what is different between it and ours. It
// changes nothing.
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
		data.Reading.Ticks, data.Reading.Names = v.readingTicks(l, found.Outcome), v.nameOrders(l, found.Outcome)
	}
	v.setReturn(v.readingPath(comparePath, l.keptList))
	p := site.Page{Title: v.Text("compare.title"), Section: "compare", Wrong: len(data.Reading.Faults) > 0, Data: data}
	return v.Render(l.status(""), "compare", p)
}

func (v visit) comparison(found *imports.Comparison) *comparison {
	c := &comparison{Date: v.now()}
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
	for i, row := range group.Rows {
		lines := v.comparedLines(group.Name, row)
		if len(c.Lines)+len(lines) > mostCompared {
			c.More = len(group.Rows) - i
			break
		}
		c.Lines = append(c.Lines, lines...)
	}
	return c
}

// comparedLines returns the lines of a row of a group.
func (v visit) comparedLines(group string, row *imports.Row) (lines []comparedLine) {
	line := comparedLine{Name: v.broughtRow(*row).Name, Row: row.Row}
	if row.ID != nil {
		line.Link = personPath(*row.ID)
	}
	switch group {
	case imports.OnlyTheirs, imports.OnlyOurs:
		line.Cells = []string{v.valuesOf(row.Fields)}
	case imports.NotSure:
		line.Link, line.Cells = "", []string{v.notSure(row)}
	default:
		if group == imports.Probably {
			line.Why = v.notSure(row)
		}
		for _, change := range v.fieldChanges(row) {
			line.Cells = []string{change.Field, cmp.Or(change.Ours, "–"), cmp.Or(change.Theirs, "–")}
			lines = append(lines, line)
		}
		if len(lines) > 0 {
			return lines
		}
		line.Cells = make([]string, 3)
	}
	return []comparedLine{line}
}

// fieldChanges returns the differences between a row and the person of the department, in
// the words of the page.
func (v visit) fieldChanges(row *imports.Row) (changes []imports.FieldChange) {
	if row.Before == nil || row.After == nil {
		return nil
	}
	for _, d := range v.differences(*row.Before, *row.After) {
		changes = append(changes, imports.FieldChange{Field: d.Label, Ours: d.Old, Theirs: d.New})
	}
	return changes
}

// notSure returns why a row is a possible duplicate, or why it cannot be compared.
func (v visit) notSure(row *imports.Row) string {
	if row.Result == imports.Perhaps {
		return v.words().Why(row.Like[0].Why)
	}
	return strings.Join(v.broughtRow(*row).Reasons, " ")
}

// reportComparison answers with a workbook of all that was found.
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
	words := imports.ComparisonWords{Groups: map[string]string{}, Values: v.valuesOf, Changes: v.fieldChanges, Why: v.notSure}
	for _, key := range []string{"compare.finding", "import.row", "import.field.id", "deleted.name", "history.field", "compare.ours", "compare.theirs", "import.reason"} {
		words.Header = append(words.Header, v.Text(key))
	}
	for _, name := range imports.GroupNames {
		words.Groups[name] = v.Text("compare." + name)
	}
	var file bytes.Buffer
	if err := found.WriteReport(&file, sheet.XLSX, words); err != nil {
		return err
	}
	upload.Attachment{Name: v.Text("compare.file") + "." + sheet.XLSX, ContentType: sheet.ContentType(sheet.XLSX)}.Describe(v.W.Header())
	httpapi.Respond(v.W, http.StatusOK, file.Bytes())
	return nil
}
