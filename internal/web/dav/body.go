package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Limits of the XML of a request, so that it takes little memory and time. An
// addressbook-multiget may be larger than others: some clients ask for all cards at once.
const (
	maxBody     = 64 << 10 // bytes
	maxMultiget = 2 << 20  // bytes
	maxDepth    = 32
	maxElements = 50_000 // with attributes
)

// MaxBody is the size of the largest body of a request, in bytes.
const MaxBody = maxMultiget

// element is an element of the XML of a request.
type element struct {
	name     xml.Name
	raw      xml.Name // with the prefix for the namespace
	prefixes []string // which it declares
	attr     []xml.Attr
	text     []byte // its character data, without that of its children
	children []*element
}

// child returns the first child of this name, nil if there is none.
func (e *element) child(name xml.Name) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// size returns how many elements are in an element, at any depth.
func (e *element) size() int {
	n := len(e.children)
	for _, c := range e.children {
		n += c.size()
	}
	return n
}

// value returns an attribute without a namespace, "" if there is none.
func (e *element) value(attribute string) string {
	for _, a := range e.attr {
		if a.Name.Space == "" && a.Name.Local == attribute {
			return a.Value
		}
	}
	return ""
}

// trimmed returns the text without the white space of XML around it.
func (e *element) trimmed() string { return strings.Trim(string(e.text), " \t\r\n") }

// malformed returns the problem of a request that is not understood.
func malformed(format string, args ...any) error {
	return &httpapi.Problem{Kind: httpapi.Malformed, Detail: fmt.Sprintf(format, args...)}
}

// receive receives the body of a request. Until it has come, and while it waits for its
// turn, it is bytes: its elements take many times as much. The caller closes it.
func receive(w http.ResponseWriter, r *http.Request, t *target, limit int64) (*upload.File, error) {
	return upload.ReceiveBody(w, r, int64(t.caller.Tenant), limit)
}

// readBody returns the root element of a body, nil for an empty one.
func readBody(body *upload.File) (*element, error) {
	content, err := body.Content()
	if err != nil {
		return nil, err
	}
	return readXML(content)
}

// readXML returns the root element of XML, nil if there is nothing. The error is a
// *httpapi.Problem.
func readXML(content []byte) (*element, error) {
	if !utf8.Valid(content) { // package xml looks neither at comments nor at instructions
		return nil, malformed("The body is not in UTF-8.")
	}
	if bytes.Count(content, []byte("=")) > maxElements { // before an element has them all
		return nil, malformed("The body has more than %d attributes.", maxElements)
	}
	in := &limited{from: bytes.NewReader(content), left: maxBody}
	t := tree{in: in, spaces: map[string][]string{"xml": {xmlSpace}}}
	for decoder := xml.NewDecoder(in); ; {
		token, err := decoder.RawToken() // Token takes a prefix that is not declared for a namespace
		switch {
		case err == io.EOF && len(t.open) == 0 && (t.root != nil || !t.begun):
			return t.root, nil
		case errors.Is(err, errTooLarge):
			return nil, &httpapi.Problem{Kind: httpapi.TooLarge, Detail: "The body is too large."}
		case err != nil:
			return nil, malformed("The body is not well-formed XML in UTF-8.")
		}
		if err := t.add(token); err != nil {
			return nil, err
		}
	}
}

// tree makes elements of tokens. It does what package xml leaves to its user: elements end
// in order, and their names and those of their attributes are right, also by their namespaces.
type tree struct {
	in       *limited
	begun    bool // there is a declaration or a comment
	root     *element
	open     []*element          // those that have not ended yet
	elements int                 // with attributes
	spaces   map[string][]string // by their prefixes, the innermost last
}

// byteOrderMark may stand before a body. encoding/xml takes it for text.
const byteOrderMark = "\ufeff"

func (t *tree) add(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return t.begin(token)
	case xml.EndElement:
		return t.end(token.Name)
	case xml.ProcInst, xml.Comment:
		t.begun = true
	case xml.CharData:
		if len(t.open) > 0 {
			e := t.open[len(t.open)-1]
			e.text = append(e.text, token...)
		} else if text := strings.TrimPrefix(string(token), byteOrderMark); strings.TrimSpace(text) != "" {
			return malformed("The body has text outside its root element.")
		}
	case xml.Directive:
		return malformed("The body has a declaration, such as a DOCTYPE.")
	}
	return nil
}

func (t *tree) begin(start xml.StartElement) error {
	e := &element{raw: start.Name, attr: start.Copy().Attr}
	t.elements += 1 + len(e.attr)
	switch {
	case !t.declare(e) || !t.resolve(e):
		return malformed("The body has a name or a namespace that XML does not allow.")
	case len(t.open) == maxDepth || t.elements > maxElements:
		return malformed("The body has more than %d elements and attributes, or more than %d elements within each other.", maxElements, maxDepth)
	case len(t.open) > 0:
		parent := t.open[len(t.open)-1]
		parent.children = append(parent.children, e)
	case t.root != nil:
		return malformed("The body has more than one root element.")
	default:
		t.root = e
		if e.name == multigetName {
			t.in.left += maxMultiget - maxBody
		}
	}
	t.open = append(t.open, e)
	return nil
}

// end ends an element, with what it has declared.
func (t *tree) end(raw xml.Name) error {
	last := len(t.open) - 1
	if last < 0 || t.open[last].raw != raw {
		return malformed("The body has the end of an element that has not begun.")
	}
	for _, prefix := range t.open[last].prefixes {
		t.spaces[prefix] = t.spaces[prefix][:len(t.spaces[prefix])-1]
	}
	t.open = t.open[:last]
	return nil
}

// Namespaces that have always the same prefix, and no other.
const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
)

// declares returns the prefix that an attribute declares, "" for that of names without one.
func declares(attribute xml.Name) (prefix string, ok bool) {
	if attribute == (xml.Name{Local: "xmlns"}) {
		return "", true
	}
	return attribute.Local, attribute.Space == "xmlns"
}

// declare notes the namespaces that an element declares. It reports whether it may.
func (t *tree) declare(e *element) bool {
	for _, a := range e.attr {
		prefix, ok := declares(a.Name)
		if !ok {
			continue
		}
		if prefix == "xmlns" || a.Value == xmlnsSpace || (prefix == "xml") != (a.Value == xmlSpace) || prefix != "" && a.Value == "" {
			return false
		}
		t.spaces[prefix] = append(t.spaces[prefix], a.Value)
		e.prefixes = append(e.prefixes, prefix)
	}
	return true
}

// resolve puts namespaces in the place of prefixes. It reports whether all are declared, the
// names are names, and each attribute is there once.
func (t *tree) resolve(e *element) bool {
	name, ok := t.name(e.raw, true)
	e.name = name
	seen := map[xml.Name]bool{}
	for i := range e.attr {
		name, known := t.name(e.attr[i].Name, false)
		ok = ok && known && !seen[name]
		seen[name] = true
		e.attr[i].Name = name
	}
	return ok
}

// name returns a name with its namespace. That of an attribute without a prefix has none. ok
// is false if it is not a name, or its prefix is not declared.
func (t *tree) name(raw xml.Name, ofElement bool) (name xml.Name, ok bool) {
	name, ok = xml.Name{Local: raw.Local}, isName(raw.Local)
	_, isDeclaration := declares(raw)
	spaces := t.spaces[raw.Space]
	switch {
	case !ofElement && isDeclaration:
		name.Space = xmlnsSpace
	case !ofElement && raw.Space == "":
	case len(spaces) > 0:
		name.Space = spaces[len(spaces)-1]
	default:
		ok = ok && raw.Space == ""
	}
	return name, ok
}

// isName reports whether a text is a name without a colon in XML: it may be repeated in
// an answer. encoding/xml takes others, as 6x in <D:6x/>.
func isName(text string) bool {
	for i, c := range text {
		switch {
		case c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && (c == '-' || c == '.' || '0' <= c && c <= '9' || c == 0xb7 || 0x300 <= c && c <= 0x36f || c == 0x203f || c == 0x2040):
		case isNameStart(c):
		default:
			return false
		}
	}
	return text != ""
}

// isNameStart reports whether a character beyond ASCII may begin a name (XML 1.0, section
// 2.3).
func isNameStart(c rune) bool {
	for _, span := range [][2]rune{{0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x2ff}, {0x370, 0x37d}, {0x37f, 0x1fff}, {0x200c, 0x200d},
		{0x2070, 0x218f}, {0x2c00, 0x2fef}, {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffd}, {0x10000, 0xeffff}} {
		if span[0] <= c && c <= span[1] {
			return true
		}
	}
	return false
}

var errTooLarge = errors.New("the body is too large")

// limited reads at most left bytes.
type limited struct {
	from io.Reader
	left int
}

func (l *limited) Read(p []byte) (n int, err error) {
	if len(p) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err = l.from.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
