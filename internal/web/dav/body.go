package dav

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Limits on the XML of a request. Some clients request all cards in one addressbook-multiget.
const (
	maxBody     = 64 << 10 // bytes
	maxMultiget = 2 << 20  // bytes
	maxDepth    = 32
	maxElements = 50_000 // including attributes
)

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = maxMultiget

type element struct {
	name     xml.Name
	attr     []xml.Attr
	text     []byte // character data, without the text of children
	children []*element
}

func (e *element) child(name xml.Name) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// size returns the number of descendants.
func (e *element) size() int {
	n := len(e.children)
	for _, c := range e.children {
		n += c.size()
	}
	return n
}

// value returns the value of an attribute without a namespace, or "".
func (e *element) value(attribute string) string {
	for _, a := range e.attr {
		if a.Name.Space == "" && a.Name.Local == attribute {
			return a.Value
		}
	}
	return ""
}

func (e *element) trimmed() string { return strings.Trim(string(e.text), " \t\r\n") }

func malformed(format string, args ...any) error {
	return &httpapi.Problem{Kind: httpapi.Malformed, Detail: fmt.Sprintf(format, args...)}
}

// receive receives a body without parsing it, which takes much more memory. The caller must close it.
func receive(w http.ResponseWriter, r *http.Request, t *target, limit int64) (*upload.File, error) {
	return upload.ReceiveBody(w, r, int64(t.caller.tenant), limit)
}

// readBody returns the root element of a body, or nil if the body is empty.
func readBody(body *upload.File) (*element, error) {
	content, err := body.Content()
	if err != nil {
		return nil, err
	}
	return readXML(content)
}

// readXML returns the root element of a document; nil if it is empty. The error is a *httpapi.Problem.
func readXML(content []byte) (*element, error) {
	if !utf8.Valid(content) { // package xml does not check comments and instructions
		return nil, malformed("The body is not in UTF-8.")
	}
	if bytes.Count(content, []byte("=")) > maxElements { // package xml reads all attributes of an element at once
		return nil, malformed("The body has more than %d attributes.", maxElements)
	}
	t := tree{size: len(content)}
	for decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff")))); ; {
		token, err := decoder.Token()
		if err == io.EOF && (t.root != nil || !t.begun) {
			return t.root, nil
		}
		if err != nil {
			return nil, malformed("The body is not well-formed XML in UTF-8.")
		}
		if err := t.add(token); err != nil {
			return nil, err
		}
	}
}

// tree builds the element tree from XML tokens.
type tree struct {
	size     int  // of the body, in bytes
	begun    bool // there was a declaration or a comment
	root     *element
	open     []*element // elements without an end tag yet
	elements int        // number of elements and attributes
}

func (t *tree) add(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return t.begin(token)
	case xml.EndElement:
		t.open = t.open[:len(t.open)-1]
	case xml.ProcInst, xml.Comment:
		t.begun = true
	case xml.CharData:
		if len(t.open) > 0 {
			e := t.open[len(t.open)-1]
			e.text = append(e.text, token...)
		} else if len(bytes.TrimSpace(token)) > 0 {
			return malformed("The body has text outside its root element.")
		}
	case xml.Directive:
		return malformed("The body must not contain a declaration such as DOCTYPE.")
	}
	return nil
}

func (t *tree) begin(start xml.StartElement) error {
	e := &element{name: start.Name, attr: start.Copy().Attr}
	t.elements += 1 + len(e.attr)
	switch {
	case !isName(e.name.Local):
		return malformed("The body contains an invalid XML name.")
	case len(t.open) == maxDepth || t.elements > maxElements:
		return malformed("The body has more than %d elements and attributes, or a nesting depth over %d.", maxElements, maxDepth)
	case len(t.open) > 0:
		parent := t.open[len(t.open)-1]
		parent.children = append(parent.children, e)
	case t.root != nil:
		return malformed("The body has more than one root element.")
	case t.size > maxBody && e.name != multigetName:
		return &httpapi.Problem{Kind: httpapi.TooLarge, Detail: fmt.Sprintf("The body must not exceed %d bytes.", maxBody)}
	default:
		t.root = e
	}
	t.open = append(t.open, e)
	return nil
}

// isName reports whether the local part of a name is valid, so that a response can repeat it. Package
// xml does not check how the local part begins, as in <D:6x/>.
func isName(local string) bool {
	first, _ := utf8.DecodeRuneInString(local)
	return (first == '_' || unicode.IsLetter(first)) && !strings.Contains(local, ":")
}
