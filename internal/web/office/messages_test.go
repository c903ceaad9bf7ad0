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

// usedKey matches the full key of a message in a template or a handler.
var usedKey = regexp.MustCompile(`(?:[{( ][tn] |Text\()"([a-zA-Z_.]*[a-zA-Z_])"`)

// pageMessages returns the messages of all packages in internal/web.
func pageMessages() lang.Catalog {
	return lang.MustLoad("*/messages/*.json", os.DirFS(".."), os.DirFS("."))
}

// readAll returns the files in internal/web with a suffix, by path.
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

// TestMessagesAreUsed checks that each used message exists and each message is used, by its key or
// by a prefix such as "fault." or "fault.%s". Loading the messages checks that no language is
// missing.
func TestMessagesAreUsed(t *testing.T) {
	catalog := pageMessages()
	var all strings.Builder
	for _, suffix := range []string{".html", ".go"} {
		for _, text := range readAll(t, suffix) {
			all.WriteString(text)
		}
	}
	keys := catalog.Keys()
	for _, match := range usedKey.FindAllStringSubmatch(all.String(), -1) {
		if !slices.Contains(keys, match[1]) {
			t.Errorf("message %s does not exist", match[1])
		}
	}
	for _, key := range keys {
		used := strings.Contains(all.String(), `"`+key+`"`)
		for i, c := range key {
			prefix := `"` + key[:i+1]
			used = used || c == '.' && (strings.Contains(all.String(), prefix+`"`) || strings.Contains(all.String(), prefix+`%`))
		}
		if !used {
			t.Errorf("message %s is not used", key)
		}
	}
}

// foreign matches typographic errors by language: quotation marks of other languages, and missing
// non-breaking spaces in French.
var foreign = map[string]string{
	"en": `[„«»]`,
	"de": `[”«»]`,
	"fr": `[„“”]| [:;!?»]|« |[^\x{a0}][;!?»]`,
	"es": `[„“”]`,
	"hr": `[“«»]`,
}

// TestTemplatesHaveNoColon checks that templates use "layout.colon": French has a space before a colon.
func TestTemplatesHaveNoColon(t *testing.T) {
	t.Parallel()
	for name, text := range readAll(t, ".html") {
		if strings.Contains(text, "}}: ") {
			t.Errorf("%s contains a colon instead of layout.colon", name)
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
