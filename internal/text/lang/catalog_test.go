package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// people and welcome are files of messages, with a member for each language in a
// line of its own. load adds the languages that are missing here.
const (
	people = `{
"list.title": {
 "en": "People",
 "de": "Personen",
 "fr": "Personnes",
 "es": "Personas",
 "hr": "Osobe"},
"list.count": {
 "en": {"one": "One person", "other": "{0} people"},
 "de": {"one": "{0} Person", "other": "{0} Personen"},
 "fr": {"one": "{0} personne", "other": "{0} personnes"},
 "es": {"one": "{0} persona", "other": "{0} personas"},
 "hr": {"one": "{0} osoba", "few": "{0} osobe", "other": "{0} osoba"}}
}`
	welcome = `{
"found": {
 "en": {"one": "{0} of {1} in {2}", "other": "{0} of {1} in {2}"},
 "de": {"one": "{0} von {1} in {2}", "other": "{0} von {1} in {2}"},
 "fr": {"one": "{0} sur {1} à {2}", "other": "{0} sur {1} à {2}"},
 "es": {"one": "{0} de {1} en {2}", "other": "{0} de {1} en {2}"},
 "hr": {"one": "{0} od {1} u {2}", "few": "{0} od {1} u {2}", "other": "U {2}: {0} od {1}"}},
"welcome": {
 "en": "Hello {0}, {1}!",
 "de": "{1}: Hallo {0}!",
 "fr": "{0}{1}{0}",
 "es": "¡Hola {0}, {1}!",
 "hr": "{0}, {1}"}
}`
)

// english finds the English of a message, and in a plural its last text.
var english = regexp.MustCompile(`(?m)^ "en": ("[^"]*"|\{.*: ("[^"]*")\})`)

// inAll gives the messages to the other languages of the program, in English.
func inAll(text string) string {
	for _, l := range All() {
		if strings.Contains(people, fmt.Sprintf(" %q: ", l.Tag)) {
			continue
		}
		var forms []string
		for _, f := range l.forms {
			forms = append(forms, fmt.Sprintf("%q: $2", f))
		}
		text = english.ReplaceAllStringFunc(text, func(message string) string {
			in := "$1"
			if strings.Contains(message, "{\"") {
				in = "{" + strings.Join(forms, ", ") + "}"
			}
			return english.ReplaceAllString(message, fmt.Sprintf(" %q: %s,\n$0", l.Tag, in))
		})
	}
	return text
}

func load(texts ...string) (Catalog, error) {
	files := fstest.MapFS{"messages/README.md": {Data: []byte("not JSON")}}
	for i, text := range texts {
		files["messages/"+string(rune('a'+i))+".json"] = &fstest.MapFile{Data: []byte(inAll(text))}
	}
	return Load(files, "messages/*.json")
}

func mustLoad(t testing.TB) Catalog {
	t.Helper()
	c, err := load(people, welcome)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestText(t *testing.T) {
	t.Parallel()
	type named string
	type numbered int64
	c := mustLoad(t)
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
	c := mustLoad(t)
	tests := []struct {
		tag, key string
		n        int
		args     []any
		want     string
	}{
		{"en", "list.count", 0, nil, "0 people"},
		{"en", "list.count", 1, nil, "One person"},
		{"en", "list.count", 17_000, nil, "17,000 people"},
		{"de", "list.count", 1, nil, "1 Person"},
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
	if got := mustLoad(t).Keys(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLoadRefuses changes one thing in a file of messages that is right.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new, want string }{
		{"not an object", people, `[]`, "is not a JSON object"},
		{"empty file", people, ``, "is not a JSON object"},
		{"cut off", "}\n}", "}\n", "EOF"},
		{"a second object", "}\n}", "}\n} {}", "there is more than one JSON value"},
		{"key twice", `"list.count"`, `"list.title"`, "list.title: is there twice"},
		{"message that is a text", `"list.title": {`, `"list.empty": "Nobody", "list.title": {`, "list.empty: is not a JSON object"},
		{"unknown language", `"hr": "Osobe"`, `"tlh": "ghotpu"`, "list.title: tlh: is not a language of the program"},
		{"language twice", `"hr": "Osobe"`, `"hr": "Osobe", "en": "People"`, "list.title: en: is there twice"},
		{"missing language", `,
 "hr": "Osobe"`, ``, "list.title: hr is missing"},
		{"missing English", `"en": "People",`, ``, "list.title: en is missing"},
		{"empty text", `"Osobe"`, `""`, "list.title: hr: is not a text, or is empty"},
		{"number for a text", `"Osobe"`, `7`, "list.title: hr: is not a text, or is empty"},
		{"null", `"Osobe"`, `null`, "list.title: hr: is not a text, or is empty"},
		{"missing few", `"few": "{0} osobe", `, ``, "list.count: hr: few is missing"},
		{"missing other", `, "other": "{0} Personen"`, ``, "list.count: de: other is missing"},
		{"missing English other", `, "other": "{0} people"`, ``, "list.count: en: other is missing"},
		{"no form at all", `{"one": "{0} Person", "other": "{0} Personen"}`, `{}`, "list.count: de: other is missing"},
		{"form that the language lacks", `"one": "{0} Person"`, `"few": "{0} Person"`, "list.count: de: few: is not a form of the language"},
		{"unknown form", `"one": "{0} Person"`, `"many": "{0} Person"`, "list.count: de: many: is not a form of the language"},
		{"form twice", `"one": "{0} Person", `, `"one": "{0} Person", "one": "x", `, "list.count: de: one: is there twice"},
		{"empty form", `"{0} Person"`, `""`, "list.count: de: one: is not a text, or is empty"},
		{"text in a plural", `{"one": "{0} Person", "other": "{0} Personen"}`, `"Personen"`, "list.count: is not a plural in every language"},
		{"missing language in a plural", ` "es": {"one": "{0} persona", "other": "{0} personas"},
`, ``, "list.count: is not a plural in every language"},
		{"argument in one language", `"Osobe"`, `"Osobe {0}"`, "list.title: hr does not have the arguments of en"},
		{"another argument", `"{0} Personen"`, `"{1} Personen"`, "list.count: de: other does not have the arguments of en: other"},
		{"one without number where it is also 0", `"{0} personne"`, `"Une personne"`, "list.count: fr: one does not have the arguments of en: other"},
		{"one without number where it is also 21", `"one": "{0} osoba"`, `"one": "Jedna osoba"`, "list.count: hr: one does not have the arguments of en: other"},
		{"few without number", `"{0} osobe"`, `"osobe"`, "list.count: hr: few does not have the arguments of en: other"},
		{"open brace", `"Osobe"`, `"Osobe {"`, "list.title: hr: a brace is not part of an argument such as {0}"},
		{"close brace", `"Osobe"`, `"Osobe }"`, "list.title: hr: a brace is not part of an argument such as {0}"},
		{"named argument", `"Osobe"`, `"{name}"`, "list.title: hr: a brace is not part of an argument such as {0}"},
		{"argument of two digits", `"Osobe"`, `"{10}"`, "list.title: hr: a brace is not part of an argument such as {0}"},
		{"brace behind an argument", `"Osobe"`, `"{0}}"`, "list.title: hr: a brace is not part of an argument such as {0}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(people, tt.old) != 1 {
				t.Fatalf("the file has not just one %s", tt.old)
			}
			_, err := load(welcome, strings.Replace(people, tt.old, tt.new, 1))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "messages/b.json: ") {
				t.Errorf("got %v, want messages/b.json: … %s", err, tt.want)
			}
		})
	}
}

func TestLoadRefusesFiles(t *testing.T) {
	t.Parallel()
	_, err := load(people, people)
	if err == nil || err.Error() != "messages/b.json: list.title: is in another file, too" {
		t.Errorf("the same key in two files: %v", err)
	}
	if _, err := load(); err == nil || err.Error() != "no file matches messages/*.json" {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(fstest.MapFS{}, "["); err == nil {
		t.Error("a bad pattern is accepted")
	}
}
