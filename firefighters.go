package main

import (
	"database/sql"
	"strings"
	"time"

	"github.com/google/uuid"

	"firefighters/internal/fold"
	"firefighters/internal/record"
)

// Every method here is for one department. Another department's record, a
// deleted one and one that never was are errNotFound alike.

// columns are those of scanner.dest, in its order.
const columns = `id, first_name, last_name, phone_number, email, date_of_birth, invitation_status, user_id`

// scanner holds a row of columns while it becomes a record.
type scanner struct {
	f                  record.Firefighter
	phone, email, born sql.NullString
}

func (s *scanner) dest() []any {
	return []any{&s.f.ID, &s.f.FirstName, &s.f.LastName, &s.phone, &s.email, &s.born,
		&s.f.InvitationStatus, &s.f.UserID}
}

func (s *scanner) firefighter() record.Firefighter {
	s.f.PhoneNumber, s.f.Email, s.f.DateOfBirth = s.phone.String, s.email.String, s.born.String
	return s.f
}

const getSQL = `SELECT ` + columns + ` FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`

func (s *store) firefighter(tenant tenantID, id string) (record.Firefighter, error) {
	var row scanner
	err := s.reader.queryRow(getSQL, []any{id, tenant}, row.dest()...)
	return row.firefighter(), err
}

const createSQL = `
	INSERT INTO firefighters (row, id, tenant_id, created_at, updated_at,
		first_name, last_name, phone_number, email, date_of_birth,
		first_key, last_key, email_key, phone_key, born_at, search_text, phone_digits)
	SELECT id << 32 | (last_seq + 1), ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
	  FROM tenants WHERE id = ?`

// createFirefighter gives the record as it now stands on disk, or the
// record.Faults of fields.
func (s *store) createFirefighter(tenant tenantID, fields record.Fields) (record.Firefighter, error) {
	fields, faults := fields.Clean(s.clock.now())
	if len(faults) > 0 {
		return record.Firefighter{}, faults
	}
	id := uuid.Must(uuid.NewV7()).String()
	values := fieldValues(fields)
	err := s.write(func(t *transaction) error {
		args := append([]any{id, t.now, t.now}, values...)
		_, err := t.exec(createSQL, append(args, tenant)...)
		return err
	})
	return record.Firefighter{ID: id, Fields: fields}, err
}

const replaceSQL = `
	UPDATE firefighters
	   SET updated_at = ?,
	       first_name = ?, last_name = ?, phone_number = ?, email = ?, date_of_birth = ?,
	       first_key = ?, last_key = ?, email_key = ?, phone_key = ?, born_at = ?,
	       search_text = ?, phone_digits = ?
	 WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL
	RETURNING ` + columns

// replaceFirefighter replaces all fields of a record, clearing those that are
// empty, and gives it as it now stands on disk, or the record.Faults of fields.
func (s *store) replaceFirefighter(tenant tenantID, id string, fields record.Fields) (record.Firefighter, error) {
	fields, faults := fields.Clean(s.clock.now())
	if len(faults) > 0 {
		return record.Firefighter{}, faults
	}
	values := fieldValues(fields)
	var row scanner
	err := s.write(func(t *transaction) error {
		args := append([]any{t.now}, values...)
		return t.queryRow(replaceSQL, append(args, id, tenant), row.dest()...)
	})
	return row.firefighter(), err
}

const deleteSQL = `
	UPDATE firefighters SET deleted_at = ?
	 WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`

// deleteFirefighter is a soft delete: the row stays.
func (s *store) deleteFirefighter(tenant tenantID, id string) error {
	return s.write(func(t *transaction) error {
		deleted, err := t.exec(deleteSQL, t.now, id, tenant)
		if err == nil && deleted == 0 {
			return errNotFound
		}
		return err
	})
}

// fieldValues are the values of the columns that hold clean fields, from
// first_name to date_of_birth, and then of those made from them, from
// first_key to phone_digits.
func fieldValues(f record.Fields) []any {
	first, last, email, phone := fold.String(f.FirstName), fold.String(f.LastName),
		fold.String(f.Email), fold.String(f.PhoneNumber)
	return []any{
		f.FirstName, f.LastName, orNull(f.PhoneNumber), orNull(f.Email), orNull(f.DateOfBirth),
		first, last, orNull(email), orNull(phone), nanoseconds(f.Born()),
		strings.Join([]string{first, last, email, f.PhoneNumber}, "\n"), digits(f.PhoneNumber),
	}
}

func orNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

func nanoseconds(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixNano(), Valid: !t.IsZero()}
}

// digits keeps the ASCII digits of s.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
