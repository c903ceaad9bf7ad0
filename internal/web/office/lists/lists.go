// Package lists is the room of the office page for lists that come in and go out: import,
// comparison and export.
//
// An import: receiveList keeps the list (kept.go) and leads to its page. There checkImport
// shows how the list was read (reading.go) and what would become of each row (rows.go), and
// applyImport imports it. A comparison (compare.go) begins in the same way.
package lists

import (
	"embed"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the room.
func Room() site.Room {
	kept := newKeptLists()
	// to leads to a handler that sees the lists that are kept.
	to := func(handle func(visit) error) site.Handler {
		return view.Handler(func(v view.Visit) error { return handle(visit{v, kept}) })
	}
	return site.Room{Files: files, Routes: map[string]site.Route{
		"GET /office/import":                 {Scope: store.ScopeWrite, Handle: to(onList(checkImport))},
		"POST /office/import":                {Scope: store.ScopeWrite, Handle: to(receiveList(checkImport)), Upload: true, Carried: true},
		"POST /office/import/apply":          {Scope: store.ScopeWrite, Handle: to(onList(applyImport)), Carried: true},
		"POST /office/import/report":         {Scope: store.ScopeWrite, Handle: to(onList(reportImport))},
		"GET /office/imports":                {Scope: store.ScopeRead, Handle: view.Handler(showImports)},
		"POST /office/imports/{number}/undo": {Scope: store.ScopeWrite, Handle: view.Handler(undoImport)},
		"GET /office/export":                 {Scope: store.ScopeRead, Handle: view.Handler(showExport)},
		"GET /office/export/file":            {Scope: store.ScopeRead, Handle: view.Handler(sendExport)},
		"GET /office/compare":                {Scope: store.ScopeRead, Handle: to(onList(compareList))},
		"POST /office/compare/report":        {Scope: store.ScopeRead, Handle: to(onList(reportComparison))},
		"POST /office/compare":               {Scope: store.ScopeRead, Handle: to(receiveList(compareList)), Upload: true, Carried: true},
	}}
}
