package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// readFile adds the messages of a file.
func (c Catalog) readFile(fsys fs.FS, name string) error {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	d := json.NewDecoder(file)
	err = readObject(d, func(key string) error {
		if c.messages[key] != nil {
			return errors.New("is in another file, too")
		}
		m, err := readMessage(d)
		c.messages[key] = m
		return err
	})
	if err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more than one JSON value")
	}
	return nil
}

// readObject reads a JSON object. The function reads the value of each member. An
// error names the member.
func readObject(d *json.Decoder, readValue func(name string) error) error {
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
		if known[name] {
			return fmt.Errorf("%s: is there twice", name)
		}
		known[name] = true
		if err := readValue(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err := d.Token()
	return err
}

// readMessage reads a message in all languages.
func readMessage(d *json.Decoder) (*message, error) {
	m := &message{texts: make([][len(formNames)]text, len(languages))}
	plurals := 0
	err := readObject(d, func(tag string) error {
		l := ByTag(tag)
		if l == nil {
			return errors.New("is not a language of the program")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if value[0] == '{' {
			plurals++
			return m.readForms(l, value)
		}
		return m.readText(l, other, value)
	})
	if err != nil {
		return nil, err
	}
	m.plural = plurals > 0
	if m.plural && plurals < len(languages) {
		return nil, errors.New("is not a plural in every language")
	}
	return m, m.check()
}

// readForms reads a plural in a language.
func (m *message) readForms(l *Language, value []byte) error {
	d := json.NewDecoder(bytes.NewReader(value))
	return readObject(d, func(name string) error {
		f := form(slices.Index(formNames[:], name))
		if !l.plural.has(f) {
			return errors.New("is not a form of the language")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		return m.readText(l, f, value)
	})
}

func (m *message) readText(l *Language, f form, value []byte) error {
	var s string
	if err := json.Unmarshal(value, &s); err != nil || s == "" {
		return errors.New("is not a text, or is empty")
	}
	t, err := parseText(s)
	m.texts[l.index][f] = t
	return err
}

// check reports languages and forms that are missing, and arguments that differ.
func (m *message) check() error {
	want := m.texts[0][other].needs()
	for _, l := range languages {
		for _, f := range m.formsOf(l) {
			t := m.texts[l.index][f]
			switch needs := t.needs(); {
			case t.size == 0 && needs == 0:
				return fmt.Errorf("%s is missing", m.nameOf(l, f))
			case needs == want:
			case f == one && !l.plural.oneIsMore && needs|1 == want: // "One person" needs no {0}
			default:
				return fmt.Errorf("%s does not have the arguments of %s", m.nameOf(l, f), m.nameOf(languages[0], other))
			}
		}
	}
	return nil
}

// formsOf returns the forms that the message needs in a language.
func (m *message) formsOf(l *Language) []form {
	switch {
	case !m.plural:
		return []form{other}
	case l.plural.few:
		return []form{other, few, one}
	}
	return []form{other, one}
}

// nameOf says where a text stands in the file.
func (m *message) nameOf(l *Language, f form) string {
	if !m.plural {
		return l.tag
	}
	return l.tag + ": " + formNames[f]
}
