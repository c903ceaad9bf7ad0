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

// Decode parses the JSON object of a create or replace request. It rejects unknown or duplicate
// members, wrong types, names in another case and data after the object. The error is a BodyError
// or FieldErrors, which then includes the errors of Normalize so that clients see all errors at
// once. On success, the caller still has to call Normalize.
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

// Patch is a merge patch (RFC 7396) of a record.
type Patch struct {
	fields Fields // normalized
	counts map[string]int
}

// DecodePatch parses the JSON object of a merge patch by the rules of Decode. A member that is null
// or empty clears its field. The error is a BodyError, or FieldErrors with all errors.
func DecodePatch(body []byte, now time.Time) (Patch, error) {
	f, counts, errs, err := decode(body)
	if err != nil {
		return Patch{}, err
	}
	normal, faults := f.Normalize(now)
	errs.Merge(slices.DeleteFunc(faults, func(fault FieldError) bool { return counts[fault.Field] == 0 }))
	return Patch{normal, counts}, errs.Err()
}

// Merge applies the patch to the fields of a record. Fields not in the patch stay unchanged.
func (p Patch) Merge(f Fields) Fields {
	for _, d := range fields {
		if p.counts[d.Name] > 0 {
			*d.Of(&f) = *d.Of(&p.fields)
		}
	}
	return f
}

// decode returns the fields of an object, the number of occurrences of each member, and all member
// errors. The error is a BodyError.
//
// encoding/json accepts names in any case and duplicate members. Version 2 could replace this
// function once it is stable.
func decode(body []byte) (f Fields, counts map[string]int, errs FieldErrors, err error) {
	if err := checkObject(body); err != nil {
		return f, nil, nil, err
	}
	counts = make(map[string]int, 8)
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.Token() // the opening brace; checkObject has ruled out all errors
	for decoder.More() {
		var value json.RawMessage
		token, _ := decoder.Token()
		decoder.Decode(&value)
		name := token.(string)
		switch counts[name]++; counts[name] {
		case 1:
			f.set(name, value, &errs)
		case 2:
			errs.Add(name, Duplicate, "%s is given twice.", name)
		}
	}
	return f, counts, errs, nil
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

// readOnly members are accepted and ignored, so that a client can get a record, edit it and put it
// back.
var readOnly = []string{"id", "invitationStatus", "userId", "createdAt", "updatedAt"}

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

// AppendJSON appends the record as a JSON object with all members, including those without a value,
// but without times.
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

// InMillis is the time format of responses: RFC 3339 in UTC.
const InMillis = "2006-01-02T15:04:05.000Z"

// AppendJSONWithTimes appends the record like AppendJSON and adds createdAt and updatedAt at the
// end.
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

// appendString appends s as a JSON string with minimal escaping. Invalid UTF-8, which only the
// platform's columns can contain, becomes U+FFFD.
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
