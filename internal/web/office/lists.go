package office

import (
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Addresses of the pages on which people bring lists in, take them out, and compare
// them with theirs.
const (
	importPath  = site.Root + "import"
	importsPath = site.Root + "imports"
	exportPath  = site.Root + "export"
	comparePath = site.Root + "compare"
)

// onList returns a handler that waits for a place to work on the list that the form
// names. Where there is no such list it does not wait.
func onList(handle func(visit) error) func(visit) error {
	return func(v visit) error {
		l := v.lists.find(v.Session.Tenant, v.form().Get("token"))
		if l == nil {
			return handle(v)
		}
		return v.Work(l.file.Weight(), func() error { return handle(v) })
	}
}

// listsSection is the entry of all these pages in the navigation.
const listsSection = "transfer"

// tab leads to one of these pages.
type tab struct {
	Href, Label string
	Here        bool
}

// tabs returns the tabs of these pages that the visitor may see.
func (v visit) tabs(here string) (tabs []tab) {
	for _, path := range []string{importPath, importsPath, exportPath, comparePath} {
		if path != importPath || v.May(store.ScopeWrite) {
			name := strings.TrimPrefix(path, site.Root)
			tabs = append(tabs, tab{path, v.Text("transfer." + name), path == here})
		}
	}
	return tabs
}

// setReturn sets the address to which a choice of another language leads.
func (v visit) setReturn(address string) {
	if v.R.Method == http.MethodPost {
		v.R.PostForm.Set("next", address)
	}
}

// choice is one to choose from.
type choice struct {
	Value, Label string
	Chosen       bool
}

// choices returns values to choose from, with the messages that begin with
// prefix.
func (v visit) choices(values []string, chosen, prefix string) (all []choice) {
	for _, value := range values {
		all = append(all, choice{value, v.Text(prefix + value), value == chosen})
	}
	return all
}
