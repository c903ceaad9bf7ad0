package acceptance

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// theirs is the list of an insurer.
const theirs = "Nr;Name;Vorname;Geburtsdatum;Telefon\n" +
	"1;Čović;Ana;15.05.1990;091 999\n" +
	"2;Groß;Jürgen;26.06.1990;\n" +
	"3;Old;Otto;1.2.1950;1\n"

// TestOfficeCompare checks the comparison with another list: it needs only the scope read, can be
// printed, and changes nothing.
func TestOfficeCompare(t *testing.T) {
	t.Parallel()
	s := start(t)
	writer := s.as(newKey(t, s.db, "default"))
	for _, body := range []string{ana, `{"firstName":"Jürgen","lastName":"Groß","dateOfBirth":"1990-06-26","phoneNumber":"0171"}`, `{"firstName":"Eva","lastName":"Neu","email":"eva@example.com"}`} {
		writer.do(t, "POST", collection, body).wants(t, 201)
	}
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	p := b.get(t, "/office/compare").wants(t, 200).form(t, "/office/compare").attach("insurer <1>.csv", theirs).send(t, "Compare").follow(t).wants(t, 200)
	p.says(t, "1 person is only on their list", "1 person is only on our list", "1 person is on both lists, with differences", "1 person is the same on both")
	for table, want := range map[string]string{
		"Only on their list": "Otto Old 1 · 1 February 1950 4", "Only on our list": "Eva Neu eva@example.com", "Differences": "Ana Čović Phone 091 234 5678 091 999 2",
	} {
		if rows := p.rows(table); len(rows) != 1 || rows[0].text() != want {
			t.Errorf("%s: %s", table, p.text())
		}
	}
	if heading := p.heading(t); heading != "default: compared with insurer <1>.csv" || len(p.all("button", "data-print", "")) != 1 {
		t.Errorf("heading %q", heading)
	}
	again := p.form(t, "/office/compare")
	if p = again.set(t, "Telefon", "").send(t, "Compare again").wants(t, 200).says(t, "2 people are the same on both"); len(p.rows("Differences")) != 0 {
		t.Errorf("without the phones: %s", p.text())
	}
	p.form(t, "/office/compare").switchTo(t, "English").wants(t, 200).says(t, "2 people are the same on both")
	if b.names(t) != "Ana Čović, Jürgen Groß, Eva Neu" || len(b.get(t, "/office/imports").all("tr")) != 0 {
		t.Errorf("a comparison changed the list: %s", b.names(t))
	}
}

// TestOfficeCompareProbably checks that people who are written differently on both lists are in a
// separate group, that groups are sorted by last name, and that the whole result can be
// downloaded.
func TestOfficeCompareProbably(t *testing.T) {
	t.Parallel()
	s := start(t)
	writer := s.as(newKey(t, s.db, "default"))
	for _, body := range []string{`{"firstName":"Jürgen","lastName":"Müller","dateOfBirth":"1980-06-26","phoneNumber":"2"}`, `{"firstName":"Zoë","lastName":"Ast"}`, `{"firstName":"Eva","lastName":"Ähre"}`} {
		writer.do(t, "POST", collection, body).wants(t, 201)
	}
	key := newKey(t, s.db, "default", "--scope", "read")
	b := s.signIn(t, key, "en")
	list := "Name;Vorname;Geburtsdatum;Telefon\nMueller;Juergen;26.06.1950;2\n"
	for i := range 501 {
		list += fmt.Sprintf("New%03d;Otto;;\n", 500-i)
	}
	p := b.get(t, "/office/compare").form(t, "/office/compare").attach("insurer.csv", list).send(t, "Compare").follow(t).wants(t, 200)
	p.says(t, "1 person is probably on both lists", "501 people are only on their list", "2 people are only on our list", "1 more is not shown. “Download all of it” contains everything.")
	if rows := p.rows("Probably the same"); len(rows) != 3 || rows[2].text() != "Juergen Mueller same name, but born 1980, not 1950: father and son? Date of birth 26 June 1980 26 June 1950 2" {
		t.Errorf("probably the same: %d", len(rows))
		for _, row := range rows {
			t.Error(row.text())
		}
	}
	if rows := p.rows("Only on their list"); len(rows) != 500 || rows[0].one("th").text() != "Otto New000" {
		t.Errorf("only on their list: %d", len(rows))
	}
	if rows := p.rows("Only on our list"); len(rows) != 2 || rows[0].text() != "Eva Ähre" {
		t.Errorf("only on our list: %v", rows)
	}
	report := p.form(t, "/office/compare").send(t, "Download all of it").wants(t, 200)
	if got := report.header.Get("Content-Disposition"); got != `attachment; filename="comparison.xlsx"` {
		t.Error(got)
	}
	if rows := cellsOf(t, report.body); len(rows) != 1+501+2+3 || strings.Join(rows[0], " ") != "Finding Row ID of this program Name Field Ours Theirs Reason" {
		t.Errorf("%d rows, below %q", len(rows), rows[0])
	}
	german := s.signIn(t, key, "de")
	p = german.upload(t, "/office/compare", "x.csv", list, url.Values{}).follow(t).wants(t, 200)
	rows := cellsOf(t, german.post(t, "/office/compare/report", p.form(t, "/office/compare").values).wants(t, 200).body)
	if got := strings.Join(slices.Delete(rows[504], 2, 3), " "); got != "Wahrscheinlich dieselbe Person 2 Juergen Mueller Vorname Jürgen Juergen derselbe Name, aber geboren 1980, nicht 1950: Vater und Sohn?" {
		t.Errorf("in German: %q", got)
	}
	b.post(t, "/office/compare/report", url.Values{}).wants(t, 422)
}

// cellsOf returns the cells of the only sheet of a workbook.
func cellsOf(t *testing.T, content string) [][]string {
	t.Helper()
	book, err := excelize.OpenReader(strings.NewReader(content))
	must(t, err)
	defer book.Close()
	rows, err := book.GetRows(book.GetSheetName(0))
	must(t, err)
	return rows
}

func TestOfficeCompareRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	p := b.get(t, "/office/compare").form(t, "/office/compare").send(t, "Compare").wants(t, 422)
	if fault := p.fault(t, "File"); fault != "Please choose a file, or paste rows." {
		t.Errorf("nothing: %q", fault)
	}
	b.upload(t, "/office/compare", "x.pdf", "%PDF-1.7\n", url.Values{}).follow(t).wants(t, 422).says(t, "This is a PDF")
	b.upload(t, "/office/compare", "x.csv", theirs, url.Values{}, "Sec-Fetch-Site", "cross-site").wants(t, 403)
	b.upload(t, "/office/compare", "x.csv", strings.Repeat("x", 11<<20), url.Values{}).wants(t, 413)
	s.browser(t, "en").post(t, "/office/compare", url.Values{"text": {theirs}}).wants(t, 401)
}
