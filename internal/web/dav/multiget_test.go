package dav

import (
	"strings"
	"testing"
)

// TestMultiget checks that only the cards of the caller's department are returned, for addresses in
// any form. Each address is repeated as it was requested, and answered once.
func TestMultiget(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.id["Ana"]
	for href, found := range map[string]bool{
		bookPath + id + ".vcf":                                  true,
		"\n " + bookPath + id + ".vcf\t":                        true,
		bookPath + strings.ToUpper(id) + ".vcf":                 true,
		strings.ReplaceAll(bookPath+id+".vcf", "-", "%2D"):      true,
		"http://example.com" + bookPath + id + ".vcf":           true, // the host of the request
		"HTTPS://station.example:8443" + bookPath + id + ".vcf": true, // another host, as behind a proxy
		"//example.org" + bookPath + id + ".vcf":                false,
		"http:" + bookPath + id + ".vcf":                        false,
		"ftp://example.com" + bookPath + id + ".vcf":            false,
		"mailto:" + bookPath + id + ".vcf":                      false,
		id + ".vcf":                                             false,
		"../people/" + id + ".vcf":                              false,
		bookPath + "../people/" + id + ".vcf":                   false,
		bookPath + "%2e%2e/people/" + id + ".vcf":               false,
		bookPath + "%2e%2e%2fpeople%2f" + id + ".vcf":           false,
		bookPath + "./" + id + ".vcf":                           false,
		"/dav/books//people/" + id + ".vcf":                     false,
		bookPath + id + ".vcf/":                                 false,
		bookPath + id:                                           false,
		bookPath + id + "%00.vcf":                               false,
		bookPath + id + ".VCF":                                  false,
		bookPath:                                                false,
		"/":                                                     false,
		"%":                                                     false,
		"<&>\"":                                                 false,
		"::":                                                    false,
		bookPath + b.id["Zora"] + ".vcf":                        false,
		bookPath + "01890000-0000-7000-8000-000000000000.vcf":   false,
		bookPath + strings.Repeat("a", 10000) + ".vcf":          false,
	} {
		m := b.do("REPORT", bookPath, multigetOf(href, bookPath+b.id["Éric"]+".vcf", href)).wants(207)
		if strings.Contains(m.body, "Zora") || strings.Contains(m.body, "091 999 9999") {
			t.Errorf("%q returns a card of another department", href)
		}
		trimmed := strings.TrimSpace(href)
		got := m.multistatus().Responses
		if len(got) != 2 || got[0].Href != trimmed || (got[0].Status == "") != found || !found && got[0].Status != "HTTP/1.1 404 Not Found" || got[1].Status != "" {
			t.Errorf("%q: %s", href, m.body)
		}
	}
	if m := b.do("REPORT", bookPath, multigetOf("", " ", "/x")).multistatus(); len(m.Responses) != 1 {
		t.Errorf("empty hrefs: %+v", m)
	}
	b.do("REPORT", bookPath, multigetOf("")).wants(400)
}
