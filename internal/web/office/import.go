package office

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// importPage is the Data of import.html.
type importPage struct {
	Tabs    []tab
	Reading reading
	Report  *report // nil: there is nothing to say about the rows yet
	Checked string  // tells whether the choices have changed since the check
	Stale   string  // a sentence: why nothing was imported; empty: nobody asked for that
}

// report is what an import would do.
type report struct {
	Added, Changed, Left, Refused int
	Ready                         int    // people who go in when the button is pressed; 0: it cannot be pressed
	Why                           string // it cannot
	Same                          string // the list was imported before; empty: no
	Rows                          []line
	More                          int // rows that are not shown
}

// show asks for a list, or says what an import of the one that the address names
// would do. It changes nothing.
func (s *pages) show(v visit) error {
	if !v.form().Has("token") {
		return v.renderImport(http.StatusOK, &list{}, importPage{}, nil)
	}
	return s.check(v)
}

// renderImport answers with the page. found may be nil.
func (v visit) renderImport(status int, l *list, data importPage, found *imports.Report) error {
	data.Tabs, data.Reading, data.Checked = v.tabs(importPath), v.reading(l), l.choices()
	if found != nil {
		data.Report = v.report(l, found)
	}
	v.comeBack(v.address(importPath, l.keptFile))
	p := site.Page{Title: v.Text("import.title"), Section: section, Wrong: status >= http.StatusBadRequest || len(data.Reading.Faults) > 0, Data: data}
	return v.Render(status, "import", p)
}

// check says what an import would do.
func (s *pages) check(v visit) error {
	l, err := s.open(v)
	if err != nil {
		return err
	}
	return v.renderCheck(l, "")
}

// renderCheck answers with what an import would do. stale says why it was not
// done.
func (v visit) renderCheck(l *list, stale string) error {
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

func (v visit) report(l *list, found *imports.Report) *report {
	r := &report{Added: found.Added, Changed: found.Changed, Left: found.Left, Refused: found.Refused}
	r.Rows, r.More = v.lines(found.All)
	if same := found.Same; same != nil {
		r.Same = v.Text("import.same", int(same.Number), v.Lang.Moment(same.At.Local()))
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

// choices returns a text that is another one if anything in how the list is read
// is.
func (l *list) choices() string {
	o, sum := l.options, sha256.New()
	fmt.Fprintf(sum, "%q %q %q %t %t", o.Sheet, o.Encoding, o.Dates, o.Update, o.SkipBad)
	if l.file != nil && l.file.Mapped != nil {
		for _, c := range l.file.Mapped.Columns {
			fmt.Fprintf(sum, " %q", c.Field)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// key returns that of an import. Pressed twice, or after a power cut, it is one
// import. The same list read in another way is another one.
func (v visit) key(token, choices string) *store.IdempotencyKey {
	sum := sha256.Sum256([]byte(token + "\n" + choices))
	return &store.IdempotencyKey{By: v.Session.ID, Key: "import-" + hex.EncodeToString(sum[:]), Hash: sum[:]}
}

// apply imports a list that was checked. Where the list would be read in another
// way than the page has shown, or a row is refused by now, it shows that instead.
func (s *pages) apply(v visit) error {
	token, checked := v.R.PostForm.Get("token"), v.R.PostForm.Get("checked")
	key := v.key(token, checked)
	if number, err := v.done(key); err != nil {
		return err
	} else if number != 0 {
		return v.redirectToImported(number)
	}
	l, err := s.open(v)
	switch {
	case err != nil:
		return err
	case len(l.faults) > 0:
		return v.renderCheck(l, "")
	case v.Resumed():
		return v.renderCheck(l, v.Text("import.resumed"))
	case len(l.file.Differs) > 0:
		return v.renderCheck(l, v.Text("import.why.encoding"))
	case l.choices() != checked:
		return v.renderCheck(l, v.Text("import.stale.choices"))
	}
	return v.imported(l, key)
}

// imported imports a list.
func (v visit) imported(l *list, key *store.IdempotencyKey) error {
	l.file.Release()
	found, err := l.file.Apply(v.R.Context(), v.Store, v.Session.Tenant, v.Session.ID, key)
	switch {
	case errors.As(err, new(*store.RepeatedError)):
		number, err := v.done(key)
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

// done returns the number of the import that was made with a key, 0 if none was.
func (v visit) done(key *store.IdempotencyKey) (number int64, err error) {
	_, body, err := v.Store.StoredResponse(v.Session.Tenant, key)
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
