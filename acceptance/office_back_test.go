package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// backTo returns the address of a person's page with a way back to a list.
func backTo(id, list string) string { return personPath(id) + "?back=" + url.QueryEscape(list) }

// wantsBack checks that an answer redirects to the same list at the row of a person. It returns
// the list.
func (p *webPage) wantsBack(t *testing.T, list, notice, id string) *webPage {
	t.Helper()
	at, err := url.Parse(p.wants(t, http.StatusSeeOther).header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	if query.Get(notice) != id || notice != "deleted" && at.Fragment != id {
		t.Errorf("it redirects to %s", at)
	}
	query.Del(notice)
	query.Del("entry")
	want, err := url.Parse(list)
	if err != nil || at.Path != want.Path || query.Encode() != want.Query().Encode() {
		t.Errorf("it redirects to %s, want %s", at, list)
	}
	return p.follow(t).wants(t, http.StatusOK)
}

// marked returns the names and ids in the marked rows.
func (p *webPage) marked() (names []string) {
	for _, row := range p.all("tr", "aria-current", "true") {
		names = append(names, row.all("a")[0].attributes["aria-label"]+" "+row.attributes["id"])
	}
	return names
}

// TestOfficeLeadsBack checks that every action on a person's page returns to the search.
func TestOfficeLeadsBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	eva := s.create(t, `{"firstName":"Eva","lastName":"Čović"}`)
	s.create(t, `{"firstName":"Mia","lastName":"Horvat"}`)
	const list = "/office/?page=1&search=%C4%8Cov&sortBy=firstName&sortDir=desc"
	link := b.get(t, list).one(t, "a", "aria-label", "Ana Čović").attributes["href"]
	if link != backTo(id, list) {
		t.Fatalf("the link of the row is %s", link)
	}
	person := b.get(t, link)
	if at := person.one(t, "a", "class", "button", "href", list+"#"+id).text(); at != "Cancel" {
		t.Errorf("the link back is %q", at)
	}
	found := person.form(t, personPath(id)).set(t, "Phone", "112").send(t, "Save").wantsBack(t, list, "saved", id)
	if marked := found.marked(); len(marked) != 1 || marked[0] != "Ana Čović "+id || found.notice(t) != "Ana Čović was saved Undo" {
		t.Errorf("notice %q, marked rows %q", found.notice(t), marked)
	}
	deleted := b.get(t, link).form(t, personPath(id)+"/delete").send(t, "Delete")
	if to := deleted.header.Get("Location"); !strings.HasSuffix(to, "#"+eva) {
		t.Errorf("it redirects to %s, want the next row", to)
	}
	found = deleted.wantsBack(t, list, "deleted", id)
	found = found.form(t, personPath(id)+"/undelete").send(t, "Undo").wantsBack(t, list, "restored", id)
	found.selecting(t, id).send(t, "Delete the selected people").wantsBack(t, list, "deleted", id).
		form(t, personPath(id)+"/undelete").send(t, "Undo").wantsBack(t, list, "restored", id)
	add := b.get(t, list).one(t, "a", "data-back", "").attributes["href"]
	found = b.get(t, add).form(t, "/office/people").set(t, "First name", "Ivo").set(t, "Last name", "Čović").send(t, "Add person")
	found.wantsBack(t, list, "added", s.list(t, "search=Ivo").Data.Items[0].ID)

	history := b.get(t, link).one(t, "a", "href", personPath(id)+"/history?back="+url.QueryEscape(list))
	b.get(t, history.attributes["href"]).one(t, "a", "href", link)
	var birthday string
	for _, a := range b.get(t, "/office/birthdays").one(t, "main").all("a") {
		if strings.HasPrefix(a.attributes["href"], personPath(id)) {
			birthday = a.attributes["href"]
		}
	}
	born := b.get(t, birthday).form(t, personPath(id)).set(t, "Date of birth", "16 May 1990").send(t, "Save")
	if p := born.follow(t); p.notice(t) != "Ana Čović was saved Undo" || p.heading(t) != "Birthdays" {
		t.Errorf("%s has the notice %q", p.path, p.notice(t))
	}

	person = b.get(t, link)
	b.get(t, link).form(t, personPath(id)).set(t, "Phone", "1").send(t, "Save")
	conflict := person.form(t, personPath(id)).set(t, "Phone", "2").send(t, "Save").wants(t, http.StatusConflict)
	conflict.one(t, "a", "href", link)
	conflict.form(t, personPath(id)).send(t, "Save").wantsBack(t, list, "saved", id)
	person.form(t, personPath(id)).set(t, "First name", "").send(t, "Save").wants(t, http.StatusUnprocessableEntity).
		form(t, personPath(id)).set(t, "First name", "Anna").send(t, "Save").wants(t, http.StatusConflict)

	plain := b.get(t, "/office/?saved="+id)
	if to := plain.one(t, "a", "aria-label", "Ana Čović").attributes["href"]; to != personPath(id) {
		t.Errorf("the link in the initial list is %s", to)
	}
}

// TestOfficeLeadsBackAfterSignIn checks that a new sign-in keeps the way back.
func TestOfficeLeadsBackAfterSignIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	const list = "/office/?search=ana"
	person := b.get(t, backTo(id, list))
	s.endSessions(t, b)
	again := person.form(t, personPath(id)).set(t, "Phone", "112").send(t, "Save").wants(t, http.StatusUnauthorized)
	signedIn := again.form(t, "/office/sign-in").set(t, "Key or code", s.key)
	resumed := b.post(t, signedIn.send(t, "Sign in").header.Get("Location"), signedIn.values)
	resumed.form(t, personPath(id)).send(t, "Save").wantsBack(t, list, "saved", id)
	s.endSessions(t, b)
	ended := person.form(t, personPath(id)+"/delete").send(t, "Delete").wants(t, http.StatusUnauthorized)
	if next := ended.form(t, "/office/sign-in").values.Get("next"); next != list {
		t.Errorf("sign-in continues to %s", next)
	}
}

// TestOfficeSaveAndNext checks that "Save and next" goes through a search across pages, and that
// the last person returns to the search.
func TestOfficeSaveAndNext(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for i := range 101 {
		s.create(t, fmt.Sprintf(`{"firstName":"Ana","lastName":"Horvat %03d"}`, i))
	}
	s.create(t, `{"firstName":"Eva","lastName":"Horvat 099"}`)
	const list = "/office/?page=1&search=ana"
	links := b.get(t, list).one(t, "tbody").all("a")
	p := b.get(t, links[98].attributes["href"])
	id := func() string { return strings.TrimPrefix(p.path[:strings.Index(p.path, "?")], "/office/people/") }
	p = p.form(t, personPath(id())).set(t, "Phone", "112").send(t, "Save and next").follow(t).wants(t, http.StatusOK)
	if p.heading(t) != "Ana Horvat 099" || p.notice(t) != "Ana Horvat 098 was saved Undo" {
		t.Fatalf("%q, %q", p.heading(t), p.notice(t))
	}
	p = p.form(t, personPath(id())).send(t, "Save and next").follow(t)
	if p.heading(t) != "Ana Horvat 100" || len(p.all("button", "name", "then")) > 0 {
		t.Fatalf("the last person is %q", p.heading(t))
	}
	p.form(t, personPath(id())).send(t, "Save").wantsBack(t, "/office/?page=2&search=ana", "saved", id())
	if outside := b.get(t, personPath(id())); len(outside.all("button", "name", "then")) > 0 {
		t.Error("Save and next appears outside a search")
	}
}

// TestOfficeFollowsMovedPerson checks that the page follows a person who moves to another page of the
// list, or who is no longer in the search.
func TestOfficeFollowsMovedPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for i := range 100 {
		s.create(t, fmt.Sprintf(`{"firstName":"Mia","lastName":"Horvat %03d"}`, i))
	}
	id := s.create(t, ana)
	saved := b.get(t, personPath(id)).form(t, personPath(id)).set(t, "Last name", "Zorić").send(t, "Save")
	moved := saved.follow(t)
	if marked := moved.marked(); !strings.HasPrefix(moved.path, "/office/?entry=102&page=2&saved="+id) || len(marked) != 1 {
		t.Errorf("%s has the marked rows %q", moved.path, marked)
	}
	left := b.get(t, backTo(id, "/office/?search=ana")).form(t, personPath(id)).set(t, "First name", "Eva").set(t, "E-mail", "").
		send(t, "Save").wantsBack(t, "/office/?search=ana", "saved", id)
	if left.notice(t) != "Eva Zorić was saved Undo" || len(left.marked()) > 0 {
		t.Errorf("notice %q, marked rows %q", left.notice(t), left.marked())
	}
	if emptied := b.post(t, personPath(id)+"/delete", url.Values{"back": {"/office/?page=2"}}).follow(t); emptied.path != "/office/?deleted="+id+"&page=1" {
		t.Errorf("deleting the last person of a page redirects to %s", emptied.path)
	}
}

// undo presses the button Undo of the notice.
func (p *webPage) undo(t *testing.T) *webPage {
	t.Helper()
	return p.form(t, p.one(t, "div", "id", "notice").all("form")[0].attributes["action"]).send(t, "Undo")
}

// TestOfficeUndoesSaving checks that the notice undoes a change, and can undo that again.
func TestOfficeUndoesSaving(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	const list, before, after = "/office/?search=ana", "Ana Čović, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z", "Ana Čović, 112, -, 1990-05-15T00:00:00Z"
	wants := func(want string) {
		t.Helper()
		if got := s.stored(t, id).summary(); got != want {
			t.Errorf("stored: %s, want %s", got, want)
		}
	}
	form := b.get(t, backTo(id, list)).form(t, personPath(id)).set(t, "Phone", "112").set(t, "E-mail", "")
	saved := form.send(t, "Save").wantsBack(t, list, "saved", id)
	wants(after)
	undone := saved.undo(t).wantsBack(t, list, "undone", id)
	if wants(before); undone.notice(t) != "The change was undone for Ana Čović: Phone, E-mail Undo" || len(undone.marked()) != 1 {
		t.Errorf("notice %q, marked rows %q", undone.notice(t), undone.marked())
	}
	saved.undo(t).wantsBack(t, list, "undone", id) // pressed twice
	if n := s.changeCount(t); n != 3 {
		t.Errorf("%d changes", n)
	}
	undone.undo(t).wantsBack(t, list, "undone", id)
	wants(after)
	if form.send(t, "Save").follow(t); s.changeCount(t) != 4 { // no value differs
		t.Errorf("%d changes", s.changeCount(t))
	}
	if late := b.get(t, saved.path).notice(t); late != "Ana Čović was saved" {
		t.Errorf("the notice after a later change is %q", late)
	}

	same := b.get(t, backTo(id, list)).form(t, personPath(id)).set(t, "Phone", " 112 ").send(t, "Save").follow(t)
	if same.notice(t) != "Ana Čović was saved" {
		t.Errorf("the notice without a change is %q", same.notice(t))
	}
	added := b.get(t, newPerson).form(t, "/office/people").set(t, "First name", "Eva").set(t, "Last name", "Kos").send(t, "Add person").follow(t)
	if gone := added.undo(t).follow(t); gone.notice(t) != "Eva Kos was deleted Undo" {
		t.Errorf("the notice after undoing an addition is %q", gone.notice(t))
	}
	other := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en").get(t, undone.path)
	if len(other.one(t, "div", "id", "notice").all("form")) > 0 {
		t.Error("a reader sees the button Undo")
	}
}

// TestOfficeUndoConflict checks that undo shows a later change instead of overwriting it.
func TestOfficeUndoConflict(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	const list = "/office/?search=ana"
	save := func(phone string) *webPage {
		return b.get(t, backTo(id, list)).form(t, personPath(id)).set(t, "Phone", phone).send(t, "Save").follow(t)
	}
	saved := save("112")
	save("113")
	conflict := saved.undo(t).wants(t, http.StatusConflict)
	if got := s.stored(t, id).PhoneNumber; *got != "113" {
		t.Errorf("stored: %s", *got)
	}
	conflict.says(t, "091 234 5678", "113")
	conflict.form(t, personPath(id)).send(t, "Save").wantsBack(t, list, "saved", id)
	if got := s.stored(t, id).PhoneNumber; *got != "091 234 5678" {
		t.Errorf("stored: %s", *got)
	}
	saved = save("112")
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, http.StatusNoContent)
	saved.undo(t).wants(t, http.StatusConflict).says(t, "Ana Čović was deleted in the meantime")
}
