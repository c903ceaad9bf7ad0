package record

import (
	"strings"
	"time"
)

// Fields are what a department enters about a firefighter. An empty string
// is no value: null in JSON and in the database.
type Fields struct {
	FirstName   string
	LastName    string
	PhoneNumber string
	Email       string
	DateOfBirth string // normalized: RFC 3339, with the offset that was sent
}

// field describes one of the Fields. JSON, validation, the columns of the table,
// checksums and summaries are made from it.
type field struct {
	name     string // in JSON
	column   string // in the table firefighters
	required bool
	limit    int // characters (Unicode code points); unused for a date
	// normalize refuses what the field may not hold. It must refuse line
	// breaks, because the checksum is of lines.
	normalize func(e *FieldErrors, f field, value string, now time.Time) string
	of        func(*Fields) *string
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
var fields = []field{
	{"firstName", "first_name", true, maxName, normalizeText, func(f *Fields) *string { return &f.FirstName }},
	{"lastName", "last_name", true, maxName, normalizeText, func(f *Fields) *string { return &f.LastName }},
	{"phoneNumber", "phone_number", false, maxPhoneNumber, normalizeText, func(f *Fields) *string { return &f.PhoneNumber }},
	{"email", "email", false, maxEmail, normalizeEmail, func(f *Fields) *string { return &f.Email }},
	{"dateOfBirth", "date_of_birth", false, 0, normalizeBirth, func(f *Fields) *string { return &f.DateOfBirth }},
}

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
		value := *d.of(&f)
		if d.required && strings.TrimSpace(value) == "" {
			errs.Add(d.name, Required, "%s is required.", d.name)
		}
		*d.of(&normal) = d.normalize(&errs, d, value, now)
	}
	return normal, errs
}

// Each calls each for all fields, by their names in JSON and in its order.
func (f *Fields) Each(each func(name string, value *string)) {
	for _, d := range fields {
		each(d.name, d.of(f))
	}
}

// Summary returns the fields that have a value in one line.
func (f Fields) Summary() string {
	parts := []string{f.FirstName + " " + f.LastName}
	for _, d := range fields[2:] {
		if value := *d.of(&f); value != "" {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ", ")
}
