// Package office is the page for the people at a station: their list, a person's
// form, what was deleted and changed, prints, birthdays, lists that come in and go
// out, and access. It is made of HTML over the same store and the same rules as the
// API.
package office

import (
	"embed"
	"errors"
	"net/http"
	"sync"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages assets
var files embed.FS

// visit is a request to the page, and who sent it.
type visit struct {
	*site.Visit
	lists *keptLists
}

// damaged is the kind of problem for a record that the disk has changed. The API
// does not tell it from other faults of the service.
var damaged = httpapi.Kind{Code: "damaged", Status: http.StatusInternalServerError}

// Problems with what the department does not have.
var (
	errNoImport = &httpapi.Problem{Kind: httpapi.Kind{Code: "import", Status: http.StatusNotFound}}
	errNoAccess = &httpapi.Problem{Kind: httpapi.Kind{Code: "access", Status: http.StatusNotFound}} // no such key, session or invitation
)

// routes returns all addresses of the page, each with the scope that a session needs.
func routes() map[string]site.Route {
	kept := newKeptLists()
	to := func(scope string, handle func(visit) error) site.Route {
		return site.Route{Scope: scope, Handle: func(v *site.Visit) error {
			err := handle(visit{v, kept})
			if errors.As(err, new(*record.DamagedError)) {
				err = &httpapi.Problem{Kind: damaged, Cause: err}
			}
			return err
		}}
	}
	return map[string]site.Route{
		"GET /office/{$}":                   to(store.ScopeRead, showList),
		"GET /office/emails":                to(store.ScopeRead, showEmails).Large(),
		"GET /office/people/new":            to(store.ScopeWrite, showNewPerson),
		"POST /office/people":               to(store.ScopeWrite, addPerson).Carried(),
		"GET /office/people/{id}":           to(store.ScopeRead, showPerson),
		"POST /office/people/{id}":          to(store.ScopeWrite, savePerson).Carried(),
		"POST /office/people/{id}/delete":   to(store.ScopeWrite, deletePerson),
		"POST /office/people/{id}/undelete": to(store.ScopeWrite, undeletePerson),
		"GET /office/people/{id}/history":   to(store.ScopeRead, showPersonHistory),
		"GET /office/deleted":               to(store.ScopeRead, showDeleted),
		"GET /office/history":               to(store.ScopeRead, showHistory),

		"GET /office/print":         to(store.ScopeRead, showPrint).Large(),
		"GET /office/paper":         to(store.ScopeRead, showPaper).Large(),
		"GET /office/birthdays":     to(store.ScopeRead, showBirthdays).Large(),
		"GET /office/birthdays.ics": to(store.ScopeRead, sendCalendar).Large(),

		"GET /office/import":                 to(store.ScopeWrite, onList(showImport)),
		"POST /office/import":                to(store.ScopeWrite, bringList(importPath, checkImport)).Upload().Carried(),
		"POST /office/import/apply":          to(store.ScopeWrite, onList(applyImport)).Carried(),
		"POST /office/import/report":         to(store.ScopeWrite, onList(reportImport)),
		"GET /office/imports":                to(store.ScopeRead, showImports),
		"POST /office/imports/{number}/undo": to(store.ScopeWrite, undoImport),
		"GET /office/export":                 to(store.ScopeRead, showExport),
		"GET /office/export/file":            to(store.ScopeRead, sendExport),
		"GET /office/compare":                to(store.ScopeRead, onList(showCompare)),
		"POST /office/compare":               to(store.ScopeRead, bringList(comparePath, compareList)).Upload().Carried(),

		"GET /office/access":           to(store.ScopeAdmin, showAccess),
		"POST /office/access/revoke":   to(store.ScopeAdmin, revokeAccess),
		"POST /office/access/invite":   to(store.ScopeAdmin, makeInvitation),
		"POST /office/access/withdraw": to(store.ScopeAdmin, withdrawInvitation),
	}
}

// look is read when it is first needed: commands start without it.
var look = sync.OnceValue(func() *site.Look { return site.NewLook(files) })

// New returns the page.
func New(c site.Config) *site.Site { return site.New(c, look(), routes()) }
