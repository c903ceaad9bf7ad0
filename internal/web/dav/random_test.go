package dav

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// TestRandomRequests asks what is right as XML, and mostly senseless: elements that requests
// have, in any order.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	g := generator{rand.New(rand.NewPCG(1, 2)), b}
	statuses := map[int]int{}
	for range 3000 {
		method, path := "REPORT", bookPath
		if g.IntN(4) == 0 {
			method, path = "PROPFIND", pick(g, "/", "/dav/", PrincipalPath, homePath, bookPath, cardPath(b.id["Ana"]))
		}
		u := &url.URL{Path: path}
		body := g.element(0, pick(g, "C:addressbook-query", "C:addressbook-query", "C:addressbook-multiget", "D:sync-collection", "D:propfind"))
		statuses[b.asks(t, method, u, pick(g, "0", "1", ""), g.IntN(2) == 0, body)]++
	}
	for _, status := range []int{207, 400, 403} {
		if statuses[status] < 100 {
			t.Errorf("too few are answered with %d: %v", status, statuses)
		}
	}
}

// generator makes elements.
type generator struct {
	*rand.Rand
	b *book
}

// inside are the elements that may stand in others, with those that mostly do not.
var inside = map[string][]string{
	"C:addressbook-query":    {"D:prop", "C:filter", "C:limit", "D:allprop", "D:propname"},
	"C:addressbook-multiget": {"D:prop", "D:href", "D:href", "D:href", "D:allprop"},
	"D:sync-collection":      {"D:prop", "D:sync-token", "D:sync-level", "D:limit"},
	"D:propfind":             {"D:prop", "D:allprop", "D:include", "D:propname"},
	"D:prop":                 {"D:getetag", "C:address-data", "D:resourcetype", "CS:getctag", "D:displayname", "x:x", "x", "xml:x", "D:sync-token"},
	"D:include":              {"D:getetag", "D:owner", "x:x", "C:address-data"},
	"C:address-data":         {"C:prop", "C:prop", "C:allprop", "D:allprop"},
	"C:filter":               {"C:prop-filter", "C:prop-filter", "C:prop-filter", "C:prop-filter", "x:x"},
	"C:prop-filter":          {"C:text-match", "C:text-match", "C:param-filter", "C:is-not-defined"},
	"C:param-filter":         {"C:text-match", "C:is-not-defined"},
	"C:limit":                {"C:nresults"}, "D:limit": {"D:nresults"},
}

// element returns an element, at a depth.
func (g generator) element(depth int, name string) string {
	var b strings.Builder
	b.WriteString("<" + name)
	if depth == 0 {
		b.WriteString(` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/" xmlns:x="urn:x"`)
	}
	for i, values := range [][]string{
		{"name", "FN", "tel", "EMAIL", "TYPE", "X-NONE", ""}, {"test", "anyof", "allof", ""}, {"match-type", "equals", "contains", "starts-with", "ends-with"},
		{"collation", asciiCollation, unicodeCollation, "default"}, {"negate-condition", "yes", "no"}, {"version", "3.0"}, {"x:x", "&#233;"},
	} {
		if i == 0 || g.IntN(4) == 0 {
			b.WriteString(" " + values[0] + `="` + pick(g, values[1:]...) + `"`)
		}
	}
	b.WriteString(">")
	for range g.IntN(4) * min(1, len(inside[name])) {
		b.WriteString(g.element(depth+1, pick(g, inside[name]...)))
	}
	if len(inside[name]) == 0 {
		b.WriteString(pick(g, "", "1", "1", "2", "an", "é", cardPath(g.b.id["Ana"]), cardPath(g.b.id["Zora"]), "/x", "data:,x", "infinite"))
	}
	b.WriteString("</" + name + ">")
	return b.String()
}

func pick(g generator, from ...string) string { return from[g.IntN(len(from))] }

// TestRandomNames: small XML with prefixes and namespaces that are easily mistaken for each
// other is read if, and only if, they are right.
func TestRandomNames(t *testing.T) {
	t.Parallel()
	g := generator{Rand: rand.New(rand.NewPCG(3, 4))}
	right := 0
	for range 20_000 {
		body := `<x xmlns:a="u:" xmlns:b="a">` + g.names(0) + "</x>"
		_, err := readXML([]byte(body))
		if wrong := checkXML(body); (err == nil) != (wrong == nil) {
			t.Fatalf("%s: %v, and should be: %v", body, err, wrong)
		}
		if err == nil {
			right++
		}
	}
	if right < 2000 || right > 18_000 {
		t.Errorf("%d are right", right)
	}
}

// names returns an element with declarations and attributes.
func (g generator) names(depth int) string {
	name := pick(g, "", "", "", "a:", "b:", "xml:", "xmlns:") + pick(g, "x", "a", "xmlns", "6")
	if g.IntN(3) > 0 {
		name = pick(g, "x", "a:x", "b:x")
	}
	text := "<" + name
	for range g.IntN(4) {
		text += " " + pick(g, "xmlns:a", "xmlns:a", "xmlns:b", "xmlns:b", "xmlns", "xmlns:xml", "xmlns:xmlns", "a:x", "b:x", "x", "xmlns:x", "xml:x") + `="` +
			pick(g, "a", "b", "xmlns", "u:", "u:", "xml", "", xmlSpace, xmlnsSpace) + `"`
	}
	text += ">"
	for range g.IntN(3) * max(0, 2-depth) {
		text += g.names(depth + 1)
	}
	return text + "</" + name + ">"
}
