package store

import (
	"errors"
	"strings"

	"firefighters/internal/record"
	"firefighters/internal/sqlite"
)

// ValidTenant returns the name of a department as it is stored. The error says
// what is wrong without a subject, as "is required".
func ValidTenant(name string) (string, error) { return record.Name(name) }

// ValidLabel returns the label of a key as it is stored, with such an error.
func ValidLabel(label string) (string, error) { return record.Label(label) }

// Empty reports whether the database has no department.
func (s *Store) Empty() (bool, error) {
	n, err := s.queryInt(`SELECT EXISTS (SELECT 1 FROM tenants)`)
	return n == 0, err
}

// Tenant returns the department of that name. The error is a *NoTenantError if
// there is none.
func (s *Store) Tenant(name string) (record.TenantID, error) {
	n, err := s.queryInt(`SELECT id FROM tenants WHERE name = ?`, strings.TrimSpace(name))
	if errors.Is(err, sqlite.ErrNoRows) {
		err = &NoTenantError{name}
	}
	return record.TenantID(n), err
}

// addTenant returns the department of that name, which it makes if there is
// none.
func addTenant(t *sqlite.Tx, name string) (record.TenantID, error) {
	_, err := t.Exec(`INSERT INTO tenants (name, created_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, t.Now)
	if err != nil {
		return 0, err
	}
	n, err := t.QueryInt(`SELECT id FROM tenants WHERE name = ?`, name)
	return record.TenantID(n), err
}
