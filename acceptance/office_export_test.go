package acceptance

import (
	"net/url"
	"strings"
	"testing"
)

// TestOfficeExport checks that the page exports everyone, or the search that links to it, in each
// format and in the order of the list.
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
	file := p.form(t, "/office/export/file")
	file.values.Set("format", "csv")
	if got := file.send(t, "Download"); !strings.Contains(got.body, "Adam") || strings.Contains(got.body, "Zorn") {
		t.Errorf("export of the search: %s", got.body)
	}
	file.values.Set("search", "")
	if got := file.send(t, "Download"); strings.Index(got.body, "Ben") > strings.Index(got.body, "Ana") {
		t.Errorf("export of everyone: %s", got.body)
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
