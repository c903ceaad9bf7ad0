package callers

import "github.com/firefighter-records/firefighters/internal/data/store"

// Session returns the session with a secret and records its use. The error is ErrRevokedKey if the
// session or the key that opened it was revoked, and store.ErrNotFound if no session has the secret or
// the session has expired. An API key is not a session.
func (c *Callers) Session(secret string) (store.Key, error) {
	found := c.known(secret)
	if found == nil {
		var err error
		if found, err = c.read(secret); err != nil {
			return store.Key{}, err
		}
	}
	if found == nil || !found.IsSession() {
		return store.Key{}, store.ErrNotFound
	}
	session, now := found.Key, c.store.Clock().Now()
	session.LastUsedAt = max(session.LastUsedAt, found.used.Load())
	switch {
	case session.RevokedAt != 0:
		return store.Key{}, ErrRevokedKey
	case session.Expired(now.UnixMilli()):
		return store.Key{}, store.ErrNotFound
	}
	found.used.Store(now.UnixMilli())
	return session, nil
}

// EndSession ends a session, which Session then no longer returns.
func (c *Callers) EndSession(session store.Key) error {
	if err := c.store.EndSession(session); err != nil {
		return err
	}
	return c.Reload()
}

// NameSession sets the name of the person who uses a session.
func (c *Callers) NameSession(session store.Key, name string) error {
	if err := c.store.NameSession(session.ID, name); err != nil {
		return err
	}
	return c.Reload()
}
