package mapping

import (
	"cmp"
	"fmt"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// plainName is a column "Name": the full name if there is no other name column, otherwise the first
// or last name.
const plainName = "plain name"

// reversed is LastFirst in --map and in the API.
const reversed = "nameReversed"

// MapName returns the name of a field in --map and in the API.
func MapName(field string) string {
	if field == LastFirst {
		return reversed
	}
	return field
}

// targets are the fields accepted by --map and the parameter map.
var targets = func() map[string]string {
	known := map[string]string{"": LeftOut, "-": LeftOut, "id": ID, "name": FullName, strings.ToLower(reversed): LastFirst}
	for _, name := range record.FieldNames() {
		known[strings.ToLower(name)] = name
	}
	return known
}()

// choice determines which column is which field.
type choice struct {
	table    *sheet.Table
	columns  []Column
	filled   []bool           // by column: has a value
	assigned map[string]bool  // fields assigned by options
	typed    []int            // columns in the order of Options.Headers
	byHeader map[string][]int // columns by typed header
	found    map[string][]int // candidate columns by field
	fields   []string         // by column, without the options
	joins    []join           // fields whose parts are in several columns
	joined   map[int]bool     // columns whose parts another column gets
	several  []several        // fields read from several columns
	tally

	questions []sheet.Question
}

func chooseColumns(t *sheet.Table, o Options) (*choice, *ColumnsError) {
	c := &choice{table: t, columns: make([]Column, len(t.Header)), filled: filledColumns(t),
		assigned: map[string]bool{}, found: map[string][]int{}, byHeader: map[string][]int{}, joined: map[int]bool{}}
	for i, header := range t.Header {
		c.columns[i].Header = header
		c.fields = append(c.fields, cmp.Or(fieldOf(header), c.fieldAlone(i)))
	}
	c.leaveToContacts()
	assigned, err := c.assignments(o)
	if err != nil {
		return c, err
	}
	known := c.readHeaders(assigned)
	if !known && slices.ContainsFunc(t.Header, isData) {
		return c, &ColumnsError{Code: ColumnsNoHeader, Headers: t.Header}
	}
	c.chooseNames()
	for _, field := range append(slices.Insert(record.FieldNames(), record.NameFields, FullName), ID) {
		if err := c.choose(field); err != nil {
			return c, err
		}
	}
	if !slices.ContainsFunc(c.columns, Column.IsName) && !c.useNames(assigned, known || t.HeaderRow == 0) {
		return c, &ColumnsError{Code: ColumnsNoName, Headers: t.Header}
	}
	c.checkIDs(assigned)
	c.orderNames(assigned, o)
	c.askColumns(assigned, o)
	c.noteHidden()
	c.readSeveral()
	return c, nil
}

func filledColumns(t *sheet.Table) []bool {
	filled := make([]bool, len(t.Header))
	for i, header := range t.Header {
		field := fieldOf(header)
		optional := field == "dateOfBirth" || severalFields[field]
		filled[i] = slices.ContainsFunc(t.Rows, func(row sheet.Row) bool {
			cell := row.Cell(i)
			if field == "dateOfBirth" && record.Digits(cell.Text) == "" { // "Nato a: Trento" is a place
				return false
			}
			return cell.Text != "" && !(optional && hasNoValue(cell))
		})
	}
	return filled
}

// assignments returns the fields assigned by options, by column.
func (c *choice) assignments(o Options) (map[int]string, *ColumnsError) {
	assigned := map[int]string{}
	for i, column := range c.columns {
		header := typedHeader(column.Header)
		c.byHeader[header] = append(c.byHeader[header], i)
	}
	for _, h := range o.Headers {
		some := c.byHeader[typedHeader(h.Header)]
		isOriginal := func(name string) bool { return typedHeader(name) == typedHeader(h.Header) }
		if at := slices.IndexFunc(c.table.Header, isOriginal); some == nil && at >= 0 { // leaveToContacts has changed it
			some = []int{at}
		}
		if some == nil {
			return nil, &ColumnsError{Code: ColumnsUnknown, Headers: []string{h.Header}}
		}
		for _, i := range some {
			assigned[i] = h.Field
		}
		c.typed = append(c.typed, some...)
	}
	for _, number := range slices.Sorted(maps.Keys(o.Columns)) {
		if number < 0 || number >= len(c.columns) {
			return nil, &ColumnsError{Code: ColumnsUnknown, Headers: []string{strconv.Itoa(number + 1)}}
		}
		assigned[number] = o.Columns[number]
	}
	c.findJoins(assigned)
	return assigned, c.checkAssigned(assigned)
}

// typedHeader normalizes a header for comparison with typed text.
func typedHeader(header string) string { return strings.Join(strings.Fields(fold.String(header)), " ") }

// checkAssigned returns an error for conflicting assignments.
func (c *choice) checkAssigned(assigned map[int]string) *ColumnsError {
	headers := map[string][]string{}
	for i, column := range c.columns {
		field, ok := assigned[i]
		switch {
		case !ok || field == LeftOut || c.joined[i]:
			continue
		case targets[strings.ToLower(MapName(field))] != field:
			return &ColumnsError{Code: ColumnsUnknown, Headers: []string{field}}
		case field == LastFirst:
			field = FullName
		}
		headers[field] = append(headers[field], column.Header)
		c.assigned[field] = true
	}
	for _, field := range slices.Sorted(maps.Keys(headers)) {
		if all := headers[field]; len(all) > 1 && !severalFields[field] {
			return &ColumnsError{Code: ColumnsTwice, Field: field, Headers: all}
		}
	}
	if part := slices.Concat(headers["firstName"], headers["lastName"]); c.assigned[FullName] && len(part) > 0 {
		return &ColumnsError{Code: ColumnsTwice, Field: FullName, Headers: append(headers[FullName], part...)}
	}
	return nil
}

// readHeaders applies the assigned fields and finds candidates among all other headers. It reports
// whether it recognized any header.
func (c *choice) readHeaders(assigned map[int]string) (known bool) {
	for i, header := range c.table.Header {
		field := c.fields[i]
		known = known || field != LeftOut
		switch card := c.table.Format == sheet.VCard; {
		case field == ID && card && !c.table.Ours:
			field = LeftOut
		case card && severalFields[field] && header != field: // package vcard has already chosen
			field = LeftOut
		}
		if wish, ok := assigned[i]; ok {
			c.columns[i].Field = wish
		} else if c.joined[i] {
			c.columns[i].Field = field
		} else if field != LeftOut {
			c.found[field] = append(c.found[field], i)
		}
	}
	return known
}

// fieldOf returns the field for a header, or LeftOut. A header with a number above 1 matches only
// fields that allow several columns.
func fieldOf(header string) string {
	if strings.EqualFold(strings.TrimSpace(header), ID) {
		return ID
	}
	if len(header) > maxHeader {
		return LeftOut
	}
	text, number := datePlace().ReplaceAllString(letters(header), "$1$2"), strings.TrimLeft(strings.TrimFunc(header, isNoDigit), "0")
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

// datePlace matches the date and the place in headers such as "Date et lieu de naissance".
var datePlace = sync.OnceValue(func() *regexp.Regexp {
	date, place := "("+either(`date datum data fecha`)+")", "(?:geburts)?"+either(`place ort lieu lugar luogo mjesto mesto plaats miejsce`)
	return regexp.MustCompile(date + either(and) + "?" + place + "|^" + place + either(and) + "?" + date)
})

// FindHeader returns a spreadsheet with the header row that its first rows show: the first row in which
// most cells are known column names. Without one, it is the first row of words that has a known name and
// is at least twice as wide as each row above it. If the row below consists of at least two further names,
// as below merged cells, the header has two rows.
func FindHeader(t *sheet.Table) *sheet.Table { return withContext(withSecond(findHeader(t))) }

// withContext completes names by the headings of groups in the row above, such as "datum" below "Geburts-",
// and "Phone" below "Emergency contact". The first text of that row may be a title, unless it names a contact
// and the names of the people are below a later text.
func withContext(t *sheet.Table) *sheet.Table {
	top := t.Top()
	before := slices.IndexFunc(top, func(r sheet.Row) bool { return r.Number == t.HeaderRow-1 })
	if before < 0 {
		return t
	}
	var groups []int // their first columns
	for at := range t.Header {
		if top[before].Cell(at).Text != "" {
			groups = append(groups, at)
		}
	}
	name := slices.IndexFunc(t.Header, func(name string) bool { return Column{Field: fieldOf(name)}.IsName() })
	if len(groups) < 2 || !namesContact(top[before].Cell(groups[0]).Text) || name < groups[1] {
		groups = groups[min(1, len(groups)):]
	}
	other, group, isNamed := *t, "", false
	other.Header = slices.Clone(t.Header)
	for at, name := range t.Header {
		if slices.Contains(groups, at) {
			group, isNamed = top[before].Cell(at).Text, false
		}
		field, full := fieldOf(name), group+" "+name
		isNamed = isNamed || field == plainName || Column{Field: field}.IsName()
		again := slices.Index(t.Header, name) < at || slices.Contains(t.Header[at+1:], name)
		isContact := namesContact(group) && (isNamed || again) && field != "dateOfBirth" // otherwise it may be a title
		if name != "" && (isContact || field == LeftOut && fieldOf(full) != LeftOut) {
			other.Header[at] = full
		}
	}
	return &other
}

// namesContact reports whether a heading names another person to call.
func namesContact(heading string) bool {
	return len(heading) <= maxHeader && relatives().MatchString(letters(heading))
}

// leaveToContacts leaves out phone numbers and e-mail addresses between the name of an emergency contact or
// parent and the next column of the person, such as "Phone" behind "Emergency contact". If an earlier column has
// the same field, the contact becomes part of the name, so that no question is asked. Behind the name of another
// relative or of a company, it leaves out only names that occur again.
func (c *choice) leaveToContacts() {
	contact, sure := "", false
	hasNumber := func(cell sheet.Cell) bool { return len(record.Digits(cell.Text)) >= fewestDigits }
	for at, field := range c.fields {
		header := c.table.Header[at]
		again := slices.Contains(c.table.Header[:at], header) || sure && slices.Contains(c.fields[:at], field)
		switch {
		case field == LeftOut && namesContact(header), severalFields[field] && contacts().MatchString(letters(header)):
			c.fields[at] = LeftOut
			if contact = header; !c.filled[at] || c.most(at, hasNumber) {
				contact = ""
			}
			sure = contact != "" && contacts().MatchString(letters(header))
		case contact == "" || field == LeftOut || field == plainName && !again:
		case again:
			c.columns[at].Header = contact + " " + header
			c.fields[at] = LeftOut
		case sure && severalFields[field]:
			c.fields[at] = LeftOut
		default:
			contact, sure = "", false
		}
	}
}

func withSecond(t *sheet.Table) *sheet.Table {
	if len(t.Rows) == 0 {
		return t
	}
	header, known, above := slices.Clone(t.Header), 0, ""
	for at, cell := range t.Rows[0].Cells {
		if at == len(header) {
			header = append(header, "")
		}
		if header[at] != "" {
			above = header[at]
		}
		name := cell.Text
		if name != "" && fieldOf(name) == LeftOut {
			name = above + " " + name
		}
		if name != "" && fieldOf(name) == LeftOut {
			return t
		} else if name != "" {
			header[at] = name
			known++
		}
	}
	if found, ok := t.WithHeader(t.Rows[0].Number); ok && known > 1 {
		found.Header = header
		return found
	}
	return t
}

func findHeader(t *sheet.Table) *sheet.Table {
	perhaps, widest := -1, 0
	top := t.Top()
	for i, row := range top {
		known, filled, words := 0, 0, true
		for _, cell := range row.Cells {
			if cell.Text == "" {
				continue
			}
			if filled++; fieldOf(cell.Text) != LeftOut {
				known++
			} else if isData(cell.Text) {
				words = false
			}
		}
		if known > 1 && 2*known > filled && (perhaps < 0 || perhaps == i-1) { // a header can have two rows
			perhaps = i
			break
		}
		if perhaps < 0 && known > 0 && filled > 1 && words && filled >= 2*widest {
			perhaps = i
		}
		widest = max(widest, filled)
	}
	if perhaps < 0 {
		return t
	}
	if found, ok := t.WithHeader(top[perhaps].Number); ok && found.HeaderRow != t.HeaderRow {
		return found
	}
	return t
}

// maxHeader is the maximum length of a recognized header in bytes.
const maxHeader = 100

// isCount reports whether a number in a header can count columns, unlike a year or a phone number.
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

// A header matches a field if it consists of words for that field and at least one of them names
// it. "Mobile phone number" and "Tel. privat" are phone numbers; "Emergency phone" and "E-mail
// type" match nothing. The words below are folded. Only letters are compared, so "first_name",
// "First Name *" and "firstName" are equal.

// neutralWords may appear in a header without changing its field. They tell whose value it is or
// how to fill in the column.
const neutralWords = `of the de du des del de la le el der die das di della dei van
	member members mitglied mitglieds mitgliedes mitglieder membre membres miembro miembros clan clana clanovi
	employee volunteer firefighter feuerwehrmitglied vatrogasac vatrogasca pripadnik kamerad kameraden person
	bombero bomberos pompier pompiers strazak gasilec vigile brandweerman
	required optional mandatory pflichtfeld pflicht obligatoire facultatif
	obligatorio opcional obavezno neobavezno usuel legal`

// Words for a full name, or for the first or last name if the other has its own column.
const plainNames = `name names namen nom noms nombre nombres ime nome naam`

const fullNames = `fullname displayname completename formattedname membername
	anzeigename vollername vollername vollstandigername gesamtname ganzername mitgliedsname mitgliedername
	nomcomplet nomaffiche nombrecompleto nombreparamostrar punoime cijeloime prikaznoime
	nominativo nomecompleto polnoime volledigenaam`

// Words between a first and a last name.
const and = `and und et y e i in en or oder a og och es`

type pattern struct {
	field  string
	header *regexp.Regexp
}

// patterns lists the patterns of all fields, the most specific first.
var patterns = sync.OnceValue(func() []pattern {
	var all []pattern
	headings := map[string]string{}
	for _, f := range record.AllFields() {
		headings[f.Name] = f.Headings
		all = append(all, pattern{f.Name, matcherOf(f.Headings, f.Besides+" "+neutralWords)})
	}
	first, last := either(headings["firstName"]+" vor"), either(headings["lastName"]+" family")
	plain, between, about := either(plainNames), either(and)+"?", either(neutralWords)+"*"
	return append(all, []pattern{
		{"firstName", whole("namefirst")},
		{"lastName", whole("namelast")},
		{plainName, matcherOf(plainNames, neutralWords)},
		{FullName, matcherOf(fullNames, neutralWords)},
		{FullName, whole(plain + "?" + first + between + last + about)},
		{FullName, whole("(?:" + first + between + plain + "|" + plain + between + last + ")" + about)},
		{LastFirst, matcherOf("nev neve teljesnev", neutralWords)}, // a Hungarian name starts with the last name
		{LastFirst, whole(plain + "?" + last + between + first + about)},
		{LastFirst, whole("(?:" + plain + between + first + "|" + last + between + plain + ")" + about)},
	}...)
})

// matcherOf returns a pattern for text that consists only of names and more, with at least one
// name.
func matcherOf(names, more string) *regexp.Regexp {
	name, word := either(names), either(names+" "+more)
	return whole(word + "*" + name + word + "*")
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

func either(words string) string { return "(?:" + strings.Join(strings.Fields(words), "|") + ")" }

// chooseNames resolves name columns that depend on others: a column "Name" can be the first, last
// or full name. It then drops the full name if both first and last name exist, or these if one is
// missing.
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
	case c.assigned[FullName], full && !(c.has("firstName") && c.has("lastName")) && !c.assigned["firstName"] && !c.assigned["lastName"]:
		delete(c.found, "firstName")
		delete(c.found, "lastName")
	case c.has("firstName") || c.has("lastName") || len(c.found["firstName"])+len(c.found["lastName"]) > 0:
		delete(c.found, FullName)
	}
}

// HasNoHeader reports whether a spreadsheet seems to have no header row: the first row has no known column
// name, but an email address, date or phone number, or a full name above others.
func HasNoHeader(t *sheet.Table) bool {
	c, isPerson := &choice{table: t}, false
	for at, header := range t.Header {
		if fieldOf(header) != LeftOut {
			return false
		}
		isName := nameLetters().MatchString(header) && slices.ContainsFunc(strings.Fields(header), isFirstName)
		isPerson = isPerson || isData(header) || isName && c.hasNames(at)
	}
	return isPerson && t.HeaderRow > 0
}

// useNames reads the only column that looks like full names if no header names such a column, or else two
// columns of which one has common first names. It returns false if there are several, or if no header is
// known, because then the first row may be a person. A header that means the members decides.
func (c *choice) useNames(assigned map[int]string, known bool) bool {
	looks := func(at int) bool {
		_, ok := assigned[at]
		return !ok && c.columns[at].Field == LeftOut && c.hasNames(at)
	}
	at := c.only(func(at int) bool { return looks(at) && peopleWords().MatchString(letters(c.table.Header[at])) })
	if at < 0 && known {
		at = c.only(looks)
	}
	if at < 0 {
		return c.table.HeaderRow == 0 && c.useNamePair()
	}
	c.columns[at].Field = FullName
	c.add(NoteLooksNames, sheet.Quoted(cmp.Or(c.columns[at].Header, c.firstValue(at))))
	return true
}

// useNamePair reads two columns as first and last names if there are no others of single words, and most
// words of only one are common first names.
func (c *choice) useNamePair() bool {
	var words, first []int
	for at := range c.columns {
		names, all := 0, 0
		isWord := c.filled[at] && c.most(at, func(cell sheet.Cell) bool {
			if all++; isFirstName(cell.Text) {
				names++
			}
			return oneWord().MatchString(cell.Text)
		})
		if isWord {
			words = append(words, at)
		}
		if isWord && names*2 > all {
			first = append(first, at)
		}
	}
	if len(words) != 2 || len(first) != 1 {
		return false
	}
	c.columns[words[0]].Field, c.columns[words[1]].Field = "lastName", "lastName"
	c.columns[first[0]].Field = "firstName"
	return true
}

// orderNames sets LastFirst as the field of a column of full names if first names come last there.
func (c *choice) orderNames(assigned map[int]string, o Options) {
	for at, column := range c.columns {
		if _, ok := assigned[at]; ok || column.Field != FullName || c.joined[at] || o.Answers[AskNames] != "" || !isLastFirst(c.table, at) {
			continue
		}
		for i := range c.columns {
			if c.columns[i].Field == FullName { // with its titles
				c.columns[i].Field = LastFirst
			}
		}
	}
}

// hasNames reports whether most cells of a column look like full names, and differ.
func (c *choice) hasNames(at int) bool {
	different, all := map[string]bool{}, 0
	return c.most(at, func(cell sheet.Cell) bool {
		all++
		different[cell.Text] = true
		name := (&names{}).split(cell.Text).name
		return name.First != "" && name.Last != "" && nameLetters().MatchString(cell.Text)
	}) && len(different)*2 > all
}

// nameLetters matches a text of two to five words, of which the first and the last have a capital
// letter.
var nameLetters = lazy(`^\p{Lu}[\pL\pM.'’-]*,?(?: [\pL\pM.'’()-]+,?){0,3} \p{Lu}[\pL\pM.'’-]*$`)

var oneWord = lazy(`^\p{Lu}[\pL\pM.'’-]*(?: [\pL\pM.'’-]+){0,2}$`)

var peopleWords = sync.OnceValue(func() *regexp.Regexp { return whole(either(neutralWords) + "+") })

// has reports whether a field is assigned, or has a candidate column with values.
func (c *choice) has(field string) bool { return c.assigned[field] || len(c.withValue(field)) > 0 }

// withValue returns the candidate columns with values, from the left.
func (c *choice) withValue(field string) (some []int) {
	for _, i := range c.found[field] {
		if c.filled[i] {
			some = append(some, i)
		}
	}
	slices.Sort(some)
	return some
}

// isHidden reports whether the sheet hides a column.
func (c *choice) isHidden(column int) bool {
	return column < len(c.table.Hidden) && c.table.Hidden[column]
}

func (c *choice) noteHidden() {
	var headers Headers
	for i, column := range c.columns {
		if c.isHidden(i) && c.filled[i] {
			headers = append(headers, column.Header)
		}
	}
	if len(headers) > 0 {
		c.add(NoteHidden, firstHeaders(headers))
	}
}

// choose assigns columns to a field. Columns without values never compete, and hidden columns do not
// compete with others.
func (c *choice) choose(field string) *ColumnsError {
	all := c.found[field]
	if c.assigned[field] || len(all) == 0 {
		return nil
	}
	some := c.withValue(field)
	if visible := slices.DeleteFunc(slices.Clone(some), c.isHidden); len(visible) > 0 && !severalFields[field] {
		some = visible
	}
	if len(some) > 1 && severalFields[field] {
		for _, i := range some {
			c.columns[i].Field = field
		}
		return nil
	} else if len(some) > 1 {
		e := &ColumnsError{Code: ColumnsTwice, Field: field}
		for _, i := range some {
			header := c.columns[i].Header
			e.Headers = append(e.Headers, header)
			if e.Settled.Header == "" && len(c.byHeader[typedHeader(header)]) == 1 {
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

func (c *choice) ordered(field string, column int) string {
	if slices.Contains(c.found[LastFirst], column) {
		return LastFirst
	}
	return field
}

// checkIDs drops a column "id" without record ids, unless options assign it.
func (c *choice) checkIDs(assigned map[int]string) {
	at := slices.IndexFunc(c.columns, func(column Column) bool { return column.Field == ID })
	if _, ok := assigned[at]; ok || at < 0 || !c.filled[at] {
		return
	}
	for _, row := range c.table.Rows {
		if _, err := record.ParseID(row.Cell(at).Text); err == nil {
			return
		}
	}
	c.columns[at].Field = LeftOut
	c.add(NoteNotOurID, sheet.Quoted(c.columns[at].Header))
}

// isData reports whether a header looks like data: an email address, date or phone number.
func isData(header string) bool {
	_, err := mail.ParseAddress(header)
	return err == nil || isNumber(header)
}

// ParseHeaders parses column assignments such as "Vorname=firstName,Handy=phoneNumber". Headers may
// be quoted as in CSV. The field "-" or an empty field leaves out a column. The error is a
// *record.TextError.
func ParseHeaders(text string) (headers []Header, err error) {
	for _, entry := range splitOutside(text, ',') {
		parts := splitOutside(entry, '=')
		last := len(parts) - 1
		if last == 0 { // the whole entry is quoted
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
			return nil, wrongHeaders("has the unknown field %q; the fields are %s, or - to leave a column out", parts[last], fields)
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

// splitOutside splits text at separators outside quotes.
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

func unquote(text string) string {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
}
