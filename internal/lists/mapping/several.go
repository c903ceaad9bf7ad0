package mapping

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// severalFields are the fields that allow several columns.
var severalFields = func() map[string]bool {
	all := map[string]bool{}
	for _, f := range record.AllFields() {
		all[f.Name] = f.Several
	}
	return all
}()

// several is a field read from several columns, and its choice for the current row.
type several struct {
	field   string
	sources []source // from the left
	chosen  int      // chosen column; -1: all are empty
	kinds   map[string]int
}

type source struct {
	at     int // the column
	typed  int // position in Options.Headers, or their number if absent
	kind   int
	kindIn int // column with the kind of each cell; -1: none
	hidden int // 1: the sheet hides the column
	behind int // 1: ranks after all others in the current row
}

// compare orders two columns of a field by preference.
func (s source) compare(other source) int {
	return cmp.Or(
		cmp.Compare(s.behind, other.behind), cmp.Compare(s.typed, other.typed),
		cmp.Compare(s.hidden, other.hidden), cmp.Compare(s.kind, other.kind),
	)
}

// Kinds of columns and cells in order of preference.
const (
	early = iota // such as a mobile phone
	plain
	late  // such as a work phone
	never // such as a fax
)

// readSeveral finds the fields with several columns, or with a column for the kind of each value.
func (c *choice) readSeveral() {
	for _, f := range record.AllFields() {
		if !f.Several {
			continue
		}
		s := several{field: f.Name, kinds: map[string]int{}}
		byKind := false
		for at, column := range c.columns {
			if column.Field != f.Name || c.joined[at] {
				continue
			}
			one := source{at: at, typed: slices.Index(c.typed, at), kind: kindOf(f.Name, column.Header), kindIn: c.kindColumn(f, at)}
			if one.typed < 0 {
				one.typed = len(c.typed)
			}
			if c.isHidden(at) {
				one.hidden = 1
			}
			byKind = byKind || one.kindIn >= 0
			s.sources = append(s.sources, one)
		}
		if len(s.sources) > 1 {
			c.noteSeveral(s, byKind)
		}
		if len(s.sources) > 1 || byKind {
			c.several = append(c.several, s)
		}
	}
}

const shownColumns = 10

// noteSeveral adds a note that lists the columns for a field in order of preference.
func (c *choice) noteSeveral(s several, byKind bool) {
	sorted := slices.Clone(s.sources)
	if !byKind {
		slices.SortStableFunc(sorted, source.compare)
	}
	var headers, kinds Headers
	for _, one := range sorted {
		headers = append(headers, c.columns[one.at].Header)
		if one.kindIn >= 0 {
			kinds = append(kinds, c.columns[one.kindIn].Header)
		}
	}
	if byKind {
		c.add(NoteFirstByKind, FieldName(s.field), firstHeaders(headers), firstHeaders(kinds))
	} else {
		c.add(NoteFirstFilled, FieldName(s.field), firstHeaders(headers))
	}
}

func firstHeaders(all Headers) Headers {
	if len(all) > shownColumns {
		return append(all[:shownColumns:shownColumns], "…")
	}
	return all
}

// googleValue ends the headers of Google Contacts columns that have a separate column for the kind:
// "Phone 1 - Type" or, since 2023, "Phone 1 - Label".
const googleValue = " - value"

// kindColumn returns the column with the kind of each cell of another column, or -1.
func (c *choice) kindColumn(f record.Field, at int) int {
	name, isValue := strings.CutSuffix(typedHeader(c.columns[at].Header), googleValue)
	if !isValue || f.Earlier == "" {
		return -1
	}
	return slices.IndexFunc(c.columns, func(column Column) bool {
		header := typedHeader(column.Header)
		return header == name+" - type" || header == name+" - label"
	})
}

// kindPattern matches the words for the kinds of a field.
type kindPattern struct{ early, late *regexp.Regexp }

var kindPatterns = sync.OnceValue(func() map[string]kindPattern {
	all := map[string]kindPattern{}
	for _, f := range record.AllFields() {
		if f.Several && f.Earlier != "" {
			more := strings.Join([]string{f.Headings, f.Besides, neutralWords}, " ")
			all[f.Name] = kindPattern{matcherOf(f.Earlier, more), matcherOf(f.Later, more)}
		}
	}
	return all
})

// neverKinds matches kinds that are not personal phone numbers.
var neverKinds = lazy(`fax|faks|telecop|pager|localizador|radiomessag|beeper|bipeur|pieps|melder|meldeempf|` +
	`avertisseur|busca|dojavlj|modem|telex|notfall|emergency|urgence|emergencia|hitn`)

// kindOf returns the kind of a column by its header.
func kindOf(field, header string) int {
	patterns, ok := kindPatterns()[field]
	if !ok || len(header) > maxHeader {
		return plain
	}
	words := strings.FieldsFunc(fold.String(header), func(r rune) bool { return !unicode.IsLetter(r) })
	words = slices.DeleteFunc(words, func(word string) bool { return len(word) == 1 }) // initials, for example
	words = append(words, letters(header))
	switch {
	case slices.ContainsFunc(words, patterns.early.MatchString):
		return early
	case slices.ContainsFunc(words, patterns.late.MatchString):
		return late
	}
	return plain
}

func (s *several) kind(label string) int {
	kind, known := s.kinds[label]
	if !known {
		if kind = kindOf(s.field, label); len(label) <= maxHeader && neverKinds().MatchString(letters(label)) {
			kind = never
		}
		s.kinds[label] = kind
	}
	return kind
}

// choose selects the column that counts in a row: the first filled column by typed order, then
// kind, then position. A word instead of a phone number counts only if all other columns are empty.
func (s *several) choose(row sheet.Row, notes *tally) {
	s.chosen = -1
	var best source
	for _, one := range s.sources {
		cell := row.Cell(one.at)
		if cell.Text == "" {
			continue
		}
		if one.kindIn >= 0 {
			if one.kind = s.kind(row.Cell(one.kindIn).Text); one.kind == never {
				notes.count(NoteNoFax)
				continue
			}
		}
		if s.field == "phoneNumber" && cell.Kind != sheet.Error && !strings.ContainsFunc(cell.Text, unicode.IsNumber) {
			one.behind = 1
		}
		if s.chosen < 0 || one.compare(best) < 0 {
			s.chosen, best = one.at, one
		}
	}
}

// counts reports whether a column counts in the current row.
func (m *mapper) counts(at int) bool {
	for i := range m.several {
		if s := &m.several[i]; s.field == m.columns[at].Field {
			return s.chosen == at
		}
	}
	return true
}

// joint separates several values in a cell of Google Contacts.
const joint = " ::: "

// firstOfJoined returns the first of several values joined by Google Contacts.
func (m *mapper) firstOfJoined(at int, text string) string {
	if !strings.Contains(text, joint) || !strings.HasSuffix(typedHeader(m.columns[at].Header), googleValue) {
		return text
	}
	m.notes.count(NoteJoined)
	first, _, _ := strings.Cut(text, joint)
	return strings.TrimSpace(first)
}

// aloneWords match headers that imply a field by the kind of value, such as "Home" and "Work" above
// phone numbers.
var aloneWords = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for _, f := range record.AllFields() {
		if f.Alone != "" {
			all[f.Name] = matcherOf(f.Alone, neutralWords)
		}
	}
	return all
})

// fieldAlone returns the field of a column whose header names only a kind of value, if all its
// cells look like that field.
func (c *choice) fieldAlone(at int) string {
	header := c.table.Header[at]
	if len(header) > maxHeader || !c.filled[at] {
		return LeftOut
	}
	for field, words := range aloneWords() {
		if words.MatchString(letters(header)) && c.hasPhones(at) {
			return field
		}
	}
	return LeftOut
}
