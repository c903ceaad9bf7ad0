package record

import (
	"cmp"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// NormalizeName returns a required text in stored form, by the rules for names of firefighters and
// departments. The error is a *TextError.
func NormalizeName(value string) (string, error) {
	if strings.TrimSpace(value) == "" {
		return "", &TextError{Required, "is required"}
	}
	name, err := NormalizeLabel(value)
	if err == nil && name == "" {
		err = &TextError{Invalid, noVisible}
	}
	return name, err
}

// NormalizeLabel is like NormalizeName, but accepts an empty text.
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

// NormalizeCountry returns a country code (ISO 3166-1 alpha-2) in upper case, or an empty text for an
// empty text. The error is a *TextError.
func NormalizeCountry(value string) (string, error) {
	country := strings.ToUpper(strings.TrimSpace(value))
	if country != "" && phone.CallingCode(country) == "" {
		return "", &TextError{Invalid, fmt.Sprintf("must be a code of two letters, such as HR, not %q", value)}
	}
	return country, nil
}

// Visible reports whether text has a character that fonts show.
func Visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !fold.Invisible(r) && r != brailleBlank })
}

// brailleBlank is the Braille pattern without dots.
const brailleBlank = '\u2800'

const noVisible = "has no visible character"

// normalizeName is like normalizeText, but also rejects text without a visible character.
func normalizeName(e *FieldErrors, f Field, value string, now time.Time) string {
	if strings.TrimSpace(value) != "" && !Visible(value) {
		e.Add(f.Name, Invalid, "%s %s.", f.Name, noVisible)
		return ""
	}
	return normalizeText(e, f, value, now)
}

func normalizeText(e *FieldErrors, f Field, value string, _ time.Time) string {
	value, code, fault := checkText(value, f.limit)
	if fault != "" {
		e.Add(f.Name, code, "%s %s.", f.Name, fault)
	}
	return value
}

// checkText trims value and removes invisible characters that its letters do not need. It rejects
// text that is longer than limit characters or contains control characters or U+FFFD, which the
// JSON decoder substitutes for invalid UTF-8 and lone surrogates. It returns rejected text as empty.
func checkText(value string, limit int) (text, code, fault string) {
	value = strings.TrimSpace(fold.CleanName(value))
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

// normalizePhone removes invisible characters and the scheme of a link.
func normalizePhone(e *FieldErrors, f Field, value string, now time.Time) string {
	return normalizeText(e, f, cutScheme(fold.Clean(value)), now)
}

// cutScheme removes the scheme of a link to a phone number, and spaces around the number.
func cutScheme(text string) string {
	const scheme = "tel:"
	text = strings.TrimSpace(text)
	for len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
		text = strings.TrimSpace(text[len(scheme):])
	}
	return text
}

// normalizeEmail accepts only a single bare address: no display name, angle brackets, comment or
// space.
func normalizeEmail(e *FieldErrors, f Field, value string, now time.Time) string {
	value = normalizeText(e, f, fold.Clean(value), now)
	if value == "" {
		return ""
	}
	address, err := mail.ParseAddress(value)
	if err != nil || address.Address != value || strings.ContainsFunc(value, unicode.IsSpace) {
		e.Add(f.Name, Invalid, "%s must be one bare e-mail address, like name@example.org.", f.Name)
	}
	return value
}

// birthForm matches a date with an optional time and offset. Java writes no seconds of zero, and a
// time zone in brackets after the offset, and Jackson the offset +0000. XML has dates with an offset
// and no time. The fraction may have up to 32 digits, all of which are stored. Sorting uses the first
// nine.
var birthForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:` +
		`[Tt](\d{2}:\d{2})(?:(:\d{2})([.,]\d{1,32})?)?(?:([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)(?:\[[\w/+:-]{1,40}\])?)?` +
		`|([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$`)
})

// EarliestYear is the earliest year of birth, in the offset as sent.
const EarliestYear = 1900

// normalizeBirth returns a date of birth in stored form: date, time and offset as sent, with
// default offset Z, default time midnight, and no zero fraction.
func normalizeBirth(e *FieldErrors, f Field, value string, now time.Time) string {
	if value = strings.TrimSpace(fold.Clean(value)); value == "" {
		return ""
	}
	part := birthForm().FindStringSubmatch(value)
	if part == nil {
		e.Add(f.Name, Invalid, "%s must have the form 1990-05-15 or 1990-05-15T00:00:00Z.", f.Name)
		return ""
	}
	value, missing := canonicalBirth(part)
	if missing != "" {
		e.Add(f.Name, Invalid, "%s must be a %s that exists.", f.Name, missing)
		return ""
	}
	switch born := (Fields{DateOfBirth: value}).Born(); {
	case born.Year() < EarliestYear:
		e.Add(f.Name, OutOfRange, "%s may not be before the year %d.", f.Name, EarliestYear)
	case born.After(now.Add(24 * time.Hour)):
		e.Add(f.Name, OutOfRange, "%s may not be in the future.", f.Name)
	}
	return value
}

// canonicalBirth returns the stored form of the parts that birthForm has found, and what does not
// exist: "date", "time", or an empty text.
func canonicalBirth(part []string) (value, missing string) {
	fraction, offset := strings.Replace(part[4], ",", ".", 1), cmp.Or(strings.ToUpper(part[5]+part[6]), "Z")
	if strings.Trim(fraction, ".0") == "" {
		fraction = ""
	}
	if offset != "Z" {
		offset = offset[:3] + ":" + cmp.Or(strings.TrimPrefix(offset[3:], ":"), "00")
	}
	if _, err := time.Parse(time.DateOnly, part[1]); err != nil {
		return "", "date"
	}
	value = part[1] + "T" + cmp.Or(part[2], "00:00") + cmp.Or(part[3], ":00") + fraction + offset
	if _, err := time.Parse(time.RFC3339Nano, value); err != nil {
		return "", "time"
	}
	return value, ""
}

// Born returns the time of a normalized date of birth in its offset, or the zero time without a
// date of birth.
func (f Fields) Born() time.Time {
	born, _ := time.Parse(time.RFC3339Nano, f.DateOfBirth)
	return born
}
