package callers

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// useInterval is how late the database may have the last use of a key.
const useInterval = time.Minute

// known returns the credential of a key in memory, nil if there is none.
func (c *Callers) known(key string) *credential { return (*c.byHash.Load())[store.HashKey(key)] }

// read returns a key or session that is not in memory yet, nil if there is none. It does not
// ask the database for a key whose checksum shows that it was mistyped.
func (c *Callers) read(key string, hash store.KeyHash) (*credential, error) {
	if store.IsMistyped(key) {
		return nil, nil
	}
	exists, err := c.store.HasKey(hash)
	if err != nil || !exists {
		return nil, err
	}
	err = c.Reload()
	return (*c.byHash.Load())[hash], err
}

// Reload reads the keys again if they have changed.
func (c *Callers) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// WriteLate writes the last use of keys and the time if the database has them more than
// useInterval late.
func (c *Callers) WriteLate() error {
	err := c.writeUses()
	if c.store.Clock().Now().UnixMilli()-c.store.ClockSaved() >= useInterval.Milliseconds() {
		err = errors.Join(err, c.store.SaveClock())
	}
	return err
}

// Finish logs and writes what is left after the last request.
func (c *Callers) Finish() error {
	c.refusals.Finish()
	return c.writeUses()
}

// writeUses writes the last use of each key that the database has more than useInterval late.
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
