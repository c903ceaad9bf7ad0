package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"firefighters/internal/fold"
	"firefighters/internal/record"
)

// Every method here is for one department. Another department's record, a
// deleted one and one that never was are errNotFound alike.

// columns are all of a row that makes a record, in one text, for each column
// costs the driver more than the text in it: a line each for the checksum, the
// row number, a number for the query to choose, and id and fields, which contain
// no line break; then what the platform says, with = before it if it is not null.
const (
	columns     = columnsWith + `0` + columnsEnd
	columnsWith = `concat_ws(char(10), checksum, row, `
	columnsEnd  = `, firefighters.id, first_name, last_name, ifnull(phone_number, ''), ifnull(email, ''),
	ifnull(date_of_birth, ''), ifnull('=' || user_id, ''), ifnull('=' || invitation_status, ''))`
)

// scan makes records of a department's rows, and remembers the first that is
// damaged: not what the service has written.
type scan struct {
	tenant  tenantID
	deleted bool // it is deleted records that are read
	damaged error

	row    int64 // of the last record
	number int64 // that the query chose
}

// damagedRecord is the error for a record that must not be taken for the
// truth. Its id may be what is damaged.
type damagedRecord struct{ id string }

func (d damagedRecord) Error() string {
	return fmt.Sprintf("the record %q is damaged: its fields do not have their checksum", d.id)
}

func (s *scan) record(columns values) (f record.Firefighter) {
	rest, line := text(columns[0]), ""
	var sum int64
	for _, number := range []*int64{&sum, &s.row, &s.number} {
		line, rest, _ = strings.Cut(rest, "\n")
		*number, _ = strconv.ParseInt(line, 10, 64) // SQLite has written it
	}
	fields := rest
	for _, field := range []*string{&f.ID, &f.FirstName, &f.LastName, &f.PhoneNumber, &f.Email, &f.DateOfBirth} {
		*field, rest, _ = strings.Cut(rest, "\n")
	}
	if s.deleted {
		sum = ^sum
	}
	f.UserID, f.InvitationStatus = platformColumns(rest)
	if s.damaged == nil && sum != checksum(s.tenant, fields[:max(0, len(fields)-len(rest)-1)]) {
		s.damaged = damagedRecord{f.ID}
	}
	return f
}

// platformColumns takes the end of columns apart. A user_id has 36 characters,
// whatever they are.
func platformColumns(end string) (userID, invitationStatus *string) {
	if user, ok := strings.CutPrefix(end, "="); ok {
		size := 0
		for range 36 {
			_, width := utf8.DecodeRuneInString(user[size:])
			size += width
		}
		user, end = user[:size], user[size:]
		userID = &user
	}
	if status, ok := strings.CutPrefix(end, "\n="); ok {
		invitationStatus = &status
	}
	return userID, invitationStatus
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the CRC-32C of a department's number, eight bytes, and a record's
// id and fields, a line each.
func checksum(tenant tenantID, fields string) int64 {
	bytes := make([]byte, 0, 8+len(fields))
	bytes = binary.BigEndian.AppendUint64(bytes, uint64(tenant))
	return int64(crc32.Checksum(append(bytes, fields...), castagnoli))
}

func checksumOf(tenant tenantID, id string, f record.Fields) int64 {
	return checksum(tenant, strings.Join([]string{id, f.FirstName, f.LastName, f.PhoneNumber, f.Email, f.DateOfBirth}, "\n"))
}

// inTable are a department's records that are not deleted, as they lie in the
// table. The tenant is ?1.
const inTable = ` FROM firefighters
	WHERE row BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff AND deleted_at IS NULL`

const getSQL = `SELECT ` + columns + ` FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`

func (s *store) firefighter(tenant tenantID, id string) (f record.Firefighter, err error) {
	err = s.read(func(c *conn) error {
		f, _, err = c.firefighter(tenant, id)
		return err
	})
	return f, err
}

// firefighter gives a record and its row number. Of one that is damaged it
// gives what is there, and the error says so.
func (c *conn) firefighter(tenant tenantID, id string) (f record.Firefighter, row int64, err error) {
	scan := scan{tenant: tenant}
	err = c.queryRow(getSQL, values{id, int64(tenant)}, func(columns values) { f = scan.record(columns) })
	return f, scan.row, cmp.Or(err, scan.damaged)
}

const createSQL = `
	INSERT INTO firefighters (row, id, tenant_id, created_at, updated_at, checksum,
		first_name, last_name, phone_number, email, date_of_birth,
		first_key, last_key, email_key, phone_key, born_at, search_text, phone_digits)
	SELECT id << 32 | (last_seq + 1), ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
	  FROM tenants WHERE id = ?`

// createFirefighter gives the record as it now stands on disk, or the
// record.FieldErrors of fields. What it answers to an attempt with a key is kept.
func (s *store) createFirefighter(tenant tenantID, by keyID, fields record.Fields, a attempt) (record.Firefighter, error) {
	fields, faults := fields.Normalize(s.clock.now())
	if len(faults) > 0 {
		return record.Firefighter{}, faults
	}
	f := record.Firefighter{ID: newID(), Fields: fields}
	made := createValues(tenant, f)
	err := s.write(func(t *transaction) error {
		err := t.create(tenant, by, f.ID, made)
		if err == nil && a.key != "" {
			err = t.keepAnswer(tenant, a, f)
		}
		return err
	})
	return f, err
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// createValues are those of createSQL from checksum on.
func createValues(tenant tenantID, f record.Firefighter) values {
	return append(values{checksumOf(tenant, f.ID, f.Fields)}, fieldValues(f.Fields)...)
}

func (t *transaction) create(tenant tenantID, by keyID, id string, made values) error {
	created, row, err := t.insert(createSQL, slices.Concat(values{id, t.now, t.now}, made, values{int64(tenant)})...)
	switch {
	case err != nil:
		return err
	case created == 0:
		return fmt.Errorf("department %d is gone", tenant)
	}
	return t.remember(tenant, by, row, change{actionCreate, id, nil})
}

const replaceSQL = `
	UPDATE firefighters
	   SET updated_at = ?, checksum = ?,
	       first_name = ?, last_name = ?, phone_number = ?, email = ?, date_of_birth = ?,
	       first_key = ?, last_key = ?, email_key = ?, phone_key = ?, born_at = ?,
	       search_text = ?, phone_digits = ?
	 WHERE row = ? AND tenant_id = ?`

// replaceFirefighter replaces all fields of a record, clearing those that are
// empty, and gives it as it now stands on disk, or the record.FieldErrors of fields.
// A damaged record is whole again by that. The error is errChanged if the record
// is not as on asks for.
func (s *store) replaceFirefighter(tenant tenantID, by keyID, id string, fields record.Fields, on conditions) (f record.Firefighter, err error) {
	fields, faults := fields.Normalize(s.clock.now())
	if len(faults) > 0 {
		return f, faults
	}
	made := fieldValues(fields)
	err = s.write(func(t *transaction) error {
		before, row, err := t.before(tenant, id, on)
		if err != nil {
			return err
		}
		f = before.Firefighter
		f.Fields = fields
		err = t.execOne(replaceSQL, slices.Concat(values{t.now, checksumOf(tenant, id, fields)}, made, values{row, int64(tenant)})...)
		if err != nil {
			return err
		}
		return t.remember(tenant, by, row, change{actionReplace, id, before})
	})
	return f, err
}

// Of a record that is deleted the checksum is inverted, so that not even a
// deletion can be undone by damage.
const deleteSQL = `UPDATE firefighters SET deleted_at = ?, checksum = ~checksum WHERE row = ? AND tenant_id = ?`

// deleteFirefighter is a soft delete: the row stays. The error is errChanged if
// the record is not as on asks for.
func (s *store) deleteFirefighter(tenant tenantID, by keyID, id string, on conditions) error {
	return s.write(func(t *transaction) error {
		before, row, err := t.before(tenant, id, on)
		if err != nil {
			return err
		}
		if err := t.execOne(deleteSQL, t.now, row, int64(tenant)); err != nil {
			return err
		}
		return t.remember(tenant, by, row, change{actionDelete, id, before})
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
