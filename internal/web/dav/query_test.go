package dav

import (
	"fmt"
	"strings"
	"testing"
)

// TestFilters checks that a query finds the people whose cards match (RFC 6352, section 10.5).
func TestFilters(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	const everybody = "Ana Éric İlay"
	prop := func(name, inside string) string {
		return `<C:prop-filter name="` + name + `">` + inside + "</C:prop-filter>"
	}
	match := func(text, attributes string) string {
		return "<C:text-match " + attributes + ">" + text + "</C:text-match>"
	}
	const absent = "<C:is-not-defined/>"
	has := func(name, text string) string { return prop(name, match(text, "")) }
	all := func(name, inside string) string {
		return strings.Replace(prop(name, inside), "<C:prop-filter", `<C:prop-filter test="allof"`, 1)
	}
	for _, tt := range []struct{ test, filter, want string }{
		{"", "", everybody},
		{"allof", "", everybody},
		{"", prop("EMAIL", ""), "Ana İlay"},
		{"", prop("X-NOBODY", ""), ""},
		{"", prop("EMAIL", absent), "Éric"},

		{"", has("FN", "an"), "Ana"},
		{"", has("FN", "ČOVIĆ"), "Ana"},
		{"", has("FN", "nobody"), ""},
		{"", has("TEL", "091"), "Ana"},
		{"", has("N", "horvat, jr.; b&amp;b"), "İlay"}, // compares unescaped values
		{"", has("FN", "Marić"), ""},                   // belongs to another department
		{"", has("BDAY", "1990"), "Ana"},

		{"", prop("FN", match("ana", `match-type="starts-with"`)), "Ana"},
		{"", prop("FN", match("ović", `match-type="starts-with"`)), ""},
		{"", prop("FN", match("ović", `match-type="ends-with"`)), "Ana"},
		{"", prop("FN", match("ana", `match-type="ends-with"`)), ""},
		{"", prop("FN", match("ana čović", `match-type="equals"`)), "Ana"},
		{"", prop("FN", match("ana", `match-type="equals"`)), ""},
		{"", prop("FN", match("éric", `collation="i;unicode-casemap" match-type="starts-with"`)), "Éric"},
		{"", prop("FN", match("éric", `collation="i;ascii-casemap"`)), ""},
		{"", prop("FN", match("ÉRIC", `collation="i;ascii-casemap"`)), "Éric"},

		{"", prop("FN", match("ana", `negate-condition="yes"`)), "Éric İlay"},
		{"", prop("EMAIL", match("ana", `negate-condition="yes"`)), "İlay"}, // Éric has no address

		{"", has("FN", "ana") + has("FN", "éric"), "Ana Éric"},
		{"anyof", has("FN", "ana") + has("FN", "éric"), "Ana Éric"},
		{"allof", has("FN", "ana") + has("FN", "éric"), ""},
		{"allof", has("FN", "r") + prop("EMAIL", absent), "Éric"},
		{"anyof", has("FN", "ana") + prop("EMAIL", absent), "Ana Éric"},
		{"", prop("FN", match("ana", "")+match("éric", "")), "Ana Éric"},
		{"", all("FN", match("ana", "")+match("čović", "")), "Ana"},
		{"", all("FN", match("ana", "")+match("éric", "")), ""},
		{"", all("FN", ""), everybody},
	} {
		filter := "<C:filter>"
		if tt.test != "" {
			filter = `<C:filter test="` + tt.test + `">`
		}
		m := b.do("REPORT", bookPath, queryOf(filter+tt.filter+"</C:filter>"), "Depth: 1").multistatus()
		got := strings.ReplaceAll(b.names(strings.Join(m.hrefs(), " ")), ".vcf", "")
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.test, tt.filter, got, tt.want)
		}
	}
}

// TestFilterWithoutBirthdays checks that a caller without access to dates of birth cannot filter by
// them.
func TestFilterWithoutBirthdays(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.key = b.newKey(false)
	for _, inside := range []string{"", `<C:text-match>1990</C:text-match>`} {
		m := b.do("REPORT", bookPath, queryOf(`<C:filter><C:prop-filter name="BDAY">`+inside+`</C:prop-filter></C:filter>`)).multistatus()
		if len(m.Responses) != 0 {
			t.Errorf("%q found %q", inside, m.hrefs())
		}
	}
	a := b.do("REPORT", bookPath, strings.Replace(queryOf("<C:filter/>"), "<D:getetag/>", "<C:address-data/>", 1)).wants(207, "FN:Ana")
	if strings.Contains(a.body, "BDAY") {
		t.Errorf("the cards contain dates of birth: %s", a.body)
	}
}

// TestCollations checks that i;ascii-casemap (RFC 4790) folds only ASCII letters and i;unicode-casemap
// (RFC 5051) all letters, and that accents are significant.
func TestCollations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		one, other     string
		ascii, unicode bool
	}{
		{"Ana", "ANA", true, true}, {"Éric", "ÉRIC", true, true}, {"Éric", "éric", false, true}, {"ć", "Ć", false, true},
		{"é", "e\u0301", false, true}, {"σ", "ς", false, true}, {"ß", "ss", false, false}, {"İ", "i", false, false}, {"é", "e", false, false},
		{"[", "{", false, false},
	} {
		if foldASCII(tt.one) == foldASCII(tt.other) != tt.ascii || foldUnicode(tt.one) == foldUnicode(tt.other) != tt.unicode {
			t.Errorf("%q and %q", tt.one, tt.other)
		}
	}
}

// TestManyConditions checks the limit on the conditions of a query, because each is tested for each
// person.
func TestManyConditions(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	nested := func(n int) string {
		return queryOf(`<C:filter><C:prop-filter name="FN">` + strings.Repeat("<C:text-match>x</C:text-match>", n-1) + `</C:prop-filter></C:filter>`)
	}
	beside := func(n int) string {
		return queryOf("<C:filter>" + strings.Repeat(`<C:prop-filter name="FN"/>`, n) + "</C:filter>")
	}
	for _, body := range []func(int) string{nested, beside} {
		b.do("REPORT", bookPath, body(maxConditions)).wants(207)
		b.do("REPORT", bookPath, body(maxConditions+1)).wants(400, fmt.Sprint(maxConditions))
	}
}
