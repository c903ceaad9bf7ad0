package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Catalog has the messages of a program in all languages. Goroutines may share
// it.
type Catalog struct{ messages map[string]*message }

// message is a message in all languages.
type message struct {
	plural bool
	texts  map[string]map[form]string // by the tag of the language; not a plural: only other
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
		content, err := fs.ReadFile(fsys, name)
		if err == nil {
			err = readObject(content, c.add)
		}
		if err != nil {
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
	return l.format(m.texts[l.Tag][other], args)
}

// Count returns a plural message for the number n, which is its {0}. The
// arguments begin at {1}. It returns the key if there is no such message, or if it
// is not a plural.
func (c Catalog) Count(l *Language, key string, n int, args ...any) string {
	m := c.messages[key]
	if m == nil || !m.plural {
		return key
	}
	return l.format(m.texts[l.Tag][l.plural(max(n, -n))], append([]any{n}, args...))
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

// readObject reads a JSON object, with a function for each member. An error names
// the member.
func readObject(object []byte, read func(name string, value []byte) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(errors.New("is not a JSON object"), err)
	}
	known := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name := token.(string) // of a member
		var value json.RawMessage
		if err = d.Decode(&value); err == nil && known[name] {
			err = errors.New("is there twice")
		}
		if err == nil {
			err = read(name, value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		known[name] = true
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more than one JSON value")
	}
	return nil
}

// add adds a message of a file.
func (c Catalog) add(key string, value []byte) error {
	if c.messages[key] != nil {
		return errors.New("is in another file, too")
	}
	m := &message{texts: map[string]map[form]string{}}
	c.messages[key] = m
	plurals := 0
	err := readObject(value, func(tag string, value []byte) error {
		l := ByTag(tag)
		if l == nil {
			return errors.New("is not a language of the program")
		}
		m.texts[l.Tag] = map[form]string{}
		if value[0] != '{' {
			return m.setText(l, other, value)
		}
		plurals++
		return readObject(value, func(name string, value []byte) error {
			if !slices.Contains(l.forms, form(name)) {
				return errors.New("is not a form of the language")
			}
			return m.setText(l, form(name), value)
		})
	})
	if err != nil {
		return err
	}
	m.plural = plurals > 0
	if m.plural && plurals < len(languages) {
		return errors.New("is not a plural in every language")
	}
	return m.check()
}

// argument is what stands for an argument in a text.
var argument = regexp.MustCompile(`\{[0-9]\}`)

func (m *message) setText(l *Language, f form, value []byte) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil || text == "" {
		return errors.New("is not a text, or is empty")
	}
	if strings.ContainsAny(argument.ReplaceAllString(text, ""), "{}") {
		return errors.New("a brace is not part of an argument such as {0}")
	}
	m.texts[l.Tag][f] = text
	return nil
}

// check reports languages and forms that are missing, and arguments that differ.
func (m *message) check() error {
	want := needs(m.texts[languages[0].Tag][other])
	for _, l := range languages {
		forms := []form{other}
		if m.plural {
			forms = l.forms
		}
		for _, f := range forms {
			switch has := needs(m.texts[l.Tag][f]); {
			case m.texts[l.Tag][f] == "":
				return fmt.Errorf("%s is missing", m.nameOf(l, f))
			case slices.Equal(has, want):
			case f == one && !l.oneIsMore && slices.Equal(append([]string{"{0}"}, has...), want): // "One person" needs no {0}
			default:
				return fmt.Errorf("%s does not have the arguments of %s", m.nameOf(l, f), m.nameOf(languages[0], other))
			}
		}
	}
	return nil
}

// needs returns the arguments of a text, each once, sorted.
func needs(text string) []string {
	all := argument.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// nameOf says where a text stands in the file.
func (m *message) nameOf(l *Language, f form) string {
	if !m.plural {
		return l.Tag
	}
	return l.Tag + ": " + string(f)
}
