package acceptance

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shownMoment matches a time as the page shows it in English.
var shownMoment = regexp.MustCompile(` ?\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d ?`)

// edits returns the entries of a history without their times.
func (p *webPage) edits(t *testing.T) (all []string) {
	t.Helper()
	for _, list := range p.all("ol", "class", "history") {
		for _, entry := range list.all("li") {
			text, _, _ := strings.Cut(entry.text(), " Undo this change")
			if len(shownMoment.FindAllString(text, -1)) != 1 || len(entry.all("time")) != 1 {
				t.Errorf("want one time in %q", text)
			}
			all = append(all, strings.TrimPrefix(shownMoment.ReplaceAllString(text, ""), ", "))
		}
	}
	return all
}

// tellsEdits checks the entries of the history.
func (p *webPage) tellsEdits(t *testing.T, want ...string) {
	t.Helper()
	if got := p.wants(t, 200).edits(t); !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nwant\n%s", p.path, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const anaEntered = "What was entered Field Entered First name Ana Last name Čović E-mail ana@example.com Date of birth 15 May 1990"

// TestOfficeHistory checks who changed each person, each field before and after, and the same
// entries on the page of the person.
func TestOfficeHistory(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--label", `front <desk>`), "en")
	plain := s.as(newKey(t, s.db, "default")) // key 4, without a label
	if p := b.get(t, "/office/history").wants(t, 200).says(t, "Nothing has been changed yet"); len(p.edits(t)) > 0 {
		t.Errorf("at first: %s", p.text())
	}
	id := s.create(t, `{"firstName":"Ana","lastName":"Čović","email":"ana@example.com","dateOfBirth":"1990-05-15"}`)
	path := "/office/people/" + id
	plain.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"Horvat <&>","phoneNumber":"091 234 5678","dateOfBirth":"1990-05-15"}`).wants(t, 200)
	b.post(t, path+"/delete", url.Values{}).wants(t, 303)
	want := []string{
		"Ana Horvat <&> was restored, by a command on the station PC",
		"Ana Horvat <&> was deleted, by front <desk>",
		"Ana Čović was changed, by key 4 What was changed Field Before After Last name Čović Horvat <&> " +
			"Phone –empty 091 234 5678 E-mail ana@example.com –empty",
		"Ana Čović was added, by first key " + anaEntered,
	}
	own := b.get(t, path+"/history")
	own.tellsEdits(t, want[1:]...)
	if link := own.all("a", "href", "/office/deleted", "class", "button"); len(link) != 1 || own.heading(t) != "History of Ana Horvat <&>" {
		t.Errorf("history of a deleted person: %s", own.body)
	}
	works(t, "undelete", "--db", s.db, "--tenant", "default", id)
	all := b.get(t, "/office/history")
	all.tellsEdits(t, want...)
	own = all.browser.get(t, all.all("a", "href", path+"/history")[0].attributes["href"])
	own.tellsEdits(t, want...)
	if links := own.one(t, "ol").all("a"); len(links) != 0 || len(own.all("a", "href", path)) != 1 {
		t.Errorf("the history of a person has %d links to people: %s", len(links), own.body)
	}
	table := own.all("table", "class", "diff")[0]
	if c, r := len(table.all("th", "scope", "col")), len(table.all("th", "scope", "row")); c != 3 || r != 3 || len(table.all("caption")) != 1 {
		t.Errorf("the table has %d column and %d row headers", c, r)
	}
	execSQL(t, s.db, `DELETE FROM keys WHERE id = 4`)
	b.get(t, "/office/history").tellsEdits(t, want...)

	other := s.signIn(t, newKey(t, s.db, "Engine 7", "--scope", "read"), "en")
	other.get(t, "/office/history").tellsEdits(t)
	other.get(t, path+"/history").wants(t, 404).lacks(t, "Ana")
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	b.get(t, "/office/history").tellsEdits(t, "A deleted person was permanently deleted, by a command on the station PC")
	b.get(t, path+"/history").wants(t, 404)
	b.get(t, "/office/people/x/history").wants(t, 404)
}

// TestOfficeHistoryFields checks changes that a date does not show, changes of no value, and
// damaged entries.
func TestOfficeHistoryFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	body := `{"firstName":"Ana","lastName":"Čović","email":"ana@example.com","dateOfBirth":"1990-05-15T00:00:00%s"}`
	id := s.create(t, fmt.Sprintf(body, "Z"))
	for range 2 {
		s.do(t, "PUT", collection+"/"+id, fmt.Sprintf(body, "+02:00")).wants(t, 200)
	}
	path, changed := "/office/people/"+id+"/history", "Ana Čović was changed, by first key "
	added := "Ana Čović was added, by first key " + anaEntered
	offset := "What was changed Field Before After Date of birth 1990-05-15T00:00:00Z 1990-05-15T00:00:00+02:00"
	b.get(t, path).tellsEdits(t, changed+"No values changed.", changed+offset, added)

	damaged, unnamed := "This entry is damaged: its data may be wrong or missing.", "a person whose name is no longer known"
	execSQL(t, s.db, `UPDATE changes SET before = '{"id' WHERE id & 0xffffffff = 2`)
	b.get(t, path).tellsEdits(t, changed+"No values changed.", changed+damaged, unnamed+" was added, by first key "+damaged)
	execSQL(t, s.db, `UPDATE firefighters SET email = 'x'`)
	b.get(t, path).tellsEdits(t, changed+damaged, changed+damaged, unnamed+" was added, by first key "+damaged)
}

// TestOfficeHistoryPages checks the links to older changes. An invalid number shows the newest
// changes.
func TestOfficeHistoryPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, `{"firstName":"Ana","lastName":"Čović"}`)
	for n := range 60 {
		s.do(t, "PUT", collection+"/"+id, fmt.Sprintf(`{"firstName":"Ana %d","lastName":"Čović"}`, n)).wants(t, 200)
	}
	s.create(t, `{"firstName":"Eva","lastName":"Horvat"}`)
	for path, entries := range map[string]int{"/office/history": 62, "/office/people/" + id + "/history": 61} {
		first := b.get(t, path)
		older := first.one(t, "a", "rel", "next")
		second := b.get(t, older.attributes["href"])
		all := append(first.edits(t), second.edits(t)...)
		distinct := len(slices.Compact(slices.Sorted(slices.Values(all))))
		if older.text() != "Older changes" || len(first.edits(t)) != 50 || len(all) != entries || distinct != entries {
			t.Errorf("%s: %q, %d and %d entries", path, older.text(), len(first.edits(t)), len(all)-50)
		}
		if len(first.all("a", "rel", "first")) != 0 || second.one(t, "a", "rel", "first").attributes["href"] != path || len(second.all("a", "rel", "next")) != 0 {
			t.Errorf("the links of %s: %s", path, second.body)
		}
		for _, bad := range []string{"x", "0", "-3", "1e3", "99999999999999999999", ""} {
			b.get(t, path+"?before="+bad).tellsEdits(t, first.edits(t)...)
		}
		b.get(t, path+"?before=1").says(t, "There are no older changes", "Newest changes").tellsEdits(t)
	}
}

// TestOfficeHistoryImport checks that an import is one entry that opens, with the number of its
// people, their changes, and a button that undoes it.
func TestOfficeHistoryImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--label", "desk"), "en")
	id := s.create(t, `{"firstName":"Zoë","lastName":"Müller"}`)
	var list strings.Builder
	list.WriteString("First name,Last name,Phone\nZoë,Müller,111\n")
	for n := range 59 {
		fmt.Fprintf(&list, "N,%d,\n", n)
	}
	s.importPeople(t, "update=true", list.String())
	p := b.get(t, "/office/history").wants(t, 200)
	entry := p.one(t, "ol", "class", "history").all("details")
	if len(entry) != 1 || len(p.all("time")) != 2 {
		t.Fatalf("the import is not one entry: %s", p.text())
	}
	const summary = "Import 1: 60 people"
	if text := shownMoment.ReplaceAllString(entry[0].all("summary")[0].text(), ""); text != summary+", by first key" {
		t.Errorf("the summary is %q", text)
	}
	within := entry[0].all("li")
	if len(within) != 50 || !strings.HasPrefix(within[0].text(), "N 58 was added What was entered") || len(within[0].all("form")) != 1 {
		t.Errorf("the import has %d entries: %s", len(within), within[0].text())
	}
	more := entry[0].all("a")[0]
	if more.text() != "All changes of this import (60)" {
		t.Errorf("the link to all changes is %q", more.text())
	}
	all := b.get(t, more.attributes["href"]).says(t, "Import 1")
	older := b.get(t, all.one(t, "a", "rel", "next").attributes["href"]).says(t, "Import 1")
	if first, last := all.edits(t), older.edits(t); len(first) != 50 || len(last) != 10 ||
		last[9] != "Zoë Müller was changed, by first key What was changed Field Before After Phone –empty 111" {
		t.Errorf("%d and %d changes: %q", len(first), len(last), last)
	}
	own := b.get(t, "/office/people/"+id+"/history").edits(t)
	if own[0] != "Zoë Müller was changed, by first key (Import 1) What was changed Field Before After Phone –empty 111" {
		t.Errorf("history of a person: %q", own)
	}
	b.get(t, "/office/history?import=9").says(t, "No changes match")

	p = older.putBack(t, "Zoë Müller was changed").follow(t)
	if !strings.HasPrefix(p.path, "/office/history?before=12&") || !strings.Contains(p.path, "&import=1&") || p.notice(t) != "The change was undone for Zoë Müller: Phone Undo" {
		t.Errorf("%s has the notice %q", p.path, p.notice(t))
	}
	b.get(t, "/office/history").putBack(t, summary).says(t, "Import 1 was undone", "59 people were deleted", "1 person was left unchanged")
	p = b.get(t, "/office/history").says(t, summary, "undone, ")
	summaries := p.one(t, "ol", "class", "history").all("summary")
	if top := shownMoment.ReplaceAllString(summaries[0].text(), ""); len(summaries) != 2 || top != "Import 1 was undone: 59 people, by desk" {
		t.Errorf("the newest of %d entries is %q", len(summaries), top)
	}
	if buttons := p.one(t, "ol", "class", "history").all("form", "action", "/office/imports/1/undo"); len(buttons) > 0 {
		t.Error("the import can be undone again")
	}
	p.putBack(t, "N 58 was deleted").follow(t).says(t, "N 58 is back on the list")
}

// TestOfficeHistoryFilter checks the filters by person, day and author. A person, also a deleted
// one, is found by id or name. An author is found by name in any browser.
func TestOfficeHistoryFilter(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := newKey(t, s.db, "default", "--label", "Ana Ivić")
	b, second := s.signIn(t, desk, "en"), s.signIn(t, desk, "en")
	zoe := s.create(t, `{"firstName":"Zoë","lastName":"Müller"}`)
	eva := s.as(desk).create(t, `{"firstName":"Eva","lastName":"Horvat"}`)
	b.post(t, personPath(eva)+"/delete", url.Values{})
	second.post(t, personPath(eva)+"/undelete", url.Values{})
	second.post(t, personPath(eva)+"/delete", url.Values{})
	execSQL(t, s.db, `UPDATE changes SET at = unixepoch('2026-03-29T12:00:00Z') * 1000 WHERE id & 0xffffffff = 1`)
	const (
		entered = "Zoë Müller was added, by first key What was entered Field Entered First name Zoë Last name Müller"
		added   = "Eva Horvat was added, by Ana Ivić What was entered Field Entered First name Eva Last name Horvat"
		deleted = "Eva Horvat was deleted, by Ana Ivić"
		back    = "Eva Horvat was restored, by Ana Ivić"
	)
	today := url.QueryEscape(shownMoment.FindString(b.get(t, "/office/history").text()))
	today = today[:strings.Index(today, "%2C")]
	for query, want := range map[string][]string{
		"":                                 {deleted, back, deleted, added, entered},
		"person=" + eva:                    {deleted, back, deleted, added},
		"person=" + strings.ToUpper(zoe):   {entered},
		"person=mueller":                   {entered},
		"person=hor,+eva.":                 {deleted, back, deleted, added},
		"person=e&who=Ana+Ivi%C4%87":       {deleted, back, deleted, added},
		"person=Nobody":                    {},
		"person=" + nobody:                 {},
		"who=Ana+Ivi%C4%87":                {deleted, back, deleted, added},
		"who=first+key":                    {entered},
		"who=1":                            {entered},
		"who=0":                            {},
		"who=Somebody":                     {},
		"from=2026-03-29&to=29+March+2026": {entered},
		"from=2026-03-30":                  {deleted, back, deleted, added},
		"to=2026-03-28":                    {},
		"from=" + today + "&to=" + today:   {deleted, back, deleted, added},
	} {
		p := b.get(t, "/office/history?"+query)
		if p.tellsEdits(t, want...); len(want) == 0 {
			p.says(t, "No changes match")
		}
	}
	p := b.get(t, "/office/history").form(t, "/office/history").set(t, "Person", "zoe").set(t, "Changed by", "first key").set(t, "From", "29.3.2026").send(t, "Show")
	p.tellsEdits(t, entered)
	if from := p.labelled(t, "From").attributes["value"]; from != "29 March 2026" || p.labelled(t, "Person").attributes["value"] != "zoe" {
		t.Errorf("the form has the date %q", from)
	}
	if p.all("a", "href", "/office/history", "class", "button quiet")[0].text() != "All changes" {
		t.Error("the link to all changes is missing")
	}
	p = b.get(t, "/office/history?from=31.2.2026&to=x")
	p.tellsEdits(t, deleted, back, deleted, added, entered)
	p.says(t, "There is no such day.", "This date cannot be read.")
	if p.labelled(t, "From").attributes["aria-describedby"] != "from-fault" || len(p.all("p", "id", "to-fault")) != 1 {
		t.Errorf("want the fault at its field: %s", p.body)
	}
	own := b.get(t, "/office/people/"+eva+"/history?who=0")
	own.tellsEdits(t)
	own.form(t, "/office/people/"+eva+"/history").set(t, "Changed by", "Ana Ivić").send(t, "Show").tellsEdits(t, deleted, back, deleted, added)
	if link := b.get(t, "/office/history?who=0&person="+eva).says(t, "Person: Eva Horvat").all("a", "href", "/office/history?who=0"); len(link) != 1 || link[0].text() != "Everyone" {
		t.Error("the link to everyone is missing")
	}
	other := s.signIn(t, newKey(t, s.db, "Engine 7"), "en")
	other.get(t, "/office/history?person="+eva).says(t, "a person whose name is no longer known").lacks(t, "Horvat", "Ana Ivić")
}

// TestOfficeDeleted checks the list of deleted people, newest first, and the restore of a person.
func TestOfficeDeleted(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	other := s.signIn(t, newKey(t, s.db, "Engine 7"), "en")
	b.get(t, "/office/deleted").says(t, "0 deleted people", "No one has been deleted")
	ana := s.create(t, `{"firstName":"Ana <&>","lastName":"Čović","phoneNumber":"+385 91/234"}`)
	eva := s.create(t, `{"firstName":"Eva","lastName":"Horvat"}`)
	for _, id := range []string{ana, eva} {
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	p := b.get(t, "/office/deleted").says(t, "2 deleted people", "People who manage access can delete both permanently")
	if rows := p.names(); !slices.Equal(rows, []string{"Eva Horvat", "Ana <&> Čović"}) {
		t.Errorf("deleted people: %q", rows)
	}
	if tel := p.all("a", "href", "tel:+38591234"); len(tel) != 1 || !shownMoment.MatchString(p.one(t, "tbody").text()) {
		t.Errorf("rows: %s", p.one(t, "tbody").text())
	}
	if back := p.form(t, "/office/people/"+ana+"/undelete").values.Get("back"); back != "/office/deleted" {
		t.Errorf("the way back is %s", back)
	}
	reader.get(t, "/office/deleted").says(t, "Eva Horvat").lacks(t, "Restore")
	reader.post(t, "/office/people/"+ana+"/undelete", url.Values{}).wants(t, 403)
	other.get(t, "/office/deleted").says(t, "0 deleted people")
	other.post(t, "/office/people/"+ana+"/undelete", url.Values{}).wants(t, 404)
	b.post(t, "/office/people/"+ana+"/undelete", url.Values{}, "Sec-Fetch-Site", "cross-site").wants(t, 403)

	p = p.form(t, "/office/people/"+ana+"/undelete").send(t, "Restore Ana <&> Čović").follow(t)
	if !strings.HasPrefix(p.path, "/office/deleted") || p.notice(t) != "Ana <&> Čović is back on the list" {
		t.Errorf("%s has the notice %q", p.path, p.notice(t))
	}
	p.says(t, "1 deleted person")
	s.do(t, "GET", collection+"/"+ana, "").wants(t, 200)
	b.get(t, "/office/history").says(t, "Ana <&> Čović was restored")
	execSQL(t, s.db, `UPDATE firefighters SET last_name = 'X' WHERE id = ?`, eva)
	b.get(t, "/office/deleted").says(t, "Eva X damaged")
}

// names returns the names in the rows of the page's table.
func (p *webPage) names() (all []string) {
	for _, th := range p.all("th", "scope", "row") {
		all = append(all, th.text())
	}
	return all
}

// TestOfficeDeletedPages checks pages of 100 people. An invalid number shows the first page, and a
// page after the last is empty.
func TestOfficeDeletedPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	for n := range 102 {
		id := s.create(t, fmt.Sprintf(`{"firstName":"N","lastName":"%d"}`, n))
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	first := b.get(t, "/office/deleted").says(t, "102 deleted people", "Page 1 of 2")
	second := b.get(t, first.one(t, "a", "rel", "next").attributes["href"])
	if len(first.names()) != 100 || !slices.Equal(second.names(), []string{"N 1", "N 0"}) {
		t.Errorf("%d on the first page, then %q", len(first.names()), second.names())
	}
	for _, bad := range []string{"x", "0", "-1"} {
		if p := b.get(t, "/office/deleted?page="+bad).wants(t, 200); !slices.Equal(p.names(), first.names()) {
			t.Errorf("page %q has %q", bad, p.names())
		}
	}
	for _, far := range []string{"3", "9223372036854775807"} {
		b.get(t, "/office/deleted?page="+far).wants(t, 200).says(t, "This page of the list is empty", "102 deleted people")
	}
	for _, want := range []string{"N 1", "N 0"} {
		form := second.all("form")
		i := slices.IndexFunc(form, func(e *element) bool { return e.text() == "Restore "+want })
		second = (&webForm{page: second, form: form[i], values: form[i].values()}).send(t, "Restore "+want).follow(t)
		if !strings.Contains(second.path, "page=2") {
			t.Errorf("the form returns to %s", second.path)
		}
	}
	second.says(t, "This page of the list is empty", "100 deleted people")
}
