package dav

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
)

// Namespaces of elements, with the prefixes that answers use.
const (
	davSpace      = "DAV:"
	cardSpace     = "urn:ietf:params:xml:ns:carddav"
	calendarSpace = "http://calendarserver.org/ns/"        // of getctag, which clients ask for that have no sync-collection
	xmlSpace      = "http://www.w3.org/XML/1998/namespace" // has always the prefix xml
)

var prefixes = map[string]string{davSpace: "D:", cardSpace: "C:", calendarSpace: "CS:", xmlSpace: "xml:"}

const (
	xmlHeader  = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	namespaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/"`
)

var xmlType = []string{"application/xml; charset=utf-8"}

func davName(local string) xml.Name  { return xml.Name{Space: davSpace, Local: local} }
func cardName(local string) xml.Name { return xml.Name{Space: cardSpace, Local: local} }

// refusal is an error that a client knows by an element (RFC 4918, section 16).
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

// forbid returns the refusal of a request by the name of an element.
func forbid(name string) error { return &refusal{http.StatusForbidden, "<" + name + "/>"} }

// multistatus writes an answer of the status 207.
type multistatus struct {
	out     *bufio.Writer
	minimal bool // properties that are not there are left out
}

func newMultistatus(w io.Writer, minimal bool) *multistatus {
	m := &multistatus{bufio.NewWriterSize(w, 32<<10), minimal}
	m.raw(xmlHeader + "<D:multistatus" + namespaces + ">\n")
	return m
}

// end ends the answer. It returns an error of what was written so far.
func (m *multistatus) end() error {
	m.raw("</D:multistatus>\n")
	return m.out.Flush()
}

// raw writes XML.
func (m *multistatus) raw(text string) { m.out.WriteString(text) }

// text writes text, escaped. A carriage return is escaped, too: a reader of XML would drop it.
func (m *multistatus) text(text []byte) { xml.EscapeText(m.out, text) }

// status writes the response about a resource that has no properties, or is not there.
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

// resource writes the response with the properties of a resource that a client asks for.
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
	if len(found) > 0 || len(missing) == 0 || m.minimal { // there must be one propstat
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

// propstat writes properties with their content and a status.
func (m *multistatus) propstat(status int, names []xml.Name, content func(xml.Name)) {
	m.raw("<D:propstat><D:prop>")
	for _, name := range names {
		m.property(name, content)
	}
	m.raw("</D:prop>")
	m.statusLine(status)
	m.raw("</D:propstat>")
}

// property writes an element with this name and its content, empty where content is nil.
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
