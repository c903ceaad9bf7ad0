package mapping

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// dateKind classifies how a cell expresses a date.
type dateKind uint8

const (
	noDate    dateKind = iota // empty cell
	itself                    // unambiguous
	yearFirst                 // unambiguous, year first, but not in ISO 8601 form
	numbers                   // three numbers in the order of the column
	noYear                    // birthday without a year
	unreadable
)

type date struct {
	kind dateKind
	iso  string // for kind itself: a date or date-time accepted by a record
	// The three numbers of other dates. c is the year; a is the year for yearFirst and YMD.
	a, b, c   int
	separator string // between the numbers
	twoDigits bool   // the year has two digits
}

type births struct {
	column   int // -1: none
	dates    []date
	table    *sheet.Table
	orders   map[string]string // order of numeric dates by separator
	reported string            // order, if any cell required it and no question is open
	now      time.Time
	country  string // of the department

	questions []sheet.Question
	notes     *tally
}

// readBirths parses the dates of a table and determines their order. The error is the error of ctx.
func readBirths(ctx context.Context, t *sheet.Table, columns []Column, o Options, notes *tally) (*births, error) {
	b := &births{notes: notes, table: t, now: o.Now, country: o.Country, orders: map[string]string{}}
	b.column = slices.IndexFunc(columns, func(c Column) bool { return c.Field == "dateOfBirth" })
	if b.column < 0 {
		return b, nil
	}
	b.dates = make([]date, len(t.Rows))
	for i, row := range t.Rows {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		if cell := row.Cell(b.column); cell.Text != "" {
			b.dates[i] = b.read(cell)
		}
	}
	header := columns[b.column].Header
	b.decide(header, o)
	b.askDoubts(header, o)
	return b, nil
}

// votes are the dates with one separator, by what they settle.
type votes struct {
	separator string
	all       int
	count     map[string]int
	first     map[string]int // row of the first such date
}

// oddOnes is the number of dates among which one in another order is a mistake.
const oddOnes = 20

// dot is the separator of dates with the day first, unless they show otherwise.
const dot = "."

// countVotes returns the votes for each separator, and whether a date starts with a four-digit year.
func (b *births) countVotes() (groups []*votes, yearAhead bool) {
	for i, d := range b.dates {
		if yearAhead = yearAhead || d.kind == yearFirst; d.kind != numbers {
			continue
		}
		at := slices.IndexFunc(groups, func(g *votes) bool { return g.separator == d.separator })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &votes{separator: d.separator, count: map[string]int{}, first: map[string]int{}})
		}
		g, settled := groups[at], d.settles()
		if g.all++; g.count[settled] == 0 {
			g.first[settled] = i
		}
		g.count[settled]++
	}
	return groups, yearAhead
}

// decide determines the order of the dates with each separator, and the order to report. The answer
// is the order of the dates that do not settle it, or of all dates if they settle it.
func (b *births) decide(header string, o Options) {
	groups, yearAhead := b.countVotes()
	answer, open := o.Answers[AskDates], b.settle(header, groups, o.Answers[AskDates] == "")
	if len(open) > 0 {
		b.ask(header, open, o)
	} else if answer != "" {
		for _, g := range groups {
			b.orders[g.separator] = answer
		}
	}
	most := 0
	for _, g := range groups {
		if g.all > most && (len(open) == 0 || answer != "") {
			most, b.reported = g.all, b.orders[g.separator]
		}
	}
	if len(groups) == 0 && yearAhead {
		b.reported = YMD
	}
}

// settle determines the order for each separator. Dates that settle nothing have the order that the
// header states, or else the order of the dates with other separators, or else the order of the
// country unless there is an answer. It returns the votes that leave the order open.
func (b *births) settle(header string, groups []*votes, byCountry bool) (open []*votes) {
	support, usual := map[string]int{}, orderIn(b.country)
	for _, g := range groups {
		order, conflict := g.majority(usual)
		if conflict {
			open = append(open, g)
			continue
		}
		if order == "" && g.count[eitherOrder] > 0 {
			order = orderOf(header)
		}
		byDot := order == "" && g.count[eitherOrder] > 0 && g.separator == dot
		if byDot {
			order = DMY
		}
		if b.orders[g.separator] = order; order != "" && !(byDot && usual != "") {
			support[order] += g.all
		}
	}
	for _, g := range groups {
		if b.orders[g.separator] != "" || g.count[eitherOrder] == 0 || slices.Contains(open, g) {
			continue
		}
		for order, n := range support {
			if len(support) == 1 && n*oddOnes > g.all {
				b.orders[g.separator] = order
			}
		}
		switch {
		case b.orders[g.separator] != "":
		case byCountry && usual != "":
			b.orders[g.separator] = usual
			row := g.first[eitherOrder]
			day, _ := b.in(b.dates[row], usual)
			for range g.count[eitherOrder] {
				b.notes.count(NoteUsual, sheet.ReadDay{Text: b.table.Rows[row].Cell(b.column).Text, Day: day})
			}
		default:
			open = append(open, g)
		}
	}
	return open
}

// orderForms match the orders in headers such as "DOB (MM/DD/YYYY)" and "geb. (TT.MM.JJJJ)".
var orderForms = map[string]func() *regexp.Regexp{
	DMY: lazy(`\b(?:d|t|j|g){2}[-./ ]*mm`),
	MDY: lazy(`mm[-./ ]*(?:d|t|j|g){2}[-./ ]*\pL`),
	YMD: lazy(`\b(?:y|j|a|g|r|l){4}[-./ ]*mm`),
}

// orderOf returns the order of dates that a header states, or an empty string.
func orderOf(header string) string {
	header = fold.String(header)
	for _, order := range Orders {
		if orderForms[order]().MatchString(header) {
			return order
		}
	}
	return ""
}

// majority returns the order of most dates. conflict reports that the others are too many to be
// mistakes. One date is a mistake if the order is usual in the country, or if at least three others and no
// date in two orders are against it. One date against the country does not decide about others.
func (v *votes) majority(usual string) (order string, conflict bool) {
	all, most := 0, 0
	for _, o := range Orders {
		n := v.count[o]
		if all += n; n > most || n == most && n > 0 && o == usual {
			order, most = o, n
		}
	}
	if all == 1 && usual != "" && order != usual && order != YMD && v.count[eitherOrder] > 0 {
		return order, true
	}
	one := all-most == 1 && (order == usual || most > 2 && v.count[eitherOrder] == 0)
	return order, !one && (all-most)*oddOnes > all && !(v.separator == dot && order == DMY)
}

// orderIn returns the order of dates in a country, or an empty string if it is unknown or several are
// usual.
func orderIn(country string) string {
	switch {
	case country == "", strings.Contains("CA CN JP KR TW", country):
		return ""
	case strings.Contains("US PR GU VI AS MP UM PH FM PW MH", country):
		return MDY
	}
	return DMY
}

// ask adds the question for the order of dates. Its first option fits most dates and counts until the
// answer.
func (b *births) ask(header string, open []*votes, o Options) {
	q, texts := sheet.Question{Kind: AskDates, Columns: []string{header}, Answer: o.Answers[AskDates]}, sheet.Examples{}
	orders, usual := slices.Clone(Orders), orderIn(o.Country)
	if usual == MDY {
		orders[0], orders[1] = MDY, DMY
	}
	slices.SortStableFunc(orders, func(a, b string) int {
		more := 0
		for _, g := range open {
			more += g.count[b] - g.count[a]
		}
		return more
	})
	for _, order := range orders {
		option, settled := sheet.Option{Value: order}, false
		for _, g := range open {
			at, votes := g.first[order]
			if _, conflict := g.majority(usual); !votes && conflict && (order != usual || g.count[eitherOrder] == 0) {
				continue
			} else if !votes {
				at = g.first[eitherOrder]
			}
			settled = settled || votes
			text := b.table.Rows[at].Cell(b.column).Text
			if day, ok := b.in(b.dates[at], order); ok && day.Exists() && option.Example == nil {
				option.Example = sheet.ReadDay{Text: text, Day: day}
			}
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		if settled || option.Example != nil {
			q.Options = append(q.Options, option)
		}
	}
	q.Args = []any{sheet.Quoted(header), texts}
	for _, g := range open {
		b.orders[g.separator] = cmp.Or(q.Answer, q.Options[0].Value)
	}
	b.questions = append(b.questions, q)
}

// Evidence of a numeric date for an order, in addition to the orders.
const (
	nothing     = "" // compatible with any order, or with none
	eitherOrder = "either"
)

// settles returns the order that a date implies: a number above 12 is a day, and one above 31 a
// year.
func (d date) settles() string {
	switch isDay := func(n int) bool { return n > 12 }; {
	case d.kind != numbers, isDay(d.a) && isDay(d.b), d.a == 0, d.b == 0:
		return nothing
	case d.a > 31 && d.twoDigits:
		return YMD
	case isDay(d.a):
		return DMY
	case isDay(d.b):
		return MDY
	case d.a == d.b:
		return nothing
	}
	return eitherOrder
}

// day returns the date of birth of a row as accepted by a record.
func (b *births) day(row int) (string, *record.FieldError) {
	d, cell := b.dates[row], b.table.Rows[row].Cell(b.column)
	switch d.kind {
	case noDate: // an unknown date
		return "", nil
	case itself:
		if d.twoDigits {
			b.countTwoDigits(number(d.iso[:4]))
		}
		return d.iso, nil
	case noYear:
		return "", &record.FieldError{Field: "dateOfBirth", Code: NoYear, Detail: "dateOfBirth has no year" + quote(": %q", cell.Text) + "."}
	case unreadable:
		return "", fault("dateOfBirth must be a date with a year, like 1990-05-15%s.", cell.Text)
	}
	order := b.orders[d.separator]
	day, ok := b.in(d, order)
	if !ok || !day.Exists() {
		if d.kind == numbers && order != "" {
			return "", fault("dateOfBirth must be a date that exists, "+orderWords[order]+"%s.", cell.Text)
		}
		return "", fault("dateOfBirth must be a date that exists, like 1990-05-15%s.", cell.Text)
	}
	if d.twoDigits {
		b.countTwoDigits(day.Year)
	}
	return day.String(), nil
}

func (b *births) countTwoDigits(year int) {
	text := fmt.Sprintf("%04d", year)
	b.notes.count(NoteTwoDigits, text[2:], text)
}

func fault(format, text string) *record.FieldError {
	return &record.FieldError{Field: "dateOfBirth", Code: record.Invalid, Detail: fmt.Sprintf(format, quote(", not %q", text))}
}

var orderWords = map[string]string{DMY: "with the day first", MDY: "with the month first", YMD: "with the year first"}

// in returns the date in an order, with a year of four digits. It returns false if the numbers do not
// fit.
func (b *births) in(d date, order string) (day calendar.Date, ok bool) {
	if day, ok = d.in(order); ok && d.twoDigits {
		day = day.Latest(calendar.Of(b.now))
	}
	return day, ok
}

// in returns the date in an order. It returns false if the numbers do not fit.
func (d date) in(order string) (day calendar.Date, ok bool) {
	switch {
	case d.kind == yearFirst:
		return calendar.Date{Year: d.a, Month: time.Month(d.b), Day: d.c}, true
	case order == YMD:
		return calendar.Date{Year: d.a, Month: time.Month(d.b), Day: d.c}, d.twoDigits
	case order == MDY:
		return calendar.Date{Year: d.c, Month: time.Month(d.a), Day: d.b}, true
	}
	return calendar.Date{Year: d.c, Month: time.Month(d.b), Day: d.a}, true
}

// Date formats.
var (
	isoForm = lazy(`^(\d{4}-\d{2}-\d{2})(?:[Tt ] *(\d{2}:\d{2})(:\d{2}(?:[.,]\d+)?)? *` +
		`(?:([Zz]|[+-]\d{2}(?::?\d{2})?)(?:\[[\w/+:-]+\])?)?|([Zz]|[+-]\d{2}:\d{2}))?$`)
	basicForm   = lazy(`^((?:19|20)\d{2})(\d{2})(\d{2})$`)
	numbersForm = lazy(`^(\d{1,4}) ?([-./ ]) ?(\d{1,2}) ?([-./ ]) ?(\d{1,4}) ?\.?(?: ?(?:g|god|godine|r|rok|roku)\.?)?$`)
	timeForm    = lazy(`^(.*\d\.?),? +(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]0+)?)? *(?:([AaPp])\.? ?[Mm]\.?|Uhr)?$`)
	shortYear   = lazy(`^(\D*\d{1,2}\D*[^\d'])'?(\d{2})\.?$`)

	// Birthdays without a year: in vCards, with a placeholder year such as Apple's 1604, and as
	// typed.
	birthdayForms = []func() *regexp.Regexp{
		lazy(`^--(\d{2})-?(\d{2})(?:T.*)?$`),
		lazy(`^(?:1604|0000)[-/]?(\d{2})[-/]?(\d{2})(?:[T ].*)?$`),
		lazy(`^(\d{1,2}) ?[-./] ?(\d{1,2})(?: ?[-./] ?(?:1604|0000))?\.?$`),
	}
)

// isBirthday reports whether text is a day of the year without a year.
func isBirthday(text string) bool {
	for _, form := range birthdayForms {
		if part := form().FindStringSubmatch(text); part != nil {
			a, b := number(part[1]), number(part[2])
			return exists(a, b) || exists(b, a)
		}
	}
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	_, err := lang.ByTag("en").ParseDay(strings.TrimSuffix(text, ".") + " " + strconv.Itoa(leapYear))
	return err == nil
}

const leapYear = 2000

func exists(month, day int) bool {
	return calendar.Date{Year: leapYear, Month: time.Month(month), Day: day}.Exists()
}

// maxDate is the maximum length of a date in bytes, with a weekday, a time and extra spaces.
const maxDate = 200

// read parses a cell, leaving numeric dates unordered. It accepts a leading weekday without
// checking it.
func (b *births) read(cell sheet.Cell) date {
	if len(cell.Text) > maxDate {
		return date{kind: unreadable}
	}
	text := plainSpaces(cell.Text)
	if cell.Kind != sheet.Number && isBirthday(text) {
		return date{kind: noYear}
	}
	d := b.readDate(cell)
	if d.kind != unreadable {
		return d
	}
	word, rest, more := strings.Cut(text, " ")
	if !more || !weekday().MatchString(fold.String(word)) {
		return d
	}
	return b.readDate(sheet.Cell{Text: rest})
}

const weekdays = `monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
	lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
	lunes martes miercoles jueves viernes sabado domingo lun mar mie jue vie sab dom
	ponedjeljak utorak srijeda cetvrtak petak subota nedjelja pon uto sri cet pet sub ned`

var weekday = sync.OnceValue(func() *regexp.Regexp { return whole(either(weekdays) + `\.?,?`) })

func (b *births) readDate(cell sheet.Cell) date {
	if cell.Kind == sheet.Number {
		if day, ok := b.table.Day(cell.Text); ok {
			return date{kind: itself, iso: day}
		}
	}
	text := plainSpaces(cell.Text)
	if d := readISO(text); d.kind == itself {
		return d
	}
	text, midnight := cutTime(text)
	switch iso, part := readISO(text), numbersForm().FindStringSubmatch(text); {
	case !midnight:
		return date{kind: unreadable}
	case iso.kind == itself:
		return iso
	case part != nil:
		return readNumbers(part)
	}
	return b.readWords(text)
}

// plainSpaces collapses spaces and replaces all dashes with hyphens.
func plainSpaces(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Pd, r) {
			return '-'
		}
		return r
	}, text)
}

// readISO parses an ISO 8601 date, with or without hyphens, or a date-time. Without one, the kind is
// unreadable.
func readISO(text string) date {
	if part := isoForm().FindStringSubmatch(text); part != nil {
		iso := part[1] + part[5]
		if part[2] != "" {
			iso += "T" + part[2] + cmp.Or(part[3], ":00") + part[4]
		}
		return date{kind: itself, iso: iso}
	}
	if part := basicForm().FindStringSubmatch(text); part != nil {
		return date{kind: itself, iso: part[1] + "-" + part[2] + "-" + part[3]}
	}
	return date{kind: unreadable}
}

// cutTime removes the time of day. It reports whether the time is midnight or absent.
func cutTime(text string) (rest string, midnight bool) {
	part := timeForm().FindStringSubmatch(text)
	if part == nil {
		return text, true
	}
	hour, _ := strconv.Atoi(part[2])
	if half := strings.ToLower(part[5]); half == "a" && hour == 12 {
		hour = 0
	} else if half == "p" && hour < 12 {
		hour += 12
	}
	return part[1], hour == 0 && part[3] == "00" && strings.Trim(part[4], "0") == ""
}

// readNumbers parses a numeric date.
func readNumbers(part []string) date {
	first, last := part[1], part[5]
	d := date{kind: numbers, a: number(first), b: number(part[3]), c: number(last), separator: part[2], twoDigits: len(last) < 3}
	switch {
	case part[2] != part[4]:
		return date{kind: unreadable}
	case len(first) == 4 && len(last) < 3:
		d.kind, d.twoDigits = yearFirst, false
	case len(first) > 2 || len(last) == 3 || len(last) == 1:
		return date{kind: unreadable}
	}
	return d
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// polishMonths translates folded Polish months. Package lang does not read them, because listopad is
// October in Croatian.
var polishMonths = sync.OnceValue(func() *strings.Replacer {
	months := strings.Fields(`stycznia styczen lutego luty marca marzec kwietnia kwiecien maja maj czerwca czerwiec lipca lipiec
		sierpnia sierpien wrzesnia wrzesien pazdziernika pazdziernik listopada listopad grudnia grudzien`)
	pairs := []string{" roku", "", " rok", "", " r", ""}
	for i, month := range months {
		pairs = append(pairs, month, time.Month(i/2+1).String())
	}
	return strings.NewReplacer(pairs...)
})

func (b *births) readWords(text string) date {
	d := date{kind: itself}
	if b.country == "PL" {
		text = polishMonths().Replace(fold.String(text))
	}
	part := shortYear().FindStringSubmatch(text)
	if part != nil {
		d.twoDigits = true
		text = part[1] + "2000"
	}
	day, err := lang.ByTag("en").ParseDay(text)
	if d.twoDigits {
		day.Year = number(part[2])
		day = day.Latest(calendar.Of(b.now))
	}
	if err != nil || !day.Exists() {
		return date{kind: unreadable}
	}
	d.iso = day.String()
	return d
}
