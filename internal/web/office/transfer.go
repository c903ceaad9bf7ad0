// Package transfer is the pages on which people bring lists in, take them out,
// and compare them with theirs. Its templates and its messages are the office's.
package office

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Addresses of the pages.
const (
	importPath  = site.Root + "import"
	importsPath = site.Root + "imports"
	exportPath  = site.Root + "export"
	comparePath = site.Root + "compare"
)

// pages has what the pages keep between two requests.
type pages struct{ uploads *uploads }

// Routes are the addresses of the pages. Who may only read can export and
// compare.
func Routes() map[string]site.Route {
	s := &pages{newUploads()}
	return map[string]site.Route{
		"GET " + importPath:                      route(store.ScopeWrite, s.working(s.show)),
		"POST " + importPath:                     route(store.ScopeWrite, s.bring(importPath, s.check)).Upload().Carried(),
		"POST " + importPath + "/apply":          route(store.ScopeWrite, s.working(s.apply)).Carried(),
		"POST " + importPath + "/report":         route(store.ScopeWrite, s.working(s.report)),
		"GET " + importsPath:                     route(store.ScopeRead, showImports),
		"POST " + importsPath + "/{number}/undo": route(store.ScopeWrite, undo),
		"GET " + exportPath:                      route(store.ScopeRead, showExport),
		"GET " + exportPath + "/file":            route(store.ScopeRead, export),
		"GET " + comparePath:                     route(store.ScopeRead, s.working(s.showCompare)),
		"POST " + comparePath:                    route(store.ScopeRead, s.bring(comparePath, s.compare)).Upload().Carried(),
	}
}

// visit is a request to one of the pages.
type visit struct{ *site.Visit }

func route(scope string, handle func(visit) error) site.Route {
	return site.Route{Scope: scope, Handle: func(v *site.Visit) error {
		err := handle(visit{v})
		if errors.As(err, new(*record.DamagedError)) {
			err = &httpapi.Problem{Kind: damaged, Cause: err}
		}
		return err
	}}
}

// working returns a handler that works on the list with the token of the form.
// Without a list there is no work, and nothing to wait for.
func (s *pages) working(handle func(visit) error) func(visit) error {
	return func(v visit) error {
		u := s.uploads.find(v.Session.Tenant, v.form().Get("token"))
		if u == nil {
			return handle(v)
		}
		return v.Work(u.file.Weight(), func() error { return handle(v) })
	}
}

// damaged is the kind of problem for a record that the disk has changed.
var damaged = httpapi.Kind{Code: "damaged", Status: http.StatusInternalServerError}

// section is the entry of all these pages in the navigation.
const section = "transfer"

// tab leads to one of the pages.
type tab struct {
	Href, Label string
	Here        bool
}

// tabs returns those of the pages that the visitor may see.
func (v visit) tabs(here string) (tabs []tab) {
	for _, path := range []string{importPath, importsPath, exportPath, comparePath} {
		if path != importPath || v.May(store.ScopeWrite) {
			name := strings.TrimPrefix(path, site.Root)
			tabs = append(tabs, tab{path, v.Text("transfer." + name), path == here})
		}
	}
	return tabs
}

// comeBack says where a choice of another language leads back to.
func (v visit) comeBack(address string) {
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

// shown returns fields as people read them: the date of birth is a day in the
// visitor's language.
func (v visit) shown(f record.Fields) record.Fields {
	if f.DateOfBirth != "" {
		f.DateOfBirth = v.Lang.Day(f.Born().Date())
	}
	return f
}

// fieldNames are the names of a record's fields.
var fieldNames = func() (names []string) {
	new(record.Fields).Each(func(name string, _ *string) { names = append(names, name) })
	return slices.Clip(names)
}()

// values returns fields by name.
func values(f record.Fields) map[string]string {
	all := map[string]string{}
	f.Each(func(name string, value *string) { all[name] = *value })
	return all
}
