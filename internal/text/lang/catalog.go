package lang

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Catalog has the messages of a program in all languages. Goroutines may share
// it.
type Catalog struct{ messages map[string]*message }

// message is a message in all languages.
type message struct {
	plural bool
	texts  [][len(formNames)]text // by the language's index; not a plural: only other
}

// Load reads the messages from the files that match the pattern. A file is a JSON
// object with a member for each message. Its value is an object with a member for
// each language: a text, or for a plural an object with a text for each form. A
// text has {0} for the first argument of Text, {1} for the second. In a plural,
// {0} is the number.
//
// Load refuses a message that is twice there or incomplete, or whose languages do
// not have the same arguments. The error names the file and the message.
func Load(fsys fs.FS, pattern string) (Catalog, error) {
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		return Catalog{}, err
	}
	if len(names) == 0 {
		return Catalog{}, fmt.Errorf("no file matches %s", pattern)
	}
	c := Catalog{map[string]*message{}}
	for _, name := range names {
		if err := c.readFile(fsys, name); err != nil {
			return Catalog{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

// Keys returns the keys of all messages, sorted.
func (c Catalog) Keys() []string { return slices.Sorted(maps.Keys(c.messages)) }

// Text returns a message with its arguments, which are texts and integers. Digits
// of an integer are grouped, so a year must be a text. Text returns the key if
// there is no such message, or if it is a plural. An argument that is missing or of
// another type leaves its {0} in the text.
func (c Catalog) Text(l *Language, key string, args ...any) string {
	m := c.messages[key]
	if m == nil || m.plural {
		return key
	}
	return m.texts[l.index][other].format(l, arguments{args: args})
}

// Count returns a plural message for the number n, which is its {0}. The
// arguments begin at {1}. It returns the key if there is no such message, or if it
// is not a plural.
func (c Catalog) Count(l *Language, key string, n int, args ...any) string {
	m := c.messages[key]
	if m == nil || !m.plural {
		return key
	}
	return m.texts[l.index][l.plural.of(n)].format(l, arguments{true, n, args})
}
