package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// choices are the fields of a conflict page, each with its mark and its two
// radio buttons; the chosen one has a star.
func (p *webPage) choices() (list []string) {
	for _, field := range p.all("fieldset") {
		line := field.all("legend")[0].text()
		for _, label := range field.all("label") {
			line += " | "
			if _, chosen := label.all("input", "type", "radio")[0].attributes["checked"]; chosen {
				line += "*"
			}
			line += label.text()
		}
		list = append(list, line)
	}
	return list
}

// wantsChoices fails unless the page is a conflict of these fields.
func (p *webPage) wantsChoices(t *testing.T, heading string, want ...string) *webPage {
	t.Helper()
	p.wants(t, http.StatusConflict)
	if got := p.choices(); p.heading(t) != heading || !slices.Equal(got, want) {
		t.Errorf("%q: %q", p.heading(t), got)
	}
	return p
}

// choose presses a radio button.
func (f *webForm) choose(t *testing.T, name, value string) *webForm {
	t.Helper()
	if found := f.form.all("input", "type", "radio", "name", name, "value", value); len(found) == 0 {
		t.Fatalf("there is no %s %q: %s", name, value, f.form.text())
	}
	f.values.Set(name, value)
	return f
}

// TestOfficeTwoEditors: both change a person. The form of the later one is
// refused, and shows both versions of each field that differs.
func TestOfficeTwoEditors(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]struct {
		heading, nothing, phone, email, born, last, first string
		choices                                           []string
	}{
		"en": {heading: "Somebody else has changed Ana Ivić", phone: "Phone", email: "E-mail", born: "Date of birth", last: "Last name", first: "First name", choices: []string{
			"First name | *Yours: Anna | Theirs: Ana",
			"Last name | Yours: Čović | *Theirs: Ivić",
			"Phone Both of you changed this | *Yours: 111 | Theirs: 222",
			"E-mail Both of you changed this | *Yours: nothing | Theirs: b@example.org",
			"Date of birth | Yours: 15 May 1990 | *Theirs: 16 May 1990",
		}},
		"de": {heading: "Ana Ivić wurde inzwischen von jemand anderem geändert", phone: "Telefon", email: "E-Mail", born: "Geburtsdatum", last: "Nachname", first: "Vorname", choices: []string{
			"Vorname | *Ihre Eingabe: Anna | Andere Eingabe: Ana",
			"Nachname | Ihre Eingabe: Čović | *Andere Eingabe: Ivić",
			"Telefon Von beiden geändert | *Ihre Eingabe: 111 | Andere Eingabe: 222",
			"E-Mail Von beiden geändert | *Ihre Eingabe: nichts | Andere Eingabe: b@example.org",
			"Geburtsdatum | Ihre Eingabe: 15. Mai 1990 | *Andere Eingabe: 16. Mai 1990",
		}},
	} {
		s := start(t)
		id := s.create(t, ana)
		save := map[string]string{"en": "Save", "de": "Speichern"}[language]
		b, theirs := s.signIn(t, s.key, language), s.signIn(t, s.key, language)
		mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, want.first, "Anna").set(t, want.phone, "111").set(t, want.email, " ").set(t, want.born, "1990-05-15")
		theirs.get(t, personPath(id)).form(t, personPath(id)).set(t, want.last, "Ivić").set(t, want.phone, "222").
			set(t, want.email, "b@example.org").set(t, want.born, "1990-05-16").send(t, save).wants(t, http.StatusSeeOther)
		conflict := mine.send(t, save).wantsChoices(t, want.heading, want.choices...)
		if got := s.stored(t, id).summary(); got != "Ana Ivić, 222, b@example.org, 1990-05-16T00:00:00Z" {
			t.Errorf("something was saved: %s", got)
		}
		mine.send(t, save).wantsChoices(t, want.heading, want.choices...) // as often as it is sent
		conflict.form(t, personPath(id)).choose(t, "phoneNumber", "222").send(t, save).follow(t).wants(t, http.StatusOK)
		if got := s.stored(t, id).summary(); got != "Anna Ivić, 222, -, 1990-05-16T00:00:00Z" {
			t.Error(got)
		}
	}
}

// TestOfficeConflictAgain: a third change, while somebody chooses, is not lost
// either.
func TestOfficeConflictAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "111")
	put := func(phone, last string) {
		s.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"`+last+`","phoneNumber":"`+phone+`"}`).wants(t, http.StatusOK)
	}
	put("222", "Čović")
	conflict := mine.send(t, "Save").wantsChoices(t, "Somebody else has changed Ana Čović",
		"Phone Both of you changed this | *Yours: 111 | Theirs: 222",
		"E-mail | Yours: ana@example.com | *Theirs: nothing",
		"Date of birth | Yours: 15 May 1990 | *Theirs: nothing")
	put("222", "Ivić")
	again := conflict.form(t, personPath(id)).send(t, "Save").wantsChoices(t, "Somebody else has changed Ana Ivić",
		"Last name | Yours: Čović | *Theirs: Ivić",
		"Phone | *Yours: 111 | Theirs: 222")
	again.form(t, personPath(id)).send(t, "Save").wants(t, http.StatusSeeOther)
	if got := s.stored(t, id).summary(); got != "Ana Ivić, 111, -, -" {
		t.Error(got)
	}
}

// TestOfficeConflictThatIsNone: both have typed the same.
func TestOfficeConflictThatIsNone(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "111 ")
	b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "111").send(t, "Save").wants(t, http.StatusSeeOther)
	mine.send(t, "Save").follow(t).says(t, "Ana Čović was saved")
	if n := s.changeCount(t); n != 2 {
		t.Errorf("%d changes", n)
	}
}

// TestOfficeOutdatedFormWithFaults: the faults come first, and the form is still
// refused afterwards.
func TestOfficeOutdatedFormWithFaults(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "First name", "").set(t, "E-mail", "x@example.org")
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"Ivić"}`).wants(t, http.StatusOK)
	p := mine.send(t, "Save").wants(t, http.StatusUnprocessableEntity)
	p.form(t, personPath(id)).set(t, "First name", "Ana").send(t, "Save").wantsChoices(t, "Somebody else has changed Ana Ivić",
		"Last name | Yours: Čović | *Theirs: Ivić",
		"Phone | Yours: 091 234 5678 | *Theirs: nothing",
		"E-mail Both of you changed this | *Yours: x@example.org | Theirs: nothing",
		"Date of birth | Yours: 15 May 1990 | *Theirs: nothing")
}

// TestOfficeFormWithoutATag: nobody knows what the form was made from, so that
// every field that differs counts as changed by both.
func TestOfficeFormWithoutATag(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"Mia","lastName":"Kovač","phoneNumber":"1"}`)
	b := s.signIn(t, s.key, "en")
	b.post(t, personPath(id), url.Values{"firstName": {"Mia"}, "phoneNumber": {""}, "dateOfBirth": {"1 May 1990"}}).
		wantsChoices(t, "Somebody else has changed Mia Kovač",
			"Phone Both of you changed this | *Yours: nothing | Theirs: 1",
			"Date of birth | *Yours: 1 May 1990 | Theirs: nothing")
}

// TestOfficeLanguageChangedMeanwhile: a day in another language is the same day.
func TestOfficeLanguageChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	form := s.signIn(t, s.key, "hr").get(t, personPath(id)).form(t, personPath(id)).set(t, "Telefon", "1")
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"Ivić","phoneNumber":"091 234 5678","email":"ana@example.com","dateOfBirth":"1991-05-15"}`).wants(t, http.StatusOK)
	form.page.browser.language = "en"
	form.page.browser.post(t, personPath(id), form.values).wantsChoices(t, "Somebody else has changed Ana Ivić",
		"Last name | Yours: Čović | *Theirs: Ivić",
		"Phone | *Yours: 1 | Theirs: 091 234 5678",
		"Date of birth | Yours: 15 May 1990 | *Theirs: 15 May 1991")
}

// TestOfficeDeletedMeanwhile: what was typed is shown, and can bring the person
// back.
func TestOfficeDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]struct{ phone, save, heading, choice, restore string }{
		"en": {"Phone", "Save", "Ana Čović was deleted meanwhile", "Phone | *Yours: 111 | Before: 091 234 5678", "Bring back and save"},
		"de": {"Telefon", "Speichern", "Ana Čović wurde inzwischen gelöscht", "Telefon | *Ihre Eingabe: 111 | Vorher: 091 234 5678", "Zurückholen und speichern"},
	} {
		s := start(t)
		id := s.create(t, ana)
		b := s.signIn(t, s.key, language)
		mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, want.phone, "111")
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusNoContent)
		gone := mine.send(t, want.save).wantsChoices(t, want.heading, want.choice)
		s.do(t, "GET", collection+"/"+id, "").wants(t, http.StatusNotFound)
		back := gone.form(t, personPath(id))
		back.send(t, want.restore).follow(t).wants(t, http.StatusOK).says(t, "Ana Čović")
		if got := s.stored(t, id).summary(); got != "Ana Čović, 111, ana@example.com, 1990-05-15T00:00:00Z" {
			t.Error(got)
		}
		back.send(t, want.restore).wants(t, http.StatusSeeOther) // pressed twice
		if n := s.changeCount(t); n != 4 {
			t.Errorf("%d changes", n)
		}
	}
}

// TestOfficeBringingBackIsChecked: a form that is older than the deleted record
// brings nobody back, nor does one with faults.
func TestOfficeBringingBackIsChecked(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "111")
	remove := func() { b.post(t, personPath(id)+"/delete", nil).wants(t, http.StatusSeeOther) }
	remove()
	back := mine.send(t, "Save").wants(t, http.StatusConflict).form(t, personPath(id))
	b.post(t, personPath(id)+"/undelete", nil).wants(t, http.StatusSeeOther)
	b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Last name", "Ivić").send(t, "Save").wants(t, http.StatusSeeOther)
	back.send(t, "Bring back and save").wantsChoices(t, "Somebody else has changed Ana Ivić",
		"Last name | Yours: Čović | *Theirs: Ivić", "Phone | *Yours: 111 | Theirs: 091 234 5678")
	remove()
	changes := s.changeCount(t)
	gone := back.send(t, "Bring back and save").wantsChoices(t, "Ana Ivić was deleted meanwhile",
		"Last name | Yours: Čović | *Before: Ivić", "Phone | *Yours: 111 | Before: 091 234 5678")
	wrong := gone.form(t, personPath(id))
	wrong.values.Set("email", "wrong")
	p := wrong.send(t, "Bring back and save").wants(t, http.StatusUnprocessableEntity).says(t, "Ana Ivić was deleted meanwhile")
	if p.fault(t, "E-mail") == "" || len(p.all("form", "action", personPath(id)+"/delete")) > 0 {
		t.Error(p.text())
	}
	if s.changeCount(t) != changes {
		t.Error("the person was brought back")
	}
	p.form(t, personPath(id)).set(t, "E-mail", "x@example.org").send(t, "Save").wants(t, http.StatusConflict).
		form(t, personPath(id)).send(t, "Bring back and save").wants(t, http.StatusSeeOther)
	if got := s.stored(t, id).summary(); got != "Ana Ivić, 111, x@example.org, 1990-05-15T00:00:00Z" {
		t.Error(got)
	}
}

// sendAtOnce sends forms at the same time and returns the statuses, sorted.
func sendAtOnce(t *testing.T, forms []*webForm) []int {
	t.Helper()
	results := make([]int, len(forms))
	var sending sync.WaitGroup
	for i, form := range forms {
		sending.Go(func() {
			p, err := form.page.browser.trySend(t, http.MethodPost, form.form.attributes["action"], form.values, nil)
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = p.status
		})
	}
	sending.Wait()
	slices.Sort(results)
	return results
}

// TestOfficeManyEditorsAtOnce: of forms from the same record one is saved, and
// all others are told. So it is where all bring the person back.
func TestOfficeManyEditorsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	for _, deleted := range []bool{false, true} {
		forms := make([]*webForm, 8)
		for i := range forms {
			forms[i] = b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", fmt.Sprint(i, deleted))
		}
		before, want := s.changeCount(t), 1
		if deleted {
			s.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusNoContent)
			for i := range forms {
				forms[i] = forms[i].send(t, "Save").wants(t, http.StatusConflict).form(t, personPath(id))
			}
			want += 2
		}
		results := sendAtOnce(t, forms)
		if results[0] != http.StatusSeeOther || results[1] != http.StatusConflict || results[7] != http.StatusConflict {
			t.Errorf("%v", results)
		}
		if n := s.changeCount(t) - before; n != want {
			t.Errorf("%d changes, not %d", n, want)
		}
	}
}
