package dav

import (
	"strings"
	"testing"
)

// TestReports checks that an unknown or invalid report is rejected with the precondition element of
// RFC 3253, 6352 or 6578.
func TestReports(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	for body, want := range map[string]string{
		propfindOf("<D:getetag/>"): "D:supported-report", `<D:expand-property xmlns:D="DAV:"/>`: "D:supported-report",
		`<sync-collection/>`: "D:supported-report", `<addressbook-query xmlns="urn:ietf:params:xml:ns:carddav:addressbook"/>`: "D:supported-report",
		`<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav"/>`: "D:supported-report",
		syncOf("x", ""): "D:valid-sync-token", syncOf("data:,", ""): "D:valid-sync-token", syncOf("data:,x", ""): "D:valid-sync-token",
		syncOf("http://sabre.io/ns/sync/1", ""):                                                                      "D:valid-sync-token",
		queryOf("<C:filter><C:comp-filter/></C:filter>"):                                                             "C:supported-filter",
		queryOf(`<C:filter><C:prop-filter name="FN"><C:param-filter name="TYPE"/></C:prop-filter></C:filter>`):       "C:supported-filter",
		queryOf(`<C:filter><C:prop-filter name="FN"><C:text-match collation="i;octet"/></C:prop-filter></C:filter>`): "C:supported-collation",
	} {
		b.do("REPORT", bookPath, body, "Depth: 0").wants(403, "<D:error ", "<"+want+"/></D:error>")
	}
	for _, body := range []string{"", " ", multigetOf(), syncOf("", "<D:limit/>"), syncOf("", "<D:limit><D:nresults/></D:limit>"),
		strings.Replace(syncOf("", ""), ">1<", ">2<", 1), queryOf(`<C:filter test="none"/>`), queryOf(`<C:filter><C:prop-filter/></C:filter>`),
		queryOf(`<C:filter><C:prop-filter name="FN" test="x"/></C:filter>`),
		queryOf(`<C:filter><C:prop-filter name="FN"><C:text-match match-type="regex"/></C:prop-filter></C:filter>`),
		queryOf(`<C:filter><C:prop-filter name="FN"><C:text-match negate-condition="true"/></C:prop-filter></C:filter>`),
	} {
		b.do("REPORT", bookPath, body, "Depth: 0").wants(400)
	}
	for _, path := range []string{"/dav/", "/dav/principal/", "/dav/books/", "/dav/books/people/" + b.id["Ana"] + ".vcf"} {
		if a := b.do("REPORT", path, syncOf("", "")).wants(405); !strings.Contains(a.header.Get("Allow"), "PROPFIND") {
			t.Errorf("%s allows %q", path, a.header.Get("Allow"))
		}
	}
	for _, depth := range []string{"infinity", "Infinity", ""} {
		b.do("PROPFIND", bookPath, "", "Depth: "+depth).wants(403, "<D:propfind-finite-depth/></D:error>")
	}
	b.do("PROPFIND", bookPath, "", "Depth: 2").wants(400)
	for _, level := range []string{"<D:sync-level>infinite</D:sync-level>", "<D:sync-level> 1 </D:sync-level>", ""} {
		m := b.do("REPORT", bookPath, strings.Replace(syncOf("", ""), "<D:sync-level>1</D:sync-level>", level, 1)).multistatus()
		if len(m.Responses) != 3 || !strings.HasPrefix(m.Token, "data:,") {
			t.Errorf("%q: %+v", level, m)
		}
	}
}

// TestLimits checks that a response is limited as requested and reports that there is more.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	limit := func(prefix, n string) string {
		return "<" + prefix + ":limit><" + prefix + ":nresults>" + n + "</" + prefix + ":nresults></" + prefix + ":limit>"
	}
	for n, want := range map[string]int{"1": 1, " 2\n": 2, "3": 3, "4": 3, "2147483648": 3, "99999999999999999999999": 3} {
		for _, body := range []string{syncOf("", limit("D", n)), queryOf("<C:filter/>" + limit("C", n))} {
			a := b.do("REPORT", bookPath, body)
			m := a.multistatus()
			more := strings.Contains(a.body, "<D:response><D:href>/dav/books/people/</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status><D:error><D:number-of-matches-within-limits/></D:error></D:response>")
			if people := len(m.Responses); more != (want < 3) || people != want && !more || more && people != want+1 {
				t.Errorf("%s of %.30s: %s", n, body, a.body)
			}
		}
	}
	for _, n := range []string{"0", "-1", "+1", "1.5", "many", "0x1", "", "1 1"} {
		b.do("REPORT", bookPath, syncOf("", limit("D", n))).wants(400)
		b.do("REPORT", bookPath, queryOf("<C:filter/>"+limit("C", n))).wants(400)
	}

	token, all := "", []string(nil)
	for range 3 {
		m := b.do("REPORT", bookPath, syncOf(token, limit("D", "1"))).multistatus()
		token, all = m.Token, append(all, m.hrefs()[0])
	}
	if got := b.names(strings.Join(all, " ")); got != "Ana.vcf Éric.vcf İlay.vcf" {
		t.Errorf("the parts contain %s", got)
	}
	b.change()
	m := b.do("REPORT", bookPath, syncOf(token, limit("D", "2"))).multistatus()
	rest := b.do("REPORT", bookPath, syncOf(m.Token, "")).multistatus()
	if got := b.names(strings.Join(append(m.hrefs(), rest.hrefs()...), ", ")); got != "Ana.vcf, Éric.vcf 404 Not Found, people/ 507 Insufficient Storage, Mia.vcf" {
		t.Errorf("got changes %s", got)
	}
}
