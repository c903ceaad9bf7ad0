package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// maxLabel is how many characters the label of a key may have.
const maxLabel = 100

// OpenSession opens a session of a browser with an API key or the code of an
// invitation, and returns its secret. The code is used up. The error is
// ErrNotFound if the text is neither of them, whatever the reason: it does not say
// whether there ever was one.
func (s *Store) OpenSession(keyOrCode string, lifetime time.Duration) (secret string, session Key, err error) {
	secret, keyOrCode = apikey.New(), strings.TrimSpace(keyOrCode)
	hash := apikey.Hash(secret)
	if err := s.isKnown(keyOrCode); err != nil {
		return "", Key{}, err
	}
	err = s.db.Write(func(t *sqlite.Tx) error {
		opening, err := openByKey(t, keyOrCode)
		if errors.Is(err, ErrNotFound) {
			opening, err = useInvitation(t, apikey.NormalizeCode(keyOrCode))
		}
		if err != nil {
			return err
		}
		label := []rune(opening.Label)
		opening.Label = string(label[:min(len(label), maxLabel-len(sessionSuffix))]) + sessionSuffix
		opening.Lifetime = lifetime.Milliseconds()
		id, err := insertKey(t, hash, opening)
		if err == nil {
			session, err = keyByID(t.Conn, id)
		}
		return err
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, session, nil
}

// isKnown returns ErrNotFound for a text that is neither a key nor a code. It
// only reads, so that wrong ones do not keep those waiting who write.
func (s *Store) isKnown(keyOrCode string) error {
	key, invitation := apikey.Hash(keyOrCode), apikey.Hash(apikey.NormalizeCode(keyOrCode))
	known := false
	err := s.db.Read(func(c *sqlite.Conn) error {
		return c.QueryRow(`
			SELECT EXISTS (SELECT 1 FROM keys WHERE hash = ?) OR EXISTS (SELECT 1 FROM invitations WHERE hash = ?)`,
			sqlite.Args{key[:], invitation[:]}, func(row sqlite.Row) { known = row.Int(0) == 1 })
	})
	if err == nil && !known {
		err = ErrNotFound
	}
	return err
}

// EndSession revokes a session because its person has signed out. The open
// invitations of that person pass to the key that opened the session, if there is
// one, so that those who are invited can still come in.
func (s *Store) EndSession(k Key) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE invitations SET invited_by = nullif(?, 0) WHERE invited_by = ?`, int64(k.OpenedBy), int64(k.ID))
		if err == nil {
			err = revoke(t, k.ID)
		}
		return err
	})
}

// openByKey returns what a session has from the API key that opens it.
func openByKey(t *sqlite.Tx, text string) (opening Key, err error) {
	hash := apikey.Hash(text)
	k, err := keyByHash(t.Conn, hash)
	if err == nil && (k.IsSession() || k.State(time.UnixMilli(t.Now)) != StateActive) {
		err = ErrNotFound
	}
	if k.Label == "" {
		k.Label = fmt.Sprintf("key %d", k.ID)
	}
	return Key{Tenant: k.Tenant, Scope: k.Scope, Label: k.Label, ExpiresAt: k.ExpiresAt, OpenedBy: k.ID}, err
}
