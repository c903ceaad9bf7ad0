package acceptance

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
)

// TestOfficeCalls: a person's row has one link that calls. On a phone it is a button with
// the name of the person.
func TestOfficeCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	s.create(t, `{"firstName":"Eva","lastName":"Horvat"}`)
	for language, want := range map[string]string{"en": "Call Ana Čović", "de": "Ana Čović anrufen", "hr": "Nazovi: Ana Čović"} {
		p := s.signIn(t, s.key, language).get(t, "/office/")
		call := p.one(t, "a", "href", "tel:0912345678")
		if got := call.all("span", "class", "call")[0].text(); got != want {
			t.Errorf("%s: the button is called %q", language, got)
		}
		if len(p.one(t, "tbody").all("span", "class", "call")) != 1 {
			t.Errorf("%s: somebody without a number has a button: %s", language, p.text())
		}
	}
}

// TestOfficeSortForm: it sorts as the headers do, and keeps the search.
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
		t.Errorf("it is sorted by %q", by)
	}
	sorted := form.set(t, "Sort by", "firstName").send(t, "Sort")
	if got := sorted.firstNames(t); !slices.Equal(got, []string{"Ana", "Mia"}) {
		t.Errorf("%s has %q", sorted.path, got)
	}
	reversed := b.get(t, sorted.one(t, "a", "class", "button ascending").attributes["href"]).says(t, "2 of 3 people")
	if got := reversed.firstNames(t); !slices.Equal(got, []string{"Mia", "Ana"}) {
		t.Errorf("%s has %q", reversed.path, got)
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

// TestOfficePagesAndLetters: a long list has numbers of pages, and by last name letters to
// jump by, which lead to the first person of that letter.
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
		t.Errorf("the page is %v", here)
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
				t.Errorf("%s leads to %s in row %d", letters[letter], last, i)
			}
		}
	}
	for _, path := range []string{"/office/?sortBy=firstName", "/office/?search=ć"} {
		if p := b.get(t, path); len(p.all("nav", "class", "letters")) != 0 {
			t.Errorf("%s has letters: %s", path, p.text())
		}
	}
}
