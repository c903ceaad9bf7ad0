package acceptance

import (
	"net/url"
	"strings"
	"testing"
)

// TestOfficeExport checks that the page exports everyone, or the list that links to it, in each
// format, in the order of the list and for people unless an import is planned.
func TestOfficeExport(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default"), "en")
	for _, body := range []string{ana, `{"firstName":"Ben","lastName":"Adam","phoneNumber":"+1"}`, `{"firstName":"=Cilla","lastName":"Zorn"}`} {
		s.as(newKey(t, s.db, "default")).do(t, "POST", collection, body).wants(t, 201)
	}
	reader := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	p := reader.get(t, "/office/export").wants(t, 200).says(t, "3 people", "For Excel and LibreOffice")
	if first := p.form(t, "/office/export/file").values.Get("format"); first != "xlsx" || len(p.all("input", "type", "radio")) != 3 {
		t.Errorf("%s is selected: %s", first, p.text())
	}
	for _, format := range []string{"xlsx", "csv", "vcf"} {
		file := p.form(t, "/office/export/file")
		file.values.Set("format", format)
		got := file.send(t, "Download").wants(t, 200)
		if name := got.header.Get("Content-Disposition"); !strings.HasPrefix(name, `attachment; filename="people-20`) || !strings.HasSuffix(name, "."+format+`"`) {
			t.Errorf("the file name of %s is %s", format, name)
		}
		if format == "xlsx" {
			continue
		}
		adam, čović, zorn := strings.Index(got.body, "Adam"), strings.Index(got.body, "Čović"), strings.Index(got.body, "Zorn")
		if adam < 0 || čović < adam || zorn < čović {
			t.Errorf("the order of %s: %s", format, got.body)
		}
		if guarded := strings.Contains(got.body, "'=Cilla"); guarded != (format == "csv") {
			t.Errorf("%s: %s", format, got.body)
		}
	}
	link := ""
	for _, a := range b.get(t, "/office/?search=a&sortBy=firstName&sortDir=desc").all("a") {
		if a.text() == "Export these people" {
			link = a.attributes["href"]
		}
	}
	b.get(t, link).wants(t, 200).says(t, "3 people found for “a”", "Everyone: 3 people")
	p = b.get(t, strings.Replace(link, "search=a", "search=ad", 1)).says(t, "1 person found for “ad”")
	const heading = "\ufeffFirst name,Last name,Phone,E-mail,Date of birth\r\n"
	file := p.form(t, "/office/export/file")
	file.values.Set("format", "csv")
	if got := file.send(t, "Download"); got.body != heading+"Ben,Adam,'+1,,\r\n" {
		t.Errorf("export of the search: %s", got.body)
	}
	file.values.Set("who", "all")
	if got := file.send(t, "Download"); !strings.HasPrefix(got.body, heading+"Ben,") || strings.Count(got.body, "\n") != 4 {
		t.Errorf("export of everyone: %s", got.body)
	}
	file.values.Set("columns", "all")
	if got := file.send(t, "Download"); !strings.HasPrefix(got.body, "\ufeffid,firstName,") || strings.Count(got.body, ",Ben,Adam,") != 1 {
		t.Errorf("export for an import: %s", got.body)
	}
	p = b.get(t, "/office/export?hasPhoneNumber=false").says(t, "1 person found for “Missing: Phone”")
	file = p.form(t, "/office/export/file")
	file.values.Set("format", "csv")
	if got := file.send(t, "Download"); got.body != heading+"'=Cilla,Zorn,,,\r\n" {
		t.Errorf("export of a filter: %s", got.body)
	}
}

// TestOfficeExportComesBack checks that an import of both forms of an export changes nothing and
// asks nothing, in each language.
func TestOfficeExportComesBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, person := range []string{ana,
		`{"firstName":"Ana Marija","lastName":"Čović-Đurić ml.","phoneNumber":"091/111-2222, 01 222 3333",` +
			`"dateOfBirth":"1985-04-12T22:00:00.000Z"}`,
		`{"firstName":"Dr. Jürgen","lastName":"Müller-Lüdenscheidt","phoneNumber":"+49 (0)171 1234567",` +
			`"dateOfBirth":"1960-01-02T00:00:00+01:00"}`,
		`{"firstName":"Seán","lastName":"O’Brien Jr.","phoneNumber":"(202) 555-0123 ext. 45","dateOfBirth":"1972-11-12T23:30:00-05:00"}`,
		`{"firstName":"Christopher","lastName":"Null","email":"'null@example.com","dateOfBirth":"1900-01-31"}`,
		`{"firstName":"Jean-François","lastName":"DE LA TOUR","phoneNumber":"06 12 34 56 78","dateOfBirth":"2001-02-03T12:00:00Z"}`,
		`{"firstName":"'t","lastName":"Hart & Zoon","email":"T@Example.com"}`,
		`{"firstName":"João","lastName":"SÃO \"Zé\" \\n","dateOfBirth":"1990-05-15T00:00:00.5Z"}`,
		`{"firstName":"Ivo","lastName":"Kos"}`, `{"firstName":"=Eva","lastName":"-Kos, née Bilić","phoneNumber":"office 1"}`,
	} {
		s.create(t, person)
	}
	b := s.signIn(t, s.key, "en")
	before := s.do(t, "GET", "/api/v1/export?format=jsonl", "").body
	for _, language := range []string{"en", "de", "fr", "es", "hr"} {
		b.language = language
		for _, query := range []string{"format=csv", "format=xlsx", "format=csv&columns=all", "format=xlsx&columns=all", "format=vcf"} {
			file := b.get(t, "/office/export/file?"+query).wants(t, 200).body
			a := s.do(t, "POST", "/api/v1/imports?apply=true&update=true&rows=all", file, "Content-Type", "application/octet-stream")
			if !strings.Contains(a.body, `"added":0,"changed":0,"left":10,"refused":0`) {
				t.Errorf("%s, %s: %s", language, query, a.body)
			}
		}
	}
	if after := s.do(t, "GET", "/api/v1/export?format=jsonl", "").body; after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestOfficeExportRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	b.get(t, "/office/export?sortBy=shoeSize").wants(t, 200).says(t, "is not valid", "0 people")
	for _, query := range []string{"", "?format=jsonl", "?format=csv&sortBy=shoeSize"} {
		b.get(t, "/office/export/file"+query).wants(t, 400)
	}
	s.browser(t, "en").get(t, "/office/export/file?format=csv").wants(t, 303)
	b.post(t, "/office/export", url.Values{}).wants(t, 405)
}
