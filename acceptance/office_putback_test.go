package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// putBack presses "Undo this change" in the entry with a sentence.
func (p *webPage) putBack(t *testing.T, sentence string) *webPage {
	t.Helper()
	for _, li := range p.all("li") {
		forms := li.all("form")
		if text := shownMoment.ReplaceAllString(li.text(), ""); strings.HasPrefix(text, sentence) && len(forms) > 0 {
			return p.form(t, forms[len(forms)-1].attributes["action"]).send(t, "Undo this change")
		}
	}
	t.Fatalf("%s has no button for %q: %s", p.path, sentence, p.text())
	return nil
}

// TestPutBack checks that each entry with a change can be undone, with a notice that can undo that
// again, and that each undo is a new entry.
func TestPutBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--label", "desk"), "en")
	id := s.create(t, ana)
	s.do(t, "PATCH", collection+"/"+id, `{"phoneNumber":"111","email":null}`, "Content-Type", "application/merge-patch+json").wants(t, 200)
	const before, changed = "Ana Čović, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z", "Ana Čović, 111, -, 1990-05-15T00:00:00Z"
	stored := func(want string) {
		t.Helper()
		if got := s.stored(t, id).summary(); got != want {
			t.Errorf("stored: %s", got)
		}
	}
	stored(changed)
	for _, path := range []string{"/office/history?from=2000-01-01", "/office/people/" + id + "/history"} {
		p := b.get(t, path).putBack(t, "Ana Čović was changed").wants(t, http.StatusSeeOther).follow(t)
		address, query, _ := strings.Cut(path, "?")
		if !strings.HasPrefix(p.path, address+"?") || !strings.Contains(p.path, query) || p.notice(t) != "The change was undone for Ana Čović: Phone, E-mail Undo" {
			t.Errorf("%s has the notice %q", p.path, p.notice(t))
		}
		stored(before)
		if newest := p.edits(t)[0]; newest != "Ana Čović was changed, by desk What was changed Field Before After Phone 111 091 234 5678 E-mail –empty ana@example.com" {
			t.Errorf("the newest entry is %s", newest)
		}
		undone := p.form(t, p.one(t, "div", "id", "notice").all("form")[0].attributes["action"]).send(t, "Undo").follow(t)
		stored(changed)
		if undone.notice(t) != "The change was undone for Ana Čović: Phone, E-mail Undo" {
			t.Errorf("the notice after Undo is %q", undone.notice(t))
		}
		if again := b.get(t, p.path).notice(t); again != "" {
			t.Errorf("the notice after a later change is %q", again)
		}
	}

	b.get(t, "/office/history").says(t, "Undo this change Deletes Ana Čović", "Undo this change Restores the previous values of Ana Čović")
	p := b.get(t, "/office/history").putBack(t, "Ana Čović was added").wants(t, http.StatusConflict)
	p.says(t, "The person has changed since then", "Nothing was undone")
	stored(changed)
	b.get(t, personPath(id)).form(t, "/office/people/"+id+"/delete").send(t, "Delete").follow(t).says(t, "Ana Čović was deleted")
	if p := b.get(t, "/office/history").putBack(t, "Ana Čović was added").follow(t); p.notice(t) != "There was nothing to undo: this change is no longer in effect" {
		t.Errorf("the notice for a deleted person is %q", p.notice(t))
	}
	p = b.get(t, "/office/history").putBack(t, "Ana Čović was deleted").follow(t)
	if stored(changed); p.notice(t) != "Ana Čović is back on the list" {
		t.Errorf("the notice after undoing a deletion is %q", p.notice(t))
	}
	p = b.get(t, "/office/history").putBack(t, "Ana Čović was restored").follow(t)
	if p.notice(t) != "Ana Čović was deleted Undo" || !strings.HasPrefix(p.path, "/office/history") {
		t.Errorf("%s: %q", p.path, p.notice(t))
	}
	eva := s.create(t, `{"firstName":"Eva","lastName":"Horvat"}`)
	b.get(t, "/office/history").putBack(t, "Eva Horvat was added").follow(t).says(t, "Eva Horvat was deleted")
	s.do(t, "GET", collection+"/"+eva, "").wants(t, 404)
}

// TestPutBackOld checks that undoing an old change keeps later changes of other fields, asks before
// it overwrites later changes of the same fields, and asks before it restores a person.
func TestPutBackOld(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, ana)
	patch := func(body string) {
		t.Helper()
		s.do(t, "PATCH", collection+"/"+id, body, "Content-Type", "application/merge-patch+json").wants(t, 200)
	}
	wants := func(want string) {
		t.Helper()
		if got := s.stored(t, id).summary(); got != want {
			t.Errorf("stored: %s", got)
		}
	}
	patch(`{"phoneNumber":"111","dateOfBirth":"1991-05-15"}`)
	patch(`{"lastName":"Ivić"}`)
	b.get(t, "/office/history").putBack(t, "Ana Čović was changed, by first key What was changed Field Before After Phone").
		wants(t, http.StatusSeeOther).follow(t).says(t, "The change was undone for Ana Ivić: Phone, Date of birth")
	wants("Ana Ivić, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z")
	patch(`{"phoneNumber":"222"}`)
	last := func() *webPage {
		return b.get(t, "/office/history").putBack(t, "Ana Čović was changed, by first key What was changed Field Before After Phone 091 234 5678 111")
	}
	conflict := last().wantsChoices(t, "Ana Ivić has been changed since then",
		"Phone Changed again since then | *Before that change: 091 234 5678 | Now: 222")
	conflict.says(t, "The change is not undone yet").lacks(t, "your form", "Someone else")
	wants("Ana Ivić, 222, ana@example.com, 1990-05-15T00:00:00Z")
	if leave := conflict.all("a", "href", "/office/history"); len(leave) < 1 || leave[len(leave)-1].text() != "Change nothing" {
		t.Errorf("the link to the history is missing: %s", conflict.body)
	}
	saved := conflict.form(t, personPath(id)).send(t, "Save").follow(t)
	if wants("Ana Ivić, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z"); !strings.HasPrefix(saved.path, "/office/history") {
		t.Errorf("saving shows %s", saved.path)
	}

	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	deleted := last().wantsChoices(t, "Ana Ivić was deleted in the meantime").says(t, "The change is not undone yet. You can restore the person")
	deleted.form(t, personPath(id)).send(t, "Restore and save").follow(t)
	wants("Ana Ivić, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z")

	patch(`{"phoneNumber":"333"}`) // the previous value is no longer valid
	execSQL(t, s.db, `UPDATE changes SET before = replace(before, '091 234 5678', ?)`, strings.Repeat("0", 60))
	b.get(t, "/office/history").putBack(t, "Ana Ivić was changed, by first key What was changed Field Before After Phone 000").
		wants(t, http.StatusConflict).form(t, personPath(id)).send(t, "Save").wants(t, http.StatusUnprocessableEntity)
	wants("Ana Ivić, 333, ana@example.com, 1990-05-15T00:00:00Z")
}

// TestPutBackRefused checks that readers have no button, and that no request can undo changes of
// another department or entries that cannot be undone.
func TestPutBackRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "PUT", collection+"/"+id, ana).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	b := s.signIn(t, s.key, "en")
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	other := s.signIn(t, newKey(t, s.db, "Engine 7"), "en")
	put := func(n int) string { return fmt.Sprintf("/office/history/%d/put-back", n) }
	var actions []string
	for _, form := range b.get(t, "/office/history").one(t, "ol").all("form") {
		actions = append(actions, form.attributes["action"])
	}
	if want := []string{put(3), put(1)}; !slices.Equal(actions, want) { // the second changed nothing
		t.Errorf("the buttons are %q", actions)
	}
	if forms := reader.get(t, "/office/history").one(t, "ol").all("form"); len(forms) > 0 {
		t.Errorf("a reader has %d buttons", len(forms))
	}
	reader.post(t, put(3), url.Values{}).wants(t, 403)
	b.post(t, put(3), url.Values{}, "Sec-Fetch-Site", "cross-site").wants(t, 403)
	for _, n := range []int{0, 4, -1} {
		b.post(t, put(n), url.Values{}).wants(t, 404).says(t, "This history entry does not exist")
	}
	other.post(t, put(3), url.Values{}).wants(t, 404)
	b.post(t, "/office/history/x/put-back", url.Values{}).wants(t, 404)
	execSQL(t, s.db, `UPDATE changes SET before = '{"id'`)
	b.post(t, put(3), url.Values{}).wants(t, 404)
	s.do(t, "GET", collection+"/"+id, "").wants(t, 404)
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	b.post(t, put(4), url.Values{}).wants(t, 404)
	if forms := b.get(t, "/office/history").one(t, "ol").all("form"); len(forms) > 0 {
		t.Errorf("a permanently deleted person has %d buttons", len(forms))
	}
}
