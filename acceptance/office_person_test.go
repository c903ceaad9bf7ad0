package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

const newPerson = "/office/people/new"

func personPath(id string) string { return "/office/people/" + id }

// stored returns a record from the API.
func (c client) stored(t *testing.T, id string) wireRecord {
	t.Helper()
	var f wireRecord
	decode(t, c.do(t, "GET", collection+"/"+id, "").wants(t, http.StatusOK).body, &f)
	return f
}

// summary returns a record in one line, with a dash for each empty field.
func (f wireRecord) summary() string {
	line := f.FirstName + " " + f.LastName
	for _, value := range []*string{f.PhoneNumber, f.Email, f.DateOfBirth} {
		if value == nil {
			line += ", -"
		} else {
			line += ", " + *value
		}
	}
	return line
}

// changeCount returns the number of changes in the history.
func (s *testService) changeCount(t *testing.T) (count int) {
	t.Helper()
	scanSQL(t, s.db, `SELECT count(*) FROM changes`, &count)
	return count
}

func TestOfficeAddsAPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	p := b.get(t, newPerson).wants(t, http.StatusOK)
	if p.heading(t) != "Add person" {
		t.Errorf("heading %q", p.heading(t))
	}
	p.says(t, "Only the first name and the last name are required.")
	for label, required := range map[string]bool{"First name": true, "Last name": true, "Phone": false, "E-mail": false, "Date of birth": false} {
		field := p.labelled(t, label)
		if _, marked := field.attributes["required"]; marked != required || field.attributes["type"] != "text" {
			t.Errorf("%s: %v", label, field.attributes)
		}
	}
	if _, ok := p.form(t, "/office/people").form.attributes["novalidate"]; !ok {
		t.Error("the browser would validate the form")
	}
	form := p.form(t, "/office/people").set(t, "First name", " Mia ").set(t, "Last name", "Kovač").set(t, "Phone", "091 555 000").
		set(t, "E-mail", "mia@example.org").set(t, "Date of birth", "15 May 1990")
	list := form.send(t, "Add person").follow(t).wants(t, http.StatusOK)
	if list.notice(t) != "Mia Kovač was added Undo" {
		t.Errorf("notice %q", list.notice(t))
	}
	f := s.list(t, "").Data.Items[0]
	if got := f.summary(); got != "Mia Kovač, 091 555 000, mia@example.org, 1990-05-15T00:00:00Z" {
		t.Error(got)
	}
	form.send(t, "Add person").follow(t).says(t, "Mia Kovač was added") // sent again
	if n := s.list(t, "").TotalCount; n != 1 {
		t.Errorf("%d people", n)
	}
	form.set(t, "First name", "Eva").set(t, "Phone", "").set(t, "E-mail", "").set(t, "Date of birth", "").send(t, "Add person").wants(t, http.StatusSeeOther) // reused for the next person
	if n := s.list(t, "").TotalCount; n != 2 {
		t.Errorf("%d people", n)
	}
}

// TestOfficeShowsExistingPeople checks that the page reports existing people with the same name while a
// person is typed, or when the form is sent before that. The new person can still be added.
func TestOfficeShowsExistingPeople(t *testing.T) {
	t.Parallel()
	s := start(t)
	newClient(t, s.url, newKey(t, s.db, "Ladder 1")).create(t, ana)
	s.create(t, ana)
	s.create(t, `{"firstName":"Jürgen","lastName":"Müller-Koch"}`)
	s.create(t, `{"firstName":"Marko","lastName":"Horvat","email":"marko@example.com","dateOfBirth":"1980-02-03"}`)
	for language, lines := range map[string][]string{
		"en": {"Ana Čović, born 1990, is already on the list", "Jürgen Müller-Koch is already on the list", "Marko Horvat, born 1980, is already on the list"},
		"de": {"Ana Čović, geboren 1990, steht schon auf der Liste", "Jürgen Müller-Koch steht schon auf der Liste", "Marko Horvat, geboren 1980, steht schon auf der Liste"},
	} {
		b := s.signIn(t, s.key, language)
		if at := b.get(t, newPerson).form(t, "/office/people").form.attributes["data-alike"]; at != "/office/people/alike" {
			t.Errorf("the form sends its question to %q", at)
		}
		for typed, want := range map[string]string{
			"firstName=ana&lastName=COVIC":                                                lines[0],
			"firstName=Ana&lastName=Čović&dateOfBirth=1.2.2003":                           lines[0], // mother and daughter
			"firstName=Čović&lastName=Ana":                                                lines[0],
			"firstName=Dr.+Juergen&lastName=Mueller+Koch":                                 lines[1],
			"firstName=Marko&lastName=Babić&email=MARKO@example.com&dateOfBirth=3.2.1980": lines[2],
			"firstName=Marko&lastName=Babić&email=marko@&dateOfBirth=3.2.":                "",
			"firstName=Ana&lastName=Horvat":                                               "",
			"firstName=Ana":                                                               "",
			"firstName=Ana&lastName=" + strings.Repeat("x", 200):                          "",
			"": "",
		} {
			query, err := url.ParseQuery(typed)
			if err != nil {
				t.Fatal(err)
			}
			p, err := b.trySend(t, http.MethodGet, "/office/people/alike?"+query.Encode(), nil, nil)
			if err != nil || p.status != http.StatusOK || p.text() != want {
				t.Errorf("%s %s: %d %q, %v; want %q", language, typed, p.status, p.text(), err, want)
			}
		}
	}
	b := s.signIn(t, s.key, "en")
	form := b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Ana").set(t, "Last name", "Covic")
	wrong := form.set(t, "E-mail", "ana@").send(t, "Add person").wants(t, http.StatusUnprocessableEntity)
	wrong.says(t, "Ana Čović, born 1990, is already on the list")
	if list := wrong.form(t, "/office/people").set(t, "E-mail", "").send(t, "Add person").follow(t); list.notice(t) != "Ana Covic was added Undo" {
		t.Errorf("notice %q", list.notice(t))
	}
	form = b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Jürgen").set(t, "Last name", "Müller-Koch")
	asks := form.send(t, "Add person").wants(t, http.StatusUnprocessableEntity).says(t, "Jürgen Müller-Koch is already on the list")
	if _, focused := asks.one(t, "div", "id", "alike").attributes["autofocus"]; !focused || len(asks.all("input", "autofocus", "")) > 0 {
		t.Error("the namesake does not have the focus")
	}
	b.get(t, asks.one(t, "div", "id", "alike").all("a")[0].attributes["href"]).wants(t, http.StatusOK)
	form = asks.form(t, "/office/people")
	for range 2 { // sent again
		form.send(t, "Add anyway").follow(t).says(t, "Jürgen Müller-Koch was added Undo")
	}
	if n := s.list(t, "").TotalCount; n != 5 {
		t.Errorf("%d people", n)
	}
	b.get(t, "/office/people/new").form(t, "/office/people").set(t, "First name", "Mia").set(t, "Last name", "Babić").send(t, "Add person").follow(t)
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	reader.get(t, "/office/people/alike?firstName=Ana&lastName=Covic").wants(t, http.StatusForbidden)
}

func TestOfficeFormSentAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	form := b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Mia").set(t, "Last name", "Kovač")
	var sending sync.WaitGroup
	locations := make([]string, 8)
	for i := range locations {
		sending.Go(func() {
			p, err := b.trySend(t, http.MethodPost, "/office/people", form.values, nil)
			if err != nil || p.status != http.StatusSeeOther {
				t.Errorf("%v %+v", err, p)
				return
			}
			locations[i] = p.header.Get("Location")
		})
	}
	sending.Wait()
	for _, location := range locations {
		if location != locations[0] {
			t.Errorf("%q and %q", locations[0], location)
		}
	}
	if n := s.list(t, "").TotalCount; n != 1 {
		t.Errorf("%d people", n)
	}
}

// TestOfficeFaults checks that every fault appears at its field and that the typed text stays.
func TestOfficeFaults(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"Mia","lastName":"Kovač"}`)
	for _, test := range []struct{ language, label, typed, fault string }{
		{"en", "First name", "  ", "Please enter a first name."},
		{"de", "Vorname", "", "Bitte geben Sie einen Vornamen ein."},
		{"en", "First name", "\u200b\ufeff", "Please enter a first name."},
		{"en", "First name", strings.Repeat("x", 101), "The first name is too long."},
		{"en", "First name", "a\r\nb", "The first name contains a character that cannot be stored. Please type it again."},
		{"en", "Last name", "", "Please enter a last name."},
		{"de", "Nachname", strings.Repeat("x", 101), "Der Nachname ist zu lang."},
		{"en", "Last name", "a\x00b", "The last name contains a character that cannot be stored. Please type it again."},
		{"en", "Phone", strings.Repeat("1", 51), "The phone number is too long."},
		{"de", "Telefon", "091\x07", "Die Telefonnummer enthält ein Zeichen, das sich nicht speichern lässt. Bitte geben Sie sie noch einmal ein."},
		{"en", "E-mail", "mia", "This is not an e-mail address. It should look like name@example.org."},
		{"de", "E-Mail", "Mia <mia@example.org>", "Das ist keine E-Mail-Adresse. Sie sollte so aussehen: name@example.org."},
		{"en", "E-mail", strings.Repeat("x", 250) + "@example.org", "The e-mail address is too long."},
		{"en", "Date of birth", "15 Mai", "This date of birth cannot be read. Please write day, month and year: 15 May 1990."},
		{"en", "Date of birth", "31 April 1990", "There is no such day. Please check the date of birth."},
		{"en", "Date of birth", "04/05/1990", "This date of birth could be 4 May 1990 or 5 April 1990. Please choose."},
		{"de", "Geburtsdatum", "1.1.1899", "Das Geburtsdatum muss zwischen 1900 und heute liegen."},
		{"en", "Date of birth", "1 January 2990", "The date of birth must be between 1900 and today."},
	} {
		b := s.signIn(t, s.key, test.language)
		for _, page := range []struct{ at, action string }{{newPerson, "/office/people"}, {personPath(id), personPath(id)}} {
			form := b.get(t, page.at).form(t, page.action)
			if page.at == newPerson {
				form.values.Set("firstName", "Mia")
				form.values.Set("lastName", "Kovač")
			}
			buttons := form.form.all("button")
			p := form.set(t, test.label, test.typed).send(t, buttons[len(buttons)-1].text()).wants(t, http.StatusUnprocessableEntity)
			if got := p.fault(t, test.label); got != test.fault {
				t.Errorf("%s %q at %s: fault %q", test.label, test.typed, page.at, got)
			}
			field := p.labelled(t, test.label).attributes
			shown := strings.ReplaceAll(test.typed, "\x00", "�")
			if field["value"] != shown || p.form(t, page.action).values.Get("firstName") == "" && test.label != "First name" && test.label != "Vorname" {
				t.Errorf("%s: %q became %q", test.label, test.typed, field["value"])
			}
			title := p.one(t, "title").text()
			if !strings.HasPrefix(title, map[string]string{"en": "Error: ", "de": "Fehler: "}[test.language]+p.heading(t)) {
				t.Errorf("the title after a fault is %q", title)
			}
			summary := p.one(t, "div", "id", "faults")
			links := summary.all("a")
			if len(links) != 1 || links[0].attributes["href"] != "#"+field["id"] || links[0].text() != test.fault || summary.attributes["role"] != "alert" {
				t.Errorf("the summary of %s is %q", test.label, summary.text())
			}
			if after := p.form(t, page.action).values; after.Get("tag") != form.values.Get("tag") || after.Get("token") != form.values.Get("token") {
				t.Errorf("the form lost its tag or token: %v", after)
			}
		}
	}
	if f := s.stored(t, id); f.summary() != "Mia Kovač, -, -, -" || s.changeCount(t) != 1 {
		t.Errorf("%s after %d changes", f.summary(), s.changeCount(t))
	}
}

// TestOfficeAsksAboutPhones checks that a phone number without a digit is a question and not an
// error.
func TestOfficeAsksAboutPhones(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	asking := func(form *webForm, button string) *webPage {
		t.Helper()
		p := form.send(t, button).wants(t, http.StatusUnprocessableEntity)
		want := "This phone number contains no digits. If it is correct, press “" + button + "” again."
		if got := p.one(t, "", "id", "phoneNumber-fault").text(); got != want {
			t.Errorf("the question is %q", got)
		}
		if _, wrong := p.labelled(t, "Phone").attributes["aria-invalid"]; wrong || strings.HasPrefix(p.one(t, "title").text(), "Error") {
			t.Error("the question is shown as an error")
		}
		p.one(t, "div", "id", "faults")
		return p
	}
	p := asking(b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Mia").set(t, "Last name", "Kovač").set(t, "Phone", "ask Ivo"), "Add person")
	p = asking(p.form(t, "/office/people").set(t, "Phone", "ask Iva"), "Add person") // a different value
	p.form(t, "/office/people").send(t, "Add person").follow(t).says(t, "Mia Kovač was added")
	f := s.list(t, "").Data.Items[0]
	if f.PhoneNumber == nil || *f.PhoneNumber != "ask Iva" {
		t.Error(f.summary())
	}
	form := b.get(t, personPath(f.ID)).form(t, personPath(f.ID))
	form.set(t, "First name", "Eva").send(t, "Save").wants(t, http.StatusSeeOther) // the stored value needs no answer
	form = b.get(t, personPath(f.ID)).form(t, personPath(f.ID)).set(t, "Phone", "ask Ana").set(t, "E-mail", "mia@example.org")
	s.do(t, "PUT", collection+"/"+f.ID, `{"firstName":"Mia","lastName":"Kovač","phoneNumber":"112"}`).wants(t, http.StatusOK)
	p = asking(form, "Save")
	p = p.form(t, personPath(f.ID)).send(t, "Save").wants(t, http.StatusConflict)
	p.form(t, personPath(f.ID)).send(t, "Save").wants(t, http.StatusSeeOther) // without another question
	if got := s.stored(t, f.ID).summary(); got != "Mia Kovač, ask Ana, mia@example.org, -" {
		t.Error(got)
	}
}

// TestOfficeReadsShortYears checks that dates are read like in imports, and that the page asks
// about a date with two possible readings.
func TestOfficeReadsShortYears(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	save := func(typed string) *webPage {
		return b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Date of birth", typed).send(t, "Save")
	}
	for typed, want := range map[string]string{"1.2.85": "1985-02-01T00:00:00Z", "85-03-04": "1985-03-04T00:00:00Z", "15 May '90": "1990-05-15T00:00:00Z"} {
		save(typed).wants(t, http.StatusSeeOther)
		if got := s.stored(t, id).DateOfBirth; got == nil || *got != want {
			t.Errorf("%q is read as %v", typed, s.stored(t, id).summary())
		}
	}
	year := time.Now().Year() - 1
	for typed, want := range map[string][2]string{
		"4/5/85":                              {"4 May 1985", "5 April 1985"},
		fmt.Sprintf("15 May %02d", year%100):  {fmt.Sprintf("15 May %d", year-100), fmt.Sprintf("15 May %d", year)},
		fmt.Sprintf("15. 5. %02d.", year%100): {fmt.Sprintf("15 May %d", year-100), fmt.Sprintf("15 May %d", year)},
	} {
		before := s.stored(t, id).summary()
		p := save(typed).wants(t, http.StatusUnprocessableEntity)
		if got := p.fault(t, "Date of birth"); got != "This date of birth could be "+want[0]+" or "+want[1]+". Please choose." {
			t.Errorf("%q: %q", typed, got)
		}
		if got := p.labelled(t, "Date of birth").attributes["value"]; got != typed {
			t.Errorf("%q became %q", typed, got)
		}
		for _, reading := range want {
			if p.labelled(t, reading).attributes["type"] != "radio" {
				t.Errorf("%q cannot be chosen", reading)
			}
		}
		form := p.form(t, personPath(id))
		form.send(t, "Save").wants(t, http.StatusUnprocessableEntity) // without an answer
		if after := s.stored(t, id).summary(); after != before {
			t.Errorf("%q is saved as %s", typed, after)
		}
		form.values.Set("reading.dateOfBirth", want[1])
		form.send(t, "Save").wants(t, http.StatusSeeOther)
		if shown := b.get(t, personPath(id)).labelled(t, "Date of birth").attributes["value"]; shown != want[1] {
			t.Errorf("%q is saved as %q", typed, shown)
		}
		form.set(t, "Date of birth", "1 June 1985").values.Set("tag", b.get(t, personPath(id)).form(t, personPath(id)).values.Get("tag"))
		form.send(t, "Save").wants(t, http.StatusSeeOther) // a new date replaces the answer
		if shown := b.get(t, personPath(id)).labelled(t, "Date of birth").attributes["value"]; shown != "1 June 1985" {
			t.Errorf("the new date is saved as %q", shown)
		}
	}
}

// TestOfficePutsTheCursor checks that the cursor is in the first field of a new person and not on
// other pages.
func TestOfficePutsTheCursor(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	focused := func(p *webPage) (names []string) {
		for _, tag := range []string{"input", "div"} {
			for _, e := range p.all(tag) {
				if _, ok := e.attributes["autofocus"]; ok {
					names = append(names, e.attributes["id"])
				}
			}
		}
		return names
	}
	form := b.get(t, newPerson)
	if got := focused(form); !slices.Equal(got, []string{"firstName"}) {
		t.Errorf("the cursor is in %q", got)
	}
	if got := focused(form.form(t, "/office/people").send(t, "Add person")); !slices.Equal(got, []string{"faults"}) {
		t.Errorf("after faults the cursor is in %q", got)
	}
	if got := focused(b.get(t, personPath(s.create(t, ana)))); len(got) > 0 {
		t.Errorf("on the page of a person the cursor is in %q", got)
	}
}

func TestOfficeShowsAPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'accepted' WHERE id = ?`, id)
	reader := newKey(t, s.db, "default", "--scope", "read")
	for language, want := range map[string]struct{ born, label, status string }{
		"en": {"15 May 1990", "Date of birth", "Invitation"},
		"de": {"15. Mai 1990", "Geburtsdatum", "Einladung"},
	} {
		for key, mayWrite := range map[string]bool{s.key: true, reader: false} {
			p := s.signIn(t, key, language).get(t, personPath(id)).wants(t, http.StatusOK)
			if p.heading(t) != "Ana Čović" {
				t.Errorf("heading %q", p.heading(t))
			}
			p.says(t, "accepted", want.status)
			for _, within := range []*element{p.one(t, "div", "class", "contact"), p.one(t, "dl", "class", "facts")} {
				if len(within.all("a", "href", "tel:0912345678")) != 1 || len(within.all("a", "href", "mailto:ana@example.com")) != 1 {
					t.Errorf("%s: without links to call and write: %s", language, within.text())
				}
			}
			p.one(t, "a", "href", "sms:0912345678")
			p.one(t, "a", "href", personPath(id)+"/history")
			forms, deleting := len(p.all("form", "action", personPath(id))), len(p.all("form", "action", personPath(id)+"/delete"))
			if mayWrite {
				if forms != 1 || deleting != 1 || p.labelled(t, want.label).attributes["value"] != want.born {
					t.Errorf("%s: %d forms, %d to delete, born %q", language, forms, deleting, p.labelled(t, want.label).attributes["value"])
				}
				continue
			}
			if forms+deleting > 0 || len(p.all("input", "type", "text")) > 0 {
				t.Errorf("%s: a reader sees a form: %s", language, p.text())
			}
			p.says(t, want.label, want.born)
		}
	}
}

// TestOfficeEditOnAPhone checks that the form is closed on narrow screens until a link opens it, and
// that it is open for a new person and after a fault.
func TestOfficeEditOnAPhone(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	class := func(p *webPage, action string) string { return p.form(t, action).form.attributes["class"] }
	p := b.get(t, personPath(id)+"?back=%2Foffice%2F%3Fsearch%3Dana")
	if got := class(p, personPath(id)); got != "narrow closed" {
		t.Errorf("the form has the class %q", got)
	}
	for _, text := range []string{"Call 091 234 5678 Message E-mail Phone 091 234 5678", "36 years old Edit", "Save Cancel History All data"} {
		p.says(t, strings.Replace(text, "36", strconv.Itoa(time.Now().Year()-1990), 1))
	}
	edit := b.get(t, p.one(t, "p", "class", "edit").one("a").attributes["href"])
	if got := class(edit, personPath(id)); got != "narrow" {
		t.Errorf("after Edit the form has the class %q", got)
	}
	wrong := edit.form(t, personPath(id)).set(t, "E-mail", "ana@").send(t, "Save").wants(t, http.StatusUnprocessableEntity)
	if got := class(wrong, personPath(id)); got != "narrow" {
		t.Errorf("after a fault the form has the class %q", got)
	}
	if facts := wrong.one(t, "dl", "class", "facts").text(); !strings.Contains(facts, "ana@example.com") {
		t.Errorf("the facts after a fault are %s", facts)
	}
	list := wrong.form(t, personPath(id)).set(t, "E-mail", "ana@example.org").send(t, "Save").follow(t)
	if list.says(t, "Ana Čović was saved"); !strings.HasPrefix(list.path, "/office/?") || !strings.Contains(list.path, "search=ana") {
		t.Errorf("Save leads to %s", list.path)
	}
	if got := class(b.get(t, newPerson), "/office/people"); got != "narrow" {
		t.Errorf("the form for a new person has the class %q", got)
	}
}

// TestOfficeKeepsNumbersTogether checks that lines break between the numbers of a person.
func TestOfficeKeepsNumbersTogether(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "es")
	id := s.create(t, `{"firstName":"Mia","lastName":"Kovač","phoneNumber":"+385 (0)91 820 / 8279, 01 234 5678","dateOfBirth":"1974-09-20"}`)
	for _, path := range []string{"/office/", personPath(id), personPath(id) + "/history", "/office/print", "/office/print?list=full"} {
		var whole []string
		for _, e := range b.get(t, path).all("span", "class", "whole") {
			whole = append(whole, e.text())
		}
		want := []string{"+385 (0)91 820 / 8279,", "01 234 5678", "20 de septiembre de 1974"}
		if path == "/office/print" {
			want = want[:2]
		}
		if !slices.Equal(whole, want) {
			t.Errorf("%s keeps together %q, want %q", path, whole, want)
		}
	}
}

// TestOfficeDials checks that the list calls the first number, and the page of a person each of them.
func TestOfficeDials(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for number, want := range map[string]string{
		"091 / 234-5678": "tel:0912345678", "+385 (0)91 234": "tel:+38591234", "+385 91 234": "tel:+38591234", "(091) 234": "tel:091234",
		"091 111 2222 / 01 222 3333": "tel:0911112222 tel:012223333", "202-555-0123 ext. 45": "tel:2025550123;ext=45", "(091) 234 (2. broj)": "tel:091234",
		"+": "", "ask Ivo": "", "tel:+385 91 234": "tel:+38591234", "Mob. (+385) 91 234": "tel:+38591234", "\u202a+385\u200b 91 234\u202c": "tel:+38591234",
	} {
		id := s.create(t, `{"firstName":"Mia","lastName":"Kovač","phoneNumber":"`+number+`"}`)
		for _, path := range []string{personPath(id), "/office/"} {
			p := b.get(t, path)
			var links []string
			for _, a := range p.all("a") {
				if href := a.attributes["href"]; strings.HasPrefix(href, "tel:") {
					links = append(links, href)
				}
			}
			all := want
			if first, _, _ := strings.Cut(want, " "); path == "/office/" {
				all = first
			} else {
				all = strings.TrimSpace(all + " " + first)
			}
			if got := strings.Join(links, " "); got != all {
				t.Errorf("%s: the links for %s are %q", path, number, got)
			}
		}
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusNoContent)
	}
}

// TestOfficeReadingChangesNothing checks that viewing and saving without a change keep a record,
// including the offset of its date of birth.
func TestOfficeReadingChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"Mia","lastName":"Kovač","dateOfBirth":"1990-05-15T23:30:00.5+02:00"}`)
	before := s.stored(t, id)
	for _, language := range lang.All() {
		b := s.signIn(t, s.key, language.Tag)
		for _, path := range []string{"/office/", newPerson, personPath(id), "/office/emails", "/office/sign-out", personPath(id) + "/delete", personPath(id) + "/undelete"} {
			b.get(t, path)
		}
		form := b.get(t, personPath(id)).form(t, personPath(id))
		b.post(t, personPath(id), form.values).follow(t).wants(t, http.StatusOK)
	}
	b := s.signIn(t, s.key, "en")
	b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Date of birth", "1990-05-15").send(t, "Save").wants(t, http.StatusSeeOther)
	if after := s.stored(t, id); after.summary() != before.summary() || s.changeCount(t) != 1 {
		t.Errorf("%s after %d changes", after.summary(), s.changeCount(t))
	}
	b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "112").send(t, "Save").wants(t, http.StatusSeeOther)
	if after := s.stored(t, id); *after.DateOfBirth != *before.DateOfBirth || *after.PhoneNumber != "112" {
		t.Error(after.summary())
	}
	b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Date of birth", "16.5.1990").send(t, "Save").wants(t, http.StatusSeeOther)
	if after := s.stored(t, id); *after.DateOfBirth != "1990-05-16T00:00:00Z" {
		t.Error(after.summary())
	}
}

func TestOfficeEditsAPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "de")
	p := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Telefon", "").set(t, "Geburtsdatum", "1. Jänner 1991").send(t, "Speichern")
	if p.status == http.StatusUnprocessableEntity { // "Jänner" is not used in Germany
		p = p.form(t, personPath(id)).set(t, "Geburtsdatum", "1. Januar 1991").send(t, "Speichern")
	}
	if list := p.follow(t); list.notice(t) != "Ana Čović wurde gespeichert Rückgängig" {
		t.Errorf("notice %q", list.notice(t))
	}
	if got := s.stored(t, id).summary(); got != "Ana Čović, -, ana@example.com, 1991-01-01T00:00:00Z" {
		t.Error(got)
	}
	b.post(t, personPath(id), url.Values{"phoneNumber": {"112"}, "tag": b.get(t, personPath(id)).form(t, personPath(id)).values["tag"]}).wants(t, http.StatusSeeOther)
	if got := s.stored(t, id).summary(); got != "Ana Čović, 112, ana@example.com, 1991-01-01T00:00:00Z" {
		t.Errorf("a field that was not sent has changed: %s", got)
	}
}

func TestOfficeDeletesAndUndoes(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for language, want := range map[string]struct{ remove, deleted, undo, restored string }{
		"en": {"Delete", "Ana Čović was deleted", "Undo", "Ana Čović is back on the list"},
		"de": {"Löschen", "Ana Čović wurde gelöscht", "Rückgängig", "Ana Čović steht wieder auf der Liste"},
	} {
		b := s.signIn(t, s.key, language)
		remove := b.get(t, personPath(id)).form(t, personPath(id)+"/delete")
		list := remove.send(t, want.remove).follow(t)
		if list.notice(t) != want.deleted+" "+want.undo || len(list.all("tbody")) > 0 {
			t.Errorf("notice %q: %s", list.notice(t), list.text())
		}
		remove.send(t, want.remove).follow(t).says(t, want.deleted) // pressed twice
		b.get(t, personPath(id)).wants(t, http.StatusNotFound)
		if b.get(t, "/office/").notice(t) != "" {
			t.Error("the notice is still there on the next page")
		}
		undo := list.form(t, personPath(id)+"/undelete")
		if back := undo.send(t, want.undo).follow(t); back.notice(t) != want.restored {
			t.Errorf("notice %q", back.notice(t))
		}
		undo.send(t, want.undo).follow(t).says(t, want.restored) // pressed twice
		if list := b.get(t, "/office/?deleted="+id); list.notice(t) != "" {
			t.Errorf("outdated notice: %q", list.notice(t))
		}
	}
	if n := s.changeCount(t); n != 5 {
		t.Errorf("%d changes", n)
	}
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusNoContent)
	if notice := reader.get(t, "/office/?deleted="+id).notice(t); notice != "Ana Čović was deleted" {
		t.Errorf("the notice for a reader is %q", notice)
	}
}

// payloads are names that a page must not interpret.
var payloads = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `{{.Tag}}`, `javascript:alert(1)`,
	`</title><h1>x</h1>`, `&lt;b&gt;`, `a&b;c=d`, `-->`, `]]>`, `%3Cscript%3E`,
}

func TestOfficePayloadNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for _, name := range payloads {
		form := b.get(t, newPerson).form(t, "/office/people").set(t, "First name", name).set(t, "Last name", name).set(t, "Phone", "0"+name)
		list := form.send(t, "Add person").follow(t)
		whole := name + " " + name
		if want := strings.Join(strings.Fields(whole+" was added Undo"), " "); list.notice(t) != want {
			t.Errorf("notice %q", list.notice(t))
		}
		rows := list.all("tbody")
		if row := rows[0].text(); len(rows) != 1 || !strings.Contains(row, name) {
			t.Errorf("want %q on the list: %s", name, row)
		}
		found := b.get(t, "/office/?search="+url.QueryEscape(name)).says(t, "1 of 1 person")
		if got := found.one(t, "details", "class", "sort").values().Get("search"); got != name {
			t.Errorf("the sort form for %q has the search %q", name, got)
		}
		id := s.list(t, "pageSize=1").Data.Items[0].ID
		p := b.get(t, personPath(id)).wants(t, http.StatusOK)
		old := p.form(t, personPath(id))
		if p.heading(t) != whole || p.labelled(t, "First name").attributes["value"] != name {
			t.Errorf("%q became %q", name, p.heading(t))
		}
		p.form(t, personPath(id)).set(t, "E-mail", "").set(t, "Phone", "2"+name).send(t, "Save").follow(t)
		conflict := old.set(t, "Phone", "1"+name).send(t, "Save").wants(t, http.StatusConflict)
		if got := conflict.form(t, personPath(id)).values.Get("firstName"); got != name {
			t.Errorf("%q became %q in the conflict", name, got)
		}
		conflict.says(t, "1"+name, "2"+name)
		old.set(t, "First name", "").set(t, "E-mail", name).send(t, "Save").wants(t, http.StatusUnprocessableEntity)
		b.post(t, personPath(id)+"/delete", nil).follow(t).says(t, whole+" was deleted")
	}
}

// TestOfficeRefusals checks that rejected requests get an error page and change nothing.
func TestOfficeRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"Mia","lastName":"Kovač"}`)
	other := s.as(newKey(t, s.db, "Other")).create(t, `{"firstName":"Ivo","lastName":"Other"}`)
	deleted := s.create(t, `{"firstName":"Eva","lastName":"Gone"}`)
	s.do(t, "DELETE", collection+"/"+deleted, "").wants(t, http.StatusNoContent)
	before := s.changeCount(t)
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	writer := s.signIn(t, s.key, "de")
	typed := url.Values{"firstName": {"X"}, "lastName": {"Y"}, "restore": {"1"}}
	for _, test := range []struct {
		b            *browser
		method, path string
		form         url.Values
		headers      []string
		status       int
		text         string
	}{
		{reader, "GET", newPerson, nil, nil, 403, "You are not allowed to do this"},
		{reader, "POST", "/office/people", typed, nil, 403, "You are not allowed to do this"},
		{reader, "POST", personPath(id), typed, nil, 403, "You are not allowed to do this"},
		{reader, "POST", personPath(id) + "/delete", nil, nil, 403, "You are not allowed to do this"},
		{reader, "POST", personPath(deleted) + "/undelete", nil, nil, 403, "You are not allowed to do this"},
		{writer, "POST", "/office/people", typed, []string{"Origin", "https://example.org", "Sec-Fetch-Site", "cross-site"}, 403, ""},
		{writer, "POST", "/office/people", typed, []string{"Origin", "null", "Sec-Fetch-Site", ""}, 403, ""},
		{writer, "POST", "/office/people", typed, []string{"Origin", "https://example.org", "Sec-Fetch-Site", ""}, 403, ""},
		{writer, "POST", personPath(id), typed, []string{"Sec-Fetch-Site", "same-site"}, 403, ""},
		{writer, "POST", personPath(id) + "/delete", nil, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{writer, "POST", personPath(deleted) + "/undelete", nil, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{writer, "POST", "/office/sign-out", nil, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{writer, "GET", personPath(other), nil, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "POST", personPath(other), typed, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "POST", personPath(other) + "/delete", nil, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "POST", personPath(other) + "/undelete", nil, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "GET", personPath(deleted), nil, nil, 404, "Gelöscht"},
		{writer, "GET", personPath(nobody), nil, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "POST", personPath(nobody), typed, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "POST", personPath("x") + "/delete", nil, nil, 404, "Diese Person steht nicht auf der Liste"},
		{writer, "GET", personPath("%2e%2e%2f"), nil, nil, 404, ""},
		{writer, "GET", personPath(id) + "/delete", nil, nil, 405, ""},
		{writer, "POST", "/office/emails", nil, nil, 405, ""},
		{writer, "POST", "/office/people", url.Values{"firstName": {strings.Repeat("x", 70_000)}}, nil, 413, ""},
		{writer, "POST", personPath(id), url.Values{"firstName": {strings.Repeat("x", 70_000)}}, nil, 413, ""},
		{writer, "POST", "/office/people", typed, []string{"Content-Type", "application/json"}, 415, ""},
	} {
		p := test.b.send(t, test.method, test.path, test.form, test.headers)
		if p.status != test.status || p.root == nil {
			t.Errorf("%s %s %v: %d %s", test.method, test.path, test.headers, p.status, p.text())
			continue
		}
		p.says(t, test.text, p.header.Get("X-Request-Id")).lacks(t, "Ivo")
	}
	if after := s.changeCount(t); after != before {
		t.Errorf("%d changes, want %d", after, before)
	}
	if got := writer.get(t, "/office/").wants(t, http.StatusOK); got.one(t, "html").attributes["lang"] != "de" {
		t.Error("the session ended")
	}
}

// TestOfficeCarriesFormsThroughSignIn checks that the end of a session loses no typed text, and
// that nothing is saved before the user has seen the form again.
func TestOfficeCarriesFormsThroughSignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for language, want := range map[string]struct{ first, phone, key, signIn, resumed string }{
		"en": {"First name", "Phone", "Key or code", "Sign in", "Nothing is saved yet."},
		"de": {"Vorname", "Telefon", "Schlüssel oder Code", "Anmelden", "Noch ist nichts gespeichert."},
	} {
		b := s.signIn(t, s.key, language)
		adding := b.get(t, newPerson).form(t, "/office/people").set(t, want.first, `Mia "<&`)
		adding.values.Set("lastName", "Kovač "+language)
		editing := b.get(t, personPath(id)).form(t, personPath(id)).set(t, want.phone, "112 "+language)
		removing := b.get(t, personPath(id)).form(t, personPath(id)+"/delete")
		s.endSessions(t, b)
		before := s.changeCount(t)
		for _, form := range []*webForm{adding, editing} {
			action := form.form.attributes["action"]
			buttons := form.form.all("button")
			again := form.send(t, buttons[len(buttons)-1].text()).wants(t, http.StatusUnauthorized)
			again = again.form(t, "/office/sign-in").set(t, want.key, "wrong").send(t, want.signIn).wants(t, http.StatusForbidden)
			signedIn := again.form(t, "/office/sign-in").set(t, want.key, s.key)
			p := signedIn.send(t, want.signIn).wants(t, http.StatusTemporaryRedirect)
			shown := b.post(t, p.header.Get("Location"), signedIn.values).wants(t, http.StatusOK).says(t, want.resumed)
			got := shown.form(t, action)
			for name, values := range form.values {
				if got.values.Get(name) != values[0] {
					t.Errorf("%s is %q after the sign-in, want %q", name, got.values.Get(name), values[0])
				}
			}
			if s.changeCount(t) != before {
				t.Error("the sign-in saved a change")
			}
			got.send(t, buttons[len(buttons)-1].text()).follow(t).wants(t, http.StatusOK)
			if before++; s.changeCount(t) != before {
				t.Errorf("%d changes, want %d", s.changeCount(t), before)
			}
			s.endSessions(t, b)
		}
		buttons := removing.form.all("button")
		p := removing.send(t, buttons[0].text()).wants(t, http.StatusUnauthorized)
		p = p.form(t, "/office/sign-in").set(t, want.key, s.key).send(t, want.signIn).follow(t)
		if p.path != "/office/" || s.changeCount(t) != before {
			t.Errorf("the sign-in continued the deletion, at %s", p.path)
		}
		if p = b.get(t, personPath(id)); p.labelled(t, want.phone).attributes["value"] != "112 "+language {
			t.Errorf("the change was not saved: %s", p.text())
		}
	}
}

// endSessions revokes all sessions and waits until the session of b has ended.
func (s *testService) endSessions(t *testing.T, b *browser) {
	t.Helper()
	execSQL(t, s.db, `UPDATE keys SET revoked_at = 1 WHERE session_lifetime IS NOT NULL AND revoked_at IS NULL`)
	eventually(t, "the session to end", func() bool { return b.get(t, "/office/").status == http.StatusSeeOther })
}

func TestOfficeDamagedRecord(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	id := s.create(t, `{"firstName":"Mia","lastName":"Kovač"}`)
	en, de := s.signIn(t, s.key, "en"), s.signIn(t, s.key, "de")
	form := en.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "112")
	execSQL(t, s.db, `UPDATE firefighters SET last_name = 'Kovač!' WHERE id = ?`, id)
	for _, path := range []string{personPath(id), "/office/", "/office/emails", personPath(id) + "/history"} {
		if p := en.get(t, path); p.status == http.StatusInternalServerError {
			p.says(t, "A record is damaged", "firefighters check").lacks(t, "Kovač!")
		} else if path != personPath(id)+"/history" {
			t.Errorf("%s: %d", path, p.status)
		}
	}
	de.get(t, personPath(id)).wants(t, http.StatusInternalServerError).says(t, "Ein Datensatz ist beschädigt", "firefighters check")
	form.send(t, "Save").wants(t, http.StatusInternalServerError).says(t, "A record is damaged", "Nothing you typed was saved")
	s.logs(t, id)
}

func TestOfficeEmails(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, f := range []string{`"lastName":"A","email":"Mia@example.org"`, `"lastName":"B","email":"mia@EXAMPLE.org"`, `"lastName":"C","email":"x&y@example.org"`, `"lastName":"D"`} {
		s.create(t, `{"firstName":"Mia",`+f+`}`)
	}
	en, de := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en"), s.signIn(t, s.key, "de")
	list := en.get(t, "/office/?search=mia&sortBy=lastName&sortDir=desc")
	var link *element
	for _, a := range list.all("a") {
		if a.text() == "Copy e-mail addresses" {
			link = a
		}
	}
	if link == nil {
		t.Fatal(list.text())
	}
	p := en.get(t, link.attributes["href"]).wants(t, http.StatusOK)
	p.says(t, "4 people found for “mia”. 2 addresses, each listed once. 1 person has none.", "Bcc")
	if got := p.labelled(t, "Addresses").raw(); got != "x&y@example.org; mia@EXAMPLE.org" {
		t.Error(got)
	}
	for _, a := range p.all("a") {
		if a.text() == "Comma (other programs)" {
			p = en.get(t, a.attributes["href"])
		}
	}
	if got := p.labelled(t, "Addresses").raw(); got != "x&y@example.org, mia@EXAMPLE.org" {
		t.Error(got)
	}
	p.one(t, "a", "href", "/office/?search=mia&sortBy=lastName&sortDir=desc")
	en.get(t, "/office/emails?search=d").says(t, "1 person found for “d”. There are no e-mail addresses.").lacks(t, "each listed once", "none")
	de.get(t, "/office/emails").says(t, "4 Personen. 2 Adressen, jede nur einmal. 1 Person hat keine.")
	if p := de.get(t, "/office/emails?search=nobody&sortBy=wrong&page=0&separator=x").wants(t, http.StatusOK); len(p.all("textarea")) != 0 {
		t.Error(p.text())
	}
	de.get(t, "/office/emails?search="+strings.Repeat("x", 101)).says(t, "search", "4 Personen") // shows everyone
}

func TestOfficeSignOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	for language, want := range map[string]struct{ title, do, done string }{
		"en": {"Sign out", "Sign out", "You are signed out"}, "de": {"Abmelden", "Abmelden", "Sie sind abgemeldet"},
	} {
		b := s.signIn(t, s.key, language)
		p := b.get(t, "/office/sign-out").wants(t, http.StatusOK)
		if p.heading(t) != want.title {
			t.Errorf("heading %q", p.heading(t))
		}
		b.get(t, "/office/").wants(t, http.StatusOK) // viewing the page does not sign out
		if p = p.form(t, "/office/sign-out").send(t, want.do).follow(t); p.path != "/office/sign-in?signedOut=1" || p.notice(t) != want.done {
			t.Errorf("signing out shows %s: %s", p.path, p.text())
		}
		b.get(t, "/office/").wants(t, http.StatusSeeOther)
		b.post(t, "/office/sign-out", nil).wants(t, http.StatusSeeOther)
	}
	var active int
	scanSQL(t, s.db, `SELECT count(*) FROM keys WHERE session_lifetime IS NOT NULL AND revoked_at IS NULL`, &active)
	if active != 0 {
		t.Errorf("%d sessions are active", active)
	}
}

// TestOfficeLinkFromAnotherSite checks a link on another site, for which the browser omits the
// cookie: the page reloads itself once and then asks for a sign-in.
func TestOfficeLinkFromAnotherSite(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	for language, link := range map[string]string{"en": "Continue", "de": "Weiter"} {
		visitor := s.browser(t, language)
		p := visitor.get(t, personPath(id), "Sec-Fetch-Site", "cross-site").wants(t, http.StatusOK).says(t, link).lacks(t, "Ana")
		next := ""
		for _, a := range p.all("a") {
			if a.text() == link {
				next = a.attributes["href"]
			}
		}
		refresh := p.one(t, "meta", "http-equiv", "refresh").attributes["content"]
		if refresh != "0; url="+next {
			t.Errorf("the page reloads %q, but its link is %q", refresh, next)
		}
		if again := visitor.get(t, next).follow(t); !strings.HasPrefix(again.path, "/office/sign-in") {
			t.Errorf("%s shows %s", next, again.path)
		}
		b := s.signIn(t, s.key, language)
		p = b.get(t, next)
		for range 2 {
			if p.status == http.StatusSeeOther {
				p = b.get(t, p.header.Get("Location"))
			}
		}
		if p.heading(t) != "Ana Čović" {
			t.Errorf("%s shows %q", next, p.heading(t))
		}
	}
}
