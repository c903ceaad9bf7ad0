package dav

import (
	"strings"
	"testing"
)

// TestProperties checks that each requested property is answered once, and an unknown one by its name.
func TestProperties(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	card := "/dav/books/people/" + b.id["Ana"] + ".vcf"
	strange := `<D:a/><D:a/><x/><y xmlns="u:&quot;&lt;&#xa;"/><a:a xmlns:a="DAV"/><xml:x/><žćé·2.-_ xmlns="ž:"/><a:getetag xmlns:a="u:"/>`
	a := b.do("PROPFIND", card, propfindOf(strange), "Depth: 0")
	if got := a.multistatus().Responses[0].Propstats; len(got) != 1 || len(got[0].Prop.All) != 7 || !strings.Contains(a.body, `<x:y xmlns:x="u:&#34;&lt;&#xA;"/>`) {
		t.Errorf("%+v", got)
	}
	for _, headers := range [][]string{{"Prefer: return=minimal"}, {"Brief: t"}, {"Prefer: respond-async, return=minimal; x=1"}, {`Prefer: return="minimal"`}} {
		a := b.do("PROPFIND", card, propfindOf(strange+"<D:getetag/>"), append(headers, "Depth: 0")...)
		if got := a.multistatus().Responses[0].Propstats; len(got) != 1 || len(got[0].Prop.All) != 1 || a.header.Get("Preference-Applied") != "return=minimal" {
			t.Errorf("%q: %+v", headers, got)
		}
		b.do("PROPFIND", card, propfindOf(strange), append(headers, "Depth: 0")...).wants(207, "<D:propstat><D:prop></D:prop><D:status>HTTP/1.1 200 OK")
	}
	for _, body := range []string{
		`<D:propfind xmlns:D="DAV:"><D:allprop/><D:include><D:displayname/><D:getetag/><D:owner/></D:include></D:propfind>`,
		`<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>`, "",
	} {
		for _, path := range []string{"/dav/", "/", "/principals/", "/dav/principal/", "/dav/books/", bookPath, card} {
			b.do("PROPFIND", path, body, "Depth: 1").multistatus()
		}
	}
}

// TestAddressData checks that a PROPFIND never returns a card (RFC 6352, section 10.4).
func TestAddressData(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	card := "/dav/books/people/" + b.id["Ana"] + ".vcf"
	for _, path := range []string{card, bookPath} {
		a := b.do("PROPFIND", path, propfindOf("<C:address-data/><D:getetag/>"), "Depth: 1").wants(207, "<C:address-data/></D:prop><D:status>HTTP/1.1 404")
		if strings.Contains(a.body, "VCARD") {
			t.Errorf("PROPFIND returned a card: %s", a.body)
		}
		for _, asks := range []string{"allprop", "propname"} {
			a := b.do("PROPFIND", path, `<D:propfind xmlns:D="DAV:"><D:`+asks+`/></D:propfind>`, "Depth: 1").wants(207)
			if strings.Contains(a.body, "<C:address-data") {
				t.Errorf("%s returned a card: %s", asks, a.body)
			}
		}
	}
	report := func(data string) reply {
		return b.do("REPORT", bookPath, strings.Replace(multigetOf(card), "<D:getetag/>", data, 1))
	}
	for _, all := range []string{"<C:address-data/>", `<C:address-data content-type="text/vcard" version="3.0"/>`, `<C:address-data><C:prop name="FN"/></C:address-data>`,
		"<C:address-data><D:allprop/></C:address-data>", "<C:address-data/><C:address-data/>"} {
		report(all).wants(207, "BEGIN:VCARD", "FN:Ana Čović", "TEL;TYPE=CELL:0912345678", "BDAY:1990-05-15")
	}
	for _, wrong := range []string{`content-type="text/vcard" version="4.0"`, `content-type="application/vcard+json"`, `version="2.1"`} {
		report("<C:address-data "+wrong+"/>").wants(403, "<C:supported-address-data/>")
	}
}
