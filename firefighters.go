package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"firefighters/internal/fold"
	"firefighters/internal/record"
)

// Every method here is for one department. Another department's record, a
// deleted one and one that never was are errNotFound alike.

// columns are those of a row that makes a record. The fields come as one text,
// a line each, for no field contains a line break, and each column costs the
// driver more than the text in it.
const columns = `concat_ws(char(10), firefighters.id, first_name, last_name, ifnull(phone_number, ''), ifnull(email, ''),
	ifnull(date_of_birth, '')), invitation_status, user_id`

func firefighterOf(row values) (f record.Firefighter) {
	rest := text(row[0])
	for _, field := range []*string{&f.ID, &f.FirstName, &f.LastName, &f.PhoneNumber, &f.Email, &f.DateOfBirth} {
		*field, rest, _ = strings.Cut(rest, "\n")
	}
	f.InvitationStatus, f.UserID = textOrNil(row[1]), textOrNil(row[2])
	return f
}

// inTable are a department's records that are not deleted, as they lie in the
// table. The tenant is ?1.
const inTable = ` FROM firefighters
	WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff AND deleted_at IS NULL`

const getSQL = `SELECT ` + columns + ` FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`

func (s *store) firefighter(tenant tenantID, id string) (f record.Firefighter, err error) {
	err = s.read(func(c *conn) error {
		return c.queryRow(getSQL, values{id, int64(tenant)}, func(row values) { f = firefighterOf(row) })
	})
	return f, err
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
	id, made := newID(), fieldValues(fields)
	err := s.write(func(t *transaction) error { return t.create(tenant, id, made) })
	return record.Firefighter{ID: id, Fields: fields}, err
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (t *transaction) create(tenant tenantID, id string, made values) error {
	created, row, err := t.insert(createSQL, slices.Concat(values{id, t.now, t.now}, made, values{int64(tenant)})...)
	switch {
	case err != nil:
		return err
	case created == 0:
		return fmt.Errorf("department %d is gone", tenant)
	}
	t.touch(tenant, row)
	return nil
}

const replaceSQL = `
	UPDATE firefighters
	   SET updated_at = ?,
	       first_name = ?, last_name = ?, phone_number = ?, email = ?, date_of_birth = ?,
	       first_key = ?, last_key = ?, email_key = ?, phone_key = ?, born_at = ?,
	       search_text = ?, phone_digits = ?
	 WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL
	RETURNING ` + columns + `, row`

// replaceFirefighter replaces all fields of a record, clearing those that are
// empty, and gives it as it now stands on disk, or the record.Faults of fields.
func (s *store) replaceFirefighter(tenant tenantID, id string, fields record.Fields) (f record.Firefighter, err error) {
	fields, faults := fields.Clean(s.clock.now())
	if len(faults) > 0 {
		return f, faults
	}
	made := fieldValues(fields)
	err = s.write(func(t *transaction) error {
		return t.queryRow(replaceSQL, slices.Concat(values{t.now}, made, values{id, int64(tenant)}),
			func(row values) { f = firefighterOf(row); t.touch(tenant, number(row[len(row)-1])) })
	})
	return f, err
}

const deleteSQL = `
	UPDATE firefighters SET deleted_at = ?
	 WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL
	RETURNING row`

// deleteFirefighter is a soft delete: the row stays.
func (s *store) deleteFirefighter(tenant tenantID, id string) error {
	return s.write(func(t *transaction) error {
		row, err := t.queryNumber(deleteSQL, t.now, id, int64(tenant))
		if err == nil {
			t.touch(tenant, row)
		}
		return err
	})
}

// fieldValues are the values of the columns that hold clean fields, from
// first_name to date_of_birth, and then of those made from them, from
// first_key to phone_digits.
func fieldValues(f record.Fields) values {
	first, last, email, phone := fold.String(f.FirstName), fold.String(f.LastName),
		fold.String(f.Email), fold.String(f.PhoneNumber)
	var bornAt value
	if f.DateOfBirth != "" {
		bornAt = f.Born().UnixNano()
	}
	return values{
		f.FirstName, f.LastName, orNull(f.PhoneNumber), orNull(f.Email), orNull(f.DateOfBirth),
		first, last, nullWith(email, f.Email), nullWith(phone, f.PhoneNumber), bornAt,
		strings.Join([]string{first, last, email, f.PhoneNumber}, "\n"), digits(f.PhoneNumber),
	}
}

// nullWith gives key, or null if the text that it was made from is null. A
// text of marks alone has an empty key.
func nullWith(key, from string) value {
	if from == "" {
		return nil
	}
	return key
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
