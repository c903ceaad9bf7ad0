package acceptance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// TestDemoLanguages checks that a demo shows the department of a country, changes by the visitor, and a
// code that a list had before these changes.
func TestDemoLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range lang.All() {
		country := demo.In(language.Tag)
		db := filepath.Join(t.TempDir(), "x.db")
		s := startWith(t, db, "demo", "--db", db, "--language", language.Tag)
		b := s.signIn(t, s.key, language.Tag)
		b.get(t, "/office/").wants(t, 200).says(t, country.Department(0))
		if l := s.list(t, ""); l.TotalCount != 40 {
			t.Errorf("%s: %d people", language.Name, l.TotalCount)
		}
		code := regexp.MustCompile(`, type ([A-Z0-9]{6})\n`).FindStringSubmatch(s.stdout.String())
		if code == nil {
			t.Fatalf("%s: no code in %s", language.Name, s.stdout)
		}
		if slip := b.get(t, "/office/paper?code="+code[1]).wants(t, 200).slip(t); len(slip) != 3 {
			t.Errorf("%s: since the print: %q", language.Name, slip)
		}
		edits, _ := works(t, "history", "--db", db, "--json")
		if n := strings.Count(edits, fmt.Sprintf(`"label":%q`, country.You)); n != 5 {
			t.Errorf("%s: %d changes by %s", language.Name, n, country.You)
		}
		s.stop(t)
		var in string
		if scanSQL(t, db, `SELECT country FROM tenants`, &in); in != country.Code {
			t.Errorf("%s: the country is %s", language.Name, in)
		}
	}
	refuses(t, 2, "Error: --language must be en, de, fr, es or hr, not \"it\"\n", "demo", "--language", "it")
}

// TestDemoOfSystem checks that a demo shows a department of the country that speaks the language of the system.
func TestDemoOfSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // its language is not an environment variable
	}
	for locale, language := range map[string]string{"fr_CA.UTF-8": "fr", "nl_NL.UTF-8": "en", "C": "en"} {
		cmd, _ := process(t, "demo", "--people", "1", "--listen", "127.0.0.1:0")
		cmd.Env = append(cmd.Env, "LC_ALL="+locale)
		s := serving(t, "", cmd)
		if name := demo.In(language).Department(0); !strings.Contains(s.stdout.String(), name) {
			t.Errorf("%s: %q is missing in %s", locale, name, s.stdout)
		}
		s.stop(t)
	}
}
