package main

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
)

// public is the scope of a route that needs no key.
const public = ""

// caller is the sender of a request.
type caller struct {
	tenant record.TenantID
	key    store.KeyID
}

// authorize returns the caller of a request if its key may use a route of this scope. A
// public route has no caller. h receives the headers of the rate limit.
func (s *server) authorize(r *http.Request, h http.Header, scope string) (caller, error) {
	if scope == public {
		return caller{}, nil
	}
	key, err := s.Callers.Find(r, callers.Bearer(r), h)
	if err != nil {
		return caller{}, err
	}
	return caller{key.Tenant, key.ID}, callers.CheckScope(key.Scope, scope)
}

// authorizeAgain is authorize for a request that was let in and has waited since.
func (s *server) authorizeAgain(r *http.Request, scope string) error {
	has, err := s.Callers.FindAgain(r, callers.Bearer(r))
	if err != nil {
		return err
	}
	return callers.CheckScope(has, scope)
}
