// Package record defines a firefighter's record: its field rules, its JSON and database
// representations, and list queries.
package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ParseID returns the id of a record in canonical form.
func ParseID(text string) (string, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 { // Parse accepts other forms
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
	InvitationStatus *string // nil is null; written by the department's platform, never by this service
	UserID           *string // the same
	CreatedAt        int64   // creation time in milliseconds; 0: unknown
	UpdatedAt        int64   // time of the last change to its fields, in milliseconds; 0: unknown
}

// Fields are the data that a department enters about a firefighter. The empty string means no
// value: null in JSON and in the database.
type Fields struct {
	FirstName   string
	LastName    string
	PhoneNumber string
	Email       string
	DateOfBirth string // normalized: RFC 3339, with the offset as sent
}

// Field describes a field of a record. JSON, validation, table columns, checksums, summaries,
// imports and exports derive from it.
type Field struct {
	Name string // in JSON

	// Headings are the words that name the field in the header row of a list. Besides are words
	// that may accompany a heading, such as "number" in "phone number". Both are folded, written
	// without inner spaces, separated by spaces, and cover all languages of the office and the
	// terms used by other programs.
	Headings, Besides string

	// Several allows several columns for the field. In each row, the first filled column counts:
	// columns with a word of Earlier come first, columns with a word of Later last. A word of Alone
	// is enough to name a column whose cells look like values of the field.
	Several               bool
	Earlier, Later, Alone string

	VCard string   // vCard property with its parameters
	Demo  []string // sample values; nil if package demo generates them

	Required bool
	Of       func(*Fields) *string // returns the field

	column string // in table firefighters
	limit  int    // characters (Unicode code points); unused for a date
	// normalize returns the stored value and adds errors for invalid values. It must reject line
	// breaks, because the checksum covers lines.
	normalize func(e *FieldErrors, f Field, value string, now time.Time) string
}

// Maximum lengths in characters.
const (
	maxName        = 100
	maxPhoneNumber = 50
	maxEmail       = 254 // RFC 5321, section 4.5.3.1.3, without the angle brackets
)

// fields has an entry for each of the Fields, in JSON order.
//
// Add new fields at the end. A new field contributes its name and value to the checksum only if it
// has a value, so existing checksums stay valid.
var fields = []Field{
	{Name: "firstName", column: "first_name", Required: true, limit: maxName, normalize: normalizeName,
		Of:       func(f *Fields) *string { return &f.FirstName },
		Headings: firstNames, VCard: "N"},
	{Name: "lastName", column: "last_name", Required: true, limit: maxName, normalize: normalizeName,
		Of:       func(f *Fields) *string { return &f.LastName },
		Headings: lastNames, VCard: "N"},
	{Name: "phoneNumber", column: "phone_number", limit: maxPhoneNumber, normalize: normalizePhone,
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

// AllFields returns an entry for each of the Fields, in JSON order.
func AllFields() []Field { return slices.Clone(fields) }

// FieldNames returns the JSON names of the Fields, in JSON order.
func FieldNames() (names []string) {
	for _, d := range fields {
		names = append(names, d.Name)
	}
	return names
}

// NameFields is the number of name fields. They come first.
const NameFields = 2

// alwaysSummed is the number of fields that contribute to the checksum without their name, even
// when empty.
const alwaysSummed = 5

// Normalize returns the fields in stored form, with text trimmed and without the invisible
// characters of a paste, the e-mail address and phone number in NFC and the date of birth in
// canonical form, and all errors. A date of birth may be at most one day after now.
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

// With returns a copy of f in which every non-empty field of other replaces that of f.
func (f Fields) With(other *Fields) Fields {
	for d, value := range other.Each {
		if *value != "" {
			*d.Of(&f) = *value
		}
	}
	return f
}

// Each iterates over the fields and their values, in JSON order.
func (f *Fields) Each(yield func(d Field, value *string) bool) {
	for _, d := range fields {
		if !yield(d, d.Of(f)) {
			return
		}
	}
}

// Summary returns all non-empty fields on one line.
func (f Fields) Summary() string {
	return strings.Join(append([]string{f.FirstName + " " + f.LastName}, f.Details()...), ", ")
}

// BirthText returns the date of birth for display, such as 1990-02-01. It includes the time unless
// that is midnight UTC.
func (f Fields) BirthText() string { return strings.TrimSuffix(f.DateOfBirth, "T00:00:00Z") }

// Details returns the non-empty fields other than the name, for display.
func (f Fields) Details() (values []string) {
	f.DateOfBirth = f.BirthText()
	for _, d := range fields[NameFields:] {
		if value := *d.Of(&f); value != "" {
			values = append(values, value)
		}
	}
	return values
}
