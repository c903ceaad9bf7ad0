package office

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// importPage is the Data of import.html.
type importPage struct {
	Tabs    []tab
	Reading reading
	Outcome *importOutcome // nil: there is nothing to say about the rows yet
	Checked string         // tells whether the choices have changed since the check
	Stale   string         // a sentence: why nothing was imported; empty: nobody asked for that
}

// importOutcome is what an import would do.
type importOutcome struct {
	Added, Changed, Left, Refused int
	Ready                         int    // people who go in when the button is pressed; 0: it cannot be pressed
	Why                           string // it cannot
	Same                          string // the list was imported before; empty: no
	Rows                          []broughtRow
	More                          int // rows that are not shown
}

// showImport asks for a list, or says what an import of the one that the address names
// would do. It changes nothing.
func showImport(v visit) error {
	if !v.form().Has("token") {
		return v.renderImport(http.StatusOK, &broughtList{}, importPage{}, nil)
	}
	return checkImport(v)
}

// renderImport answers with the page. found may be nil.
func (v visit) renderImport(status int, l *broughtList, data importPage, found *imports.Outcome) error {
	data.Tabs, data.Reading, data.Checked = v.tabs(importPath), v.reading(l), l.choicesHash()
	if found != nil {
		data.Outcome = v.importOutcome(l, found)
	}
	v.setReturn(v.readingPath(importPath, l.keptList))
	p := site.Page{Title: v.Text("import.title"), Section: listsSection, Wrong: status >= http.StatusBadRequest || len(data.Reading.Faults) > 0, Data: data}
	return v.Render(status, "import", p)
}

// checkImport says what an import would do.
func checkImport(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	return v.renderCheck(l, "")
}

// renderCheck answers with what an import would do. stale says why it was not
// done.
func (v visit) renderCheck(l *broughtList, stale string) error {
	data := importPage{Stale: stale}
	if len(l.faults) > 0 {
		return v.renderImport(http.StatusUnprocessableEntity, l, data, nil)
	}
	l.file.Release()
	found, err := l.file.Check(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if stale != "" {
		status = http.StatusUnprocessableEntity
	}
	return v.renderImport(status, l, data, found)
}

func (v visit) importOutcome(l *broughtList, found *imports.Outcome) *importOutcome {
	r := &importOutcome{Added: found.Added, Changed: found.Changed, Left: found.Left, Refused: found.Refused}
	r.Rows, r.More = v.broughtRows(found.All)
	if same := found.Same; same != nil {
		r.Same = v.words().SameFile(same.Number, v.Lang.Moment(same.At.Local()))
	}
	switch {
	case len(l.file.Differs) > 0:
		r.Why = v.Text("import.why.encoding")
	case found.Refused > 0 && !l.options.SkipBad:
		r.Why = v.Count("import.why.refused", found.Refused, v.Text("import.skipBad"), v.Text("import.again"))
	case found.Added+found.Changed == 0 && found.Left > 0 && !l.options.Update:
		r.Why = v.Text("import.why.left", v.Text("import.update"), v.Text("import.again"))
	case found.Added+found.Changed == 0:
		r.Why = v.Text("import.why.nothing")
	default:
		r.Ready = found.Added + found.Changed
	}
	return r
}

// choicesHash returns a hash of how the list is read: the choices of the form, and what
// each column is.
func (l *broughtList) choicesHash() string {
	o, sum := l.options, sha256.New()
	fmt.Fprintf(sum, "%q %q %q %t %t", o.Sheet, o.Encoding, o.Dates, o.Update, o.SkipBad)
	if l.file != nil && l.file.Mapped != nil {
		for _, c := range l.file.Mapped.Columns {
			fmt.Fprintf(sum, " %q", c.Field)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// applyImport imports a list that was checked. Where the list would be read in another
// way than the page has shown, or a row is refused by now, it shows that instead. The
// same list read in another way is another import.
func applyImport(v visit) error {
	token, checked := v.R.PostForm.Get("token"), v.R.PostForm.Get("checked")
	key := v.idempotencyKey("import-", token, checked)
	if number, err := v.importedBefore(key); err != nil {
		return err
	} else if number != 0 {
		return v.redirectToImported(number)
	}
	l, err := v.openList()
	switch {
	case err != nil:
		return err
	case len(l.faults) > 0:
		return v.renderCheck(l, "")
	case v.Resumed():
		return v.renderCheck(l, v.Text("import.resumed"))
	case len(l.file.Differs) > 0:
		return v.renderCheck(l, v.Text("import.why.encoding"))
	case l.choicesHash() != checked:
		return v.renderCheck(l, v.Text("import.stale.choices"))
	}
	return v.imported(l, key)
}

// imported imports a list.
func (v visit) imported(l *broughtList, key *store.IdempotencyKey) error {
	l.file.Release()
	found, err := l.file.Apply(v.R.Context(), v.Store, v.Session.Tenant, v.Session.ID, key)
	switch {
	case errors.As(err, new(*store.RepeatedError)):
		number, err := v.importedBefore(key)
		if err != nil {
			return err
		}
		return v.redirectToImported(number)
	case err != nil:
		return err
	case !found.Applied:
		return v.renderImport(http.StatusUnprocessableEntity, l, importPage{Stale: v.Text("import.stale.refused")}, found)
	case found.Number == nil:
		return v.Redirect(importsPath + "?nothing=1")
	}
	return v.redirectToImported(*found.Number)
}

// importedBefore returns the number of the import that was made with a key, 0 if none was.
func (v visit) importedBefore(key *store.IdempotencyKey) (number int64, err error) {
	_, body, err := v.Store.Replay(v.Session.Tenant, key)
	if err != nil || body == nil {
		return 0, err
	}
	var answer struct{ Number int64 }
	err = json.Unmarshal(body, &answer)
	return answer.Number, err
}

func (v visit) redirectToImported(number int64) error {
	return v.Redirect(importsPath + "?imported=" + strconv.FormatInt(number, 10))
}

// reportImport answers with the whole list, with what becomes of each row and why, so
// that the refused rows can be corrected and brought again.
func reportImport(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	if len(l.faults) > 0 {
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
	var file bytes.Buffer
	header := []string{v.Text("import.result"), v.Text("import.reason")}
	err = imports.WriteReport(&file, format, l.file, found, header, func(row imports.Row) []string {
		return []string{v.Text("import.result." + row.Result), strings.Join(v.broughtRow(row).Reasons, " ")}
	})
	if err != nil {
		return err
	}
	upload.Attachment{Name: v.Text("import.file") + "." + format, ContentType: sheet.ContentType(format)}.Describe(v.W.Header())
	httpapi.Respond(v.W, http.StatusOK, file.Bytes())
	return nil
}
