package dav

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"net/http"
)

// XML namespaces of responses.
const (
	davSpace      = "DAV:"
	cardSpace     = "urn:ietf:params:xml:ns:carddav"
	calendarSpace = "http://calendarserver.org/ns/"        // of getctag, for clients without sync-collection
	xmlSpace      = "http://www.w3.org/XML/1998/namespace" // its prefix is always xml
)

var prefixes = map[string]string{davSpace: "D:", cardSpace: "C:", calendarSpace: "CS:", xmlSpace: "xml:"}

const (
	xmlHeader  = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	namespaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/"`
)

var xmlType = []string{"application/xml; charset=utf-8"}

func davName(local string) xml.Name  { return xml.Name{Space: davSpace, Local: local} }
func cardName(local string) xml.Name { return xml.Name{Space: cardSpace, Local: local} }

// refusal is an error with a precondition element (RFC 4918, section 16).
type refusal struct {
	status  int
	element string // XML, with the prefixes of this package
}

func (e *refusal) Error() string { return e.element }

func (e *refusal) write(w http.ResponseWriter) {
	w.Header()["Content-Type"] = xmlType
	w.WriteHeader(e.status)
	fmt.Fprintf(w, "%s<D:error%s>%s</D:error>\n", xmlHeader, namespaces, e.element)
}

// forbid returns a 403 with the precondition element name.
func forbid(name string) error { return &refusal{http.StatusForbidden, "<" + name + "/>"} }

// multistatus writes a 207 response.
type multistatus struct {
	out     *bufio.Writer
	minimal bool // leave out missing properties
}

func (m *multistatus) raw(text string) { m.out.WriteString(text) }

// text writes escaped text. It also escapes carriage returns, which XML parsers would drop.
func (m *multistatus) text(text []byte) { xml.EscapeText(m.out, text) }

// status writes the response for a resource without properties, or for a missing one.
func (m *multistatus) status(href string, status int, more string) {
	m.raw("<D:response><D:href>")
	m.text([]byte(href))
	m.raw("</D:href>")
	m.statusLine(status)
	m.raw(more + "</D:response>\n")
}

func (m *multistatus) statusLine(status int) {
	m.raw(fmt.Sprintf("<D:status>HTTP/1.1 %d %s</D:status>", status, http.StatusText(status)))
}

// resource writes the response with the requested properties of a resource.
func (m *multistatus) resource(t *target, q question) {
	var found, missing []xml.Name
	for _, name := range q.names {
		if p := q.property(name); p != nil && p.isOf(t.kind) {
			found = append(found, name)
		} else {
			missing = append(missing, name)
		}
	}
	m.raw("<D:response><D:href>")
	m.text([]byte(t.path))
	m.raw("</D:href>")
	if len(found) > 0 || len(missing) == 0 || m.minimal { // a response must have a propstat
		m.propstat(http.StatusOK, found, func(name xml.Name) {
			if !q.namesOnly {
				q.property(name).write(m, t, q)
			}
		})
	}
	if len(missing) > 0 && !m.minimal {
		m.propstat(http.StatusNotFound, missing, nil)
	}
	m.raw("</D:response>\n")
}

func (m *multistatus) propstat(status int, names []xml.Name, content func(xml.Name)) {
	m.raw("<D:propstat><D:prop>")
	for _, name := range names {
		m.property(name, content)
	}
	m.raw("</D:prop>")
	m.statusLine(status)
	m.raw("</D:propstat>")
}

// property writes an element and its content. It is empty if content is nil.
func (m *multistatus) property(name xml.Name, content func(xml.Name)) {
	prefix, known := prefixes[name.Space]
	if !known && name.Space != "" {
		prefix = "x:"
	}
	m.raw("<" + prefix + name.Local)
	if prefix == "x:" {
		m.raw(` xmlns:x="`)
		m.text([]byte(name.Space))
		m.raw(`"`)
	}
	if content == nil {
		m.raw("/>")
		return
	}
	m.raw(">")
	content(name)
	m.raw("</" + prefix + name.Local + ">")
}
