package acceptance

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
)

// TestOfficeCalls checks that the row of a person has one link to call, which is a button with the
// person's name on a phone.
func TestOfficeCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	s.create(t, `{"firstName":"Eva","lastName":"Horvat"}`)
	for language, want := range map[string]string{"en": "Call Ana Čović", "de": "Ana Čović anrufen", "hr": "Nazovi: Ana Čović"} {
		p := s.signIn(t, s.key, language).get(t, "/office/")
		call := p.one(t, "a", "href", "tel:0912345678")
		if got := call.all("span", "class", "call")[0].text(); got != want {
			t.Errorf("%s: the text of the button is %q", language, got)
		}
		if len(p.one(t, "tbody").all("span", "class", "call")) != 1 {
			t.Errorf("%s: a person without a number has a button: %s", language, p.text())
		}
	}
}

// TestOfficeSortForm checks that the form sorts like the headers and keeps the search.
func TestOfficeSortForm(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for _, name := range []string{`"Ana","lastName":"Novak"`, `"Zoe","lastName":"Babić"`, `"Mia","lastName":"Novak"`} {
		s.create(t, `{"firstName":`+name+`}`)
	}
	p := b.get(t, "/office/?search=novak&sortBy=lastName&sortDir=desc")
	var form *webForm
	for _, e := range p.all("form", "class", "sort") {
		form = &webForm{page: p, form: e, values: e.values()}
	}
	if by := form.values.Get("sortBy"); by != "lastName" {
		t.Errorf("the form is sorted by %q", by)
	}
	sorted := form.set(t, "Sort by", "firstName").send(t, "Sort")
	if got := sorted.firstNames(t); !slices.Equal(got, []string{"Ana", "Mia"}) {
		t.Errorf("%s lists %q", sorted.path, got)
	}
	reversed := b.get(t, sorted.one(t, "a", "class", "button ascending").attributes["href"]).says(t, "2 of 3 people")
	if got := reversed.firstNames(t); !slices.Equal(got, []string{"Mia", "Ana"}) {
		t.Errorf("%s lists %q", reversed.path, got)
	}
}

// firstNames returns the first names of the list.
func (p *webPage) firstNames(t *testing.T) (all []string) {
	t.Helper()
	for _, cell := range p.one(t, "tbody").all("td", "class", "first") {
		all = append(all, cell.text())
	}
	return all
}

// TestOfficePagesAndLetters checks that a long list has page numbers and, sorted by last name,
// letters that link to the first person of each letter.
func TestOfficePagesAndLetters(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for n := range 320 {
		last := []string{"Anić", "Čović", "Črnko", "Đurić", "Žabić"}[n%5]
		s.create(t, fmt.Sprintf(`{"firstName":"N%03d","lastName":"%s"}`, n, last))
	}
	p := b.get(t, "/office/?page=3")
	nav := p.one(t, "nav", "aria-label", "Pages of the list")
	if got := nav.text(); got != "Page 3 of 4 Previous 1 2 3 4 Next" {
		t.Errorf("the pages are %q", got)
	}
	if here := nav.all("a", "aria-current", "page"); len(here) != 1 || here[0].text() != "3" {
		t.Errorf("the current page is %v", here)
	}
	for _, direction := range []string{"", "&sortDir=desc"} {
		p := b.get(t, "/office/?page=2"+direction)
		letters := map[string]string{}
		for _, link := range p.one(t, "nav", "aria-label", "Last names by letter").all("a") {
			letters[link.text()] = link.attributes["href"]
		}
		if len(letters) != 4 {
			t.Errorf("%s has the letters %v", p.path, letters)
		}
		for letter, first := range map[string]string{"A": "Anić", "D": "Đurić", "Z": "Žabić"} {
			u, err := url.Parse(letters[letter])
			must(t, err)
			at := b.get(t, u.RequestURI()).one(t, "td", "id", u.Fragment).parent
			before := at.parent.all("tr")
			i := slices.Index(before, at)
			if last := at.one("th").text(); last != first || i > 0 && before[i-1].one("th").text() == first {
				t.Errorf("%s links to %s in row %d", letters[letter], last, i)
			}
		}
	}
	for _, path := range []string{"/office/?sortBy=firstName", "/office/?search=ć"} {
		if p := b.get(t, path); len(p.all("nav", "class", "letters")) != 0 {
			t.Errorf("%s has letters: %s", path, p.text())
		}
	}
}
