package acceptance

import (
	"net/url"
	"strings"
	"testing"
)

// theirs is the list of an insurer.
const theirs = "Nr;Name;Vorname;Geburtsdatum;Telefon\n" +
	"1;Čović;Ana;15.05.1990;091 999\n" +
	"2;Groß;Jürgen;26.06.1990;\n" +
	"3;Old;Otto;1.2.1950;1\n"

// TestOfficeCompare: a list beside ours, for those who may only read, to print, and
// with nothing changed.
func TestOfficeCompare(t *testing.T) {
	t.Parallel()
	s := start(t)
	writer := s.as(newKey(t, s.db, "default"))
	for _, body := range []string{ana, `{"firstName":"Jürgen","lastName":"Groß","dateOfBirth":"1990-06-26","phoneNumber":"0171"}`, `{"firstName":"Eva","lastName":"Neu","email":"eva@example.com"}`} {
		writer.do(t, "POST", collection, body).wants(t, 201)
	}
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	p := b.get(t, "/office/compare").wants(t, 200).form(t, "/office/compare").attach("insurer <1>.csv", theirs).send(t, "Compare").follow(t).wants(t, 200)
	p.says(t, "1 person is only on their list", "1 person is only on our list", "1 person is on both lists and differs", "1 person is the same on both")
	for table, want := range map[string]string{
		"Only on their list": "Otto Old 1 · 1 February 1950 4", "Only on our list": "Eva Neu eva@example.com", "What differs": "Ana Čović Phone 091 234 5678 091 999 2",
	} {
		if rows := p.rows(table); len(rows) != 1 || rows[0].text() != want {
			t.Errorf("%s: %s", table, p.text())
		}
	}
	if heading := p.heading(t); heading != "default: compared with insurer <1>.csv" || len(p.all("button", "data-print", "")) != 1 {
		t.Errorf("the heading is %q", heading)
	}
	again := p.form(t, "/office/compare")
	if p = again.set(t, "Telefon", "").send(t, "Compare again").follow(t).wants(t, 200).says(t, "2 people are the same on both"); len(p.rows("What differs")) != 0 {
		t.Errorf("without the phones: %s", p.text())
	}
	b.get(t, p.one(t, "footer").all("input", "name", "next")[0].attributes["value"]).wants(t, 200).says(t, "2 people are the same on both")
	if b.names(t) != "Ana Čović, Jürgen Groß, Eva Neu" || len(b.get(t, "/office/imports").all("tr")) != 0 {
		t.Errorf("a comparison has changed something: %s", b.names(t))
	}
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
