package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// join is a field whose parts are in several columns.
type join struct {
	field string
	at    int                         // the column that gets the text
	parts []int                       // columns of the arguments of text
	text  func(parts []string) string // empty: only cells without a value
}

// Words of the headers of parts, folded.
const (
	years  = `year years jahr jahrgang annee an ano anio godina godiste leto anno rok jaar`
	months = `month monat mois mes mjesec mjeseca mesec mese miesiac maand`
	days   = `day tag jour dia dan giorno dzien dag`

	countryCodes = `countrycode landesvorwahl landervorwahl indicatifpays codepays codigopais codigodepais pozivnibrojdrzave landnummer`
	areaCodes    = `areacode stdcode dialcode dialingcode diallingcode citycode prefixe vorwahl vorwahlnummer
		ortsvorwahl indicatif indicatifregional prefix prefijo prefisso codigodearea codigoarea codarea lada
		ddd pozivni pozivnibroj predbroj omreznaskupina omrezna kierunkowy netnummer kengetal`
	extensions  = `ext extension durchwahl dw klappe nebenstelle poste anexo interno lokal`
	numberAlone = `number no num nr nummer numero broj anschluss abonneenummer`
)

// partPatterns match the headers of parts.
var partPatterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{numberAlone: whole(either(numberAlone))}
	for _, f := range record.AllFields() {
		parts, besides := []string{countryCodes, areaCodes, extensions}, f.Besides
		switch f.Name {
		case "dateOfBirth":
			parts, besides = []string{years, months, days}, "geburts date datum"
		case "phoneNumber":
		default:
			continue
		}
		for _, words := range parts {
			all[words] = matcherOf(words, f.Headings+" "+besides+" "+neutralWords)
		}
	}
	return all
})

// isPart reports whether the header of a column with values names a part.
func (c *choice) isPart(at int, words string) bool {
	return 0 <= at && at < len(c.filled) && c.filled[at] && len(c.table.Header[at]) <= maxHeader &&
		partPatterns()[words].MatchString(letters(c.table.Header[at]))
}

// isCode is isPart for a column with short numbers.
func (c *choice) isCode(at int, words string) bool {
	return c.isPart(at, words) && c.most(at, func(cell sheet.Cell) bool { return phoneCode().MatchString(cell.Text) })
}

var phoneCode = lazy(`^\(?\+?\d{1,6}\)?[-/ ]*$`)

// most reports whether the cells of a column satisfy is, except for one of at least four, or one in
// oddOnes. Cells without a value do not count.
func (c *choice) most(at int, is func(sheet.Cell) bool) bool {
	all, odd := 0, 0
	for _, row := range c.table.Rows {
		if cell := row.Cell(at); cell.Text != "" && !hasNoValue(cell) {
			if all++; !is(cell) {
				odd++
			}
		}
		if odd > 1 && odd*oddOnes > len(c.table.Rows) {
			break
		}
	}
	return odd*oddOnes <= all || odd == 1 && all > 3
}

// only returns the only column with values that satisfies is, or -1.
func (c *choice) only(is func(at int) bool) int {
	found := -1
	for at := range c.filled {
		if c.filled[at] && is(at) {
			if found >= 0 {
				return -1
			}
			found = at
		}
	}
	return found
}

// findJoins finds the fields whose parts are in several columns, unless options assign one of these
// columns to something else.
func (c *choice) findJoins(assigned map[int]string) {
	if c.table.Format == sheet.VCard || c.table.Ours {
		return
	}
	for _, j := range slices.Concat(c.birthJoins(), c.titleJoins(), c.nameJoins(), c.phoneJoins()) {
		other := func(at int) bool {
			wish := Column{Field: assigned[at]}
			_, ok := assigned[at]
			return ok && wish.Field != j.field && !(wish.IsFullName() && Column{Field: j.field}.IsFullName())
		}
		if slices.ContainsFunc(j.parts, other) {
			continue
		}
		for _, at := range j.parts {
			c.fields[at], c.joined[at] = j.field, at != j.at
		}
		c.joins = append(c.joins, j)
	}
}

// birthJoins returns the join of a day, month and year, or of a birthday and a year.
func (c *choice) birthJoins() []join {
	isBirth := func(at int) bool { return c.fields[at] == "dateOfBirth" }
	year := c.only(func(at int) bool { return c.isPart(at, years) })
	month := c.only(func(at int) bool { return c.isPart(at, months) })
	day := c.only(func(at int) bool { return isBirth(at) || c.isPart(at, days) })
	if year < 0 || day < 0 {
		return nil
	}
	if month >= 0 {
		first, last := min(year, month, day), max(year, month, day)
		isDay := func(cell sheet.Cell) bool { return oneOrTwo().MatchString(cell.Text) }
		isBirthWord := func(header string) bool { return birthWord().MatchString(letters(header)) }
		if !c.most(day, isDay) || last-first > 2 && !slices.ContainsFunc(c.table.Header, isBirthWord) {
			return nil
		}
		return []join{{"dateOfBirth", first, []int{day, month, year}, joinDate}}
	}
	if isBirth(day) && slices.ContainsFunc(c.table.Rows, func(r sheet.Row) bool { return isBirthday(plainSpaces(r.Cell(day).Text)) }) {
		return []join{{"dateOfBirth", min(day, year), []int{day, year}, joinYear}}
	}
	return nil
}

var birthWord = lazy(`birth|dob|geb|naiss|nacim|rod`)

var (
	oneOrTwo  = lazy(`^\d{1,2}\.?$`)
	fourAlone = lazy(`^\d{4}$`)
)

// joinDate returns a date with the day, month and year. A day that is a date remains unchanged.
func joinDate(parts []string) string {
	day, month, year := strings.TrimRight(parts[0], ". "), strings.TrimRight(parts[1], ". "), parts[2]
	switch {
	case day != "" && !oneOrTwo().MatchString(day):
		return parts[0]
	case oneOrTwo().MatchString(day) && oneOrTwo().MatchString(month) && fourAlone().MatchString(year):
		return fmt.Sprintf("%s-%02d-%02d", year, number(month), number(day))
	case strings.Trim(month, "0123456789") != "":
		return strings.Join(strings.Fields(day+" "+month+" "+year), " ")
	}
	return strings.Trim(day+"."+month+"."+year, ".")
}

// joinYear returns a birthday with a year. A birthday that has one, or is missing, remains unchanged.
func joinYear(parts []string) string {
	day, year := parts[0], parts[1]
	separator := strings.IndexAny(day, "./-")
	switch {
	case year == "", !isBirthday(plainSpaces(day)):
		return day
	case separator < 0 || strings.Trim(day, "0123456789./- ") != "":
		return strings.TrimSpace(day + " " + year)
	}
	return strings.TrimRight(day, "./- ") + day[separator:separator+1] + year
}

// named returns a function that reports whether the header of a column is one of words.
func (c *choice) named(words string) func(at int) bool {
	return func(at int) bool { return slices.Contains(strings.Fields(words), letters(c.table.Header[at])) }
}

// column returns the only column with values of a field, or -1.
func (c *choice) column(field string) int {
	return c.only(func(at int) bool { return c.fields[at] == field })
}

// titleJoins returns the join of academic titles with the first name, or else with the full name.
// Salutations and ranks in their column are left out, and counted.
func (c *choice) titleJoins() []join {
	isTitle := c.named(`titel title titles titre titres titulo titolo tytul titula titule titul naziv naslov akadtitel akadtitul
		akademischertitel akademskititul tytulnaukowy titreuniversitaire anrede civilite prefix nameprefix honorific`)
	title := c.only(func(at int) bool {
		return isTitle(at) && slices.ContainsFunc(c.table.Rows, func(r sheet.Row) bool { return academic(r.Cell(at).Text) != "" })
	})
	name, field := c.column("firstName"), "firstName"
	if hasLast := c.column("lastName") >= 0; name < 0 && hasLast {
		name = c.column(plainName)
	} else if name < 0 {
		name = c.only(func(at int) bool {
			return c.fields[at] == plainName || c.fields[at] == FullName || c.fields[at] == LastFirst
		})
		if field = FullName; name >= 0 && c.fields[name] == LastFirst {
			field = LastFirst
		}
	}
	if title < 0 || name < 0 {
		return nil
	}
	return []join{{field, name, []int{title, name}, func(parts []string) string {
		titles := academic(parts[0])
		if titles != parts[0] {
			c.count(NoteNoTitles, sheet.Quoted(parts[0]))
		}
		if titles == "" || parts[1] == "" {
			return parts[1]
		}
		last, first, _ := strings.Cut(parts[1], ",")
		if field == "firstName" || first == "" {
			return titles + " " + parts[1]
		}
		return last + ", " + titles + first
	}}}
}

// academic returns the academic titles in a text, or an empty text if it has other words than these and
// salutations: "Dr." for "Herr Dr.".
func academic(text string) string {
	var all []string
	if len(text) > maxHeader {
		return ""
	}
	for _, word := range alike.Words(text) {
		switch folded := fold.String(word.Text); {
		case salutations[strings.ReplaceAll(folded, ".", "")] && folded != word.Text:
		case word.Title == alike.Academic, isDegree(word, true):
			all = append(all, word.Text)
		default:
			return ""
		}
	}
	return strings.Join(all, " ")
}

// nameJoins returns the join of a last name with the prefix before it in Dutch and German lists, the second last
// name in Spanish lists, and a suffix such as Jr.
func (c *choice) nameJoins() []join {
	named, last := c.named, c.column("lastName")
	if last < 0 && c.column("firstName") >= 0 {
		last = c.column(plainName)
	}
	var parts []int
	for _, at := range []int{c.only(func(at int) bool {
		return named("tussenvoegsel tussenvoegsels voorvoegsel")(at) || named("namenszusatz namensvorsatz vorsatzwort vorsatz")(at) &&
			c.most(at, func(cell sheet.Cell) bool { return allParticles(cell.Text) })
	}), last, c.only(func(at int) bool {
		return named("segundoapellido apellidomaterno")(at) || named("apellido")(at) && strings.Contains(c.table.Header[at], "2")
	}), c.only(func(at int) bool {
		return named("suffix namesuffix suffixe")(at) && c.most(at, func(cell sheet.Cell) bool { return isSuffix(cell.Text) })
	})} {
		if at >= 0 {
			parts = append(parts, at)
		}
	}
	if last < 0 || len(parts) < 2 {
		return nil
	}
	return []join{{"lastName", last, parts, func(parts []string) string {
		return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return letters(part) == "" }), " ")
	}}}
}

// allParticles reports whether a text has only words before a last name, such as "von der".
func allParticles(text string) bool {
	return !slices.ContainsFunc(strings.Fields(fold.String(text)), func(word string) bool { return !particles[word] })
}

// isSuffix reports whether a text is a generational suffix, such as Jr or III, perhaps without its period.
func isSuffix(text string) bool {
	all := alike.Words("Ana Kos " + strings.ToUpper(strings.TrimSuffix(text, ".")) + ".")
	return len(all) == 3 && all[2].Title == alike.Generation
}

// phoneJoins returns the joins of a number with the codes before it and the extension after it.
func (c *choice) phoneJoins() (joins []join) {
	for at := range c.filled {
		isPhone := c.fields[at] == "phoneNumber"
		first, number := at, 0
		if c.isCode(first-1, areaCodes) {
			first--
		}
		country := c.isCode(first-1, countryCodes)
		if country {
			first--
		}
		if number = at - first; !isPhone && (number == 0 || !c.isPart(at, numberAlone)) {
			continue
		}
		parts := []int{}
		for i := first; i <= at; i++ {
			parts = append(parts, i)
		}
		if c.isCode(at+1, extensions) {
			parts = append(parts, at+1)
		}
		if len(parts) > 1 {
			joins = append(joins, join{"phoneNumber", at, parts, func(parts []string) string { return joinPhone(parts, number, country) }})
		}
	}
	return joins
}

// joinPhone returns the number at an index with the codes before it, of which the first may be a
// country code, and the extension after it.
func joinPhone(parts []string, at int, country bool) string {
	number := parts[at]
	if number == "" {
		return ""
	}
	for i := at - 1; i >= 0; i-- {
		code := strings.Trim(parts[i], "-/ ")
		if digits := strings.TrimLeft(code, "+(0"); country && i == 0 && digits != "" {
			code = "+" + strings.TrimRight(digits, ")")
		}
		number = withCode(code, number)
	}
	if at+1 < len(parts) && parts[at+1] != "" {
		number += " ext. " + parts[at+1]
	}
	return number
}

// italy keeps the 0 of a number after its country code.
const italy = "+39"

// withCode puts a code before a number, unless the number is complete. After a country code, a 0 is
// in brackets.
func withCode(code, number string) string {
	isNational := func(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, "("), "0") }
	switch {
	case code == "", strings.HasPrefix(number, "+"), strings.HasPrefix(number, "00"), isNational(number) && isNational(code):
		return number
	case number[0] == '0' && code[0] == '+' && code != italy:
		number = "(0)" + number[1:]
	}
	return code + " " + number
}

// joinParts puts the texts of a join into its column, empties its other columns, and adds a note.
func (p *prepared) joinParts(j join, columns []Column) {
	var headers, example Headers
	result := ""
	for _, at := range j.parts {
		headers = append(headers, columns[at].Header)
	}
	for i, row := range p.Rows {
		if p.isSkipped(i) {
			continue
		}
		texts, filled := make([]string, len(j.parts)), Headers(nil)
		for n, at := range j.parts {
			if texts[n] = row.Cell(at).Text; texts[n] != "" {
				filled = append(filled, texts[n])
			}
		}
		text := j.text(texts)
		if len(filled) == 0 || len(filled) == 1 && text != "" && row.Cell(j.at).Text == text {
			continue
		}
		if len(filled) > 1 && example == nil && text != row.Cell(j.at).Text {
			example, result = filled, text
		}
		if text == "" {
			p.count(NoteNoValue, sheet.Quoted(filled[0]))
		}
		for _, at := range j.parts {
			p.set(i, at, "")
		}
		p.set(i, j.at, text)
	}
	if example != nil {
		field := j.field
		if field == LastFirst {
			field = FullName
		}
		p.add(NoteParts, FieldName(field), headers, example, sheet.Quoted(result))
	}
}
