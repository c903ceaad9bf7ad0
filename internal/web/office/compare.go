package office

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// comparePage is the Data of compare.html.
type comparePage struct {
	Reading reading
	Result  *comparison // nil: there is nothing to compare yet
}

// comparison is a list beside ours.
type comparison struct {
	Date       time.Time
	OnlyTheirs compared
	OnlyOurs   compared
	Probably   compared
	Differ     compared
	Refused    compared
	Same       int
	Unclear    int // people of ours whom only refused rows mean
}

// compared are the first rows of a group.
type compared struct {
	Total, More int // all of them, and those that are not shown
	Rows        []broughtRow
}

// mostCompared is the number of lines of a group on the page. A row has a line for each field
// that differs.
const mostCompared = 500

// comparedRows returns a group.
func comparedRows[T any](all []T, show func(T) broughtRow) compared {
	c, lines := compared{Total: len(all)}, 0
	for _, one := range all {
		row := show(one)
		if lines += max(1, len(row.Changes)); lines > mostCompared {
			break
		}
		c.Rows = append(c.Rows, row)
	}
	c.More = c.Total - len(c.Rows)
	return c
}

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
	c := &comparison{Date: v.now(), Same: found.Same, Unclear: found.Unclear}
	c.OnlyTheirs = comparedRows(found.OnlyTheirs, func(row *imports.Row) broughtRow {
		return broughtRow{Row: row.Row, Name: short(row.Name), Values: v.valuesOf(row.Fields)}
	})
	c.OnlyOurs = comparedRows(found.OnlyOurs, func(f record.Firefighter) broughtRow {
		return broughtRow{Name: f.FirstName + " " + f.LastName, Link: personPath(f.ID), Values: v.valuesOf(f.Fields)}
	})
	c.Probably = comparedRows(found.Probably, v.probable)
	byRow := func(row *imports.Row) broughtRow { return v.broughtRow(*row) }
	c.Differ, c.Refused = comparedRows(found.Differ, byRow), comparedRows(found.Refused, func(row *imports.Row) broughtRow {
		r := byRow(row)
		for _, like := range row.Like {
			r.Reasons = append(r.Reasons, v.words().Why(like.Why))
		}
		return r
	})
	return c
}

// probable returns a row that is perhaps somebody of ours.
func (v visit) probable(row *imports.Row) broughtRow {
	r := v.broughtRow(*row)
	if r.Values = v.words().Why(row.Like[0].Why); row.Before != nil && row.After != nil {
		r.Changes = v.differences(*row.Before, *row.After)
	}
	return r
}

// reportComparison answers with all that was found.
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
	var file bytes.Buffer
	if err := found.WriteFindings(&file, sheet.XLSX, v.findingWords()); err != nil {
		return err
	}
	upload.Attachment{Name: v.Text("compare.file") + "." + sheet.XLSX, ContentType: sheet.ContentType(sheet.XLSX)}.Describe(v.W.Header())
	httpapi.Respond(v.W, http.StatusOK, file.Bytes())
	return nil
}

// findingWords are those of the file with all that was found.
func (v visit) findingWords() imports.FindingWords {
	words := imports.FindingWords{Finding: map[string]string{}, Values: v.valuesOf}
	for _, key := range []string{"compare.finding", "import.row", "import.field.id", "deleted.name", "history.field", "compare.ours", "compare.theirs", "import.reason"} {
		words.Header = append(words.Header, v.Text(key))
	}
	for _, what := range []string{imports.OnlyTheirs, imports.OnlyOurs, imports.Probably, imports.Differ, imports.NotSure} {
		words.Finding[what] = v.Text("compare." + what)
	}
	words.Changes = func(row *imports.Row) (changes []imports.FieldChange) {
		if row.Before != nil && row.After != nil {
			for _, d := range v.differences(*row.Before, *row.After) {
				changes = append(changes, imports.FieldChange{Field: d.Label, Ours: d.Old, Theirs: d.New})
			}
		}
		return changes
	}
	words.Why = func(row *imports.Row) string {
		if row.Result == imports.Perhaps {
			return v.words().Why(row.Like[0].Why)
		}
		return strings.Join(v.broughtRow(*row).Reasons, " ")
	}
	return words
}
