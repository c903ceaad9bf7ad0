// Package office is the page for the people at a station: their list, a person's
// form, what was deleted and changed, prints, birthdays, lists that come in and go
// out, and access. It is made of HTML over the same store and the same rules as the
// API.
package office

import (
	"embed"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/access"
	"github.com/firefighter-records/firefighters/internal/web/office/lists"
	"github.com/firefighter-records/firefighters/internal/web/office/people"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages assets
var files embed.FS

// routes returns all addresses of the page, each with the scope that a session needs.
func routes() map[string]site.Route {
	return map[string]site.Route{
		"GET /office/people/{id}/history": {Scope: store.ScopeRead, Handle: view.Handler(view.WithID(showPersonHistory))},
		"GET /office/people/{id}/report":  {Scope: store.ScopeAdmin, Handle: view.Handler(view.WithID(showReport)), Large: true},
		"GET /office/history":             {Scope: store.ScopeRead, Handle: view.Handler(showHistory)},

		"GET /office/people/{id}/report.json": {Scope: store.ScopeAdmin, Handle: view.Handler(view.WithID(sendReport))},

		"POST /office/history/{number}/put-back": {Scope: store.ScopeWrite, Handle: view.Handler(putBack)},

		"GET /office/print":         {Scope: store.ScopeRead, Handle: view.Handler(showPrint), Large: true},
		"GET /office/paper":         {Scope: store.ScopeRead, Handle: view.Handler(showPaper), Large: true},
		"GET /office/birthdays":     {Scope: store.ScopeRead, Handle: view.Handler(showBirthdays), Large: true},
		"GET /office/birthdays.ics": {Scope: store.ScopeRead, Handle: view.Handler(sendCalendar), Large: true},
	}
}

// New returns the page.
func New(service site.Service, explain httpapi.Explain) *site.Site {
	return site.New(service, explain, files, access.Room(service.Phones), people.Room(), lists.Room(), site.Room{Files: files, Routes: routes()})
}
