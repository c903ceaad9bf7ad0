package office

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// askedMessage finds a message where a template or a handler asks for it by its
// whole key.
var askedMessage = regexp.MustCompile(`(?:[{( ][tn] |Text\()"([a-zA-Z_.]*[a-zA-Z_])"`)

// pageMessages returns the messages of all rooms, and of the other packages of the district.
func pageMessages() lang.Catalog {
	return lang.MustLoad("*/messages/*.json", os.DirFS(".."), os.DirFS("."))
}

// readAll returns the files of the district with a suffix, by their path.
func readAll(t *testing.T, suffix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, suffix) || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatal(suffix, err)
	}
	return all
}

// TestMessagesAreUsed: each message that a page asks for exists, and each message
// is used: its key or the beginning of it, as "fault." or "fault.%s", stands somewhere. That
// each has all languages is checked when they are read.
func TestMessagesAreUsed(t *testing.T) {
	catalog := pageMessages()
	var all strings.Builder
	for _, suffix := range []string{".html", ".go"} {
		for _, text := range readAll(t, suffix) {
			all.WriteString(text)
		}
	}
	keys := catalog.Keys()
	for _, asked := range askedMessage.FindAllStringSubmatch(all.String(), -1) {
		if !slices.Contains(keys, asked[1]) {
			t.Errorf("there is no message %s", asked[1])
		}
	}
	for _, key := range keys {
		stands := strings.Contains(all.String(), `"`+key+`"`)
		for i, c := range key {
			begun := `"` + key[:i+1]
			stands = stands || c == '.' && (strings.Contains(all.String(), begun+`"`) || strings.Contains(all.String(), begun+`%`))
		}
		if !stands {
			t.Errorf("the message %s is not used", key)
		}
	}
}

// foreign is, by language, what its typesetters do not write: quotes of another
// language, and an ordinary space where French has one that does not break.
var foreign = map[string]string{
	"en": `[„«»]`,
	"de": `[”«»]`,
	"fr": `[„“”]| [:;!?»]|« |[^\x{a0}][;!?»]`,
	"es": `[„“”]`,
	"hr": `[“«»]`,
}

// TestTemplatesHaveNoColon: French has a space before it, so "layout.colon" stands there.
func TestTemplatesHaveNoColon(t *testing.T) {
	t.Parallel()
	for name, text := range readAll(t, ".html") {
		if strings.Contains(text, "}}: ") {
			t.Errorf("%s has a colon that is not of the language", name)
		}
	}
}

func TestMessagesAreTypeset(t *testing.T) {
	t.Parallel()
	untypeset := map[string]*regexp.Regexp{}
	for _, l := range lang.All() {
		untypeset[l.Tag] = regexp.MustCompile(cmp.Or(foreign[l.Tag], `"`) + `|["']|\.\.\.`)
	}
	texts := readAll(t, ".json")
	imports := "../../lists/imports/messages.json"
	text, err := os.ReadFile(imports)
	if err != nil {
		t.Fatal(err)
	}
	texts[imports] = string(text)
	for _, text := range texts {
		var messages map[string]map[string]any // a text, or texts by plural form
		if err := json.Unmarshal([]byte(text), &messages); err != nil {
			t.Fatal(err)
		}
		for key, languages := range messages {
			for tag, message := range languages {
				forms, plural := message.(map[string]any)
				if !plural {
					forms = map[string]any{"": message}
				}
				for form, text := range forms {
					if wrong := untypeset[tag].FindString(text.(string)); wrong != "" {
						t.Errorf("%s %s %s has %q: %s", key, tag, form, wrong, text)
					}
				}
			}
		}
	}
}
