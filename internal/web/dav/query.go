package dav

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// query answers with the people whose cards match a filter (RFC 6352, section 8.6).
func (s *Server) query(t *target, root *element, q question) (func(*multistatus) error, error) {
	matches, err := readFilter(root.child(cardName("filter")))
	if err != nil {
		return nil, err
	}
	limit, err := readLimit(root, cardSpace)
	if err != nil {
		return nil, err
	}
	return func(m *multistatus) error {
		q, found := q.of(cardKind), 0
		err := s.eachCard(t, func(card *target) {
			if !matches(card) {
				return
			}
			if found++; limit == 0 || found <= limit {
				m.resource(card, q)
			}
		})
		if limit > 0 && found > limit {
			m.truncated()
		}
		return err
	}, nil
}

// cardProperty is a property of a card with its unescaped value.
type cardProperty struct{ name, value string }

var unescape = strings.NewReplacer(`\\`, `\`, `\,`, `,`, `\;`, `;`, `\n`, "\n")

// propertiesOf parses the properties of a card that this program generated.
func propertiesOf(card []byte) (all []cardProperty) {
	for line := range bytes.Lines(bytes.ReplaceAll(card, []byte("\r\n "), nil)) {
		head, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		name, _, _ := strings.Cut(head, ";")
		all = append(all, cardProperty{name, unescape.Replace(value)})
	}
	return all
}

// test reports whether a card matches.
type test func(card []cardProperty) bool

// maxConditions is the maximum number of elements in a filter, because each is tested for each person.
const maxConditions = 50

// readFilter parses a filter element. A missing or empty filter matches all cards.
func readFilter(e *element) (func(*target) bool, error) {
	if e == nil {
		return func(*target) bool { return true }, nil
	}
	if e.size() > maxConditions {
		return nil, malformed("The filter has more than %d elements.", maxConditions)
	}
	join, err := readJoin(e)
	if err != nil {
		return nil, err
	}
	var all []test
	for _, c := range e.children {
		if c.name != cardName("prop-filter") {
			return nil, forbid("C:supported-filter")
		}
		one, err := readPropFilter(c)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return readFilter(nil)
	}
	return func(t *target) bool {
		card := propertiesOf(t.card())
		return join(len(all), func(i int) bool { return all[i](card) })
	}, nil
}

// readJoin returns the function that joins conditions by the attribute test. No conditions are true.
func readJoin(e *element) (func(n int, holds func(int) bool) bool, error) {
	all := false
	switch e.value("test") {
	case "", "anyof":
	case "allof":
		all = true
	default:
		return nil, malformed("The attribute test must be anyof or allof.")
	}
	return func(n int, holds func(int) bool) bool {
		for i := range n {
			if holds(i) != all {
				return !all
			}
		}
		return all || n == 0
	}, nil
}

// readPropFilter parses a condition on the properties with a name.
func readPropFilter(e *element) (test, error) {
	name := strings.ToUpper(e.value("name"))
	if name == "" {
		return nil, malformed("A prop-filter must have a name attribute.")
	}
	of := func(card []cardProperty) (found []cardProperty) {
		for _, p := range card {
			if p.name == name {
				found = append(found, p)
			}
		}
		return found
	}
	if e.child(cardName("is-not-defined")) != nil {
		return func(card []cardProperty) bool { return len(of(card)) == 0 }, nil
	}
	join, err := readJoin(e)
	if err != nil {
		return nil, err
	}
	var all []func(string) bool
	for _, c := range e.children {
		if c.name != cardName("text-match") { // conditions on parameters are not supported
			return nil, forbid("C:supported-filter")
		}
		one, err := readTextMatch(c)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return func(card []cardProperty) bool {
		return slices.ContainsFunc(of(card), func(p cardProperty) bool {
			return join(len(all), func(i int) bool { return all[i](p.value) })
		})
	}, nil
}

const (
	asciiCollation   = "i;ascii-casemap"
	unicodeCollation = "i;unicode-casemap"
)

// folds are the case folding functions of the collations.
var folds = map[string]func(string) string{asciiCollation: foldASCII, unicodeCollation: foldUnicode}

func readTextMatch(e *element) (func(string) bool, error) {
	collation := e.value("collation")
	if collation == "" || collation == "default" {
		collation = unicodeCollation
	}
	fold := folds[collation]
	if fold == nil {
		return nil, forbid("C:supported-collation")
	}
	negate := e.value("negate-condition")
	if !slices.Contains([]string{"", "no", "yes"}, negate) {
		return nil, malformed("The attribute negate-condition must be yes or no.")
	}
	compare, known := map[string]func(s, part string) bool{
		"": strings.Contains, "contains": strings.Contains, "starts-with": strings.HasPrefix, "ends-with": strings.HasSuffix,
		"equals": func(s, part string) bool { return s == part },
	}[e.value("match-type")]
	if !known {
		return nil, malformed("The attribute match-type must be equals, contains, starts-with or ends-with.")
	}
	wanted := fold(string(e.text))
	return func(value string) bool { return compare(fold(value), wanted) != (negate == "yes") }, nil
}

// foldASCII folds a text for i;ascii-casemap (RFC 4790).
func foldASCII(text string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, text)
}

// foldUnicode folds text for i;unicode-casemap (RFC 5051), which distinguishes accents.
func foldUnicode(text string) string {
	return norm.NFKD.String(strings.Map(unicode.ToTitle, text))
}
