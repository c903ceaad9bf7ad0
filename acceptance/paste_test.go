package acceptance

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
)

// TestPastedPerson checks that a person whose texts are pasted with an invisible character is found
// by search and filter, recognized by an import, and has clean links.
func TestPastedPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	file := filepath.Join(t.TempDir(), "people.csv")
	for i, c := range "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060" +
		"\u2066\u2067\u2068\u2069\ufe0f\ufeff" {
		letter := string(rune('a' + i/3))
		pasted := func(text string) string { return string(c) + text[:2] + string(c) + text[2:] + string(c) }
		body := fmt.Sprintf(`{"firstName":%q,"lastName":%q,"phoneNumber":%q,"email":%q,"dateOfBirth":%q}`, pasted("Ćata"), pasted("Kos "+letter),
			pasted("+385 91 "+letter), pasted("mia"+letter+"@example.com"), pasted("1990-05-15"))
		id := s.create(t, body)
		want := fmt.Sprintf("Ćata Kos %s +385 91 %[1]s mia%[1]s@example.com 1990-05-15T00:00:00Z", letter)
		for _, query := range []url.Values{
			{"search": {"cata kos mia" + letter}}, {"search": {pasted("mia" + letter)}},
			{"email": {"mia" + letter + "@example.com"}}, {"email": {pasted("mia" + letter + "@example.com")}},
		} {
			items := s.list(t, query.Encode()).Data.Items
			if len(items) != 1 {
				t.Fatalf("%U: %v finds %d people", c, query, len(items))
			}
			p := items[0]
			if got := strings.Join([]string{p.FirstName, p.LastName, *p.PhoneNumber, *p.Email, *p.DateOfBirth}, " "); got != want {
				t.Errorf("%U: %q, want %q", c, got, want)
			}
		}
		p := b.get(t, personPath(id))
		facts := p.one(t, "dl", "class", "facts")
		if len(facts.all("a", "href", "tel:+38591")) != 1 || len(facts.all("a", "href", "mailto:mia"+letter+"@example.com")) != 1 {
			t.Errorf("%U: the facts are %s", c, facts.text())
		}
		for _, row := range []string{"Ćata;Kos " + letter + ";mia" + letter + "@example.com;15.05.1990",
			strings.Join([]string{pasted("Ćata"), pasted("Kos " + letter), pasted("mia" + letter + "@example.com"), pasted("15.05.1990")}, ";")} {
			must(t, os.WriteFile(file, []byte(pasted("First name")+";Last name;E-mail;Birthday\n"+row+"\n"), 0o600))
			stdout, _ := works(t, "import", file, "--tenant", pasted("default"), "--update", "--apply", "--json", "--db", s.db)
			var report imports.Outcome
			if decode(t, stdout, &report); report.Left != 1 {
				t.Errorf("%U: %q is not recognized: %s", c, row, stdout)
			}
		}
		newKey(t, s.db, pasted("default"))
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	if stdout, _ := works(t, "departments", "list", "--json", "--db", s.db); strings.Count(stdout, `"name"`) != 1 {
		t.Errorf("the departments are %s", stdout)
	}
}

// TestPunctuation checks that any apostrophe and any hyphen finds a name, and that a phone number
// copied from a link has no scheme in a vCard.
func TestPunctuation(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, `{"firstName":"Jean‑Luc","lastName":"O’Brien","phoneNumber":"tel:+385 91 234"}`)
	for _, search := range []string{"o'brien", "O’Brien", "oʼbrien", "o`brien", "o´brien",
		"jean-luc", "Jean‐Luc", "jean–luc", "jean—luc", "+385912"} {
		if n := s.list(t, url.Values{"search": {search}}.Encode()).TotalCount; n != 1 {
			t.Errorf("%s finds %d people", search, n)
		}
	}
	if n := s.list(t, "search=obrien").TotalCount; n != 0 {
		t.Errorf("obrien finds %d people", n)
	}
	cards, _ := works(t, "export", "--format", "vcf", "--db", s.db)
	if strings.Contains(cards, "tel:") || !strings.Contains(cards, ":+385 91 234\r\n") {
		t.Errorf("the vCard is %s", cards)
	}
}

// TestOlderFolding checks that a start with another version of the folding folds all names again.
func TestOlderFolding(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, `{"firstName":"Jean‑Luc","lastName":"O’Brien"}`)
	s.stop(t)
	execSQL(t, s.db, `UPDATE firefighters SET last_key = 'o’brien', search_text = replace(search_text, '''', '’');
		UPDATE service SET folding = 0`)
	again := startOn(t, s.db)
	if n := again.as(newKey(t, s.db, "default")).list(t, "search=o'brien").TotalCount; n != 1 {
		t.Errorf("%d people", n)
	}
	var folding int
	if scanSQL(t, s.db, `SELECT folding FROM service`, &folding); folding == 0 {
		t.Error("the version of the folding is unchanged")
	}
}

// TestNoDirections checks that no page reorders a line after a text with a right-to-left override.
func TestNoDirections(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	execSQL(t, s.db, `UPDATE tenants SET name = ?1; UPDATE keys SET label = ?1`, "a\u202eb\u2066")
	pages := []*webPage{b.bring(t, "x\u202e.csv", "First name;Last name\n\u202eMia;Kos\u2067\n")}
	pages[0].again(t).send(t, "Import 1 person")
	for _, path := range []string{"/office/", "/office/?search=%E2%80%AE", personPath(id), "/office/imports", "/office/history",
		"/office/access", "/office/print", "/office/birthdays"} {
		pages = append(pages, b.get(t, path).wants(t, 200))
	}
	for _, p := range pages {
		if i := strings.IndexAny(p.body, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"); i >= 0 {
			t.Errorf("%s contains %q", p.path, p.body[max(0, i-50):i+20])
		}
	}
}
