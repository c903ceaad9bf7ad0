package acceptance

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// switchTo presses the button of another language on the page of the form, which must send the form.
func (f *webForm) switchTo(t *testing.T, language string) *webPage {
	t.Helper()
	for _, b := range f.page.one(t, "footer").all("button", "name", "language") {
		if b.text() != language || b.attributes["form"] == "" || b.attributes["form"] != f.form.attributes["id"] {
			continue
		}
		values := maps.Clone(f.values)
		values.Set("language", b.attributes["value"])
		if f.form.attributes["enctype"] == "multipart/form-data" {
			return f.page.browser.upload(t, b.attributes["formaction"], f.file, f.list, values)
		}
		return f.page.browser.post(t, b.attributes["formaction"], values)
	}
	t.Fatalf("%s has no button %q for the form: %s", f.page.path, language, f.page.one(t, "footer").text())
	return nil
}

// kept checks that a page in German has a form to the same address with the typed values.
func (f *webForm) kept(t *testing.T, p *webPage) *webForm {
	t.Helper()
	if tag := p.wants(t, http.StatusOK).one(t, "html").attributes["lang"]; tag != "de" {
		t.Errorf("%s: the language is %s", p.path, tag)
	}
	again := p.form(t, f.form.attributes["action"])
	for name := range f.values {
		if got, want := again.values.Get(name), f.values.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", p.path, name, got, want)
		}
	}
	return again
}

// TestOfficeLanguageKeepsInput checks that a change of language keeps what is typed, saves nothing and
// stays for later pages.
func TestOfficeLanguageKeepsInput(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	open := func(path string) *webPage { return s.signIn(t, s.key, "en").get(t, path) }
	before := s.changeCount(t)

	adding := open(newPerson).form(t, "/office/people").set(t, "First name", "Mia").set(t, "Last name", "Kovač").set(t, "Date of birth", "May 1990")
	p := adding.switchTo(t, "Deutsch").says(t, "Person hinzufügen", "Noch ist nichts gespeichert.")
	p.browser.get(t, "/office/").says(t, "Personen von default")
	adding = adding.kept(t, p)
	adding.kept(t, adding.switchTo(t, "Deutsch"))
	open(newPerson).form(t, "/office/people").switchTo(t, "Deutsch").wants(t, 200).lacks(t, "Noch ist nichts gespeichert.")

	editing := open(personPath(id)).form(t, personPath(id)).set(t, "Phone", "112")
	editing = editing.kept(t, editing.switchTo(t, "Deutsch"))
	s.do(t, "PATCH", collection+"/"+id, `{"dateOfBirth":"1990-05-16"}`, "Content-Type", "application/merge-patch+json").wants(t, 200)
	before++
	conflict := editing.send(t, "Speichern").wantsChoices(t, "Ana Čović wurde inzwischen von jemand anderem geändert",
		"Telefon | *Ihre Eingabe: 112 | Vorher: 091 234 5678", "Geburtsdatum | Ihre Eingabe: 15. Mai 1990 | *Andere Eingabe: 16. Mai 1990")
	resolving := conflict.form(t, personPath(id))
	resolving.values.Set("phoneNumber", "091 234 5678")
	resolving.values.Set("dateOfBirth", "15. Mai 1990")
	resolving.switchTo(t, "English").wantsChoices(t, "Someone else has changed Ana Čović",
		"Phone | Yours: 112 | *Before: 091 234 5678", "Date of birth | *Yours: 15 May 1990 | Theirs: 16 May 1990")

	search := open("/office/?sortBy=firstName&page=1").form(t, "/office/").set(t, "Search", "čov")
	p = search.switchTo(t, "Deutsch").follow(t)
	search.kept(t, p)
	if p.path != "/office/?search=%C4%8Dov&sortBy=firstName&sortDir=asc" {
		t.Errorf("the search continues at %s", p.path)
	}
	if to := open("/office/?page=1&sortBy=lastName").form(t, "/office/").switchTo(t, "Deutsch").header.Get("Location"); to != "/office/?page=1&sortBy=lastName" {
		t.Errorf("without a search, it continues at %s", to)
	}
	find := open("/office/history").form(t, "/office/history").set(t, "Person", "čov")
	find.kept(t, find.switchTo(t, "Deutsch").follow(t))
	invite := open("/office/access").form(t, "/office/access/invite").set(t, "Name", "Marko")
	invite.kept(t, invite.switchTo(t, "Deutsch"))
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en").get(t, personPath(id)).form(t, "/office/language")
	if p := reader.send(t, "Deutsch").follow(t); p.path != personPath(id) || p.one(t, "html").attributes["lang"] != "de" {
		t.Errorf("a reader gets %s", p.path)
	}
	if after := s.changeCount(t); after != before {
		t.Errorf("%d changes, want %d", after, before)
	}
	forged := s.signIn(t, s.key, "en").post(t, "/office/people?resume=1", url.Values{"language": {"de"}}, "Sec-Fetch-Site", "cross-site").wants(t, 403)
	if forged.one(t, "html").attributes["lang"] != "en" {
		t.Error("another site changed the language")
	}
}

// TestOfficeLanguageKeepsList checks that a change of language keeps a selected file, and the corrected
// cells of its preview.
func TestOfficeLanguageKeepsList(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	b.get(t, "/office/import").form(t, "/office/import").switchTo(t, "Deutsch").wants(t, 200).says(t, "Import").lacks(t, "Bitte")
	source := b.get(t, "/office/import").form(t, "/office/import").attach("new.csv", "Vorname;Nachname;E-Mail\nIva;Kos;iva@\n")
	p := source.switchTo(t, "English").follow(t).wants(t, 200).says(t, "1 row is refused")
	form := p.form(t, "/office/import")
	form.values.Set("cell.2.2", "iva@example.com")
	p = form.switchTo(t, "Deutsch").wants(t, 200).says(t, "1 Person käme hinzu")
	if got := p.browser.names(t); got != "" {
		t.Errorf("imported: %s", got)
	}
	p.form(t, "/office/import").send(t, "1 Person importieren").follow(t).wants(t, 200)
	if got := s.list(t, "").Data.Items[0]; got.Email == nil || *got.Email != "iva@example.com" {
		t.Errorf("imported: %s", got.summary())
	}
	compared := b.get(t, "/office/compare").form(t, "/office/compare").attach("new.csv", "Vorname;Nachname;Handy\nIva;Kos;1\n").
		switchTo(t, "English").follow(t).wants(t, 200).form(t, "/office/compare").set(t, "Handy", "")
	compared.kept(t, compared.switchTo(t, "Deutsch"))
}

// TestOfficeLanguageKeepsSignIn checks that a change of language keeps a typed code and a carried form.
func TestOfficeLanguageKeepsSignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	adding := b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Mia").set(t, "Last name", "Kovač")
	s.endSessions(t, b)
	signIn := adding.send(t, "Add person").wants(t, http.StatusUnauthorized).form(t, "/office/sign-in").set(t, "Key or code", "ABCD-EFGH-JKLM")
	signIn = signIn.kept(t, signIn.switchTo(t, "Deutsch")).set(t, "Schlüssel oder Code", s.key)
	p := b.post(t, signIn.send(t, "Anmelden").wants(t, http.StatusTemporaryRedirect).header.Get("Location"), signIn.values)
	adding.kept(t, p)
}

// TestOfficeLanguageKeepsEveryForm checks that each form on each page keeps all fields without scripts.
func TestOfficeLanguageKeepsEveryForm(t *testing.T) {
	t.Parallel()
	s := start(t)
	id, other := s.create(t, ana), s.create(t, `{"firstName":"Eva","lastName":"Kos","phoneNumber":"112"}`)
	s.do(t, "DELETE", collection+"/"+s.create(t, ana), "").wants(t, 204)
	b := s.signIn(t, s.key, "en")
	source := b.get(t, "/office/import").form(t, "/office/import").attach("new.csv", "Vorname;Nachname\nIva;Kos\n")
	imported := source.send(t, "Check the list").follow(t).form(t, "/office/import").send(t, "Import 1 person").follow(t)
	missing := imported.one(t, "div", "id", "notice").all("a")
	style := b.get(t, b.get(t, "/office/").one(t, "link", "rel", "stylesheet").attributes["href"]).body
	seen := 0
	for _, path := range []string{"/office/", "/office/?search=a&sortBy=firstName", newPerson, personPath(id), personPath(id) + "/merge",
		personPath(id) + "/merge?with=" + other, "/office/duplicates", "/office/emails", "/office/history", personPath(id) + "/history",
		"/office/deleted", "/office/deleted/erase", "/office/print", "/office/print?list=full", "/office/paper", "/office/birthdays",
		"/office/access", "/office/phones", "/office/department", "/office/export", "/office/export?search=a", "/office/imports",
		missing[0].attributes["href"]} {
		forms := b.get(t, path).typedForms(t)
		for _, name := range forms {
			f := b.get(t, path).typedForm(t, name)
			f.typeAll()
			p := f.switchTo(t, "Deutsch")
			if p.status == http.StatusSeeOther {
				p = p.follow(t)
			}
			again := p.wants(t, http.StatusOK).typedForm(t, name)
			for field := range f.values {
				if got, want := again.values[field], f.values[field]; !slices.Equal(got, want) {
					t.Errorf("%s: %s of the form %s is %q, want %q", path, field, name, got, want)
				}
			}
			if rule := "body:has(#" + name + " :is("; len(forms) > 1 && !strings.Contains(style, rule) {
				t.Errorf("%s: office.css has no rule for the form %s", path, name)
			}
			seen++
		}
	}
	if seen < 19 {
		t.Errorf("%d forms", seen)
	}
}

// typedForms returns the IDs of the forms of the page that have fields, apart from the order of a list
// and its selected people.
func (p *webPage) typedForms(t *testing.T) (names []string) {
	t.Helper()
	for _, f := range p.one(t, "main").all("form") {
		for _, control := range f.all("") {
			if control.isControl() && control.attributes["type"] != "hidden" && control.tag != "button" &&
				!slices.Contains([]string{"sortBy", "id"}, control.attributes["name"]) {
				names = append(names, f.attributes["id"])
				break
			}
		}
	}
	return names
}

func (p *webPage) typedForm(t *testing.T, id string) *webForm {
	t.Helper()
	f := p.one(t, "form", "id", id)
	return &webForm{page: p, form: f, values: f.values()}
}

// typeAll changes every field of a form.
func (f *webForm) typeAll() {
	for _, control := range f.form.all("") {
		name := control.attributes["name"]
		_, checked := control.attributes["checked"]
		switch kind := control.attributes["type"]; {
		case !control.isControl() || kind == "hidden" || control.tag == "button":
		case control.tag == "select":
			options := control.all("option")
			f.values.Set(name, options[len(options)-1].attributes["value"])
		case kind == "radio":
			f.values.Set(name, control.attributes["value"])
		case kind == "checkbox" && checked:
			f.values.Del(name)
		case kind == "checkbox":
			f.values.Add(name, control.attributes["value"])
		default:
			f.values.Set(name, "7")
		}
	}
}
