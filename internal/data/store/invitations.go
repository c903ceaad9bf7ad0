package store

import (
	"cmp"
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const (
	// codeLength is that of an invitation's code, in characters.
	codeLength = 12
	// invitationLifetime is how long a code is valid.
	invitationLifetime = 15 * time.Minute
)

// NewInvitation describes an invitation to make.
type NewInvitation struct {
	Tenant record.TenantID
	Name   string // of the person, by record.Name
	Scope  string
	By     KeyID // the key or session of who invites; 0: a command
}

// Invite makes an invitation and shows its code: this is the only time that
// anybody sees it. show is as in CreateKey. Invitations that have expired are
// erased.
func (s *Store) Invite(n NewInvitation, show func(code string) error) error {
	text := apikey.NewCode(codeLength)
	hash := apikey.Hash(text)
	return s.db.Write(func(t *sqlite.Tx) error {
		if _, err := t.Exec(`DELETE FROM invitations WHERE expires_at <= ?`, t.Now); err != nil {
			return err
		}
		made, err := t.Exec(`
			INSERT INTO invitations (hash, tenant_id, name, scope, created_at, expires_at, invited_by)
			SELECT ?, id, ?, ?, ?, ?, nullif(?, 0) FROM tenants WHERE id = ?`,
			hash[:], n.Name, n.Scope, t.Now, t.Now+invitationLifetime.Milliseconds(), int64(n.By), int64(n.Tenant))
		if err == nil && made == 0 {
			err = ErrRemoved
		}
		if err != nil {
			return err
		}
		return show(apikey.GroupCode(text))
	})
}

// Invitation is one that can be used. Times are in milliseconds.
type Invitation struct {
	ID                   int64
	Name, Scope          string
	CreatedAt, ExpiresAt int64

	tenant record.TenantID
	by     KeyID
}

const invitationsSQL = `SELECT id, name, scope, created_at, expires_at, tenant_id, invited_by FROM invitations`

func scanInvitation(row sqlite.Row) Invitation {
	return Invitation{row.Int(0), row.Text(1), row.Text(2), row.Int(3), row.Int(4), record.TenantID(row.Int(5)), KeyID(row.Int(6))}
}

// open reports whether an invitation can be used. It ends with the key of who invited.
// A key that is newer than the invitation did not invite: SQLite has given it the number
// of an erased one.
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
	return by.CreatedAt <= i.CreatedAt && by.State(time.UnixMilli(now)) == StateActive, err
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

// useInvitation erases an open invitation and returns what a session has from it.
func useInvitation(t *sqlite.Tx, text string) (opening Key, err error) {
	hash := apikey.Hash(text)
	var i Invitation
	err = t.QueryRow(invitationsSQL+` WHERE hash = ?`, sqlite.Args{hash[:]}, func(row sqlite.Row) { i = scanInvitation(row) })
	if err != nil {
		return Key{}, notFound(err)
	}
	if open, err := i.open(t.Conn, t.Now); err != nil || !open {
		return Key{}, cmp.Or(err, ErrNotFound)
	}
	err = t.ExecOne(`DELETE FROM invitations WHERE id = ?`, i.ID)
	return Key{Tenant: i.tenant, Scope: i.Scope, Label: i.Name}, err
}

// Withdraw erases an invitation of a department. The error is ErrNotFound if there
// is none, or not any more.
func (s *Store) Withdraw(tenant record.TenantID, id int64) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		erased, err := t.Exec(`DELETE FROM invitations WHERE id = ? AND tenant_id = ?`, id, int64(tenant))
		if err == nil && erased == 0 {
			err = ErrNotFound
		}
		return err
	})
}
