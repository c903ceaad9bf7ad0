package office

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// importsPage is the Data of imports.html.
type importsPage struct {
	Imports   []importLine
	TakenBack *takenBack // nil: none was at this moment
}

// importLine is an import that was made.
type importLine struct {
	Number         int64
	At             time.Time
	Who, File      string
	Added, Changed int
	TakenBack      string // when, in the visitor's language; empty: it was not
}

// takenBack is what taking an import back has done.
type takenBack struct {
	Number            int64
	Deleted, Restored int
	Left              []leftAlone
}

// leftAlone is somebody who has changed since the import.
type leftAlone struct{ Name, Link, Why string }

func showImports(v visit) error { return v.renderImports(importsPage{}, nil) }

func (v visit) renderImports(data importsPage, notice *site.Notice) error {
	all, err := v.Store.Imports(v.Session.Tenant)
	if err != nil {
		return err
	}
	for _, i := range all {
		data.Imports = append(data.Imports, v.importLine(i))
	}
	if notice == nil {
		notice, _ = v.importNotice(all)
	}
	return v.Render(http.StatusOK, "imports", site.Page{Title: v.Text("imports.title"), Section: "imports", Notice: notice, Data: data})
}

func (v visit) importLine(i store.Import) importLine {
	line := importLine{i.Number, i.At.Local(), v.importedBy(i), isolate(i.File), i.Added, i.Changed, ""}
	if !i.TakenBackAt.IsZero() {
		line.TakenBack = v.Lang.Moment(i.TakenBackAt.Local())
	}
	return line
}

// importedBy says who has made an import.
func (v visit) importedBy(i store.Import) string {
	switch {
	case i.Key == 0:
		return v.Text("imports.byCommand")
	case i.Label == "": // the key has no label, or is gone
		return v.Text("imports.byKey", int(i.Key))
	}
	return i.Label
}

// importedParameter names an import in the address of a list: the list has only its
// people.
const importedParameter = "imported"

// importNotice returns the notice of the import that the address names, nil for none, and
// the number of that import, 0 if it was taken back.
func (v visit) importNotice(all []store.Import) (notice *site.Notice, number int64) {
	query := v.Query()
	if query.Has("nothing") {
		return &site.Notice{Text: v.Text("import.why.nothing"), Warn: true}, 0
	}
	for _, i := range all {
		if strconv.FormatInt(i.Number, 10) != query.Get(importedParameter) {
			continue
		}
		if !i.TakenBackAt.IsZero() {
			return &site.Notice{Text: v.Text("imports.already", int(i.Number), v.Lang.Moment(i.TakenBackAt.Local())), Warn: true}, 0
		}
		n := &site.Notice{Text: v.importSummary(i), Link: importsPath, Away: true}
		if v.May(store.ScopeWrite) {
			n.Undo = undoImportPath(i.Number)
		}
		return n, i.Number
	}
	return nil, 0
}

// importedPath returns the address of the list of the people of an import.
func importedPath(number int64) string {
	return listPath(url.Values{importedParameter: {strconv.FormatInt(number, 10)}})
}

// importSummary says what an import has done.
func (v visit) importSummary(i store.Import) string {
	switch {
	case i.Changed == 0:
		return v.Count("imports.added", i.Added)
	case i.Added == 0:
		return v.Count("imports.changed", i.Changed)
	}
	return v.Count("imports.both", i.Added, v.Count("imports.changed", i.Changed))
}

func undoImportPath(number int64) string {
	return importsPath + "/" + strconv.FormatInt(number, 10) + "/undo"
}

// undoImport takes an import back.
func undoImport(v visit) error {
	number, err := strconv.ParseInt(v.R.PathValue("number"), 10, 64)
	if err != nil {
		return errNoImport
	}
	done, err := v.Store.TakeBack(v.Session.Tenant, v.Session.ID, number, nil)
	if before := (*store.TakenBackError)(nil); errors.As(err, &before) {
		return v.renderImports(importsPage{}, &site.Notice{Text: v.Text("imports.already", int(number), v.Lang.Moment(before.At.Local())), Warn: true})
	}
	if errors.Is(err, store.ErrNotFound) {
		return errNoImport
	}
	if err != nil {
		return err
	}
	data := takenBack{Number: number, Deleted: done.Deleted, Restored: done.Restored}
	for _, left := range done.Left {
		data.Left = append(data.Left, v.leftAlone(left))
	}
	return v.renderImports(importsPage{TakenBack: &data}, &site.Notice{Text: v.Text("imports.done", int(number)), Warn: len(data.Left) > 0})
}

func (v visit) leftAlone(left store.LeftAlone) leftAlone {
	l := leftAlone{Name: isolate(left.Name), Why: v.Text("imports.left." + left.Action)}
	if l.Name == "" {
		l.Name = v.Text("history.nobody")
	}
	if left.Action != "purge" {
		l.Link = personPath(left.ID) + "/history"
	}
	return l
}
