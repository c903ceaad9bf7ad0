package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// setsUser writes the user of a record, as the department's platform does.
func setsUser(t *testing.T, db, id, user string) {
	t.Helper()
	execSQL(t, db, `UPDATE firefighters SET user_id = ? WHERE id = ?`, user, id)
}

// TestOfficeMerge merges two records from the page of a person: what is chosen, what programs and the
// history see, and what its undo restores.
func TestOfficeMerge(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--label", "desk"), "en")
	one := s.create(t, `{"firstName":"Ana","lastName":"Kos","phoneNumber":"091 234 5678","email":"ana@old.hr"}`)
	other := s.create(t, `{"firstName":"Ana","lastName":"Koš","email":"ana@new.hr","dateOfBirth":"1990-05-15T00:00:00Z"}`)
	s.create(t, `{"firstName":"Ivan","lastName":"Horvat"}`)
	position := s.changes(t, "", 100).Next
	both := func(first, second string) {
		t.Helper()
		if got := s.stored(t, one).summary() + " / " + s.stored(t, other).summary(); got != first+" / "+second {
			t.Errorf("stored: %s", got)
		}
	}
	const first, second = "Ana Kos, 091 234 5678, ana@old.hr, -", "Ana Koš, -, ana@new.hr, 1990-05-15T00:00:00Z"
	both(first, second)

	person := b.get(t, personPath(one)+"?back=%2Foffice%2F%3Fsearch%3Dana")
	choose := b.get(t, person.one(t, "a", "class", "button", "href", "/office/people/"+one+"/merge?back=%2Foffice%2F%3Fsearch%3Dana").attributes["href"])
	choose.wants(t, 200).says(t, "Who is the same person as Ana Kos?", "Ana Koš · ana@new.hr · 15 May 1990").lacks(t, "Ivan")
	choose.form(t, personPath(one)+"/merge").set(t, "Search", "horvat").send(t, "Search").says(t, "Ivan Horvat").lacks(t, "Koš")
	link := choose.one(t, "main").all("a")[0].attributes["href"]
	p := b.get(t, link).wants(t, 200)
	if got := p.choices(); !slices.Equal(got, []string{"First name", "Last name | First: Kos | *Second: Koš", "Phone | *First: 091 234 5678 | Second: nothing",
		"E-mail | First: ana@old.hr | *Second: ana@new.hr", "Date of birth | First: nothing | *Second: 15 May 1990"}) {
		t.Errorf("the choices are %q", got)
	}
	form := p.form(t, personPath(one)+"/merge").choose(t, "lastName", "one")
	list := form.send(t, "These are the same person").follow(t)
	if list.notice(t) != "The two records of Ana Kos are now one Undo" && list.notice(t) != "The two records of Ana Koš are now one Undo" {
		t.Errorf("the notice is %q", list.notice(t))
	}
	if !strings.HasPrefix(list.path, "/office/?") || !strings.Contains(list.path, "search=ana") || !slices.Equal(list.marked(), []string{"Ana Kos " + one}) {
		t.Errorf("%s marks %q", list.path, list.marked())
	}
	const merged = "Ana Kos, 091 234 5678, ana@new.hr, 1990-05-15T00:00:00Z"
	if got := s.stored(t, one).summary(); got != merged {
		t.Error(got)
	}
	s.do(t, "GET", collection+"/"+other, "").wants(t, 404)
	feed := s.changes(t, position, 100)
	if len(feed.Items) != 2 || feed.Items[0].Action+feed.Items[0].ID != "replace"+one || feed.Items[1].Action+feed.Items[1].ID != "delete"+other {
		t.Errorf("programs see %+v", feed.Items)
	}
	b.get(t, "/office/history").wants(t, 200)
	for id, want := range map[string]string{other: "Ana Koš was deleted as the same person as Ana Kos, by desk", one: "Ana Kos took over values from Ana Koš, by desk"} {
		if got := b.get(t, personPath(id)+"/history").edits(t)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("the history is %q", got)
		}
	}
	if again := form.send(t, "These are the same person").follow(t); again.notice(t) != list.notice(t) || len(s.changes(t, feed.Next, 100).Items) != 0 {
		t.Errorf("the form sent twice: %q", again.notice(t))
	}
	if back := list.undo(t).follow(t); back.notice(t) != "Ana Koš is back on the list" {
		t.Errorf("the notice after Undo is %q", back.notice(t))
	}
	both(first, second)
	if later := b.get(t, list.path).notice(t); later != "" {
		t.Errorf("the notice of an undone merge is %q", later)
	}

	for _, entry := range []string{"Ana Koš was deleted as", "Ana Kos took over"} { // each of them undoes both
		b.get(t, link).form(t, personPath(one)+"/merge").choose(t, "lastName", "one").send(t, "These are the same person").wants(t, http.StatusSeeOther)
		b.get(t, "/office/history").says(t, "Undo this change Restores both records as they were").putBack(t, entry).follow(t)
		both(first, second)
	}

	b.get(t, link).form(t, personPath(one)+"/merge").choose(t, "lastName", "one").choose(t, "email", "other").
		send(t, "These are the same person").wants(t, http.StatusSeeOther)
	b.get(t, "/office/deleted").form(t, personPath(other)+"/undelete").send(t, "Restore Ana Koš").wants(t, http.StatusSeeOther)
	both(merged, second)
	s.do(t, "PATCH", collection+"/"+one, `{"email":"third@kos.hr"}`, "Content-Type", "application/merge-patch+json").wants(t, 200)
	b.get(t, "/office/history").putBack(t, "Ana Koš was deleted as").wants(t, http.StatusConflict).
		says(t, "One of the two people has changed since then", "restore it under “Deleted”")
	both("Ana Kos, 091 234 5678, third@kos.hr, 1990-05-15T00:00:00Z", second)
}

// TestOfficeMergeKeeps checks which record remains, that two users are never merged, and that records
// that have changed are shown again.
func TestOfficeMergeKeeps(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	one, other := s.create(t, ana), s.create(t, ana)
	path := personPath(one) + "/merge"
	setsUser(t, s.db, other, "01890000-0000-7000-8000-00000000000a")
	p := b.get(t, path+"?with="+other).wants(t, 200)
	stale := p.form(t, path)
	s.do(t, "PATCH", collection+"/"+one, `{"phoneNumber":"112"}`, "Content-Type", "application/merge-patch+json").wants(t, 200)
	again := stale.send(t, "These are the same person").wants(t, http.StatusConflict).says(t, "Nothing is merged yet", "First: 112")
	again.form(t, path).send(t, "These are the same person").wants(t, http.StatusSeeOther)
	s.do(t, "GET", collection+"/"+one, "").wants(t, 404)
	if got := s.stored(t, other); got.PhoneNumber == nil || *got.PhoneNumber != "112" {
		t.Errorf("kept %s", got.summary())
	}

	third := s.create(t, ana)
	path = personPath(third) + "/merge"
	p = b.get(t, path+"?with="+other)
	setsUser(t, s.db, third, "01890000-0000-7000-8000-00000000000b")
	before := s.changeCount(t)
	p.form(t, path).send(t, "These are the same person").wants(t, http.StatusConflict).
		says(t, "each belongs to a different user").lacks(t, "Nothing is merged yet")
	b.get(t, path+"?with="+other).wants(t, 200).says(t, "each belongs to a different user").lacks(t, "These are the same person")
	if after := s.changeCount(t); after != before {
		t.Errorf("%d changes", after-before)
	}
}

// TestOfficeDuplicates checks the list of possible duplicates, and that an answer removes a pair.
func TestOfficeDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	foreign := s.as(newKey(t, s.db, "other")).create(t, `{"firstName":"Jürgen","lastName":"Müller"}`)
	b.get(t, "/office/duplicates").wants(t, 200).says(t, "No possible duplicates")
	one := s.create(t, `{"firstName":"Jürgen","lastName":"Müller","phoneNumber":"0171 1234567"}`)
	other := s.create(t, `{"firstName":"Juergen","lastName":"Mueller"}`)
	third := s.create(t, `{"firstName":"Ivan","lastName":"Horvat","dateOfBirth":"1960-05-15T00:00:00Z"}`)
	s.create(t, `{"firstName":"Ivan","lastName":"Horvat","dateOfBirth":"1990-05-15T00:00:00Z"}`) // father and son
	for _, page := range []string{"/office/", "/office/imports"} {
		b.get(t, page).one(t, "a", "href", "/office/duplicates")
	}
	p := b.get(t, "/office/duplicates").wants(t, 200).says(t, "Jürgen Müller · 0171 1234567", "Juergen Mueller").lacks(t, "Horvat")
	distinct := "/office/people/" + one + "/distinct?with=" + other
	left := p.form(t, distinct).send(t, "Not the same person Jürgen Müller").follow(t).says(t, "No possible duplicates", "no longer possible duplicates")
	left.undo(t).follow(t).says(t, "Juergen Mueller")
	b.get(t, "/office/duplicates").form(t, distinct).send(t, "Not the same person Jürgen Müller").wants(t, http.StatusSeeOther)
	b.get(t, "/office/duplicates").wants(t, 200).says(t, "No possible duplicates")
	b.get(t, personPath(one)+"/merge").says(t, "Juergen Mueller") // whoever asks for this person sees them
	s.create(t, `{"firstName":"Müller","lastName":"Jürgen"}`)
	merging := b.get(t, b.get(t, "/office/duplicates").one(t, "main").all("a", "class", "button")[0].attributes["href"])
	merging.form(t, merging.one(t, "main").all("form")[0].attributes["action"]).send(t, "These are the same person").follow(t).says(t, "are now one")

	for i := range 16 { // 120 pairs
		s.create(t, fmt.Sprintf(`{"firstName":"Mia","lastName":"Babić","phoneNumber":"091 234 %04d"}`, i))
	}
	first := b.get(t, "/office/duplicates")
	second := b.get(t, first.one(t, "a", "href", "/office/duplicates?skip=100").attributes["href"]).wants(t, 200)
	if n, rest := len(first.all("div", "class", "box")), len(second.all("div", "class", "box")); n != 100 || rest != 20 {
		t.Errorf("%d pairs, then %d", n, rest)
	}

	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	before := s.changeCount(t)
	for _, test := range []struct {
		b            *browser
		method, path string
		headers      []string
		status       int
	}{
		{reader, "GET", "/office/duplicates", nil, 403},
		{reader, "GET", personPath(one) + "/merge", nil, 403},
		{reader, "POST", personPath(one) + "/merge?with=" + other, nil, 403},
		{reader, "POST", distinct, nil, 403},
		{b, "POST", personPath(one) + "/merge?with=" + third, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{b, "POST", distinct, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{b, "GET", personPath(one) + "/merge?with=" + foreign, nil, 404},
		{b, "GET", personPath(foreign) + "/merge?with=" + one, nil, 404},
		{b, "GET", personPath(foreign) + "/merge", nil, 404},
		{b, "GET", personPath(one) + "/merge?with=" + one, nil, 404},
		{b, "GET", personPath(one) + "/merge?with=x", nil, 404},
		{b, "POST", personPath(one) + "/merge?with=" + foreign, nil, 404},
		{b, "POST", personPath(one) + "/merge?with=" + nobody, nil, 404},
		{b, "POST", personPath(one) + "/merge?with=" + third, nil, 409}, // without the form's tags
		{b, "POST", personPath(one) + "/distinct?with=" + foreign, nil, 404},
	} {
		if p := test.b.send(t, test.method, test.path, url.Values{}, test.headers); p.status != test.status || p.root == nil {
			t.Errorf("%s %s: %d %s", test.method, test.path, p.status, p.text())
		}
	}
	if after := s.changeCount(t); after != before {
		t.Errorf("%d changes", after-before)
	}
	for language, title := range map[string]string{"en": "Possible duplicates", "de": "Mögliche doppelte Einträge", "fr": "Doublons possibles",
		"es": "Posibles duplicados", "hr": "Mogući duplikati"} {
		b.get(t, "/office/duplicates", "Accept-Language", language).wants(t, 200).says(t, title)
		b.get(t, personPath(one)+"/merge?with="+third, "Accept-Language", language).wants(t, 200)
		b.get(t, "/office/history", "Accept-Language", language).wants(t, 200)
	}
}
