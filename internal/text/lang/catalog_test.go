package lang

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// testCatalog returns messages for tests. Some languages are missing.
func testCatalog() Catalog {
	return MustLoad("messages/*.json", fstest.MapFS{"messages/README.md": {Data: []byte("not JSON")}, "messages/list.json": {Data: []byte(`{
		"list.title": {"en": "People", "hr": "Osobe"},
		"list.count": {
			"en": {"one": "One person", "other": "{0} people"},
			"fr": {"one": "{0} personne", "other": "{0} personnes"},
			"hr": {"one": "{0} osoba", "few": "{0} osobe", "other": "{0} osoba"}}}`)},
		"messages/welcome.json": {Data: []byte(`{
		"found": {
			"en": {"one": "{0} of {1} in {2}", "other": "{0} of {1} in {2}"},
			"hr": {"one": "{0} od {1} u {2}", "few": "{0} od {1} u {2}", "other": "U {2}: {0} od {1}"}},
		"welcome": {"en": "Hello {0}, {1}!", "de": "{1}: Hallo {0}!", "fr": "{0}{1}{0}"}}`)}})
}

func TestText(t *testing.T) {
	t.Parallel()
	type named string
	type numbered int64
	c := testCatalog()
	tests := []struct {
		tag, key string
		args     []any
		want     string
	}{
		{"en", "list.title", nil, "People"},
		{"hr", "list.title", []any{"unused"}, "Osobe"},
		{"en", "welcome", []any{"Ana", 3}, "Hello Ana, 3!"},
		{"de", "welcome", []any{"Ana", 17_000}, "17.000: Hallo Ana!"},
		{"fr", "welcome", []any{"a", "b"}, "aba"},
		{"en", "welcome", []any{named("Ana"), numbered(1000)}, "Hello Ana, 1,000!"},
		{"en", "welcome", []any{"{1}", "<b>"}, "Hello {1}, <b>!"},
		{"en", "welcome", []any{"Ana"}, "Hello Ana, {1}!"},
		{"en", "welcome", []any{nil, 1.5}, "Hello {0}, {1}!"},
		{"en", "welcome", nil, "Hello {0}, {1}!"},
		{"en", "nothing", []any{"Ana"}, "nothing"},
		{"en", "", nil, ""},
		{"en", "list.count", []any{3}, "list.count"},
	}
	for _, tt := range tests {
		if got := c.Text(speak(t, tt.tag), tt.key, tt.args...); got != tt.want {
			t.Errorf("%s, %s, %v: got %q, want %q", tt.tag, tt.key, tt.args, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	c := testCatalog()
	tests := []struct {
		tag, key string
		n        int
		args     []any
		want     string
	}{
		{"en", "list.count", 0, nil, "0 people"},
		{"en", "list.count", 1, nil, "One person"},
		{"en", "list.count", 17_000, nil, "17,000 people"},
		{"fr", "list.count", 0, nil, "0 personne"},
		{"fr", "list.count", 17_000, nil, "17\u202f000 personnes"},
		{"hr", "list.count", 1, nil, "1 osoba"},
		{"hr", "list.count", 3, nil, "3 osobe"},
		{"hr", "list.count", 11, nil, "11 osoba"},
		{"hr", "list.count", 21, nil, "21 osoba"},
		{"hr", "found", 3, []any{17_000, "Split"}, "3 od 17.000 u Split"},
		{"hr", "found", 5, []any{40, "Split"}, "U Split: 5 od 40"},
		{"en", "found", 5, []any{40}, "5 of 40 in {2}"},
		{"en", "found", 5, []any{40, "a", "b", "c", "d", "e", "f", "g", "h", "i"}, "5 of 40 in a"},
		{"en", "nothing", 1, nil, "nothing"},
		{"en", "list.title", 1, nil, "list.title"},
	}
	for _, tt := range tests {
		if got := c.Count(speak(t, tt.tag), tt.key, tt.n, tt.args...); got != tt.want {
			t.Errorf("%s, %s, %d, %v: got %q, want %q", tt.tag, tt.key, tt.n, tt.args, got, tt.want)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	want := []string{"found", "list.count", "list.title", "welcome"}
	if got := testCatalog().Keys(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// argument matches a placeholder in a text.
var argument = regexp.MustCompile(`\{[0-9]\}`)

// needs returns the placeholders of a text, sorted and without duplicates.
func needs(text string) []string {
	all := argument.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// TestMessages checks that each message exists once, in every language and plural form, with the
// same placeholders.
func TestMessages(t *testing.T) {
	t.Parallel()
	page := []string{"../../web/*/messages/*.json", "../../web/office/*/messages/*.json"}
	for _, patterns := range [][]string{page, {"../../lists/imports/*.json"}} {
		var names []string
		var folders []fs.FS
		for _, pattern := range patterns {
			found, _ := filepath.Glob(pattern)
			names = append(names, found...)
		}
		for _, name := range names {
			folders = append(folders, os.DirFS(filepath.Dir(name)))
		}
		c := MustLoad("*.json", folders...)
		if len(c.messages) == 0 {
			t.Fatal(patterns)
		}
		written := 0 // a duplicate key would replace the first message
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			written += len(regexp.MustCompile(`(?m)^  "[^"]+": \{`).FindAll(text, -1))
		}
		if written != len(c.messages) {
			t.Errorf("%q has %d messages but %d keys", patterns, written, len(c.messages))
		}
		for key, m := range c.messages {
			for _, fault := range m.faults() {
				t.Errorf("%q: %s: %s", patterns, key, fault)
			}
		}
	}
}

// forms returns the plural forms of a language, and whether the form one includes numbers other
// than 1.
func (l *Language) forms() (all []string, oneIsMore bool) {
	for n := range 200 {
		f := l.plural(n)
		if oneIsMore = oneIsMore || f == "one" && n != 1; !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all, oneIsMore
}

// plain is the form of a message without plural forms.
const plain = ""

// formsOf returns the forms of a message in a language.
func formsOf(texts any) map[string]string {
	all := map[string]string{}
	switch texts := texts.(type) {
	case string:
		all[plain] = texts
	case map[string]any:
		for name, text := range texts {
			all[name], _ = text.(string)
		}
	}
	return all
}

// faults returns the errors in a message.
func (m message) faults() (all []string) {
	english := formsOf(m["en"])
	want := needs(english[plain] + english["other"])
	for _, l := range languages {
		forms, oneIsMore := []string{plain}, false
		if len(english) > 1 {
			forms, oneIsMore = l.forms()
		}
		texts := formsOf(m[l.Tag])
		if len(texts) != len(forms) {
			all = append(all, fmt.Sprintf("%s has %d forms", l.Tag, len(texts)))
		}
		for _, f := range forms {
			text := texts[f]
			has := needs(text)
			complete := slices.Equal(has, want) ||
				f == "one" && !oneIsMore && slices.Equal(append([]string{"{0}"}, has...), want) // "One person" needs no {0}
			if text == "" || !complete || strings.ContainsAny(argument.ReplaceAllString(text, ""), "{}") {
				all = append(all, fmt.Sprintf("%s %s is %q", l.Tag, f, text))
			}
		}
	}
	if len(m) > len(languages) {
		all = append(all, "it has another language")
	}
	return all
}

// TestFaults checks that inconsistent messages are detected.
func TestFaults(t *testing.T) {
	t.Parallel()
	in := func(text string) message {
		m := message{}
		for _, l := range languages {
			m[l.Tag] = "{0}"
		}
		m["hr"] = text
		return m
	}
	for text, right := range map[string]bool{"x {0}": true, "x": false, "": false, "{1}": false, "{0} {": false, "{0} {name}": false} {
		if got := in(text).faults(); (len(got) == 0) != right {
			t.Errorf("%q: %q", text, got)
		}
	}
}
