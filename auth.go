package main

import (
	"context"
	"errors"
	"fmt"
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
	key    keyID
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

// authenticator knows callers by their keys. It has all keys in memory, and
// reads them again when anything about any key has changed.
type authenticator struct {
	store *store
	log   *slog.Logger

	limiter *limiter // nil without a limit

	saving atomic.Bool // the time is being saved

	mu      sync.Mutex // held while keys are read again
	version int64      // of the keys
	byHash  atomic.Pointer[map[keyHash]*credential]
}

// credential is a key as it was read, and what outlives its being read again:
// when it was last used, in milliseconds and as the database has it, and how
// often of late.
type credential struct {
	storedKey
	used, written *atomic.Int64
	bucket        *bucket
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
	a := &authenticator{store: store, log: log}
	a.byHash.Store(&map[keyHash]*credential{})
	return a
}

// authenticate gives the caller that the request's key stands for, one of the
// refusals above, or that of a key that comes too often.
func (a *authenticator) authenticate(r *http.Request, answer http.Header) (caller, error) {
	key, ok := bearer(r.Header["Authorization"])
	var c *credential
	hash := keyHash(apikey.Hash(key))
	if ok {
		c = (*a.byHash.Load())[hash]
	}
	err := a.limiter.admit(c, answer)
	switch {
	case err != nil:
	case !ok:
		err = errNoKey
	case c == nil:
		if c, err = a.newCredential(key, hash); c != nil {
			err = a.limiter.admit(c, answer)
		}
	}
	if err != nil {
		return caller{}, err
	}
	now := a.store.clock.now().UnixMilli()
	switch {
	case c == nil:
		return caller{}, errUnknownKey
	case c.revokedAt != 0:
		return caller{}, errRevokedKey
	case c.expiredAt(now):
		a.rememberExpiry(c.expiresAt)
		return caller{}, errExpiredKey
	}
	c.used.Store(now)
	return caller{tenant: c.tenant, key: c.id, scope: c.scope}, nil
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

// newCredential finds a key that is not in memory, nil if there is none. The
// database is asked, for it may be newer than that, unless its checksum says
// that it was mistyped.
func (a *authenticator) newCredential(key string, hash keyHash) (*credential, error) {
	if apikey.Mistyped(key) {
		return nil, nil
	}
	exists, err := a.store.hasKey(hash)
	if err != nil || !exists {
		return nil, err
	}
	err = a.reload()
	return (*a.byHash.Load())[hash], err
}

// reload reads the keys again if they have changed.
func (a *authenticator) reload() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	version, err := a.store.keysVersion()
	if err != nil || version == a.version {
		return err
	}
	known, fresh := *a.byHash.Load(), map[keyHash]*credential{}
	err = a.store.keys(func(hash keyHash, k storedKey) {
		c := &credential{k, new(atomic.Int64), new(atomic.Int64), new(bucket)}
		c.written.Store(k.lastUsedAt)
		if old := known[hash]; old != nil {
			c.used, c.written, c.bucket = old.used, old.written, old.bucket
		}
		fresh[hash] = c
	})
	if err == nil {
		a.byHash.Store(&fresh)
		a.version = version
	}
	return err
}

// rememberExpiry makes sure, once, that the database knows it to be later
// than the expiry of a key that is refused, or a restart with an earlier clock
// could bring the key back to life.
func (a *authenticator) rememberExpiry(expiresAt int64) {
	if a.store.clock.saved.Load() >= expiresAt || !a.saving.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer a.saving.Store(false)
		if err := a.store.saveClock(); err != nil {
			a.log.Warn("the time could not be saved", "cause", err.Error())
		}
	}()
}

// watch keeps up with the keys table until ctx ends.
func (a *authenticator) watch(ctx context.Context) {
	a.every(ctx, keysPoll, "the keys could not be read again", a.reload)
}

// record writes down until ctx ends when keys were last used, and the time.
func (a *authenticator) record(ctx context.Context) {
	a.every(ctx, time.Second, "the last use of keys and the time could not be written", func() error {
		return errors.Join(a.writeUses(), a.saveTime())
	})
}

// every does something at once and then at each tick until ctx ends. When it
// begins to fail that is logged, once.
func (a *authenticator) every(ctx context.Context, tick time.Duration, failure string, do func() error) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for failing := false; ; {
		err := safely(do)
		if err != nil && !failing {
			a.log.Warn(failure, "cause", err.Error())
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// safely turns a panic into an error: nobody but this goroutine would have to
// end for it, and all would.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}

// writeUses writes the last use of each key whose last one in the database is
// more than useInterval old.
func (a *authenticator) writeUses() error {
	uses := map[*credential]int64{}
	for _, c := range *a.byHash.Load() {
		if used := c.used.Load(); used-c.written.Load() >= useInterval.Milliseconds() {
			uses[c] = used
		}
	}
	if len(uses) == 0 {
		return nil
	}
	err := a.store.writeKeyUses(uses)
	for c, used := range uses {
		if err == nil {
			c.written.Store(used)
		}
	}
	return err
}

// saveTime saves the time if the database does not have it to the minute.
func (a *authenticator) saveTime() error {
	clock := a.store.clock
	if clock.now().UnixMilli()-clock.saved.Load() < useInterval.Milliseconds() {
		return nil
	}
	return a.store.saveClock()
}
