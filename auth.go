package main

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// public is the scope of a route that asks for no key.
const public = ""

// caller is the sender of a request, as known by its key.
type caller struct {
	tenant record.TenantID
	key    store.KeyID
}

// useInterval is how often the last use of a key is written, at most.
const useInterval = time.Minute

// authenticator knows callers by their keys, and the sessions of browsers by their
// secrets. It has all of them in memory and reads them again when one has changed.
type authenticator struct {
	store    *store.Store
	log      *slog.Logger
	refusals *httpapi.Refusals
	limit    *httpapi.RateLimit // nil without a limit
	tries    *httpapi.Tries     // of keys for a device

	mu      sync.Mutex // held while keys are read again
	version int64      // of the keys
	byHash  atomic.Pointer[map[store.KeyHash]*credential]
}

// credential is a key, with what is kept when the keys are read again: its last use
// in milliseconds, as this process and as the database has it, and its bucket.
type credential struct {
	store.Key
	used, written *atomic.Int64
	bucket        *rate.Limiter // nil without a limit
}

func newAuthenticator(s *store.Store, log *slog.Logger) *authenticator {
	a := &authenticator{store: s, log: log, refusals: httpapi.NewRefusals(log), tries: httpapi.NewTries(store.ErrNotFound, time.Now)}
	a.byHash.Store(&map[store.KeyHash]*credential{})
	return a
}

// authorize returns the caller of a request if it may use a route of this
// scope. A public route has no caller. h receives the headers of the rate limit.
func (a *authenticator) authorize(r *http.Request, h http.Header, scope string) (caller, error) {
	if scope == public {
		return caller{}, nil
	}
	c, err := a.identify(r, h)
	if err != nil {
		return caller{}, err
	}
	return caller{c.Tenant, c.ID}, refuseScope(c.Scope, scope)
}

// identify returns the key of a request, of whatever scope, and notes its use. A refusal
// is counted.
func (a *authenticator) identify(r *http.Request, h http.Header) (*credential, error) {
	c, err := a.find(r, bearer(r.Header["Authorization"]), h)
	if err == nil {
		err = a.admit(c)
	}
	return c, a.refused(r, err)
}

// authorizeAgain is authorize for a request that was let in and has waited since. It knows
// what has become of the key by now, and counts for no limit.
func (a *authenticator) authorizeAgain(r *http.Request, scope string) error {
	if err := a.ReloadKeys(); err != nil {
		return err
	}
	c := (*a.byHash.Load())[apikey.Hash(bearer(r.Header["Authorization"]))]
	if err := a.admit(c); err != nil {
		return a.refused(r, err)
	}
	return refuseScope(c.Scope, scope)
}

// refuseScope returns nil if a key of a scope may do what needs another scope.
func refuseScope(scope, needed string) error {
	switch {
	case store.ScopeCovers(scope, needed):
		return nil
	case scope == store.ScopePhone:
		return errPhoneKey
	case scope == store.ScopeCalendar:
		return errCalendarKey
	case needed == store.ScopeCalendar:
		return errNoCalendarKey
	}
	return errReadOnlyKey
}

// admit notes the use of a key that works. The error is one of the refusals of a key in
// problems.go; nil is an unknown key.
func (a *authenticator) admit(c *credential) error {
	now := a.store.Clock().Now().UnixMilli()
	switch {
	case c == nil:
		return errUnknownKey
	case c.RevokedAt != 0:
		return errRevokedKey
	case c.Expired(now):
		return errExpiredKey
	}
	c.used.Store(now)
	return nil
}

// refused counts a request that was refused for its key, for the log.
func (a *authenticator) refused(r *http.Request, err error) error {
	if p, ok := err.(*httpapi.Problem); ok && p.Status == http.StatusUnauthorized {
		a.refusals.Add(r, p.Code)
	}
	return err
}

// authorizeBook returns who may read the address book. The key is the password of any
// user, or stands where the API has it. A key that may read in the API gets the dates of
// birth, as there.
func (a *authenticator) authorizeBook(r *http.Request, h http.Header) (dav.Caller, error) {
	c, err := a.findTried(r, password(r), h)
	if err == nil {
		err = a.admit(c)
	}
	switch {
	case err == errNoKey: // a device asks so for the challenge
		return dav.Caller{}, asPassword(err)
	case err != nil:
		return dav.Caller{}, a.refused(r, asPassword(err))
	case c.Scope == store.ScopeCalendar:
		return dav.Caller{}, errCalendarKey
	}
	return dav.Caller{Tenant: c.Tenant, Birthdays: c.Birthdays || c.Scope != store.ScopePhone}, nil
}

// authorizeCalendar returns whose calendar of birthdays a key opens. Only one of that
// scope does: it stands in an address, which people pass on.
func (a *authenticator) authorizeCalendar(key string, r *http.Request, h http.Header) (record.TenantID, error) {
	c, err := a.findTried(r, key, h)
	if err == nil {
		err = a.admit(c)
	}
	if err == errNoKey {
		err = errNoKeyInAddress
	}
	if err == nil {
		err = refuseScope(c.Scope, store.ScopeCalendar)
	}
	if err != nil {
		return 0, a.refused(r, err)
	}
	return c.Tenant, nil
}

// password returns the key of a request that has it as its password, or as a request to
// the API. It is empty if there is none.
func password(r *http.Request) string {
	headers := r.Header["Authorization"]
	if _, key, ok := r.BasicAuth(); ok && len(headers) == 1 {
		return strings.TrimSpace(key)
	}
	return bearer(headers)
}

// findTried is find for the keys of devices: they stand in settings and addresses for
// years, so wrong ones are limited. Those that were revoked or have expired are not wrong:
// the device goes on asking.
func (a *authenticator) findTried(r *http.Request, key string, h http.Header) (c *credential, err error) {
	if key == "" || (*a.byHash.Load())[apikey.Hash(key)] != nil {
		return a.find(r, key, h)
	}
	wait, err := a.tries.Try(r, key, func(string) (err error) {
		if c, err = a.find(r, key, h); c == nil && err == nil {
			err = store.ErrNotFound
		}
		return err
	})
	if wait > 0 {
		httpapi.SetRetryAfter(h, wait)
		return nil, errTooManyTries
	}
	if errors.Is(err, store.ErrNotFound) { // find does not return it
		err = nil
	}
	return c, err
}

// Session returns the session of a browser with this secret, and notes that it is
// used. The error is store.ErrNotFound for one that is not valid, or not any more,
// and for an API key.
func (a *authenticator) Session(secret string) (store.Key, error) {
	hash := store.KeyHash(apikey.Hash(secret))
	c := (*a.byHash.Load())[hash]
	if c == nil {
		var err error
		if c, err = a.readCredential(secret, hash); err != nil {
			return store.Key{}, err
		}
	}
	if c == nil || !c.IsSession() {
		return store.Key{}, store.ErrNotFound
	}
	session, now := c.Key, a.store.Clock().Now()
	session.LastUsedAt = max(session.LastUsedAt, c.used.Load())
	if session.State(now) != store.StateActive {
		return store.Key{}, store.ErrNotFound
	}
	c.used.Store(now.UnixMilli())
	return session, nil
}

// bearer returns the key of the only Authorization header that there may be, empty if
// that has none.
func bearer(headers []string) string {
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

// find returns the credential for an API key, nil if there is none. It counts the
// request before it asks the database, so that requests with unknown keys cannot keep
// the database busy.
func (a *authenticator) find(r *http.Request, key string, h http.Header) (*credential, error) {
	hash := store.KeyHash(apikey.Hash(key))
	if c := (*a.byHash.Load())[hash]; c != nil && !c.IsSession() {
		return c, a.limit.Admit(c.bucket, h)
	}
	if err := a.limit.AdmitUnknown(r, h); err != nil {
		return nil, err
	}
	if key == "" {
		return nil, errNoKey
	}
	c, err := a.readCredential(key, hash)
	if err != nil || c == nil || c.IsSession() {
		return nil, err
	}
	return c, a.limit.Admit(c.bucket, h)
}

// readCredential returns a key or a session that is not in memory yet, nil if there
// is none. The database is not asked for a key whose checksum says that it was
// mistyped.
func (a *authenticator) readCredential(key string, hash store.KeyHash) (*credential, error) {
	if apikey.Mistyped(key) {
		return nil, nil
	}
	exists, err := a.store.HasKey(hash)
	if err != nil || !exists {
		return nil, err
	}
	err = a.ReloadKeys()
	return (*a.byHash.Load())[hash], err
}

// EndSession ends a session. Session refuses it from then on.
func (a *authenticator) EndSession(key store.Key) error {
	if err := a.store.EndSession(key); err != nil {
		return err
	}
	return a.ReloadKeys()
}

// NameSession says whose session it is. Session knows the name from then on.
func (a *authenticator) NameSession(session store.Key, name string) error {
	if err := a.store.NameSession(session.ID, name); err != nil {
		return err
	}
	return a.ReloadKeys()
}

// ReloadKeys reads the keys again if they have changed.
func (a *authenticator) ReloadKeys() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	version, err := a.store.KeysVersion()
	if err != nil || version == a.version {
		return err
	}
	keys, err := a.readKeys()
	if err != nil {
		return err
	}
	a.byHash.Store(&keys)
	a.version = version
	return nil
}

// readKeys reads all keys. Of those that are known it takes over what is kept.
func (a *authenticator) readKeys() (map[store.KeyHash]*credential, error) {
	known, keys := *a.byHash.Load(), map[store.KeyHash]*credential{}
	err := a.store.Keys(func(hash store.KeyHash, k store.Key) {
		c := &credential{k, new(atomic.Int64), new(atomic.Int64), a.limit.NewBucket()}
		c.written.Store(k.LastUsedAt)
		if old := known[hash]; old != nil {
			c.used, c.written, c.bucket = old.used, old.written, old.bucket
		}
		keys[hash] = c
	})
	return keys, err
}

// writeUses writes the last use of each key that the database has more than
// useInterval late.
func (a *authenticator) writeUses() error {
	uses, late := map[store.KeyID]int64{}, []*credential{}
	for _, c := range *a.byHash.Load() {
		if used := c.used.Load(); used-c.written.Load() >= useInterval.Milliseconds() {
			uses[c.ID], late = used, append(late, c)
		}
	}
	if len(uses) == 0 {
		return nil
	}
	err := a.store.WriteKeyUses(uses)
	if err == nil {
		for _, c := range late {
			c.written.Store(uses[c.ID])
		}
	}
	return err
}

// WriteLate writes the last use of keys, and the time if the database has it
// more than useInterval late.
func (a *authenticator) WriteLate() error {
	err := a.writeUses()
	if a.store.Clock().Now().UnixMilli()-a.store.ClockSaved() >= useInterval.Milliseconds() {
		err = errors.Join(err, a.store.SaveClock())
	}
	return err
}

// Finish logs and writes what is left after the last request.
func (a *authenticator) Finish() error {
	a.refusals.Finish()
	return a.writeUses()
}
