package record

import (
	"cmp"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// NormalizeName returns a required text as it is stored, by the rules for the name of a
// firefighter, which are also those for the name of a department. The error is a
// *TextError.
func NormalizeName(value string) (string, error) {
	if strings.TrimSpace(value) == "" {
		return "", &TextError{Required, "is required"}
	}
	return NormalizeLabel(value)
}

// NormalizeLabel is NormalizeName for a text that may be empty.
func NormalizeLabel(value string) (string, error) {
	value, code, fault := checkText(value, maxName)
	if fault == "" && !Visible(value) && value != "" {
		code, fault = Invalid, noVisible
	}
	if fault != "" {
		return "", &TextError{code, fault}
	}
	return value, nil
}

// Visible reports whether a text shows anything. Spaces show nothing, nor do characters
// of format, such as U+200B or the marks of direction, and others that fonts leave blank.
// Such characters may stand between letters, where Persian and other languages need them.
func Visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.In(r, blank...) && r != brailleBlank })
}

// blank are the characters that show nothing.
var blank = []*unicode.RangeTable{unicode.Z, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}

// brailleBlank is a pattern without dots.
const brailleBlank = '\u2800'

// noVisible is the fault of a name that shows nothing.
const noVisible = "has no visible character"

// normalizeName is normalizeText for a text that must show something.
func normalizeName(e *FieldErrors, f Field, value string, now time.Time) string {
	value = normalizeText(e, f, value, now)
	if value != "" && !Visible(value) {
		e.Add(f.Name, Invalid, "%s %s.", f.Name, noVisible)
		return ""
	}
	return value
}

func normalizeText(e *FieldErrors, f Field, value string, _ time.Time) string {
	value, code, fault := checkText(value, f.limit)
	if fault != "" {
		e.Add(f.Name, code, "%s %s.", f.Name, fault)
	}
	return value
}

// checkText trims value. It refuses more than limit characters, control
// characters and U+FFFD, which is what the JSON decoder makes of broken UTF-8
// and of lone surrogates. It returns a refused text empty.
func checkText(value string, limit int) (text, code, fault string) {
	value = strings.TrimSpace(value)
	switch {
	case utf8.RuneCountInString(value) > limit:
		return "", TooLong, fmt.Sprintf("may have at most %d characters", limit)
	case strings.ContainsFunc(value, unicode.IsControl):
		return "", Invalid, "contains a control character"
	case strings.ContainsRune(value, utf8.RuneError):
		return "", Invalid, "contains a damaged character"
	}
	return value, "", ""
}

// normalizeEmail refuses what is not one bare address, such as one with a
// display name, in angle brackets, with a comment, or with a space of any kind.
func normalizeEmail(e *FieldErrors, f Field, value string, now time.Time) string {
	value = normalizeText(e, f, value, now)
	if value == "" {
		return ""
	}
	address, err := mail.ParseAddress(value)
	if err != nil || address.Address != value || strings.ContainsFunc(value, isSpace) {
		e.Add(f.Name, Invalid, "%s must be one bare e-mail address, like name@example.org.", f.Name)
	}
	return value
}

// isSpace reports whether a character is white space, also for a regular expression of
// ECMAScript, by which clients check what they send.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

// birthForm is a date-time of RFC 3339, in which the offset or the whole time
// may be missing. The fraction may have 32 digits, which are all stored. Lists
// are sorted by the first nine.
var birthForm = regexp.MustCompile(
	`^(\d{4}-\d{2}-\d{2})` +
		`(?:[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,32})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$`)

// earliestYear is the earliest year of birth, by the calendar of the offset
// that was sent.
const earliestYear = 1900

// normalizeBirth returns a date of birth in the form in which it is stored:
// date, time and offset as they were sent, Z where there was no offset,
// midnight where there was no time, and no fraction that is zero.
func normalizeBirth(e *FieldErrors, f Field, value string, now time.Time) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	value, ok := canonicalBirth(value)
	if !ok {
		e.Add(f.Name, Invalid, "%s must be a date that exists, like 1990-05-15 or 1990-05-15T00:00:00Z.", f.Name)
		return ""
	}
	switch born := (Fields{DateOfBirth: value}).Born(); {
	case born.Year() < earliestYear:
		e.Add(f.Name, OutOfRange, "%s may not be before the year %d.", f.Name, earliestYear)
	case born.After(now.Add(24 * time.Hour)):
		e.Add(f.Name, OutOfRange, "%s may not be in the future.", f.Name)
	}
	return value
}

func canonicalBirth(value string) (string, bool) {
	part := birthForm.FindStringSubmatch(value)
	if part == nil {
		return "", false
	}
	fraction := part[3]
	if strings.Trim(fraction, ".0") == "" {
		fraction = ""
	}
	value = part[1] + "T" + cmp.Or(part[2], "00:00:00") + fraction + cmp.Or(strings.ToUpper(part[4]), "Z")
	_, err := time.Parse(time.RFC3339Nano, value)
	return value, err == nil
}

// Born returns the instant of a normalized date of birth with the offset that
// was sent. Without a date of birth it is the zero time.
func (f Fields) Born() time.Time {
	born, _ := time.Parse(time.RFC3339Nano, f.DateOfBirth)
	return born
}
