package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"firefighters/internal/apikey"
	"firefighters/internal/code"
	"firefighters/internal/sqlite"
)

// sessionSuffix ends the label of a session. maxLabel is how many characters a
// label may have.
const (
	sessionSuffix = " (browser)"
	maxLabel      = 100
)

// Person returns whose session a key is: its label without the end that all
// sessions have.
func (k Key) Person() string { return strings.TrimSuffix(k.Label, sessionSuffix) }

// OpenSession opens a session of a browser with an API key or the code of an
// invitation, and returns its secret. The code is used up. The error is
// ErrNotFound if the text is neither of them, whatever the reason: it does not say
// whether there ever was one.
func (s *Store) OpenSession(keyOrCode string, lifetime time.Duration) (secret string, session Key, err error) {
	secret, keyOrCode = apikey.New(), strings.TrimSpace(keyOrCode)
	hash := apikey.Hash(secret)
	err = s.db.Write(func(t *sqlite.Tx) error {
		opening, err := openByKey(t, keyOrCode)
		if errors.Is(err, ErrNotFound) {
			opening, err = useInvitation(t, code.Normalize(keyOrCode))
		}
		if err != nil {
			return err
		}
		label := []rune(opening.Label)
		label = label[:min(len(label), maxLabel-len(sessionSuffix))]
		_, id, err := t.Insert(`
			INSERT INTO keys (hash, tenant_id, label, scope, created_at, expires_at, session_lifetime, opened_by)
			VALUES (?, ?, ?, ?, ?, nullif(?, 0), ?, nullif(?, 0))`,
			hash[:], int64(opening.Tenant), string(label)+sessionSuffix, opening.Scope, t.Now, opening.ExpiresAt,
			lifetime.Milliseconds(), int64(opening.OpenedBy))
		if err == nil {
			session, err = readKey(t.Conn, `k.id = ?`, id)
		}
		return err
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, session, nil
}

// EndSession revokes a session because its person has signed out. The open
// invitations of that person pass to the key that opened the session, if there is
// one, so that those who are invited can still come in.
func (s *Store) EndSession(k Key) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE invitations SET invited_by = nullif(?, 0) WHERE invited_by = ?`, int64(k.OpenedBy), int64(k.ID))
		if err == nil {
			_, err = t.Exec(`UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, t.Now, int64(k.ID))
		}
		return err
	})
}

// openByKey returns what a session has from the API key that opens it.
func openByKey(t *sqlite.Tx, text string) (opening Key, err error) {
	hash := apikey.Hash(text)
	k, err := readKey(t.Conn, `k.hash = ? AND EXISTS (SELECT 1 FROM tenants WHERE id = k.tenant_id)`, hash[:])
	if err == nil && (k.IsSession() || k.State(time.UnixMilli(t.Now)) != StateActive) {
		err = ErrNotFound
	}
	if k.Label == "" {
		k.Label = fmt.Sprintf("key %d", k.ID)
	}
	return Key{Tenant: k.Tenant, Scope: k.Scope, Label: k.Label, ExpiresAt: k.ExpiresAt, OpenedBy: k.ID}, err
}

// readKey returns the key of any department for which a condition holds.
func readKey(c *sqlite.Conn, condition string, arg any) (k Key, err error) {
	err = c.QueryRow(`SELECT `+keyColumns+` FROM `+keyTables+` WHERE `+condition, sqlite.Args{arg}, func(row sqlite.Row) { k = scanKey(row) })
	return k, notFound(err)
}
