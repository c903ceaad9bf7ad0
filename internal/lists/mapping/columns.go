package mapping

import (
	"fmt"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/google/uuid"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// plainName is what a column is that is the full name where it stands alone, and
// the first or last name beside a column for the other.
const plainName = "plain name"

// reversed is what --map and the API call LastFirst.
const reversed = "nameReversed"

// MapName returns what --map and the API call what a column is.
func MapName(field string) string {
	if field == LastFirst {
		return reversed
	}
	return field
}

// targets are what --map and the parameter map can make of a column.
var targets = func() map[string]string {
	known := map[string]string{"": LeftOut, "-": LeftOut, "id": ID, "name": FullName, strings.ToLower(reversed): LastFirst}
	for _, name := range record.FieldNames() {
		known[strings.ToLower(name)] = name
	}
	return known
}()

// choice finds out which column is which field.
type choice struct {
	table   *sheet.Table
	columns []Column
	filled  []bool           // the columns that have a value
	taken   map[string]bool  // fields that options say
	typed   []int            // columns in the order in which Options.Headers have them
	called  map[string][]int // columns by their headers as people type them
	found   map[string][]int // columns that could be a field by their headers
	several []several        // fields for which several columns are read
	notes   []sheet.Note
}

// chooseColumns returns what each column of the table is.
func chooseColumns(t *sheet.Table, o Options) (*choice, *ColumnsError) {
	c := &choice{table: t, columns: make([]Column, len(t.Header)), filled: filledColumns(t),
		taken: map[string]bool{}, found: map[string][]int{}, called: map[string][]int{}}
	for i, header := range t.Header {
		c.columns[i].Header = header
	}
	asked, err := c.asked(o)
	if err != nil {
		return c, err
	}
	known := c.readHeaders(asked)
	if !known && slices.ContainsFunc(t.Header, isData) {
		return c, &ColumnsError{Code: ColumnsNoHeader, Headers: t.Header}
	}
	c.chooseNames()
	for _, field := range append(slices.Insert(record.FieldNames(), record.NameFields, FullName), ID) {
		if err := c.choose(field); err != nil {
			return c, err
		}
	}
	if !slices.ContainsFunc(c.columns, Column.IsName) {
		return c, &ColumnsError{Code: ColumnsNoName, Headers: t.Header}
	}
	c.checkIDs(asked)
	c.readSeveral()
	return c, nil
}

func filledColumns(t *sheet.Table) []bool {
	filled := make([]bool, len(t.Header))
	for _, row := range t.Rows {
		for i, cell := range row.Cells[:min(len(row.Cells), len(filled))] {
			filled[i] = filled[i] || cell.Text != ""
		}
	}
	return filled
}

// asked returns what the options say of each column, by its number.
func (c *choice) asked(o Options) (map[int]string, *ColumnsError) {
	asked := map[int]string{}
	for i, column := range c.columns {
		header := typedHeader(column.Header)
		c.called[header] = append(c.called[header], i)
	}
	for _, h := range o.Headers {
		some := c.called[typedHeader(h.Header)]
		if some == nil {
			return nil, &ColumnsError{Code: ColumnsUnknown, Headers: []string{h.Header}}
		}
		for _, i := range some {
			asked[i] = h.Field
		}
		c.typed = append(c.typed, some...)
	}
	for _, number := range slices.Sorted(maps.Keys(o.Columns)) {
		if number < 0 || number >= len(c.columns) {
			return nil, &ColumnsError{Code: ColumnsUnknown, Headers: []string{strconv.Itoa(number + 1)}}
		}
		asked[number] = o.Columns[number]
	}
	return asked, c.checkAsked(asked)
}

// typedHeader returns a header as it is compared with what people type.
func typedHeader(header string) string { return strings.Join(strings.Fields(fold.String(header)), " ") }

// checkAsked refuses what cannot be together.
func (c *choice) checkAsked(asked map[int]string) *ColumnsError {
	headers := map[string][]string{}
	for i, column := range c.columns {
		field, ok := asked[i]
		switch {
		case !ok || field == LeftOut:
			continue
		case targets[strings.ToLower(MapName(field))] != field:
			return &ColumnsError{Code: ColumnsUnknown, Headers: []string{field}}
		case field == LastFirst:
			field = FullName
		}
		headers[field] = append(headers[field], column.Header)
		c.taken[field] = true
	}
	for _, field := range slices.Sorted(maps.Keys(headers)) {
		if all := headers[field]; len(all) > 1 && !severalFields[field] {
			return &ColumnsError{Code: ColumnsTwice, Field: field, Headers: all}
		}
	}
	if part := slices.Concat(headers["firstName"], headers["lastName"]); c.taken[FullName] && len(part) > 0 {
		return &ColumnsError{Code: ColumnsTwice, Field: FullName, Headers: append(headers[FullName], part...)}
	}
	return nil
}

// readHeaders takes over what is asked for, and reads the headers of all other
// columns. It reports whether any header says what its column is.
func (c *choice) readHeaders(asked map[int]string) (known bool) {
	parts := slices.ContainsFunc(c.table.Header, func(header string) bool { return birthPart().MatchString(letters(header)) })
	for i, header := range c.table.Header {
		field := fieldOf(header)
		if field == LeftOut {
			field = c.fieldAlone(i)
		}
		known = known || field != LeftOut
		switch card := c.table.Format == sheet.VCard; {
		case field == "dateOfBirth" && parts, field == ID && card && !c.table.Ours:
			field = LeftOut
		case card && severalFields[field] && header != field: // package vcard has chosen among them
			field = LeftOut
		}
		if wish, ok := asked[i]; ok {
			c.columns[i].Field = wish
		} else if field != LeftOut {
			c.found[field] = append(c.found[field], i)
		}
	}
	return known
}

// fieldOf returns what a header says that its column is, LeftOut for nothing that
// we keep. A number says that it is not the first of its kind. Then it is a field
// only if several columns can be.
func fieldOf(header string) string {
	if strings.EqualFold(strings.TrimSpace(header), ID) {
		return ID
	}
	if len(header) > maxHeader {
		return LeftOut
	}
	text, number := letters(header), strings.TrimLeft(strings.TrimFunc(header, isNoDigit), "0")
	for _, p := range patterns() {
		if p.header.MatchString(text) {
			if number == "" || number == "1" || severalFields[p.field] && isCount(number) {
				return p.field
			}
			return LeftOut
		}
	}
	return LeftOut
}

// maxHeader is the length in bytes of the longest header that can be a field.
const maxHeader = 100

// isCount reports whether a number in a header counts columns: it is no year and no
// telephone number.
func isCount(number string) bool { return len(number) <= 2 && !strings.ContainsFunc(number, isNoDigit) }

func isNoDigit(r rune) bool { return r < '0' || '9' < r }

// letters returns the letters of a header, folded.
func letters(header string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, fold.String(header))
}

// A header is a field if it consists of words of that field alone, and one of them
// names it: "Mobile phone number" and "Tel. privat" are phone numbers, but
// "Emergency phone" and "E-mail type" are nothing that we keep. Words stand here
// folded. Spaces, points and letters that are not there do not count, so that
// "first_name", "First Name *" and "firstName" are one.

// neutralWords are words in a header that say whose the value is, or how to fill in the
// column. They change nothing about which field the column is.
const neutralWords = `of the de du des del de la le el der die das
	member members mitglied mitglieds mitgliedes membre miembro clan clana
	employee volunteer firefighter feuerwehrmitglied vatrogasac vatrogasca person
	required optional mandatory pflichtfeld pflicht obligatoire facultatif
	obligatorio opcional obavezno neobavezno usuel legal`

// Words that are a full name where they stand alone, and the first or last name
// beside a column for the other.
const plainNames = `name names namen nom noms nombre nombres ime`

const fullNames = `fullname displayname completename formattedname membername
	anzeigename vollername vollername vollstandigername gesamtname ganzername mitgliedsname mitgliedername
	nomcomplet nomaffiche nombrecompleto nombreparamostrar punoime cijeloime prikaznoime`

// Words between a first and a last name.
const and = `and und et y e i or oder`

// birthParts are the headers of programs that have day, month and year of birth in
// columns of their own. Then the column of the day, which may be called
// "Birthday", has no dates.
const birthParts = `birthmonth geburtsmonat moisdenaissance mesdenacimiento mjesecrodenja`

// pattern is how the headers of a field look.
type pattern struct {
	field  string
	header *regexp.Regexp
}

// patterns has the field of each header that is known, the most certain ones
// first.
var patterns = sync.OnceValue(func() []pattern {
	var all []pattern
	headings := map[string]string{}
	for _, f := range record.AllFields() {
		headings[f.Name] = f.Headings
		all = append(all, pattern{f.Name, made(f.Headings, f.Besides+" "+neutralWords)})
	}
	first, last := either(headings["firstName"]+" vor"), either(headings["lastName"]+" family")
	plain, between := either(plainNames), either(and)+"?"
	return append(all, []pattern{
		{"firstName", whole("namefirst")},
		{"lastName", whole("namelast")},
		{plainName, made(plainNames, neutralWords)},
		{FullName, made(fullNames, neutralWords)},
		{FullName, whole(plain + "?" + first + between + last)},
		{FullName, whole(first + between + plain + "|" + plain + between + last)},
		{LastFirst, whole(plain + "?" + last + between + first)},
		{LastFirst, whole(plain + between + first + "|" + last + between + plain)},
	}...)
})

var birthPart = sync.OnceValue(func() *regexp.Regexp { return whole(either(birthParts)) })

// made returns the pattern of what consists of names and more alone, with a name
// at least.
func made(names, more string) *regexp.Regexp {
	name, word := either(names), either(names+" "+more)
	return whole(word + "*" + name + word + "*")
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

func either(words string) string { return "(?:" + strings.Join(strings.Fields(words), "|") + ")" }

// chooseNames settles what depends on other columns: a column "Name" may be the
// first, the last or the full name. Then it leaves out the full name where there
// are a first and a last name, or these where one of them is missing.
func (c *choice) chooseNames() {
	c.found[FullName] = append(c.found[FullName], c.found[LastFirst]...)
	first, last := c.has("firstName"), c.has("lastName")
	switch {
	case first && !last:
		c.found["lastName"] = append(c.found["lastName"], c.withValue(plainName)...)
	case last && !first:
		c.found["firstName"] = append(c.found["firstName"], c.withValue(plainName)...)
	case !first && !last && !c.has(FullName):
		c.found[FullName] = append(c.found[FullName], c.found[plainName]...)
	}
	switch full := c.has(FullName); {
	case c.taken[FullName], full && !(c.has("firstName") && c.has("lastName")) && !c.taken["firstName"] && !c.taken["lastName"]:
		delete(c.found, "firstName")
		delete(c.found, "lastName")
	case c.has("firstName") || c.has("lastName") || len(c.found["firstName"])+len(c.found["lastName"]) > 0:
		delete(c.found, FullName)
	}
}

// has reports whether a column that has a value is a field or could be it.
func (c *choice) has(field string) bool { return c.taken[field] || len(c.withValue(field)) > 0 }

// withValue returns the columns that could be a field and have a value, from the left.
func (c *choice) withValue(field string) (some []int) {
	for _, i := range c.found[field] {
		if c.filled[i] {
			some = append(some, i)
		}
	}
	slices.Sort(some)
	return some
}

// choose decides which column is a field, or which ones are. A column without any
// value never competes for it.
func (c *choice) choose(field string) *ColumnsError {
	all := c.found[field]
	if c.taken[field] || len(all) == 0 {
		return nil
	}
	if some := c.withValue(field); len(some) > 1 && severalFields[field] {
		for _, i := range some {
			c.columns[i].Field = field
		}
		return nil
	} else if len(some) > 1 {
		e := &ColumnsError{Code: ColumnsTwice, Field: field}
		for _, i := range some {
			header := c.columns[i].Header
			e.Headers = append(e.Headers, header)
			if e.Settled.Header == "" && len(c.called[typedHeader(header)]) == 1 {
				e.Settled = Header{header, c.ordered(field, i)}
			}
		}
		return e
	} else if len(some) == 1 {
		all = some
	}
	c.columns[all[0]].Field = c.ordered(field, all[0])
	return nil
}

// ordered returns LastFirst for a full name whose header has the last name first, and
// other fields as they are.
func (c *choice) ordered(field string, column int) string {
	if slices.Contains(c.found[LastFirst], column) {
		return LastFirst
	}
	return field
}

// checkIDs leaves out a column "id" in which nothing is an id of ours, unless the
// options say what it is.
func (c *choice) checkIDs(asked map[int]string) {
	at := slices.IndexFunc(c.columns, func(column Column) bool { return column.Field == ID })
	if _, ok := asked[at]; ok || at < 0 || !c.filled[at] {
		return
	}
	for _, row := range c.table.Rows {
		if _, ok := parseID(row.Cell(at).Text); ok {
			return
		}
	}
	c.columns[at].Field = LeftOut
	c.notes = append(c.notes, sheet.Note{Code: NoteNotOurID, Args: []any{sheet.Quoted(c.columns[at].Header)}})
}

// parseID returns an id of a record in its canonical form.
func parseID(text string) (id string, ok bool) {
	parsed, err := uuid.Parse(text)
	if err != nil || len(text) != 36 { // Parse accepts other spellings, too
		return "", false
	}
	return parsed.String(), true
}

// isData reports whether a header is what stands in a row of people: an e-mail
// address, a date or a phone number.
func isData(header string) bool {
	_, err := mail.ParseAddress(header)
	return err == nil || isNumber(header)
}

// ParseHeaders reads which header is which field, as in
// "Vorname=firstName,Handy=phoneNumber". A header may stand in quotes, as in a
// CSV. A column that is "-" or nothing is left out. The error is a
// *record.TextError.
func ParseHeaders(text string) (headers []Header, err error) {
	for _, entry := range splitOutside(text, ',') {
		parts := splitOutside(entry, '=')
		last := len(parts) - 1
		if last == 0 { // the quotes are around all of it
			parts = strings.Split(unquote(entry), "=")
			last = len(parts) - 1
		}
		header := strings.TrimSpace(unquote(strings.Join(parts[:last], "=")))
		field, known := targets[strings.ToLower(strings.TrimSpace(parts[last]))]
		twice := slices.ContainsFunc(headers, func(h Header) bool { return h.Header == header })
		switch {
		case last == 0, header == "":
			return nil, wrongHeaders(`must be like "Vorname=firstName,Handy=phoneNumber", not %q`, text)
		case !known:
			fields := strings.Join(append(record.FieldNames(), ID, FullName, reversed), ", ")
			return nil, wrongHeaders("has %q, and the fields are %s, and - for none", parts[last], fields)
		case twice:
			return nil, wrongHeaders("has the header %q twice", header)
		}
		headers = append(headers, Header{header, field})
	}
	return headers, nil
}

func wrongHeaders(format string, args ...any) error {
	return &record.TextError{Code: record.Invalid, Fault: fmt.Sprintf(format, args...)}
}

// splitOutside splits a text at a separator that stands outside quotes.
func splitOutside(text string, separator rune) []string {
	quoted, parts := false, []string{""}
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c == separator && !quoted {
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += string(c)
	}
	return parts
}

// unquote takes the quotes of a CSV off a text.
func unquote(text string) string {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
}
