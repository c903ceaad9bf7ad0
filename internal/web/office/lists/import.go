package lists

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// importPath is the address of the page that asks for a list to import.
const importPath = site.Root + "import"

// importPage is the Data of import.html.
type importPage struct {
	Reading reading
	Outcome *importOutcome // nil: no list, or an unreadable one
	Checked string         // digest of Outcome
	Stale   string         // reason why nothing was imported; empty for a preview
}

// checkImport asks for a list, or shows the preview of its import. It changes nothing.
func checkImport(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	if l.isRead() && v.Query().Has("resume") { // after a new sign-in
		return v.renderCheck(l, v.Text("import.resumed"))
	}
	return v.renderCheck(l, "")
}

// renderCheck responds with the preview of an import. stale is the reason why it was not done.
func (v visit) renderCheck(l *uploadedList, stale string) error {
	if !l.isRead() {
		return v.renderImport(l, stale, nil)
	}
	l.release()
	found, err := l.file.Check(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	return v.renderImport(l, stale, found)
}

// renderImport responds with the page. found may be nil.
func (v visit) renderImport(l *uploadedList, stale string, found *imports.Outcome) error {
	data := importPage{Reading: v.reading(l), Stale: stale}
	if found != nil {
		data.Outcome = v.importOutcome(l, found)
		data.Reading.Ticks = append(v.importTicks(l, found), v.readingTicks(l, found)...)
		data.Reading.ask(v, found)
		data.Reading.Notes = v.notes(found.Notes)
		data.Checked = string(found.Digest())
		data.Outcome.dropShown(data.Reading.Answers)
	}
	p := site.Page{Title: v.Text("import.title"), Section: "import", Wrong: stale != "" || len(data.Reading.Faults) > 0, Data: data}
	return v.Render(l.status(stale), "import", p)
}

// applyImport imports a list after a preview. If the outcome differs from the preview, because of
// other choices or changed people, it shows a new preview instead.
func applyImport(v visit) error {
	token, checked := v.R.PostForm.Get("token"), v.R.PostForm.Get("checked")
	key := v.IdempotencyKey("import-", token, checked)
	if number, err := v.importNumber(key); err != nil {
		return err
	} else if number != 0 {
		return v.redirectImported(number, token)
	}
	l, err := v.openList()
	switch {
	case err != nil:
		return err
	case !l.isRead():
		return v.renderCheck(l, "")
	}
	l.file.Options.Confirmed = []byte(checked)
	l.release()
	found, err := l.file.Apply(v.R.Context(), v.Store, v.Session.Tenant, v.Session.ID, key)
	switch {
	case errors.As(err, new(*store.RepeatedError)):
		return applyImport(v) // which now finds the import
	case err != nil:
		return err
	case !found.Applied && found.Open() != nil:
		return v.renderImport(l, v.Text("import.why.questions", v.Text("import.again")), found)
	case !found.Applied:
		return v.renderImport(l, v.Text("import.stale"), found)
	}
	if found.Unmatched > 0 {
		o := l.options
		o.Add, o.AddAll = nil, nil // the new people exist now
		l.imported.Store(&o)
	}
	if found.Number == nil {
		return v.redirectImported(0, token)
	}
	return v.redirectImported(*found.Number, token)
}

// redirectImported redirects to the people of an import, or for number 0 to the imports. The notice
// there leads to the people who are not in the list with the token, if there may be any.
func (v visit) redirectImported(number int64, token string) error {
	query := url.Values{}
	if l := v.lists.find(v.Session.Tenant, token); l != nil && l.imported.Load() != nil {
		query.Set("list", token)
	}
	if number == 0 {
		query.Set("nothing", "1")
		return v.Redirect(view.ImportsPath + "?" + query.Encode())
	}
	query.Set(view.ImportedParameter, strconv.FormatInt(number, 10))
	return v.Redirect(view.ListPath(query))
}

// importNumber returns the number of the import with an idempotency key, or 0.
func (v visit) importNumber(key *store.IdempotencyKey) (number int64, err error) {
	_, body, err := v.Store.Replay(v.Session.Tenant, key)
	if err != nil || body == nil {
		return 0, err
	}
	var answer struct{ Number int64 }
	err = json.Unmarshal(body, &answer)
	return answer.Number, err
}

// reportImport responds with the whole list and the result and reason of each row, so that refused
// rows can be corrected and uploaded again.
func reportImport(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	if !l.isRead() {
		return v.renderCheck(l, "")
	}
	found, err := l.file.Check(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	format := sheet.XLSX
	if l.file.Table.Format == sheet.CSV {
		format = sheet.CSV
	}
	header := []string{v.Text("import.result"), v.Text("import.reason")}
	return v.sendReportFile("import.file", format, func(to io.Writer) error {
		return imports.WriteReport(to, format, l.file, found, header, v.reportCells)
	})
}

// reportCells returns the result of a row and its reason, as on the page.
func (v visit) reportCells(row imports.Row) []string {
	shown, result := v.previewRow(row), v.Text("import.result."+row.Result)
	if row.Twin != 0 && row.Result == imports.Left {
		result = v.Text("import.twin", row.Twin)
	}
	var like []string
	for _, candidate := range row.Like {
		like = append(like, fmt.Sprintf("%s (%s)", v.words().Why(&row, candidate), v.describe(candidate)))
	}
	if row.Skip != "" {
		shown.Reasons = append(shown.Reasons, shown.Values)
	}
	return []string{result, strings.Join(slices.Concat(like, shown.LeftOut, shown.Reasons), " ")}
}
