// Package office is the page for the people at a station: their list, a person's
// form, what was deleted and changed, prints, birthdays and access. It is made
// of HTML over the same store and the same rules as the API.
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
type visit struct{ *site.Visit }

// signedIn returns the route of a page for sessions of a scope.
func signedIn(scope string, handle func(visit) error) site.Route {
	return site.Route{Scope: scope, Handle: func(v *site.Visit) error {
		err := handle(visit{v})
		if errors.As(err, new(*record.DamagedError)) {
			err = &httpapi.Problem{Kind: damaged, Cause: err}
		}
		return err
	}}
}

// damaged is the kind of problem for a record that the disk has changed. The API
// does not tell it from other faults of the service.
var damaged = httpapi.Kind{Code: "damaged", Status: http.StatusInternalServerError}

// routes are all addresses of the page but those of other packages.
var routes = map[string]site.Route{
	"GET /office/{$}":                   signedIn(store.ScopeRead, showList),
	"GET /office/emails":                signedIn(store.ScopeRead, showEmails).Large(),
	"GET /office/people/new":            signedIn(store.ScopeWrite, showNew),
	"POST /office/people":               signedIn(store.ScopeWrite, addPerson).Carried(),
	"GET /office/people/{id}":           signedIn(store.ScopeRead, showPerson),
	"POST /office/people/{id}":          signedIn(store.ScopeWrite, savePerson).Carried(),
	"POST /office/people/{id}/delete":   signedIn(store.ScopeWrite, deletePerson),
	"POST /office/people/{id}/undelete": signedIn(store.ScopeWrite, undeletePerson),
	"GET /office/people/{id}/history":   signedIn(store.ScopeRead, showPersonHistory),
	"GET /office/deleted":               signedIn(store.ScopeRead, showDeleted),
	"GET /office/history":               signedIn(store.ScopeRead, showHistory),
	"GET /office/print":                 signedIn(store.ScopeRead, showPrint).Large(),
	"GET /office/paper":                 signedIn(store.ScopeRead, showPaper).Large(),
	"GET /office/birthdays":             signedIn(store.ScopeRead, showBirthdays).Large(),
	"GET /office/birthdays.ics":         signedIn(store.ScopeRead, serveCalendar).Large(),
}

// look is read when it is first needed: commands start without it.
var look = sync.OnceValue(func() *site.Look { return site.NewLook(files) })

// New returns the page.
func New(c site.Config) *site.Site {
	return site.New(c, look(), routes, Routes(), Routes())
}
