package callers

import (
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Session returns the browser session with this secret and notes its use. The error is
// store.ErrNotFound if there is no such session, if it has ended, and for an API key.
func (c *Callers) Session(secret string) (store.Key, error) {
	hash := store.HashKey(secret)
	found := (*c.byHash.Load())[hash]
	if found == nil {
		var err error
		if found, err = c.read(secret, hash); err != nil {
			return store.Key{}, err
		}
	}
	if found == nil || !found.IsSession() {
		return store.Key{}, store.ErrNotFound
	}
	session, now := found.Key, c.store.Clock().Now()
	session.LastUsedAt = max(session.LastUsedAt, found.used.Load())
	if session.State(now) != store.StateActive {
		return store.Key{}, store.ErrNotFound
	}
	found.used.Store(now.UnixMilli())
	return session, nil
}

// EndSession ends a session. Session refuses it from then on.
func (c *Callers) EndSession(session store.Key) error {
	if err := c.store.EndSession(session); err != nil {
		return err
	}
	return c.Reload()
}

// NameSession sets the name of the person of a session.
func (c *Callers) NameSession(session store.Key, name string) error {
	if err := c.store.NameSession(session.ID, name); err != nil {
		return err
	}
	return c.Reload()
}
