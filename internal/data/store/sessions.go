package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// OpenSession opens a browser session with an API key or the code of an invitation, and returns the
// secret of the session. It uses up the code. device describes the browser in at most 100
// characters. OpenSession returns ErrNotFound for any text that is not a valid key or code.
func (s *Store) OpenSession(keyOrCode, device string, lifetime time.Duration) (secret string, session Key, err error) {
	secret, keyOrCode = newKeyText(), strings.TrimSpace(fold.Clean(keyOrCode))
	hash := HashKey(secret)
	key, invitation := HashKey(keyOrCode), HashKey(normalizeCode(keyOrCode))
	known, err := s.queryBool(`SELECT EXISTS (SELECT 1 FROM keys WHERE hash = ?) OR EXISTS (SELECT 1 FROM invitations WHERE hash = ?)`,
		key[:], invitation[:])
	if err != nil || !known { // an invalid text must not delay writes
		return "", Key{}, cmp.Or(err, ErrNotFound)
	}
	err = s.db.Write(func(t *sqlite.Tx) error {
		opening, err := openByKey(t, keyOrCode)
		if errors.Is(err, ErrNotFound) {
			var i Invitation
			i, err = useInvitation(t, keyOrCode, false)
			opening = Key{Tenant: i.tenant, Scope: i.Scope, Label: i.Name, Login: i.login}
		}
		if err != nil {
			return err
		}
		opening.Device, opening.Lifetime = device, lifetime.Milliseconds()
		id, err := insertKey(t, hash, opening)
		if err == nil {
			session, err = getKey(t.Conn, `k.id = ?`, int64(id))
		}
		return err
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, session, nil
}

// NameSession sets the name of the person who has the session. Later invitations for the same login
// use that name.
func (s *Store) NameSession(id KeyID, name string) error {
	err := s.execOne(`UPDATE keys SET label = ? WHERE id = ? AND session_lifetime IS NOT NULL`, name, int64(id))
	return noRow(err, ErrNotFound)
}

// EndSession revokes a session when the person signs out. Open invitations that the session created
// stay valid: they pass to the key that opened the session, if any.
func (s *Store) EndSession(k Key) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		_, err := t.Exec(`UPDATE invitations SET invited_by = nullif(?, 0) WHERE invited_by = ?`, int64(k.OpenedBy), int64(k.ID))
		if err == nil {
			err = revoke(t, k.ID)
		}
		return err
	})
}

// CarrySession returns a function that adds a valid session to a restored database, or renews it there.
// The session is for the department of the same name or, if there is none, for the first.
func (s *Store) CarrySession(id KeyID) (carry func(to *Store) error, err error) {
	var k Key
	var hash []byte
	var tenant string
	err = s.queryRow(`SELECT `+keyColumns+`, k.hash, t.name FROM `+keyTables+` JOIN tenants t ON t.id = k.tenant_id WHERE k.id = ?`,
		sqlite.Args{int64(id)}, func(row sqlite.Row) { k, hash, tenant = scanKey(row), row.Bytes(len(row)-2), row.Text(len(row)-1) })
	if err != nil || k.State(s.Clock().Now()) != StateActive || !k.IsSession() {
		return nil, cmp.Or(noRow(err, ErrNotFound), ErrNotFound)
	}
	k.OpenedBy = 0 // which may not exist there
	return func(to *Store) error {
		return to.db.Write(func(t *sqlite.Tx) error {
			known, err := t.Exec(`UPDATE keys SET last_used_at = ? WHERE hash = ?`, t.Now, hash)
			if err != nil || known > 0 {
				return err
			}
			first, err := t.QueryInt(`SELECT id FROM tenants ORDER BY name = ? DESC, id LIMIT 1`, tenant)
			k.Tenant = record.TenantID(first)
			if err == nil {
				_, err = insertKey(t, KeyHash(hash), k)
			}
			return err
		})
	}, nil
}

// openByKey returns the properties of a session that an API key opens.
func openByKey(t *sqlite.Tx, text string) (opening Key, err error) {
	hash := HashKey(text)
	k, err := getKey(t.Conn, `k.hash = ?`, hash[:])
	if err == nil && (k.IsSession() || IsDeviceScope(k.Scope) || k.State(time.UnixMilli(t.Now)) != StateActive) {
		err = ErrNotFound
	}
	if k.Label == "" {
		k.Label = fmt.Sprintf("key %d", k.ID)
	}
	return Key{Tenant: k.Tenant, Scope: k.Scope, Label: k.Label, ExpiresAt: k.ExpiresAt, OpenedBy: k.ID}, err
}

const (
	// codeLength is the length of an invitation code in characters.
	codeLength = 12
	// invitationLifetime is how long an invitation code is valid.
	invitationLifetime = 15 * time.Minute
)

const sessionOfLoginSQL = `SELECT label FROM keys WHERE tenant_id = ? AND login = ? ORDER BY id DESC LIMIT 1`

// NewInvitation describes an invitation of a person or, with ScopePhone, of a phone.
type NewInvitation struct {
	Tenant    record.TenantID
	Name      string // name of the person or phone, normalized by record.NormalizeName
	Scope     string
	By        KeyID  // key or session that creates the invitation; 0: a command
	Login     string // login name on this PC, if a command invites the person at the PC; otherwise empty
	Birthdays bool   // for ScopePhone: whether the phone receives dates of birth
}

// Invite creates an invitation and passes its code to show, as CreateKey does. If the last session
// with the login was named by NameSession, the invitation has that name. Invite also deletes
// expired invitations.
func (s *Store) Invite(n NewInvitation, show func(code string) error) error {
	text := newCode(codeLength)
	hash := HashKey(text)
	return s.db.Write(func(t *sqlite.Tx) error {
		if _, err := t.Exec(`DELETE FROM invitations WHERE expires_at <= ?`, t.Now); err != nil {
			return err
		}
		if n.Login != "" {
			err := t.QueryRow(sessionOfLoginSQL, sqlite.Args{int64(n.Tenant), n.Login},
				func(row sqlite.Row) { n.Name = row.Text(0) })
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

// Invitation is an open invitation. Times are in milliseconds.
type Invitation struct {
	ID                   int64
	Name, Scope          string
	CreatedAt, ExpiresAt int64
	Birthdays            bool
	Department           string // name of the department; only set by PhoneInvitation

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

// open reports whether an invitation is valid. It ends with the key that created it.
func (i Invitation) open(c *sqlite.Conn, now int64) (bool, error) {
	switch {
	case i.ExpiresAt <= now:
		return false, nil
	case i.by == 0:
		return true, nil
	}
	by, err := getKey(c, `k.id = ?`, int64(i.by))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return by.State(time.UnixMilli(now)) == StateActive, err
}

// Invitations returns the open invitations of a department, newest first.
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

// findInvitation returns the open invitation of a phone or a person with this code, or ErrNotFound.
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

// useInvitation deletes and returns the open invitation that findInvitation returns.
func useInvitation(t *sqlite.Tx, code string, ofPhone bool) (Invitation, error) {
	i, err := findInvitation(t.Conn, t.Now, code, ofPhone)
	if err == nil {
		err = t.ExecOne(`DELETE FROM invitations WHERE id = ?`, i.ID)
	}
	return i, err
}

// Withdraw deletes an invitation of a department, or returns ErrNotFound.
func (s *Store) Withdraw(tenant record.TenantID, id int64) error {
	return noRow(s.execOne(`DELETE FROM invitations WHERE id = ? AND tenant_id = ?`, id, int64(tenant)), ErrNotFound)
}
