package dav

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type property struct {
	of      kind // bit set of kinds that have the property
	write   func(m *multistatus, t *target, q question)
	unasked bool // whether allprop includes it (RFC 4918, section 9.1)
}

func (p *property) isOf(k kind) bool { return p.of&k != 0 }

// maxResource is the maximum size of a card in bytes. Some clients require it, but none can write.
const maxResource = "65536"

// privileges is the property that lists the rights of the caller.
var privileges = davName("current-user-privilege-set")

// properties are all properties by name. They are set in init to avoid an initialization cycle.
var properties map[xml.Name]*property

func init() {
	properties = map[xml.Name]*property{
		davName("resourcetype"):     {everything, resourceType, true},
		davName("displayname"):      {collections, inText(func(t *target) string { return t.department }), true},
		davName("getetag"):          {cardKind, func(m *multistatus, t *target, _ question) { m.raw(t.etag()) }, true},
		davName("getcontenttype"):   {cardKind, inXML(cardType), true},
		davName("getcontentlength"): {cardKind, inText(func(t *target) string { return strconv.Itoa(len(t.card())) }), true},
		davName("getlastmodified"): {cardKind, inText(func(t *target) string {
			return time.UnixMilli(t.person.UpdatedAt).UTC().Format(http.TimeFormat)
		}), true},
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

func inXML(text string) func(*multistatus, *target, question) {
	return func(m *multistatus, _ *target, _ question) { m.raw(text) }
}

// inText returns a function that writes an escaped text about a target.
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

func supportedReports(m *multistatus, _ *target, _ question) {
	for _, name := range []string{"D:sync-collection", "C:addressbook-multiget", "C:addressbook-query"} {
		m.raw("<D:supported-report><D:report><" + name + "/></D:report></D:supported-report>")
	}
}

// namesOf returns the sorted names of the properties of a kind: all of them, or those in allprop.
func namesOf(k kind, all bool) (names []xml.Name) {
	for name, p := range properties {
		if p.isOf(k) && (all || p.unasked) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b xml.Name) int { return strings.Compare(a.Space+a.Local, b.Space+b.Local) })
	return names
}

// question is the set of properties that a client requests.
type question struct {
	names     []xml.Name
	all       bool // allprop
	namesOnly bool // propname
	card      bool // whether address-data is requested
}

// maxNames is the maximum total size of the requested property names in bytes of XML, because the
// response repeats them for each person.
const maxNames = 8 << 10

func (q *question) add(prop *element) error {
	seen, size := map[xml.Name]bool{}, 0
	for _, e := range prop.children {
		if !seen[e.name] {
			seen[e.name] = true
			q.names = append(q.names, e.name)
			size += len(escape(e.name.Space)) + len(e.name.Local)
		}
		if size > maxNames {
			return malformed("The property names exceed %d bytes in total.", maxNames)
		}
	}
	return nil
}

// of returns the question with the names for a kind of resource.
func (q question) of(k kind) question {
	if q.all || q.namesOnly {
		q.names = namesOf(k, q.namesOnly)
	}
	return q
}

func (q question) property(name xml.Name) *property {
	if name == addressData && q.card {
		return addressDataProperty
	}
	return properties[name]
}
