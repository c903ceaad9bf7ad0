// Package callers identifies the sender of a request. It caches all API keys and sessions in memory,
// reloads them after changes, limits wrong keys, and records the last use of keys with a delay.
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

// Errors that explain why a request has no caller.
var (
	ErrNoKey      = errors.New("the request has no API key")
	ErrUnknownKey = errors.New("the API key is unknown")
	ErrRevokedKey = errors.New("the API key is revoked")
	ErrExpiredKey = errors.New("the API key has expired")
	ErrTooMany    = errors.New("too many wrong keys were sent from this address") // the response has Retry-After
)

// codes are the problem codes of these errors in the log.
var codes = map[error]string{
	ErrNoKey:      httpapi.KeyMissing.Code,
	ErrUnknownKey: httpapi.KeyUnknown.Code,
	ErrRevokedKey: httpapi.KeyRevoked.Code,
	ErrExpiredKey: httpapi.KeyExpired.Code,
}

// ScopeError reports that a key with the scope Scope was used for an operation that needs Needed.
type ScopeError struct{ Scope, Needed string }

func (e *ScopeError) Error() string {
	return "a key with the scope " + e.Scope + " cannot be used for an operation that needs " + e.Needed
}

// CheckScope returns a *ScopeError if the scope does not cover the needed scope.
func CheckScope(scope, needed string) error {
	if store.ScopeCovers(scope, needed) {
		return nil
	}
	return &ScopeError{scope, needed}
}

// Callers finds the keys and sessions of requests.
type Callers struct {
	store    *store.Store
	refusals *httpapi.Refusals
	limit    *httpapi.RateLimit // nil: no limit
	tries    *httpapi.Tries     // limits wrong keys of devices

	began time.Time
	woken chan struct{}

	mu      sync.Mutex   // held while the keys are compared with the database
	version int64        // of the keys in the database
	checked atomic.Int64 // when the cache was last compared with the database, since began
	byHash  atomic.Pointer[map[store.KeyHash]*credential]
}

// credential is a key with the state that survives a reload: the rate limit bucket and the time of
// the last use, in memory and as written to the database (Unix milliseconds).
type credential struct {
	store.Key
	used, written *atomic.Int64
	bucket        *rate.Limiter // nil without a limit
}

// New returns the callers of a store. limit may be nil. Rejected requests are logged to log.
func New(s *store.Store, log *slog.Logger, limit *httpapi.RateLimit) *Callers {
	c := &Callers{store: s, refusals: httpapi.NewRefusals(log), limit: limit, tries: httpapi.NewTries(ErrUnknownKey, time.Now),
		began: time.Now(), woken: make(chan struct{}, 1)}
	c.byHash.Store(&map[store.KeyHash]*credential{})
	c.checked.Store(-int64(maxAge) - 1) // the first request reads the keys
	return c
}

// Refusals returns the log of rejected requests.
func (c *Callers) Refusals() *httpapi.Refusals { return c.refusals }

// Bearer returns the key in the only Authorization header of a request, or "".
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

// Password returns the Basic password of a request, or its Bearer token.
func Password(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok && len(r.Header["Authorization"]) == 1 {
		return strings.TrimSpace(password)
	}
	return Bearer(r)
}

// HasKey reports whether the Password of a request is a valid key. It neither records the use of the key
// nor counts for the rate limit.
func (c *Callers) HasKey(r *http.Request) bool {
	found := c.known(Password(r))
	return found != nil && !found.IsSession() && found.RevokedAt == 0 && !found.Expired(c.store.Clock().Now().UnixMilli())
}

// Find returns the key of a request and records its use. It sets the rate limit headers in h and logs
// a rejected key. It applies the rate limit before it queries the database, so that requests with
// unknown keys cannot overload the database.
func (c *Callers) Find(r *http.Request, key string, h http.Header) (*store.Key, error) {
	found := c.known(key)
	if found == nil || found.IsSession() {
		if err := c.limit.AdmitUnknown(r, h); err != nil {
			return nil, err
		}
		if key == "" {
			return nil, c.refuse(r, ErrNoKey)
		}
		var err error
		if found, err = c.read(key); err != nil {
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

// FindDevice is Find for keys that devices and calendar addresses keep for years. It limits wrong
// keys by address. Revoked and expired keys do not count as wrong, because their devices keep sending
// them. A request without a key is not logged.
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
	queried := false // stays false for a repeated wrong key
	wait, err := c.tries.Try(r, key, func(string) (err error) {
		queried = true
		found, err = c.Find(r, key, h)
		return err
	})
	if wait > 0 {
		httpapi.SetRetryAfter(h, wait)
		return nil, ErrTooMany
	}
	if err != nil && !queried {
		return nil, c.refuse(r, err)
	}
	return found, err
}

// FindAgain is Find for an authorized request after a wait. It does not count for the rate limit.
func (c *Callers) FindAgain(r *http.Request, key string) (*store.Key, error) {
	if err := c.Reload(); err != nil {
		return nil, err
	}
	found := c.known(key)
	if found == nil {
		return nil, c.refuse(r, ErrUnknownKey)
	}
	return c.use(r, found)
}

// use records the use of a key. The error is ErrRevokedKey or ErrExpiredKey.
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

func (c *Callers) refuse(r *http.Request, err error) error {
	c.refusals.Add(r, codes[err])
	return err
}
