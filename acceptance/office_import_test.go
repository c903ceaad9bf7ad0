package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// three is a list of three people in the format that Excel copies.
const three = "Vorname\tNachname\tHandy\tGeburtsdatum\tSpind\r\n" +
	"Jürgen\tGroß\t0171 234\t26.06.1990\tLM\r\n" +
	"Zoë\tMüller\t\t\t\r\n" +
	"Ana\tČović\t091 234 5678\t15.05.1990\tHBM\r\n"

const (
	theRows     = "The rows"
	refusedRows = "Refused rows"
)

// bring uploads a list as a file and returns the preview.
func (b *browser) bring(t *testing.T, name, content string) *webPage {
	t.Helper()
	return b.get(t, "/office/import").wants(t, 200).form(t, "/office/import").attach(name, content).send(t, "Check the list").shown(t)
}

// pasteIn pastes a list and returns the preview.
func (b *browser) pasteIn(t *testing.T, text string) *webPage {
	t.Helper()
	return b.get(t, "/office/import").form(t, "/office/import").set(t, "Or paste rows", text).send(t, "Check the list").follow(t)
}

// shown is the page to which a list leads, or the refusal of it.
func (p *webPage) shown(t *testing.T) *webPage {
	t.Helper()
	if p.status == http.StatusSeeOther {
		return p.follow(t)
	}
	return p
}

// again is the form with which a list is checked again or imported.
func (p *webPage) again(t *testing.T) *webForm { t.Helper(); return p.form(t, "/office/import") }

// names returns the names on the first page of the list.
func (b *browser) names(t *testing.T) string {
	t.Helper()
	var names []string
	for _, a := range b.get(t, "/office/").wants(t, 200).all("a") {
		if name := a.attributes["aria-label"]; name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// TestOfficeImport checks that a list can be pasted and imported, only once however often the
// button is pressed, and undone.
func TestOfficeImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--label", "desk"), "en")
	p := b.pasteIn(t, three).wants(t, 200)
	p.says(t, "pasted rows", "3 people would be added", "separated by tabs", "4 columns are used: Vorname (First name), Nachname (Last name), Handy (Phone), Geburtsdatum (Date of birth). 1 is left out: Spind.", "Dates are read as day, month, year")
	p.lacks(t, "would be changed", "refused", "imported before")
	for row, want := range map[string]string{"Jürgen Groß": "2 added 0171 234 · 26 June 1990", "Zoë Müller": "3 added", "Ana Čović": "4 added 091 234 5678 · 15 May 1990"} {
		if got := strings.Join(p.row(t, theRows, row), " "); got != want+" Leave out Row "+want[:1]+": "+row {
			t.Errorf("the row of %s is %q", row, got)
		}
	}
	if b.names(t) != "" {
		t.Errorf("the preview added %s", b.names(t))
	}
	b.get(t, p.path).wants(t, 200).says(t, "3 people would be added") // Back and reload
	s.as(newKey(t, s.db, "default")).do(t, "POST", collection, `{"firstName":"Eva","lastName":"Adam"}`).wants(t, 201)
	form := p.again(t)
	done := form.send(t, "Import 3 people").follow(t)
	if done.says(t, "3 of 4 people"); len(done.rows("")) != 0 || !strings.HasPrefix(b.names(t), "Eva Adam, ") {
		t.Errorf("the list after the import is %s, want 3 people of %s", done.text(), b.names(t))
	}
	if next := done.one(t, "footer").all("input", "name", "next")[0].attributes["value"]; next != done.path {
		t.Errorf("the link for another language is %s", next)
	}
	b.get(t, done.path+"&page=2").wants(t, 200)
	b.get(t, done.path+"&search=zo").wants(t, 200).says(t, "1 of 4 people")
	for _, path := range []string{"/office/?imported=", "/office/?imported=2", "/office/?imported=x"} {
		b.get(t, path).wants(t, 200).says(t, "4 people").lacks(t, "of 4")
	}
	if !strings.HasPrefix(done.path, "/office/?imported=1&list=") || done.notice(t) != "3 people were imported Who is on your list, but not in the file? Possible duplicates Undo" || b.names(t) != "Eva Adam, Ana Čović, Jürgen Groß, Zoë Müller" {
		t.Fatalf("%s: notice %q, people %s", done.path, done.notice(t), b.names(t))
	}
	if twice := form.send(t, "Import 3 people").follow(t); twice.notice(t) != done.notice(t) || b.names(t) != "Eva Adam, Ana Čović, Jürgen Groß, Zoë Müller" {
		t.Errorf("notice after pressing twice %q, people %s", twice.notice(t), b.names(t))
	}
	b.pasteIn(t, three).wants(t, 200).says(t, "imported before: import 1", "3 people are already on the list", "no one to add").lacks(t, "Import 3 people", "what is different")

	p = b.get(t, "/office/imports").wants(t, 200).says(t, "pasted rows", "desk", "3 added")
	if len(p.all("form", "action", "/office/imports/1/undo")) != 1 {
		t.Errorf("imports: %s", p.text())
	}
	p = b.post(t, done.all("form", "action", "/office/imports/1/undo")[0].attributes["action"], url.Values{}).wants(t, 200)
	if p.says(t, "3 people were deleted").lacks(t, "left unchanged"); p.notice(t) != "Import 1 was undone" || b.names(t) != "Eva Adam" {
		t.Errorf("notice %q, people %s", p.notice(t), b.names(t))
	}
	already := b.post(t, "/office/imports/1/undo", url.Values{}).wants(t, 200).says(t, "Import 1 was already undone:")
	if class := already.one(t, "div", "id", "notice").attributes["class"]; class != "warn" {
		t.Errorf("the class of the notice is %q, want warn", class)
	}
	form.send(t, "Import 3 people").follow(t).says(t, "Import 1 was already undone:")
	b.get(t, "/office/imports?imported=99").wants(t, 200)
	for _, number := range []string{"99", "0", "x", "99999999999999999999"} {
		b.post(t, "/office/imports/"+number+"/undo", url.Values{}).wants(t, 404)
	}
}

// TestOfficeImportAYearLater checks that people who are not in an imported list can be deleted on one
// page, each or several at once, and that one undo restores them.
func TestOfficeImportAYearLater(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	b.pasteIn(t, "First name;Last name;Phone\nAna;Kos;1\nBen;Adam;2\nCarl;Wolf;3\nDora;Blau;4\nEva;Lang;5\nFritz;Neu-Hof;6\n").
		again(t).send(t, "Import 6 people").follow(t).lacks(t, "Who is on your list")
	p := b.bring(t, "2027.csv", "First name;Last name;Phone;E-mail\nAna;Kos;9;ana@example.com\nFritz;Neu Hof;;\nEva;Lang;;nothing\nGerd;Jung;;\n").wants(t, 200).
		says(t, "1 person would be added", "2 rows need your answer", "1 row is refused")
	form := p.again(t)
	form.values.Set("skipBad", "1")
	done := form.send(t, "Import 1 person and leave out the 2 rows without an answer and the 1 refused row").follow(t).says(t, "Who is on your list, but not in the file?")
	links := done.one(t, "div", "id", "notice").all("a")
	if href := links[2].attributes["href"]; href != "/office/duplicates" {
		t.Errorf("the last link of the notice is %q", href)
	}
	p = b.get(t, links[1].attributes["href"]).wants(t, 200)
	p.says(t, "3 people are on your list, but not in 2027.csv", "2 other people may be meant by rows that were refused or not decided")
	names := func(p *webPage) string {
		var all []string
		for _, row := range p.rows("On your list, but not in the file") {
			all = append(all, row.one("a").text())
		}
		return strings.Join(all, ", ")
	}
	if got := names(p); got != "Ben Adam, Dora Blau, Carl Wolf" {
		t.Fatalf("missing: %s", got)
	}
	p.selecting(t).send(t, "Delete the selected people").follow(t).wants(t, 200).says(t, "No one is selected", "3 people are on your list")
	ids := p.all("input", "name", "id")
	p = p.selecting(t, ids[0].attributes["value"], ids[1].attributes["value"]).send(t, "Delete the selected people").follow(t).wants(t, 200)
	if names(p) != "Carl Wolf" || p.notice(t) != "2 people were deleted Undo" {
		t.Errorf("notice %q, still missing: %s", p.notice(t), names(p))
	}
	p = p.press(t, "Undo").follow(t).wants(t, 200)
	if names(p) != "Ben Adam, Dora Blau, Carl Wolf" || p.notice(t) != "2 people were restored" {
		t.Errorf("notice %q, missing after the undo: %s", p.notice(t), names(p))
	}
	one := p.selecting(t, ids[0].attributes["value"])
	p = one.send(t, "Delete Carl Wolf").follow(t).says(t, "Carl Wolf was deleted", "2 people are on your list")
	one.send(t, "Delete Carl Wolf").follow(t).says(t, "Carl Wolf was deleted", "2 people are on your list") // pressed twice
	if names(p.press(t, "Undo").follow(t)) != "Ben Adam, Dora Blau, Carl Wolf" {
		t.Errorf("missing after the undo: %s", names(p))
	}
	s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en").get(t, p.path).wants(t, 403)
}

// TestOfficeUndoImportSkips checks that undoing an import keeps and lists people who have changed
// since.
func TestOfficeUndoImportSkips(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	b.pasteIn(t, three).again(t).send(t, "Import 3 people").follow(t)
	list := b.get(t, "/office/")
	groß := b.get(t, list.one(t, "a", "aria-label", "Jürgen Groß").attributes["href"])
	groß.form(t, groß.path).set(t, "Phone", "1").send(t, "Save").follow(t)
	zoë := list.one(t, "a", "aria-label", "Zoë Müller").attributes["href"]
	b.post(t, zoë+"/delete", url.Values{}).wants(t, 303)
	p := b.post(t, "/office/imports/1/undo", url.Values{}).wants(t, 200)
	p.says(t, "1 person was deleted", "left unchanged because of later changes", "Jürgen Groß: changed since", "Zoë Müller: deleted since")
	if b.names(t) != "Jürgen Groß" {
		t.Errorf("people: %s", b.names(t))
	}
}

// TestOfficeImportUpdates checks that an import can update existing people, and that undo restores
// them.
func TestOfficeImportUpdates(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	b.pasteIn(t, three).again(t).send(t, "Import 3 people").follow(t)
	newer := "First name;Last name;Phone;E-mail;Birthday\nAna;Covic;091 999;ana@example.com;15.05.1990\nEva;Adam;1;;\nZoë;Müller;;;\n"
	p := b.bring(t, "new.csv", newer).wants(t, 200).says(t, "new.csv", "1 person would be added", "2 people are already on the list")
	form := p.again(t)
	form.values.Set("update", "1")
	p = form.send(t, "Import 1 person").wants(t, 422).says(t, "your choices or the people of your department have changed", "1 person would be changed")
	if cells := strings.Join(p.row(t, theRows, "Ana Covic"), " "); strings.Contains(cells, "Last name") || !strings.Contains(cells, "Phone 091 234 5678 091 999") {
		t.Errorf("the row of Ana is %q", cells)
	}
	if first := p.rows(theRows)[0].text(); !strings.Contains(first, "changed") {
		t.Errorf("the first row is %q", first)
	}
	done := p.again(t).send(t, "Import 2 people").follow(t)
	if !strings.HasPrefix(done.notice(t), "1 person was imported, 1 person was changed ") || b.names(t) != "Eva Adam, Ana Čović, Jürgen Groß, Zoë Müller" {
		t.Errorf("notice %q, people %s", done.notice(t), b.names(t))
	}
	p = done.press(t, "Undo").wants(t, 200).says(t, "1 person was deleted", "1 person has the previous values again")
	if b.names(t) != "Ana Čović, Jürgen Groß, Zoë Müller" {
		t.Errorf("people: %s", b.names(t))
	}
	if old := p.row(t, "", ""); old != nil {
		t.Errorf("unexpected table without a heading: %q", old)
	}
}

// TestOfficeImportRefusedRows checks that a refused row stops the import until the user skips such
// rows, and that the report has all rows with the reasons.
func TestOfficeImportRefusedRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	list := "First name;Last name;Phone;E-mail\nAna;Čović;1;no\nEva;;2;\nBen;Adam;4.41E+11;\nMia;Weiß;3;\n"
	p := b.bring(t, "people.csv", list).wants(t, 200).says(t, "1 person would be added", "3 rows are refused", "nothing can be imported yet")
	for name, reason := range map[string]string{"Ana Čović": "This is not an e-mail address", "Eva": "The last name is missing", "Ben Adam": "has lost digits"} {
		if cells := strings.Join(p.row(t, refusedRows, name), " "); !strings.Contains(cells, reason) {
			t.Errorf("%s is %q", name, cells)
		}
	}
	if cells := strings.Join(p.row(t, theRows, "Mia Weiß"), " "); !strings.Contains(cells, "added") || len(p.rows(theRows)) != 1 {
		t.Errorf("Mia Weiß is %q", cells)
	}
	report := p.again(t).send(t, "Download all rows with the reasons").wants(t, 200)
	if got := report.header.Get("Content-Disposition"); got != `attachment; filename="import-report.csv"` || !strings.Contains(report.body, "Mia;Weiß;3;;added;") ||
		!strings.Contains(report.body, "Eva;;2;;refused;The last name is missing.") {
		t.Errorf("%s: %s", got, report.body)
	}
	b.post(t, "/office/import/apply", p.again(t).values).wants(t, 422).says(t, "Nothing was imported")
	p.again(t).send(t, "Import 1 person and leave out the 3 refused rows").follow(t).says(t, "1 person was imported")
	if b.names(t) != "Mia Weiß" {
		t.Errorf("people: %s", b.names(t))
	}
}

// TestOfficeImportRowsWithoutAName checks that each row has a heading that is not empty.
func TestOfficeImportRowsWithoutAName(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	p := b.bring(t, "people.csv", "First name;Last name;Phone\nMia;;\n;;1\n\u2800;\u2800;\n\u2800;;2\n").wants(t, 200)
	var headings []string
	for _, th := range p.all("th") {
		if th.attributes["scope"] == "row" {
			headings = append(headings, th.text())
		}
	}
	if got := strings.Join(headings, "|"); got != "Mia|1|–|2" {
		t.Errorf("the row headings are %q", got)
	}
}

// TestOfficeImportCorrections checks that refused cells can be corrected on the page, and that the
// import and the report use the corrections.
func TestOfficeImportCorrections(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	list := "First name;Last name;Phone;E-mail;Birthday\nAna;Čović;1;no;15.05.1990\nEva;;2;;\nBen;Adam;4.41E+11;;soon\nMia;Weiß;3;;\nMia;Weiß;4;;\n"
	p := b.bring(t, "people.csv", list).wants(t, 200).says(t, "5 rows are refused")
	form := p.again(t)
	for name, want := range map[string]string{"cell.2.3": "no", "cell.3.1": "", "cell.4.2": "4.41E+11", "cell.4.4": "soon", "cell.5.3": "", "cell.5.4": "", "cell.6.3": ""} {
		field := p.one(t, "input", "name", name)
		if got := form.values.Get(name); got != want || p.one(t, "", "id", field.attributes["aria-describedby"]).text() == "" || field.attributes["aria-invalid"] != "true" {
			t.Errorf("%s is %q: %v", name, got, field.attributes)
		}
	}
	if len(p.all("input", "name", "cell.2.1")) != 0 {
		t.Errorf("a cell without a fault has a field: %s", p.body)
	}
	form.values.Set("cell.2.3", "ana@example.com")
	form.values.Set("cell.3.1", " Kos ")
	form.values.Set("cell.5.3", "mia@example.com")
	form.values.Set("cell.6.3", "also mia")
	p = form.send(t, "Check again").wants(t, 200).says(t, "2 people would be added", "3 rows are refused")
	if cells := strings.Join(p.row(t, theRows, "Eva Kos"), " "); !strings.Contains(cells, "added") {
		t.Errorf("Eva Kos is %q in %s", cells, p.text())
	}
	if got := p.one(t, "input", "name", "cell.6.3").attributes["value"]; got != "also mia" {
		t.Errorf("the typed text became %q", got)
	}

	form = p.again(t)
	form.values.Set("cell.4.2", "091 4")
	form.send(t, "Import 2 people and leave out the 3 refused rows").wants(t, 422).says(t, "your choices or the people of your department have changed")
	form.values.Set("cell.4.4", "1.2.1990")
	form.values.Set("encoding", "windows-1252") // corrections are those of one reading
	p = form.send(t, "Check again").wants(t, 200).says(t, "ÄŒoviÄ‡", "5 rows are refused")
	form = p.again(t)
	form.values.Set("encoding", "")
	form = form.send(t, "Check again").wants(t, 200).says(t, "5 rows are refused").again(t)
	for name, text := range map[string]string{"cell.2.3": "ana@example.com", "cell.3.1": " Kos ", "cell.4.2": "091 4", "cell.4.4": "1.2.1990",
		"cell.5.3": "mia@example.com", "cell.6.3": "other@example.com"} {
		form.values.Set(name, text)
	}
	p = form.send(t, "Check again").wants(t, 200).lacks(t, "refused")
	report := p.again(t).send(t, "Download all rows with the reasons").wants(t, 200)
	if !strings.Contains(report.body, "Ana;Čović;1;ana@example.com;15.05.1990;added;") || !strings.Contains(report.body, "Ben;Adam;091 4;;1.2.1990;added;") {
		t.Errorf("the report is %s", report.body)
	}
	stranger := s.signIn(t, newKey(t, s.db, "Engine 7"), "en")
	stranger.post(t, "/office/import", url.Values{"token": {p.again(t).values.Get("token")}, "cell.2.3": {"evil"}}).wants(t, 422)
	p.again(t).send(t, "Import 5 people").follow(t).says(t, "5 people were imported", "ana@example.com", "091 4")
	if p := b.pasteIn(t, list); !strings.Contains(p.text(), "3 rows are refused") {
		t.Errorf("the corrections of one list are those of another: %s", p.text())
	}
}

// TestOfficeImportGone checks that the page asks again for a list that is no longer kept,
// and that what is typed about the rows of a list has a limit.
func TestOfficeImportGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	const list = "First name;Last name;E-mail\nAna;Čović;no\n"
	form := b.bring(t, "people.csv", list).again(t)
	form.values.Set("token", "gone")
	p := form.send(t, "Check again").wants(t, 422).says(t, "is no longer available")
	p.form(t, "/office/import").attach("people.csv", list).send(t, "Check the list").follow(t).wants(t, 200).says(t, "1 row is refused")
	form = b.bring(t, "people.csv", list).again(t)
	form.values.Set("cell.2.2", strings.Repeat("x", 60<<10))
	for row := range 4 {
		form.values.Set(fmt.Sprintf("cell.%d.1", 10+row), strings.Repeat("x", 1<<10))
	}
	form.send(t, "Check again").wants(t, 413)
}

// TestOfficeImportPossibleDuplicates checks that the page asks about each possible duplicate, and does not
// import it before it has an answer.
func TestOfficeImportPossibleDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	writer := s.as(newKey(t, s.db, "default"))
	ids := map[string]string{}
	for name, body := range map[string]string{
		"Jürgen": `{"firstName":"Jürgen","lastName":"Müller","dateOfBirth":"1980-01-02","phoneNumber":"0171 1"}`,
		"Ana":    `{"firstName":"Ana","lastName":"Kos","email":"ana@example.com","dateOfBirth":"1990-05-15"}`,
	} {
		ids[name] = strings.TrimPrefix(writer.do(t, "POST", collection, body).wants(t, 201).header.Get("Location"), collection+"/")
	}
	list := "First name;Last name;Phone;E-mail;Birthday\nJürgen;Mueller-Kos;0171 2;;02.01.1980\nAna;Horvat;;ana@example.com;15.05.1990\nEva;New;;;\n"
	p := b.bring(t, "people.csv", list).wants(t, 200).says(t, "1 person would be added", "2 rows need your answer", "This is Jürgen Müller, born 2 January 1980", "This is Ana Kos, born 15 May 1990",
		"same e-mail address and date of birth", "0171 1 0171 2")
	if groups := p.one(t, "section", "aria-labelledby", "perhaps").all("fieldset"); len(groups) != 2 || groups[0].one("legend").text() != "Row 2: Jürgen Mueller-Kos" || len(groups[0].all("input", "type", "radio")) != 3 {
		t.Fatalf("choices: %s", p.body)
	}
	b.bring(t, "one.csv", "First name;Last name;Phone\nJürgen;Müller;0171 2\n").says(t, "0 added", "1 possible duplicate1 row needs your answer")
	form := p.again(t)
	if form.values.Get("who.2") != "" || !form.values.Has("who.2") {
		t.Errorf("preselected: %v", form.values)
	}
	b.post(t, "/office/import/apply", form.values).wants(t, 422)
	form.values.Set("who.2", ids["Jürgen"])
	form.values.Set("who.3", "add")
	form.send(t, "Import 1 person and leave out the 2 rows without an answer").wants(t, 422).says(t, "your choices or the people of your department have changed")
	p = form.send(t, "Check again").wants(t, 200).says(t, "2 people would be added", "(1 of them differs)").lacks(t, "needs your answer")
	form = p.again(t)
	if got := form.values.Get("who.2") + " " + form.values.Get("who.3"); got != ids["Jürgen"]+" add" {
		t.Errorf("the selected answers are %s", got)
	}
	otherTab := b.get(t, "/office/import?token="+form.values.Get("token")).wants(t, 200).says(t, "2 rows need your answer")
	otherTab.again(t).send(t, "Check again").wants(t, 200).says(t, "2 rows need your answer")
	form.send(t, "Check again").wants(t, 200).lacks(t, "needs your answer") // the other tab has changed nothing
	form.values.Set("who.3", "")                                            // a second thought
	p = form.send(t, "Check again").wants(t, 200).says(t, "1 row needs your answer")
	form = p.again(t)
	form.values.Set("who.3", "add")
	p = form.send(t, "Show what differs").wants(t, 200).says(t, "1 person would be changed", "2 people would be added").says(t, "Last name Müller Mueller-Kos")
	p.again(t).send(t, "Import 3 people").follow(t).says(t, "2 people were imported, 1 person was changed", "0171 2")
	if b.names(t) != "Ana Horvat, Ana Kos, Jürgen Mueller-Kos, Eva New" {
		t.Errorf("people: %s", b.names(t))
	}

	many := "First name;Last name;Birthday\n"
	for i := range 6 {
		many += fmt.Sprintf("Person%d;Müller-Kos;1980-01-02\n", i)
	}
	p = b.bring(t, "many.csv", many).wants(t, 200).says(t, "6 rows need your answer")
	p.says(t, "6 rows: same date of birth, and same first or last name")
	p.lacks(t, "All are the people on your list") // one person for all
	p = p.again(t).send(t, "All are new people").wants(t, 200).lacks(t, "need your answer")
	p.again(t).send(t, "Import 6 people").follow(t).says(t, "6 people were imported")

	changed := "First name;Last name;Phone\nJürgen;Mueller-Kos;0171 7\nAna;Kos;1\nAna;Horvat;2\n"
	writer.do(t, "PATCH", collection+"/"+ids["Ana"], `{"phoneNumber":"0171 9"}`, "Content-Type", "application/merge-patch+json").wants(t, 200)
	p = b.bring(t, "changed.csv", changed).wants(t, 200).says(t, "2 rows need your answer", "2 rows: same name, but a different e-mail address or phone number")
	form = p.again(t)
	form.values.Set("update", "1")
	p = form.send(t, "All are the people on your list").wants(t, 200).lacks(t, "need your answer").says(t, "3 people would be changed")
	if form = p.again(t); form.values.Get("sameAll.name") != "1" {
		t.Errorf("the answer is forgotten: %v", form.values)
	}
	form.send(t, "Import 3 people").follow(t).says(t, "3 people were changed")

	for i := range 300 {
		many += fmt.Sprintf("Other%d;Müller-Kos;1980-01-02\nOther%d;;\n", i, i)
	}
	p = b.bring(t, "more.csv", many).wants(t, 200).says(t, "300 rows need your answer", "300 rows are refused", "406 more rows are not shown")
	if asked, refused := len(p.one(t, "section", "aria-labelledby", "perhaps").all("fieldset")), len(p.rows(refusedRows)); asked != 100 || refused != 100 || len(p.body) > 500_000 {
		t.Errorf("the page has %d questions and %d refused rows, %d bytes", asked, refused, len(p.body))
	}
	p.again(t).send(t, "Check again").wants(t, 200) // a form has room for all fields
}

// TestOfficeImportReport checks that the report has the same result for each row as the page, and
// that the page names a row without a name by its other values.
func TestOfficeImportReport(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := newKey(t, s.db, "default")
	s.as(key).do(t, "POST", collection, ana).wants(t, 201)
	b := s.signIn(t, key, "en")
	p := b.bring(t, "spring.csv", "First name;Last name;Phone;E-mail;Birthday\nAna;Kos;;ana@example.com;15.05.1990\nIva;New;1;no;\nIva;Two;2;;\nIva;Two;2;;\n;;0171 5;;\n")
	if got := p.all("th", "scope", "row"); len(got) < 4 || slices.ContainsFunc(got, func(e *element) bool { return e.text() == "" }) {
		t.Errorf("row headings: %s", p.text())
	}
	form := p.again(t)
	form.values.Set("leaveOutBad", "1")
	report := b.post(t, "/office/import/report", form.values).wants(t, 200).body
	for _, want := range []string{
		"needs your answer;same e-mail address and date of birth (Ana Čović, 15 May 1990)",
		"added;E-mail is left out. This is not an e-mail address.",
		";the same as row 4;",
		"refused;The first name is missing. The last name is missing.",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("want %q in %s", want, report)
		}
	}
	report = b.post(t, "/office/import/report", b.bring(t, "mixed.csv", "Name\n\"Kos, Eva\"\n\"Kos, Mia\"\nSteiner Maria\n").again(t).values).wants(t, 200).body
	if want := "(first name Steiner, last name Maria; first name Maria, last name Steiner)"; !strings.Contains(report, want) {
		t.Errorf("want %q in %s", want, report)
	}
}

// TestOfficeImportOptions checks that the page offers exactly the options that matter for a list.
func TestOfficeImportOptions(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	s.as(newKey(t, s.db, "default")).do(t, "POST", collection, `{"firstName":"Ana","lastName":"Čović"}`).wants(t, 201)
	all := []string{"update", "spelling", "zero", "leaveOutBad", "names", "columns", "midnight"}
	for _, tt := range []struct {
		list, offers, choose, value, want string
		before                            []string
	}{
		{"First name;Last name\nEva;Kos\n", "", "", "", "Import 1 person", nil},
		{"First name;Last name;Phone;Birthday\nEva;Kos;0911;--05-15\n", "leaveOutBad", "leaveOutBad", "1", "Import 1 person", []string{"1 row is refused"}},
		{"First name;Last name;Phone\nEva;Kos;0911 234 567\nMia;Kos;911234567\n", "zero", "zero", "true", "Import 2 people", []string{"phone number does not start with 0"}},
		{"Name\n\"Kos, Eva\"\n\"Kos, Mia\"\nSteiner Maria\n", "names", "names", "last-first", "Import 3 people", []string{"first name Steiner, last name Maria", "first name Maria, last name Steiner", "1 row needs your answer"}},
		{"First name;Last name;Reach\nEva;Kos;0911 234 567\n", "columns", "columns", "keep", "Import 1 person", []string{"dates of birth: “Reach”", "Reach (Phone)"}},
		{"First name;Last name;Birthday\nEva;Kos;1990-05-14T22:00:00Z\n", "midnight", "midnight", "change", "Import 1 person", []string{"15 May 1990", "14 May 1990"}},
		{"First name;Last name;Phone\nAna;Covic;1\n", "update", "update", "1", "Import 1 person", []string{"1 person is already on the list", "(1 of them differs)"}},
		{"First name;Last name\nAna;Covic\n", "update", "update", "1", "", []string{"1 person is already on the list"}},
	} {
		p := b.bring(t, "people.csv", tt.list).wants(t, 200).says(t, tt.before...)
		for _, name := range all {
			if got := len(p.all("input", "name", name)) > 0; got != (name == tt.offers) {
				t.Errorf("%q: %s is offered: %t", tt.list, name, got)
			}
		}
		form := p.again(t)
		if tt.choose != "" {
			form.values.Set(tt.choose, tt.value)
			p = form.send(t, "Check again").wants(t, 200)
		}
		if tt.want != "" {
			p.again(t).send(t, tt.want).follow(t).wants(t, 200).press(t, "Undo").wants(t, 200)
			continue
		}
		form = p.again(t)
		form.values.Set("spelling", "1")
		form.send(t, "Check again").wants(t, 200).says(t, "Last name Čović Covic").again(t).send(t, "Import 1 person").follow(t).says(t, "Covic")
	}
}

// TestOfficeImportSkips checks that each row can be left out and taken again, also with its cells empty.
func TestOfficeImportSkips(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	const list = "Name;E-Mail\nEva Kos;\nGruppe 1;\nMia Kos;mia@\nTea Rak;\n"
	p := b.bring(t, "people.csv", list).wants(t, 200).says(t, "2 people would be added", "Left out", "Gruppe 1", "heading of a group", "1 row is refused")
	form := p.again(t)
	form.values.Set("cell.4.1", "")
	form.values.Set("skip.5", "1")
	p = form.send(t, "Check again").wants(t, 200).says(t, "2 people would be added", "Tea Rak left out as you chose", "Gruppe 1 left out heading of a group")
	p.again(t).send(t, "Import 2 people").follow(t)
	if b.names(t) != "Eva Kos, Mia Kos" {
		t.Errorf("people: %s", b.names(t))
	}
	p = b.bring(t, "people.csv", list).wants(t, 200)
	form = p.again(t)
	form.values.Set("skip.3", "") // the box is cleared: the row is taken, also when checked again
	form.values.Set("skip.4", "1")
	p = form.send(t, "Check again").wants(t, 200).again(t).send(t, "Check again").wants(t, 200)
	if got := strings.Join(p.row(t, theRows, "Gruppe 1"), " "); !strings.HasPrefix(got, "3 added") {
		t.Errorf("the row is %s in %s", got, p.text())
	}
}

// TestOfficeImportSheets checks that the page asks for the sheet if a workbook has several.
func TestOfficeImportSheets(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	book := workbook(t, map[string]string{"Active": "Ana", "Youth": "Eva"})
	p := b.bring(t, "two.xlsx", book).wants(t, 200).says(t, "Which sheet contains the people?").lacks(t, "Please check this first", "Import 1")
	if len(p.all("", "role", "alert")) != 0 || strings.HasPrefix(p.one(t, "title").text(), "Error") {
		t.Errorf("the question is shown as an error: %s", p.text())
	}
	p = p.again(t).set(t, "Which sheet contains the people?", "Youth").send(t, "Check again").wants(t, 200).says(t, "1 person would be added", "Eva Horvat")
	p = p.again(t).set(t, "Sheet", "Active").send(t, "Check again").wants(t, 200).says(t, "Ana Horvat")
	p.again(t).send(t, "Import 1 person").follow(t).says(t, "Ana")
	b.get(t, "/office/compare").form(t, "/office/compare").attach("two.xlsx", book).send(t, "Compare").follow(t).wants(t, 200).says(t, "Which sheet contains the people?")
}

// TestOfficeImportIDs checks that a button ignores unknown ids.
func TestOfficeImportIDs(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	list := "id;First name;Last name\n%s;Ana;Čović\n"
	p := b.pasteIn(t, fmt.Sprintf(list, "0191e2c4-1b5a-7000-8000-000000000001")).wants(t, 200).says(t, "1 row has an ID that is not on your list").lacks(t, "deleted people")
	p = p.again(t).send(t, "Import them as new people").wants(t, 200).says(t, "1 is left out: id.")
	done := p.again(t).send(t, "Import 1 person").follow(t).says(t, "1 person was imported")

	id := strings.TrimPrefix(b.get(t, "/office/").one(t, "a", "aria-label", "Ana Čović").attributes["href"], "/office/people/")
	done.press(t, "Undo").wants(t, 200)
	p = b.pasteIn(t, fmt.Sprintf(list, id)).wants(t, 200).says(t, "1 row has the ID of a deleted person", "The person with this ID was deleted")
	if len(p.all("form", "action", "/office/import")[0].all("a", "href", "/office/deleted")) != 1 {
		t.Errorf("the link to the deleted people is missing: %s", p.text())
	}
	p.again(t).send(t, "Import them as new people").wants(t, 200).says(t, "1 person would be added")
}

// TestOfficeImportOfStalePreview checks that an import stops if the department has changed since the
// preview so that a row is refused.
func TestOfficeImportOfStalePreview(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	form := b.pasteIn(t, three).again(t)
	for range 2 {
		s.as(newKey(t, s.db, "default")).do(t, "POST", collection, `{"firstName":"Zoë","lastName":"Müller"}`).wants(t, 201)
	}
	form.send(t, "Import 3 people").wants(t, 422).says(t, "your choices or the people of your department have changed", "1 row is refused", "This row could be ")
	if b.names(t) != "Zoë Müller, Zoë Müller" {
		t.Errorf("people: %s", b.names(t))
	}

	jm := s.as(newKey(t, s.db, "default")).do(t, "POST", collection, `{"firstName":"Jürgen Karl","lastName":"Weiß"}`).wants(t, 201).header.Get("Location")
	form = b.bring(t, "one.csv", "First name;Last name\nJürgen-Karl;Weiss\n").wants(t, 200).says(t, "1 row needs your answer").again(t)
	form.values.Set("who.2", strings.TrimPrefix(jm, collection+"/"))
	s.as(newKey(t, s.db, "default")).do(t, "DELETE", jm, "").wants(t, 204)
	p := form.send(t, "Check again").wants(t, 200).says(t, "The person with this ID was deleted").lacks(t, "Import them as new people") // no column has ids
	form = p.again(t)
	form.values.Set("who.2", "add")
	form.send(t, "Check again").wants(t, 200).again(t).send(t, "Import 1 person").follow(t).says(t, "1 person was imported")
}

// TestOfficeImportChoices checks that the page asks about unclear columns and dates at their
// fields, and keeps the list.
func TestOfficeImportChoices(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	p := b.bring(t, "people.csv", "First name;Last name;DOB;Birthday;Home phone;Mobile;Fax\nAna;Čović;05/06/1990;;1;2;3\nEva;Adam;05/06/1990;;4;;\nMia;Weiß;05/06/1990;05/06/1991;;;5\n").wants(t, 422).lacks(t, "left out:")
	if fault := p.fault(t, "DOB"); !strings.Contains(fault, "Several columns could be “Date of birth”: “DOB” and “Birthday”. Please choose") {
		t.Errorf("fault of the columns: %q in %s", fault, p.text())
	}
	if link := p.one(t, "div", "id", "faults").one("a"); link.attributes["href"] != "#column-2" {
		t.Errorf("the link of the summary is %s", link.attributes["href"])
	}
	b.bring(t, "people.csv", "First name;Last name;Birthday;Birthday\nAna;Čović;1990-05-15;1990-05-16\n").wants(t, 422).
		says(t, "Several columns could be “Date of birth”: “Birthday” and “Birthday”. Please choose").lacks(t, "different headers")
	p = p.again(t).set(t, "DOB", "dateOfBirth").set(t, "Birthday", "").send(t, "Check again").wants(t, 200).
		says(t, "Home phone (Phone), Mobile (Phone)", "2 are left out: Birthday, Fax.", "How are the dates in column “DOB” written, such as “05/06/1990”?").
		lacks(t, "Import 3 people", "Dates are written as")
	form := p.again(t)
	form.values.Set("dates", "mdy")
	p = form.send(t, "Check again").wants(t, 200).says(t, "6 May 1990")
	form = p.again(t)
	form.values.Del("dates")
	form.values.Set("answer", "dates:dmy")
	p = form.send(t, "Check again").wants(t, 200).
		says(t, "5 June 1990", "“Phone” is taken from the first filled column of “Mobile” and “Home phone” in each row.")
	p.again(t).send(t, "Import 3 people").follow(t).says(t, "3 people were imported")
	if got, want := peopleOf(t, s.db), []string{"Ana | Čović | 2 | - | 1990-06-05T00:00:00Z", "Eva | Adam | 4 | - | 1990-06-05T00:00:00Z", "Mia | Weiß | - | - | 1990-06-05T00:00:00Z"}; !slices.Equal(got, want) {
		t.Errorf("several columns for one field became %q", got)
	}

	b.bring(t, "old.csv", "First name;Last name\nMia;Mari\xe8\n").wants(t, 200).says(t, "Which names are right", "Marič").lacks(t, "Import 1 person")
	p = b.bring(t, "title.csv", "Liste;Telefon\nFeuerwehr;x\nVorname;Name\nEva;Neu\n").wants(t, 422)
	p = p.again(t).set(t, "The header row is row", "9").send(t, "Check again").wants(t, 422).says(t, "The file has no row 9.")
	p = p.again(t).set(t, "The header row is row", "3").send(t, "Check again").wants(t, 200).says(t, "1 person would be added", "Vorname (First name)")
	p.again(t).send(t, "Import 1 person").follow(t).says(t, "1 person was imported")
	p = b.bring(t, "one.csv", "Vorname;Nachname;Telefon\nMia;Weit;091 234 5678\nEva;Weit;\n").wants(t, 200)
	p = p.again(t).set(t, "The header row is row", "2").send(t, "Check again").wants(t, 422).says(t, "Row 2 is not a header row")
	p.again(t).set(t, "The header row is row", "1").send(t, "Check again").wants(t, 200).says(t, "2 people would be added")
	p = b.bring(t, "none.csv", "A;B\nx;y\n").wants(t, 422).says(t, "No column contains names")
	p = p.again(t).set(t, "A", "firstName").set(t, "B", "lastName").send(t, "Check again").wants(t, 200).says(t, "1 person would be added")
	p.again(t).switchTo(t, "Deutsch").wants(t, 200).says(t, "1 Person käme hinzu")
}

// TestOfficeImportRefusals checks that an import needs the scope write, a request from the page
// itself, and a list that its own department uploaded.
func TestOfficeImportRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	form := b.pasteIn(t, three).again(t)
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	reader.get(t, "/office/import").wants(t, 403).says(t, "You are not allowed to do this")
	for _, path := range []string{"/office/import", "/office/import/apply", "/office/import/report", "/office/imports/1/undo"} {
		reader.post(t, path, form.values).wants(t, 403).says(t, "You are not allowed to do this")
		b.post(t, path, form.values, "Sec-Fetch-Site", "cross-site").wants(t, 403).says(t, "did not come from this page")
		b.post(t, path, form.values, "Sec-Fetch-Site", "", "Origin", "http://elsewhere.example").wants(t, 403)
	}
	reader.upload(t, "/office/import", "people.csv", three, url.Values{}).wants(t, 403)
	stranger := s.signIn(t, newKey(t, s.db, "Engine 7"), "en")
	for _, path := range []string{"/office/import", "/office/import/apply", "/office/import/report"} {
		p := stranger.post(t, path, form.values).wants(t, 422)
		if fault := p.fault(t, "File"); !strings.Contains(fault, "is no longer available") {
			t.Errorf("%s: %q", path, fault)
		}
	}
	form.send(t, "Import 3 people").follow(t)
	stranger.post(t, "/office/imports/1/undo", url.Values{}).wants(t, 404)
	p := reader.get(t, "/office/imports").wants(t, 200).says(t, "3 added")
	reader.get(t, "/office/imports?imported=1").says(t, "3 people were imported")
	if len(p.all("form", "action", "/office/imports/1/undo")) != 0 || len(p.all("a", "href", "/office/import")) != 0 {
		t.Errorf("a reader sees forms or links to write: %s", p.body)
	}
}

// TestOfficeImportFiles checks that the page names the kind of a file that is not a list.
func TestOfficeImportFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	for content, want := range map[string]string{
		"":                               "The file is empty",
		"First name;Last name\n":         "The file name ends in .xlsx, but this is a text file",
		"%PDF-1.7\n1 0 obj\n":            "This is a PDF",
		"<!doctype html><table><tr><td>": "This is a web page",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00": "This file is not a spreadsheet",
	} {
		p := b.bring(t, "list.xlsx", content).wants(t, 422)
		if fault := p.fault(t, "File"); !strings.Contains(fault, want) || !strings.HasPrefix(p.one(t, "title").text(), "Error: ") {
			t.Errorf("%q: %q in %s", content, fault, p.text())
		}
	}
	p := b.get(t, "/office/import").form(t, "/office/import").send(t, "Check the list").wants(t, 422)
	if fault := p.fault(t, "File"); fault != "Please choose a file, or paste rows." {
		t.Errorf("fault without a file: %q", fault)
	}
	if p = b.pasteIn(t, "%PDF-1.7 <pasted>").wants(t, 422); strings.TrimSpace(p.one(t, "textarea").text()) != "%PDF-1.7 <pasted>" {
		t.Errorf("the pasted text is lost: %s", p.text())
	}
	b.get(t, "/office/import?token=x&text=Name%0AAna+Horvat").wants(t, 422).lacks(t, "Ana Horvat") // an address brings no list
	b.get(t, "/office/import?token=x").wants(t, 422).says(t, "is no longer available")
}

// TestOfficeImportLong checks that a page shows only the beginning of a long cell.
func TestOfficeImportLong(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	long := strings.Repeat("x", 1<<20)
	for _, list := range []string{"First name;Last name;Note\nAna;Čović;" + long + "\n", "First name;Last name\nAna;" + long + "\n",
		"First name;Last name;" + long + "\nAna;Čović;1\n", "First name;Last name;Last name\nAna;Čović;" + long + "\n"} {
		if p := b.bring(t, "long.csv", list); len(p.body) > 20000 {
			t.Errorf("%.50s: a page of %d bytes", list, len(p.body))
		}
	}
}

// TestOfficeImportEnded checks that a form survives the end of a session and a new sign-in, and
// that the sign-in imports nothing.
func TestOfficeImportEnded(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := newKey(t, s.db, "default")
	form := s.signIn(t, key, "en").pasteIn(t, three).again(t)
	for path, want := range map[string]string{"/office/import": "3 people would be added", "/office/import/apply": "Nothing is imported yet"} {
		visitor := s.browser(t, "en")
		p := visitor.post(t, path, form.values).wants(t, http.StatusUnauthorized).says(t, "sign in")
		sent := p.form(t, "/office/sign-in").set(t, "Key or code", key).send(t, "Sign in").wants(t, http.StatusTemporaryRedirect)
		p = visitor.post(t, sent.header.Get("Location"), p.form(t, "/office/sign-in").values).shown(t).says(t, want)
		if visitor.names(t) != "" || p.again(t).values.Get("token") != form.values.Get("token") {
			t.Errorf("%s: %s", path, p.text())
		}
	}
	p := s.browser(t, "en").upload(t, "/office/import", "", "", url.Values{"text": {three}}).wants(t, http.StatusUnauthorized)
	if p.form(t, "/office/sign-in").values.Get("text") == "" {
		t.Error("the pasted text is lost")
	}
	s.browser(t, "en").upload(t, "/office/import", "people.csv", strings.Repeat("x", 10<<20), url.Values{}).wants(t, http.StatusUnauthorized)
}

// TestOfficeImportPayloads checks that no page interprets markup in names.
func TestOfficeImportPayloads(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	list, n := "First name|Last name|<script>\n", 0
	for _, name := range payloads {
		if !strings.ContainsAny(name, "\n\r|\"") {
			list += name + "|" + fmt.Sprintf("Payload%d", n) + "|" + name + "\n"
			n++
		}
	}
	file := "<img src=x onerror=alert(1)>.csv"
	p := b.bring(t, file, list).wants(t, 200).says(t, "<script>", file)
	p = p.again(t).send(t, fmt.Sprintf("Import %d people", n)).follow(t)
	b.get(t, "/office/imports").says(t, file)
	compared := b.get(t, "/office/compare").form(t, "/office/compare").attach(file, "First name;Last name\n"+payloads[0]+";Other\n").send(t, "Compare").follow(t).wants(t, 200)
	compared.says(t, "only on our list")
	p.press(t, "Undo").wants(t, 200).says(t, fmt.Sprintf("%d people were deleted", n))
}

// TestOfficeImportLanguages checks that every page has all its texts in every language.
func TestOfficeImportLanguages(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := newKey(t, s.db, "default")
	s.as(key).do(t, "POST", collection, ana).wants(t, 201)
	const questions = "First name;Last name;Phone;E-mail;Birthday\nAna;Kos;0911 2;ana@example.com;15.05.1990\nAna;Čović;1;;15.05.1990\nEva;;911 2;no;\nMia;Neu;0911 3;;--05-15\nMia;Neu;0911 3;;--05-15\n"
	for _, language := range lang.All() {
		b := s.signIn(t, key, language.Tag)
		for _, path := range []string{"/office/import", "/office/imports", "/office/export", "/office/compare"} {
			b.get(t, path).wants(t, 200)
		}
		p := b.upload(t, "/office/import", "", "", url.Values{"text": {three}}).follow(t).wants(t, 200)
		b.post(t, "/office/import/report", p.again(t).values).wants(t, 200)
		b.post(t, "/office/import", url.Values{}).wants(t, 422)
		p = b.upload(t, "/office/import", "x.csv", questions, url.Values{}).follow(t).wants(t, 200)
		p.lacks(t, "import.", "compare.", "field.")
		form := p.again(t)
		form.values.Set("update", "1")
		form.values.Set("leaveOutBad", "1")
		form.values.Set("who.2", "add")
		b.post(t, "/office/import", form.values).wants(t, 200).lacks(t, "import.", "compare.", "field.")
		b.upload(t, "/office/compare", "x.csv", questions, url.Values{}).follow(t).wants(t, 200).lacks(t, "import.", "compare.", "field.")
		b.upload(t, "/office/import", "x.csv", "First name;Mobile;Home phone;Last name;Rufname\nAna;1;2;Čović;Anica\n", url.Values{}).follow(t).wants(t, 422)
		b.upload(t, "/office/compare", "", "", url.Values{"text": {three}}).follow(t).wants(t, 200)
	}
}

// TestOfficeImportManyCorrections checks that corrections of many long cells never make the form
// larger than the page accepts: the cells without room have to be corrected in the list.
func TestOfficeImportManyCorrections(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	var list strings.Builder
	list.WriteString("First name,Last name,E-mail\n")
	const wrong, rows = "čćšžđčćšžđčćšžđčćšžđčćšžđčćšžđčćšžđčćšžđ", 900
	for row := range rows {
		fmt.Fprintf(&list, "Ana %d,Horvat,%s\n", row, wrong)
	}
	p, corrected := b.bring(t, "people.csv", list.String()).wants(t, 200), 0
	for range 30 {
		form := p.again(t)
		before := corrected
		for name, values := range form.values {
			if strings.HasPrefix(name, "cell.") && values[0] == wrong {
				corrected++
				form.values.Set(name, fmt.Sprintf("ana-%d-%s@example.com", corrected, strings.Repeat("č", 15)))
			}
		}
		if p = form.send(t, "Check again").shown(t).wants(t, 200); corrected == before {
			break
		}
	}
	if corrected < rows/4 {
		t.Errorf("only %d cells could be corrected", corrected)
	}
	p.says(t, fmt.Sprintf("%d people would be added", corrected))
}
