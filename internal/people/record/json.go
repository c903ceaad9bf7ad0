package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Decode reads the JSON object of a create or replace request: exact names of
// members, none twice, none unknown, each of its type, nothing after the object.
// The error is a BodyError or FieldErrors. With the errors of members come those
// of Normalize, so that a client sees everything that is wrong. If all members
// are right, the caller normalizes the fields and meets those errors there.
func Decode(body []byte, now time.Time) (Fields, error) {
	f, _, errs, err := decode(body)
	if err != nil {
		return Fields{}, err
	}
	if len(errs) > 0 {
		_, more := f.Normalize(now)
		errs.Merge(more)
	}
	return f, errs.Err()
}

// Patch is a merge patch (RFC 7396) of a record: the fields that change.
type Patch struct {
	fields Fields // normalized
	given  map[string]int
}

// DecodePatch reads the JSON object of a merge patch, by the rules of Decode. A
// member that is null or empty clears its field. The error is a BodyError, or
// FieldErrors with everything that is wrong.
func DecodePatch(body []byte, now time.Time) (Patch, error) {
	f, given, errs, err := decode(body)
	if err != nil {
		return Patch{}, err
	}
	normal, faults := f.Normalize(now)
	errs.Merge(slices.DeleteFunc(faults, func(fault FieldError) bool { return given[fault.Field] == 0 }))
	return Patch{normal, given}, errs.Err()
}

// Merge returns the fields of a record with the patch. What the patch does not
// name stays as it is.
func (p Patch) Merge(f Fields) Fields {
	for _, d := range fields {
		if p.given[d.Name] > 0 {
			*d.Of(&f) = *d.Of(&p.fields)
		}
	}
	return f
}

// decode returns the fields of an object, how often each member was given, and
// what is wrong with them. The error is a BodyError.
//
// encoding/json accepts names in any case and members given twice. Once its
// version 2 is stable it can do this work.
func decode(body []byte) (f Fields, given map[string]int, errs FieldErrors, err error) {
	if err := checkObject(body); err != nil {
		return f, nil, nil, err
	}
	given = make(map[string]int, 8)
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.Token() // the opening brace; checkObject has met all possible errors
	for decoder.More() {
		var value json.RawMessage
		token, _ := decoder.Token()
		decoder.Decode(&value)
		name := token.(string)
		switch given[name]++; given[name] {
		case 1:
			f.set(name, value, &errs)
		case 2:
			errs.Add(name, Duplicate, "%s is given twice.", name)
		}
	}
	return f, given, errs, nil
}

// checkObject returns a BodyError unless body is exactly one JSON object.
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

// readOnly are members that are accepted and ignored, so that a client can get
// a record, edit it and put it back.
var readOnly = []string{"id", "invitationStatus", "userId"}

// set stores the value of one member.
func (f *Fields) set(name string, value json.RawMessage, errs *FieldErrors) {
	i := slices.IndexFunc(fields, func(d Field) bool { return d.Name == name })
	if i < 0 {
		if !slices.Contains(readOnly, name) {
			errs.Add(name, Unknown, "A firefighter has no member %q.", name)
		}
		return
	}
	types := "a string or null"
	if fields[i].Required {
		types = "a string"
	}
	if json.Unmarshal(value, fields[i].Of(f)) != nil {
		errs.Add(name, WrongType, "%s must be %s.", name, types)
	}
}

// AppendJSON appends the record as a JSON object of all its members, also those
// without a value. The times are none of them.
func (f *Firefighter) AppendJSON(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, f.ID)
	for i := range fields {
		b = append(b, ',', '"')
		b = append(b, fields[i].Name...)
		b = append(b, '"', ':')
		value := fields[i].Of(&f.Fields)
		b = appendNullable(b, value, *value == "" && !fields[i].Required)
	}
	b = append(b, `,"invitationStatus":`...)
	b = appendNullable(b, f.InvitationStatus, f.InvitationStatus == nil)
	b = append(b, `,"userId":`...)
	b = appendNullable(b, f.UserID, f.UserID == nil)
	return append(b, '}')
}

// InMillis is the form of times in answers: RFC 3339, in UTC.
const InMillis = "2006-01-02T15:04:05.000Z"

// AppendJSONWithTimes appends the record as AppendJSON does, with two members more at the
// end: when it was made and when its fields were last written.
func (f *Firefighter) AppendJSONWithTimes(b []byte) []byte {
	b = f.AppendJSON(b)
	b = append(b[:len(b)-1], `,"createdAt":"`...)
	b = time.UnixMilli(f.CreatedAt).UTC().AppendFormat(b, InMillis)
	b = append(b, `","updatedAt":"`...)
	b = time.UnixMilli(f.UpdatedAt).UTC().AppendFormat(b, InMillis)
	return append(b, `"}`...)
}

func appendNullable(b []byte, s *string, null bool) []byte {
	if null {
		return append(b, "null"...)
	}
	return appendString(b, *s)
}

// appendString appends s as a JSON string and escapes only what JSON demands.
// Broken UTF-8, which only the platform's columns can hold, becomes U+FFFD.
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
