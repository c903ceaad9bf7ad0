package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// FirstDepartment is the initial name of the department in a new database.
const FirstDepartment = "default"

// Empty reports whether the database has no departments.
func (s *Store) Empty() (bool, error) {
	return s.queryBool(`SELECT NOT EXISTS (SELECT 1 FROM tenants)`)
}

// Tenant returns the department with a name or, for an empty name, the only department. The error
// is a *NoTenantError or a *SeveralTenantsError.
func (s *Store) Tenant(name string) (tenant record.TenantID, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error {
		tenant, err = chooseTenant(c, name)
		return err
	})
	return tenant, err
}

// TenantOrNew is Tenant for a command that can create the department. It returns 0 and the name of
// the department to create if the database has no departments, or if isNew is set and no department
// has the name.
func (s *Store) TenantOrNew(name string, isNew bool) (tenant record.TenantID, create string, err error) {
	err = s.db.Read(func(c *sqlite.Conn) error {
		tenant, create, err = tenantOrNew(c, name, isNew)
		return err
	})
	return tenant, create, err
}

// chooseTenant returns the department with a name or, for an empty name, the only department.
// Invisible characters in names make no difference, unless several departments differ only in them.
func chooseTenant(c *sqlite.Conn, name string) (tenant record.TenantID, err error) {
	name = strings.TrimSpace(name)
	if name != "" {
		n, err := c.QueryInt(`SELECT id FROM tenants WHERE name = ?`, name)
		if !errors.Is(err, sqlite.ErrNoRows) {
			return record.TenantID(n), err
		}
	}
	var names []string
	var like record.TenantID
	alike := 0
	err = c.Query(`SELECT id, name FROM tenants ORDER BY id`, nil, func(row sqlite.Row) {
		tenant = record.TenantID(row.Int(0))
		names = append(names, row.Text(1))
		if fold.Clean(row.Text(1)) == fold.Clean(name) {
			like = tenant
			alike++
		}
	})
	switch {
	case err != nil:
		return 0, err
	case alike == 1:
		return like, nil
	case name != "" || len(names) == 0:
		return 0, &NoTenantError{Name: name, Names: names}
	case len(names) > 1:
		return 0, &SeveralTenantsError{names}
	}
	return tenant, nil
}

func tenantOrNew(c *sqlite.Conn, name string, isNew bool) (tenant record.TenantID, create string, err error) {
	tenant, err = chooseTenant(c, name)
	missing, ok := errors.AsType[*NoTenantError](err)
	if !ok {
		return tenant, "", err
	}
	if len(missing.Names) > 0 && !isNew {
		missing.CanCreate = true
		return 0, "", missing
	}
	return 0, cmp.Or(missing.Name, FirstDepartment), nil
}

const tenantNameSQL = `SELECT name FROM tenants WHERE id = ?`

// TenantName returns the name of a department.
func (s *Store) TenantName(tenant record.TenantID) (name string, err error) {
	err = s.queryRow(tenantNameSQL, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { name = row.Text(0) })
	return name, noRow(err, ErrRemoved)
}

// StepsHidden reports whether the first steps of a department are hidden.
func (s *Store) StepsHidden(tenant record.TenantID) (bool, error) {
	hidden, err := s.queryBool(`SELECT steps_hidden FROM tenants WHERE id = ?`, int64(tenant))
	return hidden, noRow(err, ErrRemoved)
}

// HideSteps permanently hides the first steps of a department.
func (s *Store) HideSteps(tenant record.TenantID) error {
	return noRow(s.execOne(`UPDATE tenants SET steps_hidden = 1 WHERE id = ?`, int64(tenant)), ErrRemoved)
}

// Country returns the country of a department (ISO 3166-1 alpha-2), or an empty text if it is unknown.
func (s *Store) Country(tenant record.TenantID) (country string, err error) {
	err = s.queryRow(`SELECT country FROM tenants WHERE id = ?`, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { country = row.Text(0) })
	return country, noRow(err, ErrRemoved)
}

// SetCountry sets the country of a department, in the form of record.NormalizeCountry.
func (s *Store) SetCountry(tenant record.TenantID, country string) error {
	return noRow(s.execOne(`UPDATE tenants SET country = ? WHERE id = ?`, country, int64(tenant)), ErrRemoved)
}

// TenantInfo is a department and the numbers of its records and keys.
type TenantInfo struct {
	ID         record.TenantID
	Name       string
	Country    string // as Country returns it
	CreatedAt  int64  // in milliseconds
	Records    int64  // number of records that are not deleted
	Deleted    int64
	ActiveKeys int64 // number of active keys, except sessions and calendar keys
}

const tenantsSQL = `
	SELECT id, name, country, created_at, live_count, (SELECT count(*) FROM firefighters
	       WHERE row BETWEEN tenants.id << 32 AND tenants.id << 32 | 0xffffffff AND deleted_at IS NOT NULL)
	  FROM tenants ORDER BY tenants.id`

// Tenants calls each for all departments in order of creation.
func (s *Store) Tenants(each func(TenantInfo)) error {
	now := s.Clock().Now()
	return s.db.Read(func(c *sqlite.Conn) error {
		active := map[record.TenantID]int64{}
		err := c.Query(keySQL, nil, func(row sqlite.Row) {
			if k := scanKey(row); k.State(now) == StateActive && !k.IsSession() && k.OpenedBy == 0 {
				active[k.Tenant]++
			}
		})
		if err != nil {
			return err
		}
		return c.Query(tenantsSQL, nil, func(row sqlite.Row) {
			id := record.TenantID(row.Int(0))
			each(TenantInfo{id, row.Text(1), row.Text(2), row.Int(3), row.Int(4), row.Int(5), active[id]})
		})
	})
}

// IsOldest reports whether a department is the oldest one.
func (s *Store) IsOldest(tenant record.TenantID) (oldest bool, err error) {
	err = s.queryRow(`SELECT min(id) = ? FROM tenants`, sqlite.Args{int64(tenant)}, func(row sqlite.Row) { oldest = row.Int(0) == 1 })
	return oldest, err
}

// addTenant returns the department that TenantOrNew describes, and creates it if it does not exist.
func addTenant(t *sqlite.Tx, name string, isNew bool) (record.TenantID, error) {
	tenant, create, err := tenantOrNew(t.Conn, name, isNew)
	if create == "" || err != nil {
		return tenant, err
	}
	return insertTenant(t, create, osutil.Country())
}

// insertTenant creates a department with a new id in a country. A running service
// may still have the keys of a removed department in memory, so ids are not reused: RemoveTenant
// raises keys_version to the id of the removed department.
func insertTenant(t *sqlite.Tx, name, country string) (record.TenantID, error) {
	id, err := t.QueryInt(`SELECT max(keys_version, ifnull((SELECT max(id) FROM tenants), 0)) + 1 FROM service`)
	if err == nil {
		_, err = t.Exec(`INSERT INTO tenants (id, name, created_at, country) VALUES (?, ?, ?, ?)`, id, name, t.Now, country)
	}
	return record.TenantID(id), err
}

// Department is a department with people to add.
type Department struct {
	Name    string
	Country string // as Store.Country returns it; empty: the country of the system
	People  []record.Fields
}

// AddDepartments adds people to departments in one transaction, and creates departments that do not
// exist.
func (s *Store) AddDepartments(departments []Department) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		for _, d := range departments {
			if err := addDepartment(t, d); err != nil {
				return fmt.Errorf("adding %q: %w", d.Name, err)
			}
		}
		return nil
	})
}

func addDepartment(t *sqlite.Tx, d Department) error {
	id, err := t.QueryInt(`SELECT id FROM tenants WHERE name = ?`, d.Name)
	tenant := record.TenantID(id)
	if errors.Is(err, sqlite.ErrNoRows) {
		tenant, err = insertTenant(t, d.Name, cmp.Or(d.Country, osutil.Country()))
	}
	if err != nil {
		return err
	}
	first, err := nextRow(t, tenant)
	if err != nil {
		return err
	}
	now := time.UnixMilli(t.Now)
	for i, fields := range d.People {
		fields, errs := fields.Normalize(now)
		if len(errs) > 0 {
			return errs
		}
		f := newFirefighter(fields)
		if err := create(t, tenant, 0, first+int64(i), f.ID, createValues(tenant, f)); err != nil {
			return err
		}
	}
	return nil
}

// refuseTaken returns a *TakenError if a department other than self has the name or, unless alike
// is set, a name that differs from it only in case, accents or spaces.
func refuseTaken(c *sqlite.Conn, name string, self record.TenantID, alike bool) (err error) {
	var taken error
	wanted := likeness(name)
	err = c.Query(`SELECT name FROM tenants WHERE id <> ?`, sqlite.Args{int64(self)}, func(row sqlite.Row) {
		if other := row.Text(0); other == name || taken == nil && !alike && likeness(other) == wanted {
			taken = &TakenError{Name: name, Existing: other}
		}
	})
	return cmp.Or(err, taken)
}

// likeness returns a key that is the same for similar names.
func likeness(name string) string { return strings.Join(strings.Fields(fold.String(name)), "") }

// RenameTenant renames a department. It returns a *TakenError if another department has that name
// or, unless alike is set, a similar one.
func (s *Store) RenameTenant(id record.TenantID, name string, alike bool) error {
	return s.db.Write(func(t *sqlite.Tx) error {
		if err := refuseTaken(t.Conn, name, id, alike); err != nil {
			return err
		}
		if err := t.ExecOne(`UPDATE tenants SET name = ? WHERE id = ?`, name, int64(id)); err != nil {
			return noRow(err, ErrRemoved)
		}
		return raiseKeysVersion(t, 0)
	})
}

// RemoveTenant removes a department without records, and its keys, sessions, invitations, history,
// imports and replays. It returns the number of keys, active or not, except sessions and calendar
// keys. It returns the error of HasNoRecords if the department has records. The file may contain
// traces until Rewrite has run.
func (s *Store) RemoveTenant(id record.TenantID) (keys int64, err error) {
	err = s.db.Write(func(t *sqlite.Tx) (err error) {
		if err := hasNoRecords(t.Conn, id); err != nil {
			return err
		}
		keys, err = t.QueryInt(`SELECT count(*) FROM keys WHERE tenant_id = ? AND session_lifetime IS NULL AND opened_by IS NULL`, int64(id))
		if err == nil {
			_, err = t.Exec(`DELETE FROM changes WHERE `+ofTenant, int64(id))
		}
		for _, table := range []string{`keys`, `invitations`, `imports`, `replays`} {
			if err == nil {
				_, err = t.Exec(`DELETE FROM `+table+` WHERE tenant_id = ?`, int64(id))
			}
		}
		if err == nil {
			err = noRow(t.ExecOne(`DELETE FROM tenants WHERE id = ?`, int64(id)), ErrRemoved)
		}
		if err == nil {
			err = noteErasure(t)
		}
		if err != nil {
			return err
		}
		return raiseKeysVersion(t, id)
	})
	return keys, err
}

// HasNoRecords returns a *NotEmptyError if a department has records, including deleted records.
func (s *Store) HasNoRecords(id record.TenantID) error {
	return s.db.Read(func(c *sqlite.Conn) error { return hasNoRecords(c, id) })
}

func hasNoRecords(c *sqlite.Conn, id record.TenantID) error {
	full := &NotEmptyError{}
	err := c.QueryRow(`
		SELECT (SELECT name FROM tenants WHERE id = ?1),
		       count(*) FILTER (WHERE deleted_at IS NULL), count(*) FILTER (WHERE deleted_at IS NOT NULL)
		  FROM firefighters WHERE `+rowsOfTenant, sqlite.Args{int64(id)},
		func(row sqlite.Row) { *full = NotEmptyError{row.Text(0), row.Int(1), row.Int(2)} })
	if err != nil || full.Records+full.Deleted == 0 {
		return err
	}
	return full
}

// raiseKeysVersion makes a running service read the keys and departments again, and reserves the id
// of a removed department.
func raiseKeysVersion(t *sqlite.Tx, id record.TenantID) error {
	_, err := t.Exec(`UPDATE service SET keys_version = max(keys_version + 1, ?)`, int64(id))
	return err
}
