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

// codes are the codes of the refusals in the log.
var codes = map[error]string{
	ErrNoKey:      httpapi.KeyMissing.Code,
	ErrUnknownKey: httpapi.KeyUnknown.Code,
	ErrRevokedKey: httpapi.KeyRevoked.Code,
	ErrExpiredKey: httpapi.KeyExpired.Code,
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
// limit, whose headers it sets in h, and logs a refusal. It counts the request before it asks the
// database, so that requests with unknown keys cannot keep the database busy.
func (c *Callers) Find(r *http.Request, key string, h http.Header) (*store.Key, error) {
	hash := store.HashKey(key)
	found := (*c.byHash.Load())[hash]
	if found == nil || found.IsSession() {
		if err := c.limit.AdmitUnknown(r, h); err != nil {
			return nil, err
		}
		if key == "" {
			return nil, c.refuse(r, ErrNoKey)
		}
		var err error
		if found, err = c.read(key, hash); err != nil {
			return nil, err
		}
		if found == nil || found.IsSession() {
			return nil, c.refuse(r, ErrUnknownKey)
		}
	}
	if err := c.limit.Admit(found.bucket, h); err != nil {
		return nil, err
	}
	return c.use(r, found)
}

// FindDevice is Find for keys that stand in the settings of devices and in addresses for
// years, so wrong ones are limited by address. Revoked and expired keys are not wrong: their
// devices continue to ask. A request without a key is not logged.
func (c *Callers) FindDevice(r *http.Request, key string, h http.Header) (*store.Key, error) {
	if key == "" {
		if err := c.limit.AdmitUnknown(r, h); err != nil {
			return nil, err
		}
		return nil, ErrNoKey
	}
	if c.known(key) != nil {
		return c.Find(r, key, h)
	}
	var found *store.Key
	asked := false // not for a wrong key that is sent again
	wait, err := c.tries.Try(r, key, func(string) (err error) {
		asked = true
		found, err = c.Find(r, key, h)
		return err
	})
	if wait > 0 {
		httpapi.SetRetryAfter(h, wait)
		return nil, ErrTooMany
	}
	if err != nil && !asked {
		return nil, c.refuse(r, err)
	}
	return found, err
}

// FindAgain returns the scope of the key of a request that was let in and has waited since.
// It detects what has become of the key by now, and counts for no limit.
func (c *Callers) FindAgain(r *http.Request, key string) (scope string, err error) {
	if err := c.Reload(); err != nil {
		return "", err
	}
	found := c.known(key)
	if found == nil {
		return "", c.refuse(r, ErrUnknownKey)
	}
	k, err := c.use(r, found)
	if err != nil {
		return "", err
	}
	return k.Scope, nil
}

// use returns the key of a credential that is valid, and notes its use.
func (c *Callers) use(r *http.Request, found *credential) (*store.Key, error) {
	now := c.store.Clock().Now().UnixMilli()
	switch {
	case found.RevokedAt != 0:
		return nil, c.refuse(r, ErrRevokedKey)
	case found.Expired(now):
		return nil, c.refuse(r, ErrExpiredKey)
	}
	found.used.Store(now)
	return &found.Key, nil
}

// refuse logs a refusal and returns its error.
func (c *Callers) refuse(r *http.Request, err error) error {
	c.refusals.Add(r, codes[err])
	return err
}
