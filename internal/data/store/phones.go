package store

import (
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// NewPhone describes a phone that will read the address book of a department.
type NewPhone struct {
	Tenant    record.TenantID
	Name      string // normalized by record.NormalizeName
	Birthdays bool   // whether it receives dates of birth and a calendar of birthdays
}

// Phone is a phone with its keys.
type Phone struct {
	ID       KeyID
	Key      string // key for the address book
	Calendar string // key for the calendar of birthdays; empty without a calendar
}

// AddPhone creates the keys of a phone and passes them to show, as CreateKey does. The key of the
// calendar ends with the key of the address book.
func (s *Store) AddPhone(n NewPhone, show func(Phone) error) error {
	return s.db.Write(func(t *sqlite.Tx) error { return addPhone(t, n, show) })
}

func addPhone(t *sqlite.Tx, n NewPhone, show func(Phone) error) (err error) {
	if _, err := t.QueryInt(`SELECT id FROM tenants WHERE id = ?`, int64(n.Tenant)); err != nil {
		return noRow(err, ErrRemoved)
	}
	p := Phone{Key: newKeyText()}
	p.ID, err = insertKey(t, HashKey(p.Key), Key{Tenant: n.Tenant, Label: n.Name, Scope: ScopePhone, Birthdays: n.Birthdays})
	if err == nil && n.Birthdays {
		p.Calendar = newKeyText()
		_, err = insertKey(t, HashKey(p.Calendar), Key{Tenant: n.Tenant, Label: n.Name, Scope: ScopeCalendar, OpenedBy: p.ID})
	}
	if err != nil {
		return err
	}
	return show(p)
}

// PhoneInvitation returns the invitation of a phone with this code, and the name of its department.
// It does not use the code up. It returns ErrNotFound for a code that is not valid and for the code
// of a person.
func (s *Store) PhoneInvitation(code string) (i Invitation, err error) {
	now := s.Clock().Now().UnixMilli()
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		if i, err = findInvitation(c, now, code, true); err != nil {
			return err
		}
		return c.QueryRow(tenantNameSQL, sqlite.Args{int64(i.tenant)}, func(row sqlite.Row) { i.Department = row.Text(0) })
	})
	return i, noRow(err, ErrNotFound)
}

// UsePhoneInvitation uses up the code of a phone's invitation and then works like AddPhone. It
// returns the errors of PhoneInvitation.
func (s *Store) UsePhoneInvitation(code string, show func(Phone) error) error {
	if _, err := s.PhoneInvitation(code); err != nil { // an invalid code must not delay writes
		return err
	}
	return s.db.Write(func(t *sqlite.Tx) error {
		i, err := useInvitation(t, code, true)
		if err != nil {
			return err
		}
		return addPhone(t, NewPhone{i.tenant, i.Name, i.Birthdays}, show)
	})
}
