package acceptance

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
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
	if sort := p.one(t, "details", "class", "sort"); sort.one("summary").text() == "Sort: Last name" {
		e := sort.one("form")
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

// TestOfficeMissing checks the filters for missing values: in the list, its search, its links, the
// e-mail addresses and the printout.
func TestOfficeMissing(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	for _, person := range []string{ana, `{"firstName":"Ben","lastName":"Adam","phoneNumber":"1"}`, `{"firstName":"Bea","lastName":"Zorn"}`,
		`{"firstName":"Cy","lastName":"Kos","email":"cy@example.com"}`} {
		s.create(t, person)
	}
	link := func(p *webPage, text string) string {
		t.Helper()
		for _, a := range p.one(t, "p", "class", "tools").all("a") {
			if a.text() == text {
				return a.attributes["href"]
			}
		}
		t.Fatalf("%s has no link %q: %s", p.path, text, p.text())
		return ""
	}
	lists := func(p *webPage, count string, want ...string) *webPage {
		t.Helper()
		if got := p.says(t, count).firstNames(t); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", p.path, got, want)
		}
		return p
	}
	p := lists(b.get(t, "/office/"), "4 people", "Ben", "Ana", "Cy", "Bea").says(t, "Missing")
	p = lists(b.get(t, link(p, "E-mail")), "2 of 4 people", "Ben", "Bea")
	if chosen := p.one(t, "p", "class", "tools").all("a", "aria-current", "true"); len(chosen) != 1 || chosen[0].text() != "E-mail" {
		t.Errorf("the chosen filters are %v", chosen)
	}
	lists(b.get(t, link(p, "E-mail")), "4 people", "Ben", "Ana", "Cy", "Bea")
	lists(p.form(t, "/office/").set(t, "Search", "be").send(t, "Search"), "2 of 4 people", "Ben", "Bea")
	lists(p.form(t, "/office/").set(t, "Search", "bea").send(t, "Search"), "1 of 4 people", "Bea")
	lists(b.get(t, link(p, "Phone")), "1 of 4 people", "Bea")
	none := p.form(t, "/office/").set(t, "Search", "ana").send(t, "Search").says(t, "0 of 4 people").lacks(t, "Print these people")
	b.get(t, link(none, "E-mail")).says(t, "1 of 4 people")
	lists(b.get(t, "/office/?hasEmail=true&hasPhoneNumber=0"), "1 of 4 people", "Cy")
	b.get(t, "/office/?hasEmail=no").says(t, "ignored: hasEmail", "4 people")
	b.get(t, link(p, "Copy e-mail addresses")).says(t, "2 people found for “Missing: E-mail”. There are no e-mail addresses.")

	b.get(t, link(p, "Print these people")).says(t, "· 2 people found for “Missing: E-mail”").hasRows(t, "Adam Ben|1", "Zorn Bea|")
	p = b.get(t, "/office/print?search=be&hasDateOfBirth=false&sortBy=firstName&sortDir=desc&page=7&list=full&size=one&columns=x")
	p.says(t, "2 people found for “be · Missing: Date of birth”").hasRows(t, "Adam|Ben|1||||", "Zorn|Bea|||||")
	for _, a := range append(p.one(t, "nav", "aria-label", "Print").all("a"), p.one(t, "p", "class", "tools screen").all("a")...) {
		want := []string{"Adam Ben|1|", "Zorn Bea||"}
		switch a.text() {
		case "Full list":
			want = []string{"Adam|Ben|1||||", "Zorn|Bea|||||"}
		case "Show everyone":
			want = []string{"Adam|Ben|1||||", "Čović|Ana|091 234 5678|ana@example.com|15 May 1990|",
				"Kos|Cy||cy@example.com|||", "Zorn|Bea|||||"}
		}
		if got := b.get(t, a.attributes["href"]).printedRows(t); !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s has the rows %q, want %q", a.text(), got, want)
		}
	}
	p.form(t, "/office/print").send(t, "Show").hasRows(t, "Adam|Ben|1||||", "Zorn|Bea|||||")
	b.get(t, "/office/print?search=xyz").says(t, "0 people found for “xyz”", "No one was found.")
	b.get(t, "/office/print?sortBy=age").says(t, "ignored: sortBy", "· 4 people")
}

// selecting returns the form of the list to delete several people, with these people selected.
func (p *webPage) selecting(t *testing.T, ids ...string) *webForm {
	t.Helper()
	f := p.form(t, "/office/people/delete")
	f.values["id"] = ids
	return f
}

// TestOfficeDeletesSelected checks that the list deletes the selected people at once, and that one undo
// restores those who are still deleted.
func TestOfficeDeletesSelected(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	var ids []string
	for _, name := range []string{"Ana", "Ben", "Cy", "Dora"} {
		ids = append(ids, s.create(t, `{"firstName":"`+name+`","lastName":"Kos"}`))
	}
	const list, button = "/office/?search=kos", "Delete the selected people"
	p := b.get(t, list)
	if box := p.one(t, "input", "name", "id", "value", ids[1]); box.attributes["aria-label"] != "Ben Kos" {
		t.Errorf("the checkbox is %v", box.attributes)
	}
	if deleting := p.one(t, "table").all("button"); len(deleting) > 0 {
		t.Errorf("a row has the button %q", deleting[0].text())
	}
	if none := p.selecting(t).send(t, button).follow(t); none.notice(t) != "No one is selected, so no one was deleted" || len(none.firstNames(t)) != 4 {
		t.Errorf("without a selection: %q", none.notice(t))
	}
	deleted := p.selecting(t, ids[:3]...).send(t, button).follow(t)
	if !strings.HasPrefix(deleted.path, "/office/?deleted=5-7&search=kos") || deleted.notice(t) != "3 people were deleted Undo" ||
		!slices.Equal(deleted.firstNames(t), []string{"Dora"}) {
		t.Errorf("%s: notice %q, people %q", deleted.path, deleted.notice(t), deleted.firstNames(t))
	}
	b.post(t, personPath(ids[0])+"/undelete", nil).follow(t)
	if again := b.get(t, deleted.path); again.notice(t) != "2 people were deleted Undo" {
		t.Errorf("after one is restored, the notice is %q", again.notice(t))
	}
	restored := deleted.undo(t).follow(t)
	if restored.notice(t) != "2 people were restored" || len(restored.firstNames(t)) != 4 || !strings.HasPrefix(restored.path, "/office/?restored=2&search=kos") {
		t.Errorf("%s: notice %q, people %q", restored.path, restored.notice(t), restored.firstNames(t))
	}
	if gone := b.get(t, deleted.path); gone.notice(t) != "" {
		t.Errorf("after the undo, the notice is %q", gone.notice(t))
	}

	other := s.signIn(t, newKey(t, s.db, "other"), "en")
	other.post(t, "/office/people/undelete?deleted=5-7", nil).follow(t).lacks(t, "restored")
	other.post(t, "/office/people/delete", url.Values{"id": ids}).follow(t)
	if left := b.get(t, list).firstNames(t); len(left) != 4 {
		t.Errorf("another department deleted: %q are left", left)
	}
	b.post(t, "/office/people/undelete?deleted=0-9", nil).wants(t, 404)
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	if p := reader.get(t, deleted.path); len(p.all("input", "type", "checkbox", "name", "id"))+len(p.all("form", "action", "/office/people/delete")) > 0 {
		t.Error("a read-only session can select people")
	}
	for _, path := range []string{"/office/people/delete", "/office/people/undelete?deleted=5-7"} {
		reader.post(t, path, url.Values{"id": ids}).wants(t, 403)
	}
}
