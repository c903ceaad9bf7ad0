// Package office is the page for the people at a station: their list, a person's
// form, what was deleted and changed, prints, birthdays, lists that come in and go
// out, and access. It is made of HTML over the same store and the same rules as the
// API.
package office

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/phone"
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

// What an address names, but the department does not have.
var (
	errNoImport = &httpapi.Problem{Kind: httpapi.Kind{Code: "import", Status: http.StatusNotFound}}
	errNoAccess = &httpapi.Problem{Kind: httpapi.Kind{Code: "access", Status: http.StatusNotFound}} // no such key, session or invitation
)

// routes returns all addresses of the page, each with the scope that a session needs, with those to
// set phones up if they are served.
func routes(phones bool) map[string]site.Route {
	kept := newKeptLists()
	// to leads to a handler of this package, which sees the lists that are kept.
	to := func(handle func(visit) error) site.Handler {
		return func(v *site.Visit) error {
			err := handle(visit{v, kept})
			if errors.As(err, new(*record.DamagedError)) {
				err = &httpapi.Problem{Kind: damaged, Cause: err}
			}
			return err
		}
	}
	all := map[string]site.Route{
		"GET /office/{$}":                   {Scope: store.ScopeRead, Handle: to(showList)},
		"GET /office/emails":                {Scope: store.ScopeRead, Handle: to(showEmails), Large: true},
		"GET /office/people/new":            {Scope: store.ScopeWrite, Handle: to(showNewPerson)},
		"GET /office/people/alike":          {Scope: store.ScopeWrite, Handle: to(showAlike), Large: true},
		"POST /office/people":               {Scope: store.ScopeWrite, Handle: to(addPerson), Carried: true},
		"GET /office/people/{id}":           {Scope: store.ScopeRead, Handle: to(withID(showPerson))},
		"POST /office/people/{id}":          {Scope: store.ScopeWrite, Handle: to(withID(savePerson)), Carried: true},
		"POST /office/people/{id}/delete":   {Scope: store.ScopeWrite, Handle: to(withID(deletePerson))},
		"POST /office/people/{id}/undelete": {Scope: store.ScopeWrite, Handle: to(withID(undeletePerson))},
		"GET /office/people/{id}/history":   {Scope: store.ScopeRead, Handle: to(withID(showPersonHistory))},
		"GET /office/people/{id}/report":    {Scope: store.ScopeAdmin, Handle: to(withID(showReport)), Large: true},
		"GET /office/deleted":               {Scope: store.ScopeRead, Handle: to(showDeleted)},
		"GET /office/deleted/erase":         {Scope: store.ScopeAdmin, Handle: to(showErase), Large: true},
		"POST /office/deleted/erase":        {Scope: store.ScopeAdmin, Handle: to(erase), Large: true},
		"GET /office/history":               {Scope: store.ScopeRead, Handle: to(showHistory)},

		"GET /office/people/{id}/report.json": {Scope: store.ScopeAdmin, Handle: to(withID(sendReport))},

		"POST /office/history/{number}/put-back": {Scope: store.ScopeWrite, Handle: to(putBack)},

		"GET /office/print":         {Scope: store.ScopeRead, Handle: to(showPrint), Large: true},
		"GET /office/paper":         {Scope: store.ScopeRead, Handle: to(showPaper), Large: true},
		"GET /office/birthdays":     {Scope: store.ScopeRead, Handle: to(showBirthdays), Large: true},
		"GET /office/birthdays.ics": {Scope: store.ScopeRead, Handle: to(sendCalendar), Large: true},

		"GET /office/import":                 {Scope: store.ScopeWrite, Handle: to(onList(checkImport))},
		"POST /office/import":                {Scope: store.ScopeWrite, Handle: to(bringList(importPath, checkImport)), Upload: true, Carried: true},
		"POST /office/import/apply":          {Scope: store.ScopeWrite, Handle: to(onList(applyImport)), Carried: true},
		"POST /office/import/report":         {Scope: store.ScopeWrite, Handle: to(onList(reportImport))},
		"GET /office/imports":                {Scope: store.ScopeRead, Handle: to(showImports)},
		"POST /office/imports/{number}/undo": {Scope: store.ScopeWrite, Handle: to(undoImport)},
		"GET /office/export":                 {Scope: store.ScopeRead, Handle: to(showExport)},
		"GET /office/export/file":            {Scope: store.ScopeRead, Handle: to(sendExport)},
		"GET /office/compare":                {Scope: store.ScopeRead, Handle: to(onList(compareList))},
		"POST /office/compare/report":        {Scope: store.ScopeRead, Handle: to(onList(reportComparison))},
		"POST /office/compare":               {Scope: store.ScopeRead, Handle: to(bringList(comparePath, compareList)), Upload: true, Carried: true},

		"GET /office/department":  {Scope: store.ScopeAdmin, Handle: to(showDepartment)},
		"POST /office/department": {Scope: store.ScopeAdmin, Handle: to(renameDepartment), Carried: true},
		"POST /office/name":       {Scope: store.ScopeAdmin, Handle: to(nameSession), Carried: true},
		"POST /office/steps/hide": {Scope: store.ScopeAdmin, Handle: to(hideSteps)},

		"GET /office/access":           {Scope: store.ScopeAdmin, Handle: to(showAccess)},
		"POST /office/access/revoke":   {Scope: store.ScopeAdmin, Handle: to(revokeAccess)},
		"POST /office/access/invite":   {Scope: store.ScopeAdmin, Handle: to(makeInvitation)},
		"POST /office/access/withdraw": {Scope: store.ScopeAdmin, Handle: to(withdrawInvitation)},
	}
	if phones {
		maps.Copy(all, map[string]site.Route{
			"GET /office/phones":                             {Scope: store.ScopeAdmin, Handle: to(showPhones)},
			"POST /office/phones":                            {Scope: store.ScopeAdmin, Handle: to(addPhone), Carried: true},
			"GET /office/phones/{code}":                      {Handle: to(withPhoneCode(showPhone))},
			"GET /office/phones/{code}/" + phone.ProfileName: {Handle: to(withPhoneCode(sendProfile))},
		})
	}
	return all
}

// withID hands the handler the id of the address in its canonical form.
func withID(handle func(v visit, id string) error) func(visit) error {
	return func(v visit) error {
		id, err := record.ParseID(v.R.PathValue("id"))
		if err != nil {
			return store.ErrNotFound
		}
		return handle(v, id)
	}
}

// idempotencyKey returns the key of a form that consists of these parts. prefix names the
// kind of form. A form that is sent twice, or again after a power cut, does one thing.
func (v visit) idempotencyKey(prefix string, parts ...string) *store.IdempotencyKey {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return &store.IdempotencyKey{By: v.Session.ID, Key: prefix + hex.EncodeToString(sum[:]), Hash: sum[:]}
}

// New returns the page.
func New(service site.Service, explain httpapi.Explain) *site.Site {
	return site.New(service, explain, files, site.Room{Files: files, Routes: routes(service.Phones)})
}
