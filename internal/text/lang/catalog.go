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

// Catalog has the messages of a program in all languages. Goroutines may share
// it.
type Catalog struct{ messages map[string]message }

// message is a message in all languages, by their tags.
type message map[string]texts

// texts are the texts of a message in a language, by the form of a plural. A message that is not a
// plural has one text, which is plain.
type texts map[form]string

// UnmarshalJSON reads a text, or an object with a text for each form.
func (t *texts) UnmarshalJSON(value []byte) error {
	*t = texts{}
	if value[0] == '{' {
		return json.Unmarshal(value, (*map[form]string)(t))
	}
	var text string
	err := json.Unmarshal(value, &text)
	(*t)[plain] = text
	return err
}

// MustLoad reads the messages from the files of a program that match the pattern. A file
// is a JSON object with a member for each message. Its value is an object with a member for
// each language: a text, or for a plural an object with a text for each form. A
// text has {0} for the first argument of Text, {1} for the second. In a plural,
// {0} is the number. A test of this package checks that all messages of the program
// are complete. MustLoad panics if a file cannot be read.
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

// Text returns a message with its arguments, which are texts and integers. Digits
// of an integer are grouped, so a year must be a text. Text returns the key if
// there is no such message, or if it is a plural. An argument that is missing or of
// another type leaves its {0} in the text.
func (c Catalog) Text(l *Language, key string, args ...any) string {
	text, ok := c.messages[key][l.Tag][plain]
	if !ok {
		return key
	}
	return l.format(text, args)
}

// Count returns a plural message for the number n, which is its {0}. The
// arguments begin at {1}. It returns the key if there is no such message, or if it
// is not a plural.
func (c Catalog) Count(l *Language, key string, n int, args ...any) string {
	text, ok := c.messages[key][l.Tag][l.plural(max(n, -n))]
	if !ok {
		return key
	}
	return l.format(text, append([]any{n}, args...))
}

// format puts arguments into a text. One has one digit.
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

// argument returns argument i. If it is missing or neither a text nor an integer,
// that is what stands for it in the message.
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
