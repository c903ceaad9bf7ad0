package lists

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// importsPage is the Data of imports.html.
type importsPage struct {
	Imports []ImportLine
	Undone  *undone // nil: the request undid no import
}

// ImportLine is an import for display.
type ImportLine struct {
	Number         int64
	At             time.Time
	Who, File      string
	Added, Changed int
	Undone         string // time of the undo, in the user's language; empty: not undone
}

// undone is the result of undoing an import.
type undone struct {
	Number            int64
	Deleted, Restored int
	Left              []notUndone
}

// notUndone is a person that an undo left unchanged, because of a change since the import.
type notUndone struct{ Name, Link, Why string }

func showImports(v view.Visit) error { return renderImports(v, importsPage{}, nil) }

func renderImports(v view.Visit, data importsPage, notice *site.Notice) error {
	all, err := v.Store.Imports(v.Session.Tenant)
	if err != nil {
		return err
	}
	for _, i := range all {
		data.Imports = append(data.Imports, NewImportLine(v, i))
	}
	if notice == nil {
		notice, _ = v.ImportNotice(all, v.Query().Get(view.ImportedParameter))
	}
	return v.Render(http.StatusOK, "imports", site.Page{Title: v.Text("imports.title"), Section: "imports", Notice: notice, Data: data})
}

// NewImportLine returns an import for display.
func NewImportLine(v view.Visit, i store.Import) ImportLine {
	line := ImportLine{i.Number, i.At.Local(), importedBy(v, i), i.File, i.Added, i.Changed, ""}
	if !i.UndoneAt.IsZero() {
		line.Undone = v.Lang.Moment(i.UndoneAt.Local())
	}
	return line
}

// importedBy returns who made an import.
func importedBy(v view.Visit, i store.Import) string {
	switch {
	case i.Key == 0:
		return v.Text("imports.byCommand")
	case i.Label == "": // the key has no label or no longer exists
		return v.Text("imports.byKey", int(i.Key))
	}
	return i.Label
}

// errNoImport is returned if the department has no such import.
var errNoImport = &httpapi.Problem{Kind: httpapi.Kind{Code: "import", Status: http.StatusNotFound}}

// undoImport undoes an import and shows the result.
func undoImport(v view.Visit) error {
	number, _ := strconv.ParseInt(v.R.PathValue("number"), 10, 64) // no import has the number 0
	done, err := v.Store.UndoImport(v.Session.Tenant, v.Session.ID, number, nil)
	if before := (*store.UndoneError)(nil); errors.As(err, &before) {
		already := v.Text("imports.already", int(number), v.Lang.Moment(before.At.Local()))
		return renderImports(v, importsPage{}, &site.Notice{Text: already, Warn: true})
	}
	if errors.Is(err, store.ErrNotFound) {
		return errNoImport
	}
	if err != nil {
		return err
	}
	data := undone{Number: number, Deleted: done.Deleted, Restored: done.Restored}
	for _, left := range done.Left {
		data.Left = append(data.Left, newNotUndone(v, left))
	}
	return renderImports(v, importsPage{Undone: &data}, &site.Notice{Text: v.Text("imports.done", int(number)), Warn: len(data.Left) > 0})
}

func newNotUndone(v view.Visit, left store.NotUndone) notUndone {
	l := notUndone{Name: left.Name, Why: v.Text("imports.left." + left.Action)}
	if l.Name == "" {
		l.Name = v.Text("history.nobody")
	}
	if left.Action != "purge" {
		l.Link = view.PersonPath(left.ID) + "/history"
	}
	return l
}
