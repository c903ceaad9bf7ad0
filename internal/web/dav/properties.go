package dav

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// property is a property of resources.
type property struct {
	of      kind // one or several kinds
	write   func(m *multistatus, t *target, q question)
	unasked bool // allprop has it (RFC 4918, section 9.1)
}

func (p *property) isOf(k kind) bool { return p.of&k != 0 }

// maxResource is what a client is told about the size of a card, in bytes. It can write
// none, but some clients want to know.
const maxResource = "65536"

// privileges is what the caller may do.
var privileges = davName("current-user-privilege-set")

// properties are all properties, by their names. init fills it, because they need it.
var properties map[xml.Name]*property

func init() {
	properties = map[xml.Name]*property{
		davName("resourcetype"):                  {everything, resourceType, true},
		davName("displayname"):                   {collections, inText(func(t *target) string { return t.department }), true},
		davName("getetag"):                       {cardKind, func(m *multistatus, t *target, _ question) { m.raw(t.etag()) }, true},
		davName("getcontenttype"):                {cardKind, inXML(cardType), true},
		davName("getcontentlength"):              {cardKind, inText(func(t *target) string { return strconv.Itoa(len(t.card())) }), true},
		davName("getlastmodified"):               {cardKind, lastModified, true},
		davName("current-user-principal"):        {everything, hrefOf(PrincipalPath), false},
		privileges:                               {everything, inXML("<D:privilege><D:read/></D:privilege>"), false},
		davName("principal-URL"):                 {principalKind, hrefOf(PrincipalPath), false},
		davName("principal-collection-set"):      {everything, hrefOf(Root), false},
		davName("owner"):                         {homeKind | bookKind | cardKind, hrefOf(PrincipalPath), false},
		davName("supported-report-set"):          {bookKind, supportedReports, false},
		davName("sync-token"):                    {bookKind, inText(func(t *target) string { return tokenPrefix + t.token }), false},
		{Space: calendarSpace, Local: "getctag"}: {bookKind, inText(func(t *target) string { return t.token }), false},
		cardName("addressbook-home-set"):         {principalKind, hrefOf(homePath), false},
		cardName("supported-address-data"):       {bookKind, inXML(`<C:address-data-type content-type="text/vcard" version="3.0"/>`), false},
		cardName("max-resource-size"):            {bookKind, inXML(maxResource), false},
		cardName("supported-collation-set"): {bookKind, inXML("<C:supported-collation>" + asciiCollation + "</C:supported-collation>" +
			"<C:supported-collation>" + unicodeCollation + "</C:supported-collation>"), false},
	}
}

// inXML returns what writes XML that is always the same.
func inXML(text string) func(*multistatus, *target, question) {
	return func(m *multistatus, _ *target, _ question) { m.raw(text) }
}

// inText returns what writes a text about a target, escaped.
func inText(text func(*target) string) func(*multistatus, *target, question) {
	return func(m *multistatus, t *target, _ question) { m.text([]byte(text(t))) }
}

func hrefOf(path string) func(*multistatus, *target, question) {
	return inXML("<D:href>" + path + "</D:href>")
}

func resourceType(m *multistatus, t *target, _ question) {
	switch t.kind {
	case principalKind:
		m.raw("<D:collection/><D:principal/>")
	case bookKind:
		m.raw("<D:collection/><C:addressbook/>")
	case rootKind, homeKind:
		m.raw("<D:collection/>")
	}
}

// lastModified writes when a person was last changed.
func lastModified(m *multistatus, t *target, _ question) {
	m.raw(time.UnixMilli(t.person.UpdatedAt).UTC().Format(http.TimeFormat))
}

func supportedReports(m *multistatus, _ *target, _ question) {
	for _, name := range []string{"D:sync-collection", "C:addressbook-multiget", "C:addressbook-query"} {
		m.raw("<D:supported-report><D:report><" + name + "/></D:report></D:supported-report>")
	}
}

// namesOf returns the names of the properties of a kind in a fixed order: all, or those
// that allprop has.
func namesOf(k kind, all bool) (names []xml.Name) {
	for name, p := range properties {
		if p.isOf(k) && (all || p.unasked) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b xml.Name) int { return strings.Compare(a.Space+a.Local, b.Space+b.Local) })
	return names
}

// question is which properties a client asks for.
type question struct {
	names     []xml.Name
	all       bool // that allprop has
	namesOnly bool // it asks which there are
	card      bool // it is a report that asks for the cards
}

// maxNames is how many bytes of XML the names of the properties may have that a request asks for:
// an answer repeats them for each person.
const maxNames = 8 << 10

// add adds the properties of an element prop.
func (q *question) add(prop *element) error {
	seen, size := map[xml.Name]bool{}, 0
	for _, e := range prop.children {
		if !seen[e.name] {
			seen[e.name] = true
			q.names = append(q.names, e.name)
			size += len(escape(e.name.Space)) + len(e.name.Local)
		}
		if size > maxNames {
			return malformed("The names of the properties have more than %d bytes together.", maxNames)
		}
	}
	return nil
}

// of returns the question about a resource of a kind.
func (q question) of(k kind) question {
	if q.all || q.namesOnly {
		q.names = namesOf(k, q.namesOnly)
	}
	return q
}

// property returns the property of a name, nil if there is none.
func (q question) property(name xml.Name) *property {
	if name == addressData && q.card {
		return theCard
	}
	return properties[name]
}
