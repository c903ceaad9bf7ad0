package callers

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

const (
	// useInterval is the maximum delay before the last use of a key is written to the database.
	useInterval = time.Minute
	// maxAge is how long a cached key is used without a check that the keys have not changed.
	maxAge = 500 * time.Millisecond
	// idleAfter is the time without requests after which the next one is reported by Woken.
	idleAfter = time.Second
)

// known returns the cached credential of a key, or nil.
func (c *Callers) known(key string) *credential {
	if idle := c.Idle(); idle > maxAge {
		c.mu.Lock()
		if c.Idle() > maxAge { // another request may have reloaded the keys
			c.reload() // if the database cannot be read, the request fails later
		}
		c.mu.Unlock()
		if idle > idleAfter {
			select {
			case c.woken <- struct{}{}:
			default:
			}
		}
	}
	return (*c.byHash.Load())[store.HashKey(key)]
}

// Idle returns the time since the last request with a key. It may be maxAge too long.
func (c *Callers) Idle() time.Duration { return time.Since(c.began) - time.Duration(c.checked.Load()) }

// Woken returns a channel that receives when a request comes after a time without requests.
func (c *Callers) Woken() <-chan struct{} { return c.woken }

// read returns a key or session from the database, or nil. It skips keys with a wrong checksum.
func (c *Callers) read(key string) (*credential, error) {
	if store.IsMistyped(key) {
		return nil, nil
	}
	exists, err := c.store.HasKey(store.HashKey(key))
	if err != nil || !exists {
		return nil, err
	}
	err = c.Reload()
	return c.known(key), err
}

// Reload updates the cache if the keys in the database have changed.
func (c *Callers) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reload()
}

func (c *Callers) reload() error {
	now := time.Since(c.began)
	defer func() { c.checked.Store(int64(now)) }()
	version, err := c.store.KeysVersion()
	if err != nil || version == c.version {
		return err
	}
	before, keys := *c.byHash.Load(), map[store.KeyHash]*credential{}
	err = c.store.Keys(func(hash store.KeyHash, k store.Key) {
		found := &credential{k, new(atomic.Int64), new(atomic.Int64), c.limit.NewBucket()}
		found.written.Store(k.LastUsedAt)
		if old := before[hash]; old != nil {
			found.used, found.written, found.bucket = old.used, old.written, old.bucket
		}
		keys[hash] = found
	})
	if err != nil {
		return err
	}
	c.byHash.Store(&keys)
	c.version = version
	return nil
}

// WriteLate writes the last uses of keys and the clock if the database is useInterval behind.
func (c *Callers) WriteLate() error {
	err := c.writeUses()
	if c.store.Clock().Now().UnixMilli()-c.store.ClockSaved() >= useInterval.Milliseconds() {
		err = errors.Join(err, c.store.SaveClock())
	}
	return err
}

// Finish logs and writes what is pending at shutdown.
func (c *Callers) Finish() error {
	c.refusals.Finish()
	return c.writeUses()
}

// writeUses writes each last use that is more than useInterval newer than the database's.
func (c *Callers) writeUses() error {
	uses, late := map[store.KeyID]int64{}, []*credential{}
	for _, k := range *c.byHash.Load() {
		if used := k.used.Load(); used-k.written.Load() >= useInterval.Milliseconds() {
			uses[k.ID], late = used, append(late, k)
		}
	}
	if len(uses) == 0 {
		return nil
	}
	err := c.store.WriteKeyUses(uses)
	if err == nil {
		for _, k := range late {
			k.written.Store(uses[k.ID])
		}
	}
	return err
}
