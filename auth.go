package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"firefighters/internal/apikey"
)

// Scopes of a key. A public route asks for none.
const (
	public     = ""
	scopeRead  = "read"
	scopeWrite = "write" // may read too
)

// caller is who sent a request, by its key.
type caller struct {
	tenant tenantID
	keyID  int64
	scope  string
}

func (c caller) may(scope string) bool { return c.scope == scopeWrite || c.scope == scope }

const (
	// keysPoll is how soon a server hears of keys that another process has
	// made, changed or revoked.
	keysPoll = 250 * time.Millisecond
	// useInterval is how often the last use of a key is written at most.
	useInterval = time.Minute
)

// authenticator knows callers by their keys. It keeps the keys that it has
// seen in use; each is read again once anything about any key has changed.
type authenticator struct {
	store   *store
	log     *slog.Logger
	version atomic.Int64 // of the keys, as last polled

	mu     sync.RWMutex
	byHash map[keyHash]*credential
}

// credential is a key in use. What was read does not change.
type credential struct {
	storedKey
	version int64     // of the keys, when this one was read
	usage   *keyUsage // outlives the credential when the key is read again
}

// keyUsage is when a key was last used, in milliseconds.
type keyUsage struct {
	last    atomic.Int64
	written int64 // as the database has it; watch's own
}

// The four refusals of RFC 6750. Only a request that brings no credentials is
// told nothing of them.
var (
	errNoKey = unauthorized(`Bearer realm="firefighters"`,
		"Send the header Authorization: Bearer <API key>, exactly once.")
	errUnknownKey = unauthorized(invalidToken, "This API key is unknown.")
	errRevokedKey = unauthorized(invalidToken, "This API key has been revoked.")
	errExpiredKey = unauthorized(invalidToken, "This API key has expired.")
)

const invalidToken = `Bearer realm="firefighters", error="invalid_token"`

func unauthorized(challenge, detail string) *problem {
	return &problem{Status: http.StatusUnauthorized, Detail: detail,
		header: http.Header{"Www-Authenticate": {challenge}}}
}

func newAuthenticator(store *store, log *slog.Logger) *authenticator {
	return &authenticator{store: store, log: log, byHash: map[keyHash]*credential{}}
}

// authenticate gives the caller that the request's key stands for, or one of
// the refusals above.
func (a *authenticator) authenticate(r *http.Request) (caller, error) {
	key, ok := bearer(r.Header["Authorization"])
	if !ok {
		return caller{}, errNoKey
	}
	c, err := a.credential(key)
	if errors.Is(err, errNotFound) {
		return caller{}, errUnknownKey
	}
	if err != nil {
		return caller{}, err
	}
	now := a.store.clock.now().UnixMilli()
	switch {
	case c.revokedAt.Valid:
		return caller{}, errRevokedKey
	case c.expiresAt.Valid && c.expiresAt.Int64 <= now:
		a.rememberExpiry(c.expiresAt.Int64)
		return caller{}, errExpiredKey
	}
	c.usage.last.Store(now)
	return caller{tenant: c.tenant, keyID: c.id, scope: c.scope}, nil
}

// bearer takes the key from the one Authorization header there may be.
func bearer(headers []string) (key string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, key, _ := strings.Cut(headers[0], " ")
	key = strings.Trim(key, " ")
	return key, strings.EqualFold(scheme, "Bearer") && key != "" && !strings.ContainsAny(key, " \t,")
}

// credential finds the key in memory or else in the database.
func (a *authenticator) credential(key string) (*credential, error) {
	hash := keyHash(apikey.Hash(key))
	a.mu.RLock()
	known := a.byHash[hash]
	a.mu.RUnlock()
	if known != nil && known.version == a.version.Load() {
		return known, nil
	}
	stored, version, err := a.store.keyByHash(hash)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		delete(a.byHash, hash)
		return nil, err
	}
	fresh := &credential{storedKey: stored, version: version, usage: &keyUsage{written: stored.lastUsedAt.Int64}}
	if known := a.byHash[hash]; known != nil {
		fresh.usage = known.usage
	}
	a.byHash[hash] = fresh
	return fresh, nil
}

// rememberExpiry makes sure, once, that the database knows it to be later
// than the expiry of a key that it refuses, or a restart with an earlier clock
// could bring the key back to life.
func (a *authenticator) rememberExpiry(expiresAt int64) {
	if a.store.clock.saved.Load() >= expiresAt {
		return
	}
	if err := a.store.saveClock(); err != nil {
		a.log.Warn("the time could not be saved", "cause", err.Error())
	}
}

// watch keeps up with the keys table until ctx ends: it hears of changes, and
// writes down uses and the time.
func (a *authenticator) watch(ctx context.Context) {
	tick := time.NewTicker(keysPoll)
	defer tick.Stop()
	for {
		version, err := a.store.keysVersion()
		if err != nil {
			version = -1 // no credential has it, so every key is asked for
		}
		a.version.Store(version)
		if err := errors.Join(a.writeUses(), a.saveTime(useInterval)); err != nil {
			a.log.Warn("the last use of keys could not be written", "cause", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// saveTime saves the time if what the database has of it is older than age.
func (a *authenticator) saveTime(age time.Duration) error {
	clock := a.store.clock
	if clock.now().UnixMilli()-clock.saved.Load() < age.Milliseconds() {
		return nil
	}
	return a.store.saveClock()
}

// writeUses writes the last use of each key whose last one in the database is
// more than useInterval old.
func (a *authenticator) writeUses() error {
	uses := map[int64]int64{}
	a.mu.RLock()
	for _, c := range a.byHash {
		last := c.usage.last.Load()
		if last-c.usage.written >= useInterval.Milliseconds() {
			c.usage.written = last
			uses[c.id] = last
		}
	}
	a.mu.RUnlock()
	if len(uses) == 0 {
		return nil
	}
	return a.store.writeKeyUses(uses)
}
