package mapping

import (
	"fmt"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// reversed is what --map and the API call LastFirst.
const reversed = "nameReversed"

// MapName returns what --map and the API call what a column is.
func MapName(field string) string {
	if field == LastFirst {
		return reversed
	}
	return field
}

// targets are what --map and the parameter map can make of a column.
var targets = func() map[string]string {
	known := map[string]string{"": LeftOut, "-": LeftOut, "id": ID, "name": FullName, strings.ToLower(reversed): LastFirst}
	for _, name := range record.FieldNames() {
		known[strings.ToLower(name)] = name
	}
	return known
}()

// ParseHeaders reads which header is which field, as in
// "Vorname=firstName,Handy=phoneNumber". A header may stand in quotes, as in a
// CSV. A column that is "-" or nothing is left out. The error is a
// *record.TextError.
func ParseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for _, entry := range splitOutside(text, ',') {
		parts := splitOutside(entry, '=')
		last := len(parts) - 1
		if last == 0 { // the quotes are around all of it
			parts = strings.Split(unquote(entry), "=")
			last = len(parts) - 1
		}
		header := strings.TrimSpace(unquote(strings.Join(parts[:last], "=")))
		field, known := targets[strings.ToLower(strings.TrimSpace(parts[last]))]
		_, twice := headers[header]
		switch {
		case last == 0, header == "":
			return nil, wrongHeaders(`must be like "Vorname=firstName,Handy=phoneNumber", not %q`, text)
		case !known:
			return nil, wrongHeaders("has %q, and the fields are %s, %s, %s, %s, and - for none", parts[last], strings.Join(record.FieldNames(), ", "), ID, FullName, reversed)
		case twice:
			return nil, wrongHeaders("has the header %q twice", header)
		}
		headers[header] = field
	}
	return headers, nil
}

func wrongHeaders(format string, args ...any) error {
	return &record.TextError{Code: record.Invalid, Fault: fmt.Sprintf(format, args...)}
}

// splitOutside splits a text at a separator that stands outside quotes.
func splitOutside(text string, separator rune) []string {
	quoted, parts := false, []string{""}
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c == separator && !quoted {
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += string(c)
	}
	return parts
}

// unquote takes the quotes of a CSV off a text.
func unquote(text string) string {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
}
