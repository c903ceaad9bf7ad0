package record

import (
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Name returns a required text as it is stored, by the rules of a
// firefighter's name. They are those of a department's name, too. The error is a
// *TextError.
func Name(value string) (string, error) {
	if strings.TrimSpace(value) == "" {
		return "", &TextError{Required, "is required"}
	}
	return Label(value)
}

// Label is Name for a text that may be empty.
func Label(value string) (string, error) {
	value, code, fault := checkText(value, maxName)
	if fault != "" {
		return "", &TextError{code, fault}
	}
	return value, nil
}

// IsBlank reports whether a text has nothing but white space, so that it counts
// as no value.
func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

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
// display name, in angle brackets or with a comment.
func normalizeEmail(e *FieldErrors, f Field, value string, now time.Time) string {
	value = normalizeText(e, f, value, now)
	if value == "" {
		return ""
	}
	address, err := mail.ParseAddress(value)
	if err != nil || address.Address != value {
		e.Add(f.Name, Invalid, "%s must be one bare e-mail address, like name@example.org.", f.Name)
	}
	return value
}
