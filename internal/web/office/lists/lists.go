// Package lists is the part of the office page that imports, compares and exports lists of people.
//
// For an import, receiveList stores the upload (kept.go) and redirects to its page. There,
// checkImport shows how the list was read (reading.go) and the result of each row (rows.go), and
// applyImport imports it. Then showMissing (missing.go) shows who is not in it. A comparison
// (compare.go) starts in the same way.
package lists

import (
	"embed"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the routes, templates and messages of imports, comparisons and exports.
func Room() site.Room {
	withLists := func(handle func(visit) error) site.Handler {
		return view.Handler(func(v view.Visit) error { return handle(visit{v, kept}) })
	}
	return site.Room{Files: files, Routes: map[string]site.Route{
		"GET /office/import": {Scope: store.ScopeWrite, Handle: withLists(onList(checkImport))},
		"POST /office/import": {Scope: store.ScopeWrite, Handle: withLists(receiveList(checkImport)),
			Upload: true, Form: importPath},
		"POST /office/import/apply":          {Scope: store.ScopeWrite, Handle: withLists(onList(applyImport)), Form: importPath + "?resume=1"},
		"GET /office/import/missing":         {Scope: store.ScopeWrite, Handle: withLists(onList(showMissing))},
		"POST /office/import/report":         {Scope: store.ScopeWrite, Handle: withLists(onList(reportImport))},
		"GET /office/imports":                {Scope: store.ScopeRead, Handle: view.Handler(showImports)},
		"POST /office/imports/{number}/undo": {Scope: store.ScopeWrite, Handle: view.Handler(undoImport)},
		"GET /office/export":                 {Scope: store.ScopeRead, Handle: view.Handler(showExport)},
		"GET /office/export/file":            {Scope: store.ScopeRead, Handle: view.Handler(sendExport)},
		"GET /office/compare":                {Scope: store.ScopeRead, Handle: withLists(onList(compareList))},
		"POST /office/compare/report":        {Scope: store.ScopeRead, Handle: withLists(onList(reportComparison))},
		"POST /office/compare": {Scope: store.ScopeRead, Handle: withLists(receiveList(compareList)),
			Upload: true, Form: site.Root + "compare"},
	}}
}
