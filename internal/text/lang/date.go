package lang

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// dateForm describes how a language writes dates: day, afterDay, month, beforeYear, year,
// afterYear, beforeTime, time, afterTime.
type dateForm struct {
	months     []string // nominative, as in a heading
	genitives  []string // used within dates; nil: months
	afterFirst string   // after day 1, before afterDay
	afterDay   string
	beforeYear string
	afterYear  string
	beforeTime string
	afterTime  string

	// eitherOrder is set if some writers of the language put the day first and others the month.
	eitherOrder bool

	// Additional folded words that ParseDay accepts: fillers such as the "st" of "1st", and
	// variants of month names.
	fillers  []string
	variants map[string]time.Month
}

// Day returns a date, such as "15 May 1990". The year has at least four digits, so that ParseDay
// can read every date.
func (l *Language) Day(d calendar.Date) string {
	year := strconv.Itoa(d.Year)
	for len(year) < 4 {
		year = "0" + year
	}
	return l.DayMonth(d.Month, d.Day) + l.dates.beforeYear + year + l.dates.afterYear
}

// DayMonth returns a date without its year, such as "15 May".
func (l *Language) DayMonth(month time.Month, day int) string {
	text, name := strconv.Itoa(day), l.Month(month)
	if day == 1 {
		text += l.dates.afterFirst
	}
	if l.dates.genitives != nil {
		name = l.dates.genitives[month-1]
	}
	return text + l.dates.afterDay + name
}

// Month returns the name of a month in the form used for headings.
func (l *Language) Month(month time.Month) string { return l.dates.months[month-1] }

// Moment returns the date and time of t in its location, such as "22 November 2026, 14:05".
func (l *Language) Moment(t time.Time) string {
	return l.Day(calendar.Of(t)) + l.dates.beforeTime + t.Format("15:04") + l.dates.afterTime
}

// Errors returned by ParseDay, in addition to AmbiguousError.
var (
	ErrNotADay   = errors.New("not a date")
	ErrNoSuchDay = errors.New("no such day")
)

// AmbiguousError reports that a date can mean two different days. Both are in the format of Day.
type AmbiguousError struct{ One, Other string }

func (e *AmbiguousError) Error() string { return fmt.Sprintf("either %s or %s", e.One, e.Other) }

// maxDate is the maximum length of a date in bytes.
const maxDate = 100

// ParseDay parses a date typed by a person. It accepts everything that Day returns in any language,
// abbreviated months, the month before the day if the month is a word, year-month-day, and numeric
// dates separated by periods, hyphens, slashes or spaces. The year must have four digits.
//
// In English, ParseDay returns an AmbiguousError if either number could be the month, unless
// periods separate them. In all other languages the day comes first.
func (l *Language) ParseDay(text string) (calendar.Date, error) {
	return l.parse(text, calendar.Date{})
}

// youngest is the age from which a two-digit year of birth is unambiguous.
const youngest = 10

// ParseBirth parses a date of birth like ParseDay, but also accepts two-digit years, such as
// "15.5.90" or "90-05-15". It chooses the latest year that does not put the date after today. If
// the person would be younger than ten, they may also be over a hundred years old, so ParseBirth
// returns an AmbiguousError.
func (l *Language) ParseBirth(text string, today calendar.Date) (calendar.Date, error) {
	d, err := l.ParseDay(text)
	if !errors.Is(err, ErrNotADay) {
		return d, err
	}
	if d, err = l.parse(text, today); err != nil || d.AgeOn(today) >= youngest {
		return d, err
	}
	old := calendar.Date{Year: d.Year - 100, Month: d.Month, Day: d.Day}
	if !old.Exists() {
		return d, nil
	}
	return calendar.Date{}, &AmbiguousError{l.Day(old), l.Day(d)}
}

// parse parses a date. It accepts two-digit years if today is set.
func (l *Language) parse(text string, today calendar.Date) (d calendar.Date, err error) {
	p, ok := splitDate(text)
	p.today = today
	switch {
	case !ok:
		err = ErrNotADay
	case p.month != 0:
		d, err = p.fromWord()
	default:
		d, err = p.fromNumbers(l)
	}
	if err == nil && !d.Exists() {
		err = ErrNoSuchDay
	}
	if err != nil {
		return calendar.Date{}, err
	}
	return d, nil
}

// dateParts are the numbers of a date, and its month if that is a word.
type dateParts struct {
	month   time.Month
	numbers []string
	gaps    [4]rune // separators before, between and after the numbers
	today   calendar.Date
}

// isYear reports whether digits can be a year.
func (p dateParts) isYear(digits string) bool {
	return len(digits) == 4 || len(digits) == 2 && p.today != calendar.Date{}
}

// date returns a date, completing a two-digit year.
func (p dateParts) date(year string, month, day int) calendar.Date {
	d := calendar.Date{Year: number(year), Month: time.Month(month), Day: day}
	if len(year) == 2 {
		return d.Latest(p.today)
	}
	return d
}

// fromWord returns the date if the month is a word.
func (p dateParts) fromWord() (calendar.Date, error) {
	if len(p.numbers) != 2 {
		return calendar.Date{}, ErrNotADay
	}
	first, second := p.numbers[0], p.numbers[1]
	if len(first) == 4 {
		first, second = second, first
	}
	if len(first) > 2 || !p.isYear(second) {
		return calendar.Date{}, ErrNotADay
	}
	return p.date(second, int(p.month), number(first)), nil
}

// fromNumbers returns the date if it consists of numbers.
func (p dateParts) fromNumbers(l *Language) (calendar.Date, error) {
	if len(p.numbers) != 3 || !p.isEven() {
		return calendar.Date{}, ErrNotADay
	}
	a, b, c := p.numbers[0], p.numbers[1], p.numbers[2]
	switch {
	case (len(a) == 4 || p.isYear(a) && number(a) > 31) && len(b) <= 2 && len(c) <= 2:
		return p.date(a, number(b), number(c)), nil
	case len(a) <= 2 && len(b) <= 2 && p.isYear(c):
		return p.resolveOrder(l, c, number(a), number(b))
	}
	return calendar.Date{}, ErrNotADay
}

// isEven reports whether the numbers have the same separator between them, none before them and at
// most a period after them.
func (p dateParts) isEven() bool {
	return p.gaps[0] == 0 && p.gaps[1] == p.gaps[2] && strings.ContainsRune(" ./-", p.gaps[1]) &&
		strings.ContainsRune("\x00 .", p.gaps[3])
}

// resolveOrder determines the day and the month of a date with the year at the end.
func (p dateParts) resolveOrder(l *Language, year string, a, b int) (calendar.Date, error) {
	isMonth := func(n int) bool { return 1 <= n && n <= 12 }
	dayFirst, monthFirst := p.date(year, b, a), p.date(year, a, b)
	switch {
	case !l.dates.eitherOrder || p.gaps[1] == '.' || !isMonth(a) || a == b:
		return dayFirst, nil
	case isMonth(b):
		return calendar.Date{}, &AmbiguousError{l.Day(dayFirst), l.Day(monthFirst)}
	}
	return monthFirst, nil
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// splitDate splits text into numbers, words and separators. It returns false if text contains
// anything else.
func splitDate(text string) (p dateParts, ok bool) {
	text = strings.TrimSpace(fold.Clean(text))
	if len(text) > maxDate {
		return p, false
	}
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case isDigit(r):
			size = span(text, isDigit)
			p.numbers = append(p.numbers, text[:size])
			ok = len(p.numbers) <= 3
		case isLetter(r):
			size = span(text, isLetter)
			ok = p.word(text[:size])
		default:
			ok = p.separator(r)
		}
		if !ok {
			return p, false
		}
		text = text[size:]
	}
	return p, true
}

func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }

// span returns the length of the longest prefix of text in which all characters satisfy in.
func span(text string, in func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !in(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// separator records r as a separator and reports whether a date may contain it. It ignores spaces
// around other separators.
func (p *dateParts) separator(r rune) bool {
	gap := &p.gaps[len(p.numbers)]
	switch {
	case unicode.IsSpace(r):
		if *gap == 0 {
			*gap = ' '
		}
		return true
	case r == '\'' || r == '’': // before a two-digit year
		return true
	case unicode.Is(unicode.Pd, r):
		r = '-'
	case r != '.' && r != '/' && r != ',':
		return false
	}
	if *gap != 0 && *gap != ' ' {
		r = ',' // invalid between numbers
	}
	*gap = r
	return true
}

// word records a month name and reports whether a date may contain the word.
func (p *dateParts) word(w string) bool {
	w = fold.String(w)
	if month := monthWords()[w]; month > 0 && p.month == 0 {
		p.month = month
		return true
	}
	return slices.ContainsFunc(languages, func(l *Language) bool { return slices.Contains(l.dates.fillers, w) })
}

// shortestMonth is the number of letters that identify a month in all languages.
const shortestMonth = 3

// otherMonths are the folded month names of Italian, Dutch, Slovenian and Hungarian. Polish is not among them:
// its listopad is November, and the Croatian one October.
var otherMonths = []string{
	"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	"januari februari maart april mei juni juli augustus september oktober november december",
	"januar februar marec april maj junij julij avgust september oktober november december",
	"januar februar marcius aprilis majus junius julius augusztus szeptember oktober november december",
}

// monthWords maps the folded month names of all languages, otherMonths, and their prefixes, to months. Prefixes
// shared by two months map to none.
var monthWords = sync.OnceValue(func() map[string]time.Month {
	const none = -1
	words := map[string]time.Month{}
	add := func(name string, month time.Month) {
		for end := shortestMonth; end <= len(name); end++ {
			if known, found := words[name[:end]]; found && known != month {
				words[name[:end]] = none
			} else {
				words[name[:end]] = month
			}
		}
	}
	for _, l := range languages {
		for _, names := range [][]string{l.dates.months, l.dates.genitives} {
			for i, name := range names {
				add(fold.String(name), time.Month(i+1))
			}
		}
		for name, month := range l.dates.variants {
			add(name, month)
		}
	}
	for _, names := range otherMonths {
		for i, name := range strings.Fields(names) {
			add(name, time.Month(i+1))
		}
	}
	return words
})
