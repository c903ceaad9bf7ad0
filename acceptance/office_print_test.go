package acceptance

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

var paperCode = regexp.MustCompile(`^[34679ACDEFGHJKMNPQRTUVWXY]{6}$`)

// printed returns the code of a list printed now.
func (b *browser) printed(t *testing.T) string {
	t.Helper()
	code := b.get(t, "/office/print").wants(t, 200).one(t, "p", "class", "code").text()
	if !paperCode.MatchString(code) {
		t.Fatalf("the code of the list is %q", code)
	}
	return code
}

// printedRows returns the rows in the body of the only table, each with its texts and |
// between them.
func (p *webPage) printedRows(t *testing.T) (rows []string) {
	t.Helper()
	for _, row := range p.one(t, "tbody").all("tr") {
		var cells []string
		for _, cell := range row.children {
			if cell.tag != "" {
				cells = append(cells, cell.text())
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

func (p *webPage) hasRows(t *testing.T, want ...string) {
	t.Helper()
	if got := p.printedRows(t); !slices.Equal(got, want) {
		t.Errorf("%s has the rows %q, not %q", p.path, got, want)
	}
}

// TestOfficePrint: both lists have everybody by last name, and say of which
// department and when they are, how many there are and the code.
func TestOfficePrint(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	s.create(t, ana)
	s.create(t, `{"firstName":"<b>Bo","lastName":"&amp; \"O\u2019Neil\"","phoneNumber":"+1 555 0100"}`)
	s.create(t, `{"firstName":"Cy","lastName":"Žak","email":"cy@example.com"}`)
	code := b.printed(t)
	for _, path := range []string{"/office/print", "/office/print?list=phone", "/office/print?list=other"} {
		p := b.get(t, path).wants(t, 200).says(t, "· 3 people", "Type the code "+code+" on the page “Check a printed list” to see what has changed.")
		if p.heading(t) != "default: Phone list" || len(p.one(t, "div", "class", "paper").all("form")) > 0 {
			t.Errorf("%s: %s", path, p.text())
		}
		p.hasRows(t, `&amp; "O’Neil" <b>Bo|+1 555 0100`, "Čović Ana|091 234 5678", "Žak Cy|")
		p.lacks(t, "cy@example.com", "1990")
	}
	p := b.get(t, "/office/print?list=full").wants(t, 200).says(t, "· 3 people", code)
	if p.heading(t) != "default: Full list" {
		t.Errorf("the heading is %q", p.heading(t))
	}
	rows := p.printedRows(t)
	age := regexp.MustCompile(`^Čović\|Ana\|091 234 5678\|ana@example\.com\|15 May 1990\|\d\d$`)
	if len(rows) != 3 || rows[0] != `&amp; "O’Neil"|<b>Bo|+1 555 0100|||` || !age.MatchString(rows[1]) || rows[2] != "Žak|Cy||cy@example.com||" {
		t.Errorf("the full list has %q", rows)
	}
	if !regexp.MustCompile(` \d{1,2} [A-Z][a-z]+ 20\d\d, \d\d:\d\d · 3 people `).MatchString(p.text()) {
		t.Errorf("no moment: %s", p.text())
	}
}

// TestOfficePrintChoice: links lead from one list to the other, and the button
// needs a script.
func TestOfficePrintChoice(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	for path, current := range map[string]string{"/office/print": "Phone list", "/office/print?list=full": "Full list"} {
		p := b.get(t, path).wants(t, 200)
		var links []string
		for _, a := range p.one(t, "nav", "aria-label", "Lists").all("a") {
			links = append(links, a.attributes["href"])
			if _, is := a.attributes["aria-current"]; is != (a.text() == current) {
				t.Errorf("%s: %s has aria-current %t", path, a.text(), is)
			}
		}
		if !slices.Equal(links, []string{"/office/print?list=phone", "/office/print?list=full"}) {
			t.Errorf("%s has the links %q", path, links)
		}
		if _, hidden := p.one(t, "button", "data-print", "").attributes["hidden"]; !hidden || !strings.Contains(p.one(t, "noscript").text(), "Ctrl and P") {
			t.Errorf("%s: %s", path, p.body)
		}
	}
}

func TestOfficePrintEmpty(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for _, path := range []string{"/office/print", "/office/print?list=full"} {
		if p := b.get(t, path).wants(t, 200).says(t, "Nobody is on the list yet", "0 people"); len(p.all("table")) > 0 {
			t.Errorf("%s has a table", path)
		}
	}
	s.create(t, ana)
	b.get(t, "/office/print").says(t, "· 1 person")
}

// TestOfficePrintAll: a print has no pages of 100, but everybody.
func TestOfficePrintAll(t *testing.T) {
	t.Parallel()
	s := startDemo(t, "230")
	b := s.signIn(t, s.key, "de")
	for path, heading := range map[string]string{"/office/print": "Telefonliste", "/office/print?list=full": "Vollständige Liste"} {
		p := b.get(t, path).wants(t, 200).says(t, heading, "230 Personen")
		if rows := p.printedRows(t); len(rows) != 230 {
			t.Errorf("%s has %d people", path, len(rows))
		}
	}
}

// TestOfficePrintLanguages meets every page that is printed in every language.
func TestOfficePrintLanguages(t *testing.T) {
	t.Parallel()
	s := startDemo(t, "40")
	wants := map[string][4]string{
		"en": {"Phone list", "Nothing has changed", "Birthdays 2", "Who reaches the age of 60 before 1 May 2090"},
		"de": {"Telefonliste", "Es hat sich nichts geändert", "Geburtstage 2", "Wer vor dem 1. Mai 2090 60 Jahre alt wird"},
		"fr": {"Liste téléphonique", "Rien n’a changé", "Anniversaires 2", "Qui atteint l’âge de 60 ans avant le 1er mai 2090"},
		"es": {"Lista de teléfonos", "No ha cambiado nada", "Cumpleaños 2", "Quién cumple 60 años antes del 1 de mayo de 2090"},
		"hr": {"Telefonski popis", "Ništa se nije promijenilo", "Rođendani 2", "Tko prije 1. svibnja 2090. navršava 60 godina"},
	}
	for _, language := range lang.All() {
		b, texts := s.signIn(t, s.key, language.Tag), wants[language.Tag]
		b.get(t, "/office/print").wants(t, 200).says(t, texts[0])
		b.get(t, "/office/paper?code="+b.printed(t)).wants(t, 200).says(t, texts[1])
		b.get(t, "/office/birthdays").wants(t, 200).says(t, texts[2])
		b.get(t, "/office/birthdays?age=60&before=2090-05-01").wants(t, 200).says(t, texts[3])
		for _, path := range []string{"/office/print?list=full", "/office/paper", "/office/paper?code=x", "/office/birthdays?age=x&before=y"} {
			b.get(t, path).wants(t, 200)
		}
	}
}

// TestOfficePrintSignedOut: nobody sees a print without a session, nor of another
// department.
func TestOfficePrintSignedOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	other := s.signIn(t, newKey(t, s.db, "other", "--scope", "read"), "en")
	for _, path := range []string{"/office/print", "/office/print?list=full", "/office/paper", "/office/birthdays", "/office/birthdays.ics"} {
		p := s.browser(t, "en").get(t, path).wants(t, 303)
		if location := p.header.Get("Location"); !strings.HasPrefix(location, "/office/sign-in?next=%2Foffice%2F") {
			t.Errorf("%s leads to %s", path, location)
		}
		s.browser(t, "en").get(t, path, "Authorization", "Bearer "+s.key).wants(t, 303)
		other.get(t, path).wants(t, 200).lacks(t, "Ana", "Čović")
	}
}
