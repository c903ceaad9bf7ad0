package acceptance

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/lang"
)

var paperCode = regexp.MustCompile(`^[34679ACDEFGHJKMNPQRTUVWXY]{6}$`)

// printed returns the code of a list that is printed now.
func (b *browser) printed(t *testing.T) string {
	t.Helper()
	code := b.get(t, "/office/print").wants(t, 200).one(t, "p", "class", "code").text()
	if !paperCode.MatchString(code) {
		t.Fatalf("the code of the list is %q", code)
	}
	return code
}

// printedRows returns the rows of the only table, each with | between its texts.
func (p *webPage) printedRows(t *testing.T) (rows []string) {
	t.Helper()
	for _, row := range p.one(t, "tbody").all("tr") {
		var cells []string
		for _, cell := range row.children {
			if cell.tag != "" {
				cells = append(cells, cell.text())
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

func (p *webPage) hasRows(t *testing.T, want ...string) {
	t.Helper()
	if got := p.printedRows(t); !slices.Equal(got, want) {
		t.Errorf("%s has the rows %q, want %q", p.path, got, want)
	}
}

// TestOfficePrint checks that both lists show everyone by last name, the department, the time, the
// number of people and the code.
func TestOfficePrint(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	s.create(t, ana)
	s.create(t, `{"firstName":"<b>Bo","lastName":"&amp; \"O\u2019Neil\"","phoneNumber":"+1 555 0100"}`)
	s.create(t, `{"firstName":"Cy","lastName":"Žak","email":"cy@example.com"}`)
	code := b.printed(t)
	for _, path := range []string{"/office/print", "/office/print?list=phone", "/office/print?list=other"} {
		p := b.get(t, path).wants(t, 200).says(t, "· 3 people", "Type the code "+code+" on the page “Check a printed list” to see what has changed.")
		if p.heading(t) != "default: Phone list" || len(p.one(t, "div", "class", "paper").all("form")) > 0 {
			t.Errorf("%s: %s", path, p.text())
		}
		p.hasRows(t, `&amp; "O’Neil" <b>Bo|+1 555 0100`, "Čović Ana|091 234 5678", "Žak Cy|")
		p.lacks(t, "cy@example.com", "1990")
	}
	p := b.get(t, "/office/print?list=full").wants(t, 200).says(t, "· 3 people", code)
	if p.heading(t) != "default: Full list" {
		t.Errorf("heading %q", p.heading(t))
	}
	rows := p.printedRows(t)
	age := regexp.MustCompile(`^Čović\|Ana\|091 234 5678\|ana@example\.com\|15 May 1990\|\d\d$`)
	if len(rows) != 3 || rows[0] != `&amp; "O’Neil"|<b>Bo|+1 555 0100|||` || !age.MatchString(rows[1]) || rows[2] != "Žak|Cy||cy@example.com||" {
		t.Errorf("the full list has %q", rows)
	}
	if !regexp.MustCompile(` \d{1,2} [A-Z][a-z]+ 20\d\d, \d\d:\d\d · 3 people `).MatchString(p.text()) {
		t.Errorf("the time is missing: %s", p.text())
	}
}

// TestOfficePrintChoice checks the links between the lists, and that the button is hidden without
// scripts.
func TestOfficePrintChoice(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	for path, current := range map[string]string{"/office/print": "Phone list", "/office/print?list=full": "Full list"} {
		p := b.get(t, path).wants(t, 200)
		var links []string
		for _, a := range p.one(t, "nav", "aria-label", "Print").all("a") {
			links = append(links, a.attributes["href"])
			if _, marked := a.attributes["aria-current"]; marked != (a.text() == current) {
				t.Errorf("%s: %s has aria-current %t", path, a.text(), marked)
			}
		}
		if !slices.Equal(links, []string{"/office/print?list=phone", "/office/print?list=full"}) {
			t.Errorf("%s has the links %q", path, links)
		}
		if _, hidden := p.one(t, "button", "data-print", "").attributes["hidden"]; !hidden || !strings.Contains(p.one(t, "noscript").text(), "Ctrl and P") {
			t.Errorf("%s: %s", path, p.body)
		}
	}
}

// TestOfficePrintLanguages requests every printable page in every language.
func TestOfficePrintLanguages(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 40)
	wants := map[string][4]string{
		"en": {"Phone list", "Nothing has changed", "Birthdays 2", "Who reaches the age of 60 before 1 May 2090"},
		"de": {"Telefonliste", "Es hat sich nichts geändert", "Geburtstage 2", "Wer vor dem 1. Mai 2090 60 Jahre alt wird"},
		"fr": {"Liste téléphonique", "Rien n’a changé", "Anniversaires 2", "Qui atteint l’âge de 60 ans avant le 1er mai 2090"},
		"es": {"Lista de teléfonos", "No ha cambiado nada", "Cumpleaños 2", "Quién cumple 60 años antes del 1 de mayo de 2090"},
		"hr": {"Telefonski popis", "Ništa se nije promijenilo", "Rođendani 2", "Tko prije 1. svibnja 2090. navršava 60 godina"},
	}
	for _, language := range lang.All() {
		b, texts := s.signIn(t, s.key, language.Tag), wants[language.Tag]
		b.get(t, "/office/print").wants(t, 200).says(t, texts[0])
		b.get(t, "/office/paper?code="+b.printed(t)).wants(t, 200).says(t, texts[1])
		b.get(t, "/office/birthdays").wants(t, 200).says(t, texts[2])
		b.get(t, "/office/birthdays?age=60&before=2090-05-01").wants(t, 200).says(t, texts[3])
		for _, path := range []string{"/office/print?list=full", "/office/paper", "/office/paper?code=x", "/office/birthdays?age=x&before=y"} {
			b.get(t, path).wants(t, 200)
		}
	}
}

// TestOfficePrintPhones checks that paper shows phone numbers as they were typed, and that another
// spelling of a number is no change on paper.
func TestOfficePrintPhones(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	id := s.create(t, `{"firstName":"Ana","lastName":"A","phoneNumber":"091/234-5678"}`)
	s.create(t, `{"firstName":"Bo","lastName":"B","phoneNumber":"00385912345678"}`)
	s.create(t, `{"firstName":"Cy","lastName":"C","phoneNumber":"office 1, 091/2"}`)
	code := b.printed(t)
	b.get(t, "/office/print").hasRows(t, "A Ana|091/234-5678", "B Bo|00385912345678", "C Cy|office 1, 091/2")
	b.get(t, "/office/print?list=full").hasRows(t, "A|Ana|091/234-5678|||", "B|Bo|00385912345678|||", "C|Cy|office 1, 091/2|||")
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"A","phoneNumber":"0912345678"}`).wants(t, 200)
	b.checkPaper(t, code).says(t, "Nothing has changed")
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"Ana","lastName":"A","phoneNumber":"0912345679"}`).wants(t, 200)
	b.checkPaper(t, code).hasSlip(t, "Changed: 1 person Ana A Phone 091/234-5678 → 0912345679")
}

// TestOfficePrintColumns checks that typed headings add empty columns to both lists, and that links
// keep them.
func TestOfficePrintColumns(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, newKey(t, s.db, "default", "--scope", "read"), "en")
	s.create(t, ana)
	p := b.get(t, "/office/print").form(t, "/office/print").set(t, "Empty columns", " present,,boots <2027> ").send(t, "Show").wants(t, 200)
	headings := func(p *webPage) (texts []string) {
		for _, th := range p.one(t, "thead").all("th") {
			texts = append(texts, th.text())
		}
		return texts
	}
	if got := headings(p); !slices.Equal(got, []string{"Last name, First name", "Phone", "present", "boots <2027>"}) {
		t.Errorf("the columns are %q", got)
	}
	p.hasRows(t, "Čović Ana|091 234 5678||")
	if p.fault(t, "Empty columns") != "" || p.labelled(t, "Empty columns").attributes["value"] != " present,,boots <2027> " {
		t.Errorf("form: %s", p.body)
	}
	p = b.get(t, p.one(t, "nav", "aria-label", "Print").all("a")[1].attributes["href"]).wants(t, 200)
	if got := headings(p); p.heading(t) != "default: Full list" || !slices.Equal(got[6:], []string{"present", "boots <2027>"}) {
		t.Errorf("%s has the columns %q", p.heading(t), got)
	}
	if got := headings(p.form(t, "/office/print").send(t, "Show").wants(t, 200)); len(got) != 8 {
		t.Errorf("the full list after Show has the columns %q", got)
	}
	const fault = "At most 4 columns, each with a heading of at most 20 characters. The others are left out."
	for _, tt := range []struct {
		columns string
		want    []string
		fault   string
	}{
		{"a,b,c,d,e", []string{"a", "b", "c", "d"}, fault},
		{"a,b,c,d,,", []string{"a", "b", "c", "d"}, ""},
		{strings.Repeat("č", 20) + "," + strings.Repeat("č", 21), []string{strings.Repeat("č", 20)}, fault},
		{" , ", nil, ""},
		{"\xff", []string{"\uFFFD"}, ""},
	} {
		p := b.get(t, "/office/print?"+url.Values{"columns": {tt.columns}}.Encode()).wants(t, 200)
		if got := headings(p)[2:]; !slices.Equal(got, tt.want) || p.fault(t, "Empty columns") != tt.fault {
			t.Errorf("%q has the columns %q and the fault %q", tt.columns, got, p.fault(t, "Empty columns"))
		}
	}
}

// TestOfficePrintOneSheet checks that up to 80 people fit on one sheet.
func TestOfficePrintOneSheet(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 80)
	b := s.signIn(t, s.key, "en")
	fits := regexp.MustCompile(`^paper fit fit-[1-6]$`)
	class := func(path string) string {
		return b.get(t, path).wants(t, 200).one(t, "header", "class", "heading").parent.attributes["class"]
	}
	for _, path := range []string{"/office/print?size=one", "/office/print?size=one&list=full", "/office/print?size=one&columns=present"} {
		if got := class(path); !fits.MatchString(got) {
			t.Errorf("%s has the class %q", path, got)
		}
	}
	p := b.get(t, "/office/print?size=one").lacks(t, "One sheet holds")
	if _, checked := p.labelled(t, "All on one sheet").attributes["checked"]; !checked {
		t.Error("the box is not ticked")
	}
	s.create(t, ana)
	if got := class("/office/print?size=one"); got != "paper" {
		t.Errorf("the paper of 81 people has the class %q", got)
	}
	b.get(t, "/office/print?size=one").says(t, "One sheet holds up to 80 people. This list needs more sheets.")
}

// TestOfficePrintQR checks that a print has a QR code if phones can reach the page.
func TestOfficePrintQR(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.signIn(t, s.key, "en")
	if svg := b.get(t, "/office/print").wants(t, 200).all("svg"); len(svg) > 0 {
		t.Error("the QR code contains 127.0.0.1")
	}
	execSQL(t, s.db, "UPDATE service SET address = 'http://192.0.2.7:8080'") // like in another network
	for _, path := range []string{"/office/print", "/office/print?list=full", "/office/paper?code=" + b.printed(t)} {
		p := b.get(t, path).wants(t, 200)
		if svg := p.one(t, "svg"); svg.attributes["aria-label"] != "QR code that opens this check" {
			t.Errorf("%s: %v", path, svg.attributes)
		}
	}
}

// TestOfficePrintLong checks that a print of very many people announces the waiting time.
func TestOfficePrintLong(t *testing.T) {
	t.Parallel()
	s := startInvented(t, 1001)
	p := s.signIn(t, s.key, "en").get(t, "/office/print").wants(t, 200).says(t, "the browser takes up to a minute to prepare the print")
	rows := 0
	for _, body := range p.all("tbody") {
		rows += len(body.all("tr"))
	}
	if p.one(t, "button", "data-print", "").attributes["data-wait"] != "Preparing the printout …" || rows != 1001 {
		t.Errorf("%d people", rows)
	}
}
