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

// severalFields are those for which several columns can be read.
var severalFields = func() map[string]bool {
	all := map[string]bool{}
	for _, f := range record.AllFields() {
		all[f.Name] = f.Several
	}
	return all
}()

// several is a field for which several columns are read, and the one that counts in
// a row.
type several struct {
	field   string
	sources []source // from the left
	chosen  int      // the column that counts in it; -1: none is filled
	never   int      // cells that never count, such as those of a fax
	kinds   map[string]int
}

// source is a column for a field.
type source struct {
	at     int // the column
	typed  int // its place in Options.Headers; the same for all that are not there
	kind   int
	kindIn int // the column that says the kind of each cell; -1: none does
	behind int // 1: all others come before it, in a row
}

// compare compares the places of two columns among those for a field.
func (s source) compare(other source) int {
	return cmp.Or(cmp.Compare(s.behind, other.behind), cmp.Compare(s.typed, other.typed), cmp.Compare(s.kind, other.kind))
}

// Kinds of columns and cells in their order.
const (
	early = iota // such as a mobile phone
	plain
	late  // such as a phone of work
	never // such as a fax
)

// readSeveral finds the fields for which several columns are read, or one whose kind
// another column says row by row.
func (c *choice) readSeveral() {
	for _, f := range record.AllFields() {
		if !f.Several {
			continue
		}
		s := several{field: f.Name, kinds: map[string]int{}}
		said := false
		for at, column := range c.columns {
			if column.Field != f.Name {
				continue
			}
			one := source{at: at, typed: slices.Index(c.typed, at), kind: kindOf(f.Name, column.Header), kindIn: c.kindColumn(f, at)}
			if one.typed < 0 {
				one.typed = len(c.typed)
			}
			said = said || one.kindIn >= 0
			s.sources = append(s.sources, one)
		}
		if len(s.sources) > 1 {
			c.notes = append(c.notes, c.severalNote(s, said))
		}
		if len(s.sources) > 1 || said {
			c.several = append(c.several, s)
		}
	}
}

// shownColumns is how many headers a note has.
const shownColumns = 10

// severalNote says which columns are read for a field, in their order.
func (c *choice) severalNote(s several, said bool) sheet.Note {
	sorted := slices.Clone(s.sources)
	if !said {
		slices.SortStableFunc(sorted, source.compare)
	}
	var headers, kinds Headers
	for _, one := range sorted {
		headers = append(headers, c.columns[one.at].Header)
		if one.kindIn >= 0 {
			kinds = append(kinds, c.columns[one.kindIn].Header)
		}
	}
	note := sheet.Note{Code: NoteFirstFilled, Args: []any{FieldName(s.field), firstHeaders(headers)}}
	if said {
		note.Code, note.Args = NoteFirstByKind, append(note.Args, firstHeaders(kinds))
	}
	return note
}

func firstHeaders(all Headers) Headers {
	if len(all) > shownColumns {
		return append(all[:shownColumns:shownColumns], "…")
	}
	return all
}

// googleValue is how a column of Google's contacts is called whose kind stands in
// another one, "Phone 1 - Type" or, since 2023, "Phone 1 - Label".
const googleValue = " - value"

// kindColumn returns the column that says the kind of each cell of another, -1 if
// there is none.
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

// kindPattern is how the words of the kinds of a field look.
type kindPattern struct{ early, late *regexp.Regexp }

var kindPatterns = sync.OnceValue(func() map[string]kindPattern {
	all := map[string]kindPattern{}
	for _, f := range record.AllFields() {
		if f.Several && f.Earlier != "" {
			more := strings.Join([]string{f.Headings, f.Besides, neutralWords}, " ")
			all[f.Name] = kindPattern{made(f.Earlier, more), made(f.Later, more)}
		}
	}
	return all
})

// neverKinds are the words of values that are no phone number of somebody.
var neverKinds = regexp.MustCompile(`fax|faks|telecop|pager|localizador|radiomessag|beeper|bipeur|pieps|melder|meldeempf|` +
	`avertisseur|busca|dojavlj|modem|telex|notfall|emergency|urgence|emergencia|hitn`)

// kindOf returns the kind of a column of a field by its header.
func kindOf(field, header string) int {
	patterns, ok := kindPatterns()[field]
	if !ok || len(header) > maxHeader {
		return plain
	}
	words := strings.FieldsFunc(fold.String(header), func(r rune) bool { return !unicode.IsLetter(r) })
	words = slices.DeleteFunc(words, func(word string) bool { return len(word) == 1 }) // of an initial, too
	words = append(words, letters(header))
	switch {
	case slices.ContainsFunc(words, patterns.early.MatchString):
		return early
	case slices.ContainsFunc(words, patterns.late.MatchString):
		return late
	}
	return plain
}

// kind returns the kind of a cell. label is what says it.
func (s *several) kind(label string) int {
	kind, known := s.kinds[label]
	if !known {
		if kind = kindOf(s.field, label); len(label) <= maxHeader && neverKinds.MatchString(letters(label)) {
			kind = never
		}
		s.kinds[label] = kind
	}
	return kind
}

// choose finds the column that counts in a row: of those that are filled the first
// by the order that was typed, then by kind, then from the left. A dash, or a word in
// place of a phone number, does not fill a cell where another column has something.
func (s *several) choose(row sheet.Row) {
	s.chosen = -1
	var best source
	for _, one := range s.sources {
		cell := row.Cell(one.at)
		if cell.Text == "" {
			continue
		}
		if one.kindIn >= 0 {
			if one.kind = s.kind(row.Cell(one.kindIn).Text); one.kind == never {
				s.never++
				continue
			}
		}
		if !saysSomething(s.field, cell) {
			one.behind = 1
		}
		if s.chosen < 0 || one.compare(best) < 0 {
			s.chosen, best = one.at, one
		}
	}
}

// saysSomething reports whether a cell of a field is more than a dash, or than a word
// such as "none" for a phone number.
func saysSomething(field string, cell sheet.Cell) bool {
	return cell.Kind == sheet.Error || strings.ContainsFunc(cell.Text, func(r rune) bool {
		return unicode.IsNumber(r) || unicode.IsLetter(r) && field != "phoneNumber"
	})
}

// counts reports whether a column counts in the row for which several have chosen.
func (m *mapper) counts(at int) bool {
	for i := range m.several {
		if s := &m.several[i]; s.field == m.columns[at].Field {
			return s.chosen == at
		}
	}
	return true
}

// joint is what Google writes between several values of one cell.
const joint = " ::: "

// firstOfJoined returns the first of the values that Google has joined in a cell.
func (m *mapper) firstOfJoined(at int, text string) string {
	if !strings.Contains(text, joint) || !strings.HasSuffix(typedHeader(m.columns[at].Header), googleValue) {
		return text
	}
	m.joined++
	first, _, _ := strings.Cut(text, joint)
	return strings.TrimSpace(first)
}

// severalNotes says what was not taken of cells with several values, and of columns
// for one field.
func (m *mapper) severalNotes() (all []sheet.Note) {
	faxes := 0
	for i := range m.several {
		faxes += m.several[i].never
	}
	if faxes > 0 {
		all = append(all, sheet.Note{Code: NoteNoFax, Args: []any{faxes}})
	}
	if m.joined > 0 {
		all = append(all, sheet.Note{Code: NoteJoined, Args: []any{m.joined}})
	}
	return all
}

// aloneWords are the words that name a column of a field without another word, as
// "Home" and "Work" do where the cells are phone numbers.
var aloneWords = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for _, f := range record.AllFields() {
		if f.Alone != "" {
			all[f.Name] = made(f.Alone, neutralWords)
		}
	}
	return all
})

// fieldAlone returns the field of a column whose header says only which of several
// values it has, if all its cells look like that field.
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
