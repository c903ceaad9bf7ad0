package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// BodyError says why a body is not a JSON object at all.
type BodyError string

func (e BodyError) Error() string { return string(e) }

// Decode reads the JSON object of a create or replace request: exact member
// names, none twice, none unknown, each of its type, nothing behind it. It
// gives what it could read, even with faults, so that Clean can name the rest
// of them. The error is a BodyError.
func Decode(body []byte) (Fields, Faults, error) {
	if err := checkObject(body); err != nil {
		return Fields{}, nil, err
	}
	var fields Fields
	var faults Faults
	seen := make(map[string]int, 8)
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.Token() // the opening brace; checkObject has met all the errors there can be
	for decoder.More() {
		var value json.RawMessage
		token, _ := decoder.Token()
		decoder.Decode(&value)
		name := token.(string)
		switch seen[name]++; seen[name] {
		case 1:
			fields.set(name, value, &faults)
		case 2:
			faults.Add(name, Duplicate, "%s is given twice.", name)
		}
	}
	return fields, faults, nil
}

// checkObject refuses whatever is not exactly one JSON object.
func checkObject(body []byte) error {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 {
		return BodyError("The body is empty; it must be a JSON object.")
	}
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &whole); errors.As(err, &syntax) {
		return BodyError(fmt.Sprintf("The body is not valid JSON: %v (byte %d).", syntax, syntax.Offset))
	}
	if trimmed[0] != '{' {
		return BodyError("The body must be a JSON object.")
	}
	return nil
}

// set puts the value of one member in its place.
func (f *Fields) set(name string, value json.RawMessage, faults *Faults) {
	field, types := (*string)(nil), "a string or null"
	switch name {
	case "firstName":
		field, types = &f.FirstName, "a string"
	case "lastName":
		field, types = &f.LastName, "a string"
	case "phoneNumber":
		field = &f.PhoneNumber
	case "email":
		field = &f.Email
	case "dateOfBirth":
		field = &f.DateOfBirth
	case "id", "invitationStatus", "userId":
		return // read-only: accepted, so that GET, edit, PUT works, and ignored
	default:
		faults.Add(name, Unknown, "A firefighter has no member %q.", name)
		return
	}
	if json.Unmarshal(value, field) != nil {
		faults.Add(name, WrongType, "%s must be %s.", name, types)
	}
}

// AppendJSON appends the record as a JSON object of all eight members.
func (f *Firefighter) AppendJSON(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, f.ID)
	b = append(b, `,"firstName":`...)
	b = appendString(b, f.FirstName)
	b = append(b, `,"lastName":`...)
	b = appendString(b, f.LastName)
	b = append(b, `,"phoneNumber":`...)
	b = appendNullable(b, &f.PhoneNumber, f.PhoneNumber == "")
	b = append(b, `,"email":`...)
	b = appendNullable(b, &f.Email, f.Email == "")
	b = append(b, `,"dateOfBirth":`...)
	b = appendNullable(b, &f.DateOfBirth, f.DateOfBirth == "")
	b = append(b, `,"invitationStatus":`...)
	b = appendNullable(b, f.InvitationStatus, f.InvitationStatus == nil)
	b = append(b, `,"userId":`...)
	b = appendNullable(b, f.UserID, f.UserID == nil)
	return append(b, '}')
}

func appendNullable(b []byte, s *string, null bool) []byte {
	if null {
		return append(b, "null"...)
	}
	return appendString(b, *s)
}

// appendString appends s as a JSON string, as it is but for what JSON must
// escape. Broken UTF-8, which only the platform's columns can hold, becomes
// U+FFFD.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		if c < ' ' {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, '\\', c)
		}
		start = i + 1
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
