package acceptance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// choices returns the fields of a conflict page, each with its mark and its two radio buttons. A
// star marks the selected one.
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

// wantsChoices checks that the page is a conflict with these fields.
func (p *webPage) wantsChoices(t *testing.T, heading string, want ...string) *webPage {
	t.Helper()
	status := http.StatusConflict
	if strings.HasPrefix(p.path, "/office/language") {
		status = http.StatusOK
	}
	p.wants(t, status)
	if got := p.choices(); p.heading(t) != heading || !slices.Equal(got, want) {
		t.Errorf("%q has the choices %q", p.heading(t), got)
	}
	return p
}

// choose selects a radio button.
func (f *webForm) choose(t *testing.T, name, value string) *webForm {
	t.Helper()
	if found := f.form.all("input", "type", "radio", "name", name, "value", value); len(found) == 0 {
		t.Fatalf("the form has no %s %q: %s", name, value, f.form.text())
	}
	f.values.Set(name, value)
	return f
}

// TestOfficeTwoEditors checks that the later of two conflicting forms is rejected and shows both
// versions of each field that differs.
func TestOfficeTwoEditors(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b, other := s.signIn(t, s.key, "en"), s.signIn(t, s.key, "en")
	mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "First name", "Anna").set(t, "Phone", "111").set(t, "E-mail", " ").set(t, "Date of birth", "1990-05-15")
	other.get(t, personPath(id)).form(t, personPath(id)).set(t, "Last name", "Ivić").set(t, "Phone", "222").
		set(t, "E-mail", "b@example.org").set(t, "Date of birth", "1990-05-16").send(t, "Save").wants(t, http.StatusSeeOther)
	for range 2 { // each time it is sent
		mine.send(t, "Save").wantsChoices(t, "Someone else has changed Ana Ivić",
			"First name | *Yours: Anna | Before: Ana",
			"Last name | Yours: Čović | *Theirs: Ivić",
			"Phone Both of you changed this | *Yours: 111 | Theirs: 222",
			"E-mail Both of you changed this | *Yours: nothing | Theirs: b@example.org",
			"Date of birth | Yours: 15 May 1990 | *Theirs: 16 May 1990")
	}
	if got := s.stored(t, id).summary(); got != "Ana Ivić, 222, b@example.org, 1990-05-16T00:00:00Z" {
		t.Errorf("the record changed: %s", got)
	}
	mine.send(t, "Save").form(t, personPath(id)).choose(t, "phoneNumber", "222").send(t, "Save").follow(t).wants(t, http.StatusOK)
	if got := s.stored(t, id).summary(); got != "Anna Ivić, 222, -, 1990-05-16T00:00:00Z" {
		t.Error(got)
	}
}

// TestOfficeConflictAgain checks that a third change during the choice is not lost either.
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
	conflict := mine.send(t, "Save").wantsChoices(t, "Someone else has changed Ana Čović",
		"Phone Both of you changed this | *Yours: 111 | Theirs: 222",
		"E-mail | Yours: ana@example.com | *Theirs: nothing",
		"Date of birth | Yours: 15 May 1990 | *Theirs: nothing")
	put("222", "Ivić")
	again := conflict.form(t, personPath(id)).send(t, "Save").wantsChoices(t, "Someone else has changed Ana Ivić",
		"Last name | Yours: Čović | *Theirs: Ivić",
		"Phone | *Yours: 111 | Before: 222")
	again.form(t, personPath(id)).send(t, "Save").wants(t, http.StatusSeeOther)
	if got := s.stored(t, id).summary(); got != "Ana Ivić, 111, -, -" {
		t.Error(got)
	}
}

// TestOfficeIdenticalChanges checks that identical changes are no conflict.
func TestOfficeIdenticalChanges(t *testing.T) {
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

// TestOfficeDeletedBeforeSaving checks that a form for a deleted person shows the typed values and
// can restore the person.
func TestOfficeDeletedBeforeSaving(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	b := s.signIn(t, s.key, "en")
	mine := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Phone", "111")
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusNoContent)
	gone := mine.send(t, "Save").wantsChoices(t, "Ana Čović was deleted in the meantime", "Phone | *Yours: 111 | Before: 091 234 5678")
	s.do(t, "GET", collection+"/"+id, "").wants(t, http.StatusNotFound)
	back := gone.form(t, personPath(id))
	back.send(t, "Restore and save").follow(t).wants(t, http.StatusOK).says(t, "Ana Čović")
	if got := s.stored(t, id).summary(); got != "Ana Čović, 111, ana@example.com, 1990-05-15T00:00:00Z" {
		t.Error(got)
	}
	back.send(t, "Restore and save").wants(t, http.StatusSeeOther) // pressed twice
	if n := s.changeCount(t); n != 4 {
		t.Errorf("%d changes", n)
	}
}

// TestOfficeRestoreIsChecked checks that a form that is older than the deleted record, or has
// faults, does not restore the person.
func TestOfficeRestoreIsChecked(t *testing.T) {
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
	back.send(t, "Restore and save").wantsChoices(t, "Someone else has changed Ana Ivić",
		"Last name | Yours: Čović | *Theirs: Ivić", "Phone | *Yours: 111 | Before: 091 234 5678")
	remove()
	changes := s.changeCount(t)
	gone := back.send(t, "Restore and save").wantsChoices(t, "Ana Ivić was deleted in the meantime",
		"Last name | Yours: Čović | *Before: Ivić", "Phone | *Yours: 111 | Before: 091 234 5678")
	wrong := gone.form(t, personPath(id))
	wrong.values.Set("email", "wrong")
	p := wrong.send(t, "Restore and save").wants(t, http.StatusUnprocessableEntity).says(t, "Ana Ivić was deleted in the meantime")
	if p.fault(t, "E-mail") == "" || len(p.all("form", "action", personPath(id)+"/delete")) > 0 {
		t.Error(p.text())
	}
	if s.changeCount(t) != changes {
		t.Error("the person was restored")
	}
	p.form(t, personPath(id)).set(t, "E-mail", "x@example.org").send(t, "Save").wants(t, http.StatusConflict).
		form(t, personPath(id)).send(t, "Restore and save").wants(t, http.StatusSeeOther)
	if got := s.stored(t, id).summary(); got != "Ana Ivić, 111, x@example.org, 1990-05-15T00:00:00Z" {
		t.Error(got)
	}
}
