package dav

import (
	"slices"
	"strings"
	"testing"
)

// TestMalformed checks that each method rejects a body that is not XML with namespaces, and that the
// response repeats nothing of it.
func TestMalformed(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	const entities = `<!DOCTYPE x [<!ENTITY e "leak"><!ENTITY f SYSTEM "file:///etc/passwd">]>`
	utf16 := "\xfe\xff"
	for _, c := range propfindOf("<D:getetag/>") {
		utf16 += "\x00" + string(c)
	}
	for name, body := range map[string]string{
		"a DOCTYPE":                      `<!DOCTYPE x>` + propfindOf(""),
		"an entity":                      entities + propfindOf("<D:getetag>&e;</D:getetag>"),
		"an entity that nobody declared": propfindOf("<D:getetag>&leak;</D:getetag>"),
		"an entity of HTML":              propfindOf("<D:getetag>&eacute;</D:getetag>"),
		"depth 33":                       propfindOf(strings.Repeat("<D:leak>", 31) + strings.Repeat("</D:leak>", 31)),
		"a digit first":                  propfindOf("<D:6leak/>"),
		"two colons":                     propfindOf("<D:leak:leak/>"),
		"a colon first":                  propfindOf("<:leak/>"),
		"an attribute without quotes":    propfindOf(`<D:leak a=1/>`),
		"invalid UTF-8 in a text":        propfindOf("<D:leak>\xff</D:leak>"),
		"invalid UTF-8 in a comment":     propfindOf("<D:leak/><!-- \xff -->"),
		"a character that XML has not":   propfindOf("<D:leak>&#1;</D:leak>"),
		"UTF-16":                         utf16,
		"ISO 8859-1":                     `<?xml version="1.0" encoding="ISO-8859-1"?>` + propfindOf("<D:leak/>"),
		"cut off in an element":          `<D:propfind xmlns:D="DAV:"><D:prop><D:leak/>`,
		"cut off in a comment":           propfindOf("<D:leak/>") + "<!-- leak",
		"only a declaration":             `<?xml version="1.0" encoding="utf-8"?>`,
		"only a comment":                 "<!-- leak -->",
		"only a text":                    "leak",
		"two roots":                      propfindOf("<D:leak/>") + propfindOf("<D:leak/>"),
		"a text after it":                propfindOf("<D:leak/>") + "leak",
		"a wrong end":                    `<D:propfind xmlns:D="DAV:"><D:prop></D:propfind></D:prop>`,
		"JSON":                           `{"leak":1}`,
		"NUL":                            "\x00",
	} {
		for _, request := range []string{"PROPFIND /dav/", "PROPFIND /dav/books/people/", "PROPFIND /dav/books/people/" + b.id["Ana"] + ".vcf", "REPORT /dav/books/people/"} {
			method, path, _ := strings.Cut(request, " ")
			if a := b.do(method, path, body, "Depth: 0"); a.status != 400 || strings.Contains(a.body, "leak") {
				t.Errorf("%s, %s: %d %s", name, request, a.status, a.body)
			}
		}
	}
}

// TestAccepted checks that all valid XML is accepted, even in unusual forms.
func TestAccepted(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	whole := propfindOf("<D:resourcetype/>")
	for name, body := range map[string]string{
		"a declaration":      `<?xml version='1.0' encoding='UTF-8' standalone="yes" ?>` + "\r\n" + whole,
		"a byte order mark":  "\ufeff" + `<?xml version="1.0" encoding="utf-8"?>` + whole,
		"spaces around it":   "\n\t " + whole + "\r\n\r\n",
		"comments":           "<!-- a -->" + propfindOf("<!-- b --><D:resourcetype/>") + "<!-- c -->",
		"another prefix":     strings.NewReplacer("<D:", "<žž:", "</D:", "</žž:", "xmlns:D", "xmlns:žž").Replace(whole),
		"no prefix":          `<propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>`,
		"attributes":         propfindOf(`<D:resourcetype xml:lang="hr" a="1" D:a="2"/>`),
		"depth 32":           propfindOf("<D:resourcetype>" + strings.Repeat("<D:x>", 29) + strings.Repeat("</D:x>", 29) + "</D:resourcetype>"),
		"CDATA and entities": propfindOf("<D:resourcetype><![CDATA[<x>]]>&lt;&#xe9;</D:resourcetype>"),
		"64 KB":              whole + strings.Repeat(" ", maxBody-len(whole)),
	} {
		if a := b.do("PROPFIND", bookPath, body, "Depth: 0"); a.status != 207 || !strings.Contains(a.body, "<D:resourcetype><D:collection/><C:addressbook/></D:resourcetype>") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for _, body := range []string{"", " \r\n", "\ufeff"} {
		b.do("PROPFIND", bookPath, body, "Depth: 0").wants(207, "<D:displayname>Engine 7 &amp; &lt;Co&gt;</D:displayname>", "<D:resourcetype>")
	}
}

// TestSizes checks the limits: 64 KiB for most bodies and 2 MiB for a multiget.
func TestSizes(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	space := strings.Repeat(" ", maxMultiget)
	pad := func(body string, size int) string { return body + space[:size-len(body)] }
	multiget := multigetOf("/dav/books/people/" + b.id["Ana"] + ".vcf")
	named := func(size int) string { // two properties of a long namespace
		return propfindOf(strings.NewReplacer("SPACE", strings.Repeat("u", size)).Replace(`<a xmlns="SPACE"/><b xmlns="SPACE"/>`))
	}
	end := strings.LastIndex(multiget, "</")
	attributes := "<x" + strings.Repeat(` a=""`, maxElements) + "/>"
	for _, tt := range []struct {
		method, body string
		want         int
	}{
		{"PROPFIND", pad(propfindOf(""), maxBody), 207},
		{"PROPFIND", pad(propfindOf(""), maxBody+1), 413},
		{"PROPFIND", pad(multiget, maxMultiget+1), 413},
		{"PROPFIND", pad("", maxBody+1), 413},
		{"REPORT", pad(syncOf("", ""), maxBody), 207},
		{"REPORT", pad(syncOf("", ""), maxBody+1), 413},
		{"REPORT", pad(queryOf("<C:filter/>"), maxBody+1), 413},
		{"REPORT", pad(multiget, maxMultiget), 207},
		{"REPORT", pad(multiget, maxMultiget+1), 413},
		{"REPORT", multiget + "<!--" + space[:maxMultiget-len(multiget)-7] + "-->", 207},
		{"REPORT", strings.Replace(syncOf("", ""), "D:sync-token>", "D:sync-token>"+space[:maxBody], 1), 413},
		{"REPORT", multigetOf(slices.Repeat([]string{"/x"}, maxElements+1)...), 400},
		{"REPORT", multiget[:end] + attributes + multiget[end:], 400},
		{"REPORT", multiget[:end] + strings.Repeat(`<x a="" b=""/>`, maxElements/3) + multiget[end:], 400},
		{"PROPFIND", propfindOf(strings.Repeat("<D:x/>", 9000)), 207}, // one property, many times
		{"PROPFIND", named(maxNames/2 - 1), 207},
		{"PROPFIND", named(maxNames / 2), 400},
	} {
		if a := b.do(tt.method, bookPath, tt.body, "Depth: 0"); a.status != tt.want {
			t.Errorf("%s with %d bytes, %.40s: %d, not %d: %.200s", tt.method, len(tt.body), tt.body, a.status, tt.want, a.body)
		}
	}
}
