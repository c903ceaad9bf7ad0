package record

import (
	"database/sql/driver"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Columns are the columns of the table firefighters that Scan reads.
var Columns = ColumnsWithoutTimes + ", created_at, updated_at"

// ColumnsWithoutTimes are the Columns without the last two, which make up a tenth of the time of a list.
var ColumnsWithoutTimes = "row, checksum, id, " + FieldColumns + ", invitation_status, user_id"

// FieldColumns are the columns of the Fields, in order.
var FieldColumns = func() string {
	var names []string
	for _, d := range fields {
		names = append(names, d.column)
	}
	return strings.Join(names, ", ")
}()

// KeyColumns are the columns for sorting and searching. Their values derive from the fields.
const KeyColumns = "first_key, last_key, email_key, phone_key, born_at, search_text, phone_digits"

// Stored is a record as stored in its row.
type Stored struct {
	Firefighter
	Row       int64 // row number: tenant << 32 | sequence number
	DeletedAt int64 // milliseconds; not set by Scan
	Damaged   bool  // the checksum does not match
}

// Err returns a DamagedError if the record is damaged.
func (s *Stored) Err() error {
	if s.Damaged {
		return &DamagedError{s.ID}
	}
	return nil
}

// Scan reads a row of Columns or ColumnsWithoutTimes into s. It marks s as damaged unless the checksum
// matches a record of tenant in the given deleted state.
func Scan(tenant TenantID, deleted bool, row []driver.Value, s *Stored) {
	s.Row, s.ID = number(row[0]), text(row[2])
	rest := row[3:]
	for i := range fields {
		*fields[i].Of(&s.Fields) = text(rest[i])
	}
	rest = rest[len(fields):]
	s.InvitationStatus, s.UserID = textOrNil(rest[0]), textOrNil(rest[1])
	if times := rest[2:]; len(times) > 0 {
		s.CreatedAt, s.UpdatedAt = number(times[0]), number(times[1])
	}
	s.Damaged = number(row[1]) != Checksum(tenant, s.ID, &s.Fields, deleted)
}

func number(v driver.Value) int64 { n, _ := v.(int64); return n }

func text(v driver.Value) string { s, _ := v.(string); return s }

func textOrNil(v driver.Value) *string {
	if v == nil {
		return nil
	}
	s := text(v)
	return &s
}

// buffers holds the memory of checksums. A list would allocate as much for them as for its records.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of the tenant id (eight bytes), the id of the record and its fields,
// one per line.
//
// All bits are inverted for a deleted record. A damaged deletion time therefore cannot restore a
// record, and deleting or restoring updates the checksum without reading the fields. Adding a
// deleted byte to the sum would require the fields, and a new checksum for every existing record.
func Checksum(tenant TenantID, id string, f *Fields, deleted bool) int64 {
	buffer := buffers.Get().(*[]byte)
	b := binary.BigEndian.AppendUint64((*buffer)[:0], uint64(tenant))
	b = append(b, id...)
	for i := range fields {
		value := *fields[i].Of(f)
		switch {
		case i < alwaysSummed:
			b = append(append(b, '\n'), value...)
		case value != "":
			b = append(append(append(append(b, '\n'), fields[i].Name...), '='), value...)
		}
	}
	sum := int64(crc32.Checksum(b, castagnoli))
	*buffer = b
	buffers.Put(buffer)
	if deleted {
		return ^sum
	}
	return sum
}

// Values returns the values of FieldColumns for normalized fields.
func (f Fields) Values() []driver.Value {
	values := make([]driver.Value, len(fields))
	for i := range fields {
		value := *fields[i].Of(&f)
		values[i] = textOrNull(value, value)
	}
	return values
}

// Keys returns the values of KeyColumns for normalized fields.
func (f Fields) Keys() []driver.Value {
	first, last := fold.String(f.FirstName), fold.String(f.LastName)
	email, phone := fold.String(f.Email), fold.String(f.PhoneNumber)
	var bornAt driver.Value
	if f.DateOfBirth != "" {
		bornAt = f.Born().UnixNano()
	}
	return []driver.Value{first, last, textOrNull(email, f.Email), textOrNull(phone, f.PhoneNumber), bornAt,
		strings.Join([]string{first, last, email, f.PhoneNumber}, "\n"), Digits(f.PhoneNumber)}
}

// textOrNull returns value, or nil if from, the text it derives from, is empty. A text of only
// marks has an empty key.
func textOrNull(value, from string) driver.Value {
	if from == "" {
		return nil
	}
	return value
}

// Digits returns the ASCII digits of s.
func Digits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
