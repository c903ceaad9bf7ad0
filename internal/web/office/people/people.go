// Package people is the room of the office page for the list of people, the form of a
// person, and people who were deleted.
package people

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
	return site.Room{Files: files, Routes: map[string]site.Route{
		"GET /office/{$}":                   {Scope: store.ScopeRead, Handle: view.Handler(showList)},
		"GET /office/emails":                {Scope: store.ScopeRead, Handle: view.Handler(showEmails), Large: true},
		"GET /office/people/new":            {Scope: store.ScopeWrite, Handle: view.Handler(showNewPerson)},
		"GET /office/people/alike":          {Scope: store.ScopeWrite, Handle: view.Handler(showAlike), Large: true},
		"POST /office/people":               {Scope: store.ScopeWrite, Handle: view.Handler(addPerson), Carried: true},
		"GET /office/people/{id}":           {Scope: store.ScopeRead, Handle: view.Handler(view.WithID(showPerson))},
		"POST /office/people/{id}":          {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(savePerson)), Carried: true},
		"POST /office/people/{id}/delete":   {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(deletePerson))},
		"POST /office/people/{id}/undelete": {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(Undelete))},
		"GET /office/deleted":               {Scope: store.ScopeRead, Handle: view.Handler(showDeleted)},
		"GET /office/deleted/erase":         {Scope: store.ScopeAdmin, Handle: view.Handler(showErase), Large: true},
		"POST /office/deleted/erase":        {Scope: store.ScopeAdmin, Handle: view.Handler(erase), Large: true},
	}}
}
