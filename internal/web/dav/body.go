package dav

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Limits of the XML of a request, so that it takes little memory and time.
const (
	maxBody     = 64 << 10 // bytes
	maxMultiget = 2 << 20  // bytes of an addressbook-multiget: some clients ask for all cards at once
	maxDepth    = 32
	maxElements = 50_000
)

// MaxBody is the size of the largest body of a request, in bytes.
const MaxBody = maxMultiget

// element is an element of the XML of a request.
type element struct {
	name     xml.Name
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

// value returns an attribute without a namespace, "" if there is none.
func (e *element) value(attribute string) string {
	for _, a := range e.attr {
		if a.Name.Space == "" && a.Name.Local == attribute {
			return a.Value
		}
	}
	return ""
}

// trimmed returns the text without white space around it.
func (e *element) trimmed() string { return strings.TrimSpace(string(e.text)) }

// malformed returns the problem of a request that is not understood.
func malformed(format string, args ...any) error {
	return &httpapi.Problem{Kind: httpapi.Malformed, Detail: fmt.Sprintf(format, args...)}
}

// readBody returns the root element of the body of a request, nil for an empty body. The
// error is a *httpapi.Problem.
func readBody(r *http.Request) (*element, error) {
	in := &limited{from: r.Body, left: maxBody}
	t := tree{in: in, decoder: xml.NewDecoder(in)}
	for {
		token, err := t.decoder.Token()
		switch {
		case err == io.EOF && len(t.open) == 0:
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

// tree makes elements of tokens.
type tree struct {
	in       *limited
	decoder  *xml.Decoder
	root     *element
	open     []*element // those that have not ended yet
	elements int
}

func (t *tree) add(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return t.begin(token)
	case xml.EndElement:
		t.open = t.open[:len(t.open)-1]
	case xml.CharData:
		if len(t.open) > 0 {
			e := t.open[len(t.open)-1]
			e.text = append(e.text, token...)
		} else if strings.TrimSpace(string(token)) != "" {
			return malformed("The body has text outside its root element.")
		}
	case xml.Directive:
		return malformed("The body has a declaration, such as a DOCTYPE.")
	}
	return nil
}

func (t *tree) begin(start xml.StartElement) error {
	e := &element{name: start.Name, attr: start.Copy().Attr}
	t.elements++
	switch {
	case !isName(start.Name.Local):
		return malformed("The body has an element with a name that XML does not allow.")
	case len(t.open) == maxDepth || t.elements > maxElements:
		return malformed("The body has more than %d elements, or more than %d within each other.", maxElements, maxDepth)
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
