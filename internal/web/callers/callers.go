// Package callers identifies who sends a request. It keeps all API keys and browser sessions
// in memory and reads them again when they have changed, limits wrong keys, and writes the
// last use of keys with a delay.
package callers

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Why a request has no caller.
var (
	ErrNoKey      = errors.New("the request has no API key")
	ErrUnknownKey = errors.New("the API key is unknown")
	ErrRevokedKey = errors.New("the API key is revoked")
	ErrExpiredKey = errors.New("the API key has expired")
	ErrTooMany    = errors.New("too many wrong keys were sent from this address") // h has Retry-After
)

// code returns the code of a refusal for the log, empty for any other error.
func code(err error) string {
	switch err {
	case ErrNoKey:
		return httpapi.KeyMissing.Code
	case ErrUnknownKey:
		return httpapi.KeyUnknown.Code
	case ErrRevokedKey:
		return httpapi.KeyRevoked.Code
	case ErrExpiredKey:
		return httpapi.KeyExpired.Code
	}
	return ""
}

// ScopeError reports that a key of a scope may not do what needs another scope.
type ScopeError struct{ Scope, Needed string }

func (e *ScopeError) Error() string {
	return "a key with the scope " + e.Scope + " may not do what needs " + e.Needed
}

// CheckScope returns a *ScopeError unless a key of a scope may do what needs another scope.
func CheckScope(scope, needed string) error {
	if store.ScopeCovers(scope, needed) {
		return nil
	}
	return &ScopeError{scope, needed}
}

// Callers are the callers of a service.
type Callers struct {
	store    *store.Store
	refusals *httpapi.Refusals
	limit    *httpapi.RateLimit // nil: no limit
	tries    *httpapi.Tries     // of wrong keys of devices

	mu      sync.Mutex // held while keys are read again
	version int64      // of the keys
	byHash  atomic.Pointer[map[store.KeyHash]*credential]
}

// credential is a key with what survives reading the keys again: its last use in
// milliseconds, as this process and as the database has it, and its bucket.
type credential struct {
	store.Key
	used, written *atomic.Int64
	bucket        *rate.Limiter // nil without a limit
}

// New returns the callers of a store. limit may be nil.
func New(s *store.Store, log *slog.Logger, limit *httpapi.RateLimit) *Callers {
	c := &Callers{store: s, refusals: httpapi.NewRefusals(log), limit: limit, tries: httpapi.NewTries(ErrUnknownKey, time.Now)}
	c.byHash.Store(&map[store.KeyHash]*credential{})
	return c
}

// Refusals logs the requests that are refused.
func (c *Callers) Refusals() *httpapi.Refusals { return c.refusals }

// Bearer returns the key in the only Authorization header of a request, empty if there is
// none.
func Bearer(r *http.Request) string {
	headers := r.Header["Authorization"]
	if len(headers) != 1 {
		return ""
	}
	scheme, key, _ := strings.Cut(headers[0], " ")
	key = strings.Trim(key, " ")
	if !strings.EqualFold(scheme, "Bearer") || strings.ContainsAny(key, " \t,") {
		return ""
	}
	return key
}

// Find returns the key of a request and notes its use. It counts the request for the rate
// limit, whose headers it sets in h, and logs a refusal.
func (c *Callers) Find(r *http.Request, key string, h http.Header) (*store.Key, error) {
	found, err := c.find(r, key, h)
	return c.admit(r, found, err)
}

// FindDevice is Find for keys that stand in the settings of devices and in addresses for
// years, so wrong ones are limited by address. Revoked and expired keys are not wrong: their
// devices continue to ask. A request without a key is not logged.
func (c *Callers) FindDevice(r *http.Request, key string, h http.Header) (*store.Key, error) {
	if key == "" || c.known(key) != nil {
		found, err := c.find(r, key, h)
		if err == ErrNoKey {
			return nil, err
		}
		return c.admit(r, found, err)
	}
	var found *credential
	wait, err := c.tries.Try(r, key, func(string) (err error) {
		found, err = c.find(r, key, h)
		return err
	})
	if wait > 0 {
		httpapi.SetRetryAfter(h, wait)
		return nil, ErrTooMany
	}
	return c.admit(r, found, err)
}

// FindAgain returns the scope of the key of a request that was let in and has waited since.
// It detects what has become of the key by now, and counts for no limit.
func (c *Callers) FindAgain(r *http.Request, key string) (scope string, err error) {
	if err := c.Reload(); err != nil {
		return "", err
	}
	found := c.known(key)
	if found == nil {
		err = ErrUnknownKey
	}
	k, err := c.admit(r, found, err)
	if err != nil {
		return "", err
	}
	return k.Scope, nil
}

// find returns the credential of an API key. It counts the request before it asks the
// database, so that requests with unknown keys cannot keep the database busy.
func (c *Callers) find(r *http.Request, key string, h http.Header) (*credential, error) {
	hash := store.HashKey(key)
	if found := (*c.byHash.Load())[hash]; found != nil && !found.IsSession() {
		return found, c.limit.Admit(found.bucket, h)
	}
	if err := c.limit.AdmitUnknown(r, h); err != nil {
		return nil, err
	}
	if key == "" {
		return nil, ErrNoKey
	}
	found, err := c.read(key, hash)
	switch {
	case err != nil:
		return nil, err
	case found == nil || found.IsSession():
		return nil, ErrUnknownKey
	}
	return found, c.limit.Admit(found.bucket, h)
}

// admit returns the key of a credential that works, and notes its use. err is the error of
// finding the credential. A refusal is logged.
func (c *Callers) admit(r *http.Request, found *credential, err error) (*store.Key, error) {
	if err == nil {
		now := c.store.Clock().Now().UnixMilli()
		switch {
		case found.RevokedAt != 0:
			err = ErrRevokedKey
		case found.Expired(now):
			err = ErrExpiredKey
		default:
			found.used.Store(now)
			return &found.Key, nil
		}
	}
	if code := code(err); code != "" {
		c.refusals.Add(r, code)
	}
	return nil, err
}
