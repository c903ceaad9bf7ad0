package main

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
)

// public is the scope of routes that need no key.
const public = ""

type caller struct {
	tenant record.TenantID
	key    store.KeyID
}

// authorize returns the caller of a request. The error says why its key may not use a route with the
// scope. A public route has no caller. authorize sets the rate limit headers in h.
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
