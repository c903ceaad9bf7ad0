package lang

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Catalog holds messages in all languages. It is safe for concurrent use.
type Catalog struct{ messages map[string]message }

// message maps language tags to texts: a string or, for plurals, a map from forms to strings. JSON is
// decoded into these types in half the time of types of our own.
type message map[string]any

// MustLoad reads the messages from all files that match pattern. Each file is a JSON object that
// maps message keys to objects, and these map language tags to a text or, for plurals, to an object
// with one text per form. {0} is replaced with the first argument of Text, {1} with the second. In
// a plural, {0} is the number. A test checks that all messages of the program are complete.
// MustLoad panics if it cannot read a file.
func MustLoad(pattern string, files ...fs.FS) Catalog {
	c := Catalog{map[string]message{}}
	for _, fsys := range files {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			panic(err)
		}
		for _, name := range names {
			content, err := fs.ReadFile(fsys, name)
			if err == nil {
				err = json.Unmarshal(content, &c.messages)
			}
			if err != nil {
				panic(fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return c
}

// Keys returns the keys of all messages, sorted.
func (c Catalog) Keys() []string { return slices.Sorted(maps.Keys(c.messages)) }

// Text returns a message with its arguments, which are strings or integers. It groups the digits of
// integers, so pass a year as a string. Text returns the key if the message does not exist or is a
// plural. An argument that is missing or of another type leaves its placeholder in the text.
func (c Catalog) Text(l *Language, key string, args ...any) string {
	text, ok := c.messages[key][l.Tag].(string)
	if !ok {
		return key
	}
	return l.format(text, args)
}

// Count returns the plural message for n. {0} is n; args start at {1}. Count returns the key if the
// message does not exist or is not a plural.
func (c Catalog) Count(l *Language, key string, n int, args ...any) string {
	forms, _ := c.messages[key][l.Tag].(map[string]any)
	text, ok := forms[l.plural(max(n, -n))].(string)
	if !ok {
		return key
	}
	return l.format(text, append([]any{n}, args...))
}

// format replaces the placeholders in text. Placeholders have one digit.
func (l *Language) format(text string, args []any) string {
	before, rest, more := strings.Cut(text, "{")
	if !more {
		return text
	}
	var b strings.Builder
	for ; more; before, rest, more = strings.Cut(rest[len("0}"):], "{") {
		b.WriteString(before)
		b.WriteString(l.argument(args, int(rest[0]-'0')))
	}
	b.WriteString(before)
	return b.String()
}

// argument returns argument i as text, or its placeholder if it is missing or neither a string nor
// an integer.
func (l *Language) argument(args []any, i int) string {
	if i < len(args) {
		switch value := reflect.ValueOf(args[i]); {
		case value.Kind() == reflect.String:
			return value.String()
		case value.CanInt():
			return l.grouping.format(int(value.Int()))
		}
	}
	return fmt.Sprintf("{%d}", i)
}
