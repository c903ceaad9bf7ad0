// Package record is a firefighter's record and the rules for what stands in it.
package record

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Longest values, in characters (Unicode code points).
const (
	maxName        = 100
	maxPhoneNumber = 50
	maxEmail       = 254 // RFC 5321, section 4.5.3.1.3, less the angle brackets
)

// Fields are what a department says of a firefighter. An empty string is no
// value, null in JSON and in the database.
type Fields struct {
	FirstName   string
	LastName    string
	PhoneNumber string
	Email       string
	DateOfBirth string // once clean: RFC 3339, with the offset that was sent
}

// Firefighter is a record as it stands in the database.
type Firefighter struct {
	ID string // canonical lower-case UUID
	Fields
	InvitationStatus *string // nil is null; the platform's, never ours to change
	UserID           *string // likewise
}

// Codes of faults.
const (
	Required   = "required"
	TooLong    = "too_long"
	Invalid    = "invalid"
	Unknown    = "unknown"
	WrongType  = "wrong_type"
	Duplicate  = "duplicate"
	OutOfRange = "out_of_range"
)

// Fault is one thing that is wrong with what somebody sent.
type Fault struct {
	Field  string `json:"field"`
	Code   string `json:"code"`
	Detail string `json:"detail"` // a sentence for people
}

// Faults is everything that is wrong at once.
type Faults []Fault

// Error is the detail of the only fault, or says how many there are.
func (f Faults) Error() string {
	if len(f) == 1 {
		return f[0].Detail
	}
	return fmt.Sprintf("There are %d faults. The first: %s", len(f), f[0].Detail)
}

// Add notes a fault of field; its detail is made as fmt.Sprintf does.
func (f *Faults) Add(field, code, format string, args ...any) {
	*f = append(*f, Fault{field, code, fmt.Sprintf(format, args...)})
}

// Merge adds those of more whose fields have no fault yet.
func (f *Faults) Merge(more Faults) {
	known := *f
	for _, fault := range more {
		same := func(k Fault) bool { return k.Field == fault.Field }
		if !slices.ContainsFunc(known, same) {
			*f = append(*f, fault)
		}
	}
}

// Clean gives the fields as they are stored, trimmed and with the date of
// birth in its one form, or everything that is wrong with them. now is what
// no date of birth may be more than a day ahead of.
func (f Fields) Clean(now time.Time) (Fields, Faults) {
	var faults Faults
	clean := Fields{
		FirstName:   faults.required("firstName", f.FirstName, maxName),
		LastName:    faults.required("lastName", f.LastName, maxName),
		PhoneNumber: faults.text("phoneNumber", f.PhoneNumber, maxPhoneNumber),
		Email:       faults.email("email", f.Email),
		DateOfBirth: faults.birth("dateOfBirth", f.DateOfBirth, now),
	}
	return clean, faults
}

// Name gives a required text as it is stored, by the rules of a firefighter's
// name, which are those of a department's too.
func Name(field, value string) (string, Faults) {
	var faults Faults
	return faults.required(field, value, maxName), faults
}

// Label is Name for a text that may be empty.
func Label(field, value string) (string, Faults) {
	var faults Faults
	return faults.text(field, value, maxName), faults
}

func (f *Faults) required(field, value string, limit int) string {
	if strings.TrimSpace(value) == "" {
		f.Add(field, Required, "%s is required.", field)
	}
	return f.text(field, value, limit)
}

// text trims value and refuses what no text may hold: more than limit
// characters, a control character, or U+FFFD, which is what the JSON decoder
// makes of broken UTF-8 and of lone surrogates. What is refused comes back
// empty.
func (f *Faults) text(field, value string, limit int) string {
	value = strings.TrimSpace(value)
	switch {
	case utf8.RuneCountInString(value) > limit:
		f.Add(field, TooLong, "%s may have at most %d characters.", field, limit)
	case strings.ContainsFunc(value, unicode.IsControl):
		f.Add(field, Invalid, "%s contains a control character.", field)
	case strings.ContainsRune(value, utf8.RuneError):
		f.Add(field, Invalid, "%s contains a damaged character.", field)
	default:
		return value
	}
	return ""
}

// email refuses what is not one address as it stands, such as one with a
// display name, in angle brackets or with a comment.
func (f *Faults) email(field, value string) string {
	value = f.text(field, value, maxEmail)
	if value == "" {
		return ""
	}
	address, err := mail.ParseAddress(value)
	if err != nil || address.Name != "" || address.Address != value {
		f.Add(field, Invalid, "%s must be one bare e-mail address, like name@example.org.", field)
	}
	return value
}
