// Package record is a firefighter's record: the rules for its fields, its form
// in JSON and in the database, and the query of a list.
package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ParseID returns the id of a record in its canonical form.
func ParseID(text string) (string, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 { // Parse accepts other spellings, too
		return "", fmt.Errorf("%q is not the id of a record", text)
	}
	return id.String(), nil
}

// TenantID is the number of a department.
type TenantID int64

// Firefighter is a record of a department.
type Firefighter struct {
	ID string // canonical lower-case UUID
	Fields
	InvitationStatus *string // nil is null; the department's platform writes it, the service never does
	UserID           *string // likewise
	CreatedAt        int64   // when it was made, in milliseconds; 0: not known
	UpdatedAt        int64   // when its fields were last written, likewise
}

// Fields are what a department enters about a firefighter. An empty string
// is no value: null in JSON and in the database.
type Fields struct {
	FirstName   string
	LastName    string
	PhoneNumber string
	Email       string
	DateOfBirth string // normalized: RFC 3339, with the offset that was sent
}

// Field describes one of the Fields. JSON, validation, the columns of the table,
// checksums, summaries, and the files that people bring and take are made from it.
type Field struct {
	Name string // in JSON

	// Headings are the words that name the field in somebody's list, and Besides
	// those that may stand beside one of them, as "number" in "phone number". They
	// stand in the languages of the office and as other programs have them, folded,
	// in lower case, without spaces, and with spaces between them.
	Headings, Besides string

	// Several says that a list can have several columns for the field, of which the
	// first that is filled counts, row by row. One with a word of Earlier comes before
	// others, one with a word of Later after them. A word of Alone names a column
	// without another word if the cells look like values of the field.
	Several               bool
	Earlier, Later, Alone string

	VCard string   // the property of a vCard, with its parameters
	Demo  []string // values to invent; nil where package demo has a way of its own

	Required bool
	Of       func(*Fields) *string // its place

	column string // in the table firefighters
	limit  int    // characters (Unicode code points); unused for a date
	// normalize refuses what the field may not hold. It must refuse line
	// breaks, because the checksum is of lines.
	normalize func(e *FieldErrors, f Field, value string, now time.Time) string
}

// Longest values, in characters.
const (
	maxName        = 100
	maxPhoneNumber = 50
	maxEmail       = 254 // RFC 5321, section 4.5.3.1.3, less the angle brackets
)

// fields has an entry for each of the Fields, in the order of JSON.
//
// A field that is added later stands after these. It adds to the checksum, with
// its name, only where it has a value. So the checksums of existing records stay
// right.
var fields = []Field{
	{Name: "firstName", column: "first_name", Required: true, limit: maxName, normalize: normalizeName,
		Of:       func(f *Fields) *string { return &f.FirstName },
		Headings: firstNames, VCard: "N"},
	{Name: "lastName", column: "last_name", Required: true, limit: maxName, normalize: normalizeName,
		Of:       func(f *Fields) *string { return &f.LastName },
		Headings: lastNames, VCard: "N"},
	{Name: "phoneNumber", column: "phone_number", limit: maxPhoneNumber, normalize: normalizeText,
		Of:       func(f *Fields) *string { return &f.PhoneNumber },
		Headings: phones, Besides: besidesPhones + which, VCard: "TEL;TYPE=VOICE",
		Several: true, Earlier: mobiles + texts, Later: works, Alone: homes + works},
	{Name: "email", column: "email", limit: maxEmail, normalize: normalizeEmail,
		Of:       func(f *Fields) *string { return &f.Email },
		Headings: emails, Besides: besidesEmails + which, VCard: "EMAIL;TYPE=INTERNET",
		Several: true},
	{Name: "dateOfBirth", column: "date_of_birth", normalize: normalizeBirth,
		Of:       func(f *Fields) *string { return &f.DateOfBirth },
		Headings: births, Besides: besidesBirths, VCard: "BDAY"},
}

// AllFields returns an entry for each of the Fields, in the order of JSON.
func AllFields() []Field { return slices.Clone(fields) }

// FieldNames returns the names of the Fields in JSON, in its order.
func FieldNames() (names []string) {
	for _, d := range fields {
		names = append(names, d.Name)
	}
	return names
}

// NameFields is the number of fields that are the name. They stand first.
const NameFields = 2

// alwaysSummed is the number of fields that add to the checksum without their
// name, and without a value, too.
const alwaysSummed = 5

// Normalize returns the fields as they are stored: trimmed, and the date of
// birth in its one form. With them it returns everything that is wrong. A date of
// birth may be at most a day after now.
func (f Fields) Normalize(now time.Time) (Fields, FieldErrors) {
	var errs FieldErrors
	var normal Fields
	for _, d := range fields {
		value := *d.Of(&f)
		if d.Required && strings.TrimSpace(value) == "" {
			errs.Add(d.Name, Required, "%s is required.", d.Name)
		}
		*d.Of(&normal) = d.normalize(&errs, d, value, now)
	}
	return normal, errs
}

// With returns the fields, but for those in which other has a value.
func (f Fields) With(other *Fields) Fields {
	for d, value := range other.Each {
		if *value != "" {
			*d.Of(&f) = *value
		}
	}
	return f
}

// Each is the sequence of the fields and their values, in the order of JSON.
func (f *Fields) Each(yield func(d Field, value *string) bool) {
	for _, d := range fields {
		if !yield(d, d.Of(f)) {
			return
		}
	}
}

// Summary returns the fields that have a value in one line.
func (f Fields) Summary() string {
	return strings.Join(append([]string{f.FirstName + " " + f.LastName}, f.Details()...), ", ")
}

// BirthText returns the date of birth for people: as 1990-02-01, with a time only if that is
// not midnight UTC.
func (f Fields) BirthText() string { return strings.TrimSuffix(f.DateOfBirth, "T00:00:00Z") }

// Details returns the values of the fields beside the name for people, without those that
// have none.
func (f Fields) Details() (values []string) {
	f.DateOfBirth = f.BirthText()
	for _, d := range fields[NameFields:] {
		if value := *d.Of(&f); value != "" {
			values = append(values, value)
		}
	}
	return values
}
