package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// maxLabel is how many characters the label of a key may have.
const maxLabel = 100

// OpenSession opens a session of a browser with an API key or the code of an
// invitation, and returns its secret. The code is used up. device says what the
// browser is, in at most 100 characters. The error is
// ErrNotFound if the text is neither of them, whatever the reason: it does not say
// whether there ever was one.
func (s *Store) OpenSession(keyOrCode, device string, lifetime time.Duration) (secret string, session Key, err error) {
	secret, keyOrCode = newKeyText(), strings.TrimSpace(keyOrCode)
	hash := HashKey(secret)
	if err := s.isKnown(keyOrCode); err != nil {
		return "", Key{}, err
	}
	err = s.db.Write(func(t *sqlite.Tx) error {
		opening, err := openByKey(t, keyOrCode)
		if errors.Is(err, ErrNotFound) {
			opening, err = useInvitation(t, keyOrCode)
		}
		if err != nil {
			return err
		}
		opening.Label = sessionLabel(opening.Label)
		opening.Device, opening.Lifetime = device, lifetime.Milliseconds()
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
	key, invitation := HashKey(keyOrCode), HashKey(normalizeCode(keyOrCode))
	known, err := s.queryInt(`SELECT EXISTS (SELECT 1 FROM keys WHERE hash = ?) OR EXISTS (SELECT 1 FROM invitations WHERE hash = ?)`,
		key[:], invitation[:])
	if err == nil && known == 0 {
		err = ErrNotFound
	}
	return err
}

// NameSession says whose session it is. Sessions that the same login opens later have
// the name from the beginning.
func (s *Store) NameSession(id KeyID, name string) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		err := t.ExecOne(`UPDATE keys SET label = ? WHERE id = ? AND session_lifetime IS NOT NULL`, sessionLabel(name), int64(id))
		return noRow(err, ErrNotFound)
	})
}

// sessionLabel returns the label of a session of a person or a key.
func sessionLabel(name string) string {
	label := []rune(name)
	return string(label[:min(len(label), maxLabel-len(sessionSuffix))]) + sessionSuffix
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
	hash := HashKey(text)
	k, err := keyByHash(t.Conn, hash)
	if err == nil && (k.IsSession() || IsDeviceScope(k.Scope) || k.State(time.UnixMilli(t.Now)) != StateActive) {
		err = ErrNotFound
	}
	if k.Label == "" {
		k.Label = fmt.Sprintf("key %d", k.ID)
	}
	return Key{Tenant: k.Tenant, Scope: k.Scope, Label: k.Label, ExpiresAt: k.ExpiresAt, OpenedBy: k.ID}, err
}

const (
	// codeLength is that of an invitation's code, in characters.
	codeLength = 12
	// invitationLifetime is how long a code is valid.
	invitationLifetime = 15 * time.Minute
)

// sessionOfLoginSQL reads the label of the last session with a login.
const sessionOfLoginSQL = `SELECT label FROM keys WHERE tenant_id = ? AND login = ? ORDER BY id DESC LIMIT 1`

// NewInvitation describes an invitation to make: of a person or, with ScopePhone, of a
// phone.
type NewInvitation struct {
	Tenant    record.TenantID
	Name      string // of the person or the phone, by record.NormalizeName
	Scope     string
	By        KeyID  // the key or session of who invites; 0: a command
	Login     string // who is logged in on this PC, if the command invites that person; otherwise empty
	Birthdays bool   // of ScopePhone: the phone gets the dates of birth
}

// Invite makes an invitation and shows its code: this is the only time that
// anybody sees it. show is as in CreateKey. Invitations that have expired are
// erased. An invitation with a login has the name that NameSession gave the last
// session with that login.
func (s *Store) Invite(n NewInvitation, show func(code string) error) error {
	text := newCode(codeLength)
	hash := HashKey(text)
	return s.db.Write(func(t *sqlite.Tx) error {
		if _, err := t.Exec(`DELETE FROM invitations WHERE expires_at <= ?`, t.Now); err != nil {
			return err
		}
		if n.Login != "" {
			err := t.QueryRow(sessionOfLoginSQL, sqlite.Args{int64(n.Tenant), n.Login},
				func(row sqlite.Row) { n.Name = Key{Label: row.Text(0)}.Person() })
			if err := noRow(err, nil); err != nil {
				return err
			}
		}
		err := t.ExecOne(`
			INSERT INTO invitations (hash, tenant_id, name, scope, created_at, expires_at, invited_by, login, birthdays)
			SELECT ?, id, ?, ?, ?, ?, nullif(?, 0), ?, ? FROM tenants WHERE id = ?`,
			hash[:], n.Name, n.Scope, t.Now, t.Now+invitationLifetime.Milliseconds(), int64(n.By), n.Login, n.Birthdays, int64(n.Tenant))
		if err != nil {
			return noRow(err, ErrRemoved)
		}
		return show(groupCode(text))
	})
}

// Invitation is one that can be used. Times are in milliseconds.
type Invitation struct {
	ID                   int64
	Name, Scope          string
	CreatedAt, ExpiresAt int64
	Birthdays            bool
	Department           string // its name; only PhoneInvitation sets it

	tenant record.TenantID
	by     KeyID
	login  string
}

const invitationsSQL = `SELECT id, name, scope, created_at, expires_at, birthdays, tenant_id, invited_by, login FROM invitations`

func scanInvitation(row sqlite.Row) Invitation {
	return Invitation{
		ID: row.Int(0), Name: row.Text(1), Scope: row.Text(2),
		CreatedAt: row.Int(3), ExpiresAt: row.Int(4), Birthdays: row.Int(5) == 1,
		tenant: record.TenantID(row.Int(6)), by: KeyID(row.Int(7)), login: row.Text(8),
	}
}

// open reports whether an invitation can be used. It ends with the key that invited.
func (i Invitation) open(c *sqlite.Conn, now int64) (bool, error) {
	switch {
	case i.ExpiresAt <= now:
		return false, nil
	case i.by == 0:
		return true, nil
	}
	by, err := keyByID(c, i.by)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return by.State(time.UnixMilli(now)) == StateActive, err
}

// Invitations returns the open invitations of a department, the newest first.
func (s *Store) Invitations(tenant record.TenantID) (all []Invitation, err error) {
	now := s.Clock().Now().UnixMilli()
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		var found []Invitation
		err := c.Query(invitationsSQL+` WHERE tenant_id = ? ORDER BY id DESC`, sqlite.Args{int64(tenant)},
			func(row sqlite.Row) { found = append(found, scanInvitation(row)) })
		for _, i := range found {
			open := false
			if err == nil {
				open, err = i.open(c, now)
			}
			if open {
				all = append(all, i)
			}
		}
		return err
	})
	return all, err
}

// findInvitation returns the open invitation with this code, or ErrNotFound. It is one of
// a phone, or one of a person.
func findInvitation(c *sqlite.Conn, now int64, code string, ofPhone bool) (i Invitation, err error) {
	hash := HashKey(normalizeCode(code))
	err = c.QueryRow(invitationsSQL+` WHERE hash = ?`, sqlite.Args{hash[:]}, func(row sqlite.Row) { i = scanInvitation(row) })
	if err != nil {
		return i, noRow(err, ErrNotFound)
	}
	open, err := i.open(c, now)
	if err == nil && (!open || ofPhone != (i.Scope == ScopePhone)) {
		err = ErrNotFound
	}
	return i, err
}

// useInvitation erases an open invitation of a person and returns what a session has from
// it.
func useInvitation(t *sqlite.Tx, code string) (opening Key, err error) {
	i, err := findInvitation(t.Conn, t.Now, code, false)
	if err != nil {
		return Key{}, err
	}
	err = t.ExecOne(`DELETE FROM invitations WHERE id = ?`, i.ID)
	return Key{Tenant: i.tenant, Scope: i.Scope, Label: i.Name, Login: i.login}, err
}

// Withdraw erases an invitation of a department. The error is ErrNotFound if there
// is none, or not any more.
func (s *Store) Withdraw(tenant record.TenantID, id int64) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		return noRow(t.ExecOne(`DELETE FROM invitations WHERE id = ? AND tenant_id = ?`, id, int64(tenant)), ErrNotFound)
	})
}
