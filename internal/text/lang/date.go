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

// dateForm is how a language writes dates: day, afterDay, month, beforeYear, year,
// afterYear, beforeTime, time, afterTime.
type dateForm struct {
	months     []string // as a heading
	genitives  []string // within a date; nil: the months
	afterFirst string   // after the number of the first day, before afterDay
	afterDay   string
	beforeYear string
	afterYear  string
	beforeTime string
	afterTime  string

	// eitherOrder says that some who write the language put the day first, and some
	// the month.
	eitherOrder bool

	// What ParseDay reads beside what Day writes, folded: words that do not change
	// a date, such as "1st", and other names of months.
	fillers  []string
	variants map[string]time.Month
}

// Day returns a date, such as "15 May 1990". The year has four digits at least, so
// that ParseDay reads every one.
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

// Month returns the name of a month as it stands alone, such as in a heading.
func (l *Language) Month(month time.Month) string { return l.dates.months[month-1] }

// Moment returns the date and the time of day of t in its location, such as
// "22 November 2026, 14:05".
func (l *Language) Moment(t time.Time) string {
	return l.Day(calendar.Of(t)) + l.dates.beforeTime + t.Format("15:04") + l.dates.afterTime
}

// Errors of ParseDay, beside AmbiguousError.
var (
	ErrNotADay   = errors.New("not a date")
	ErrNoSuchDay = errors.New("no such day")
)

// AmbiguousError says that a date can be read as two days. Both are written as
// Day writes them.
type AmbiguousError struct{ One, Other string }

func (e *AmbiguousError) Error() string { return fmt.Sprintf("either %s or %s", e.One, e.Other) }

// maxDate is the length in bytes of the longest text that can be a date.
const maxDate = 100

// ParseDay reads a date as people type it. It reads everything that Day writes in
// any of the languages, abbreviated months, the month before the day if it is a
// word, year-month-day, and day, month and year in numbers with points, dashes,
// slashes or spaces between them. The year has four digits.
//
// In English, two numbers of which each can be the month are an AmbiguousError,
// unless points separate them. In the other languages the day is first.
func (l *Language) ParseDay(text string) (calendar.Date, error) {
	return l.parse(text, calendar.Date{})
}

// youngest is the age of the youngest people of whom somebody writes the year of birth
// with two digits and leaves no doubt.
const youngest = 10

// ParseBirth reads a day of birth as ParseDay does, and also with a year of two digits,
// such as "15.5.90" or "90-05-15". That is the latest year in which the day is not after
// today. Where it makes a small child, somebody of more than a hundred years, or a year of
// which two digits are missing, may be meant: an AmbiguousError.
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

// parse reads a date. If there is a today, the year may have two digits.
func (l *Language) parse(text string, today calendar.Date) (d calendar.Date, err error) {
	p, ok := splitDate(text)
	p.today = today
	switch {
	case !ok:
		err = ErrNotADay
	case p.month != 0:
		d, err = p.worded()
	default:
		d, err = p.numeric(l)
	}
	if err == nil && !d.Exists() {
		err = ErrNoSuchDay
	}
	if err != nil {
		return calendar.Date{}, err
	}
	return d, nil
}

// dateParts are the numbers of a date and the month, if it is a word.
type dateParts struct {
	month   time.Month
	numbers []string
	gaps    [4]rune // what stands before, between and behind the numbers
	today   calendar.Date
}

// isYear reports whether a year can be written so.
func (p dateParts) isYear(digits string) bool {
	return len(digits) == 4 || len(digits) == 2 && p.today != calendar.Date{}
}

// date returns a date whose year is written with these digits.
func (p dateParts) date(year string, month, day int) calendar.Date {
	d := calendar.Date{Year: number(year), Month: time.Month(month), Day: day}
	if len(year) == 2 {
		return d.Latest(p.today)
	}
	return d
}

// worded returns the date if the month is a word.
func (p dateParts) worded() (calendar.Date, error) {
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

// longestMonth is the number of days of the longest months.
const longestMonth = 31

// numeric returns the date if it has only numbers.
func (p dateParts) numeric(l *Language) (calendar.Date, error) {
	if len(p.numbers) != 3 || !p.evenly() {
		return calendar.Date{}, ErrNotADay
	}
	a, b, c := p.numbers[0], p.numbers[1], p.numbers[2]
	switch {
	case (len(a) == 4 || p.isYear(a) && number(a) > longestMonth) && len(b) <= 2 && len(c) <= 2:
		return p.date(a, number(b), number(c)), nil
	case len(a) <= 2 && len(b) <= 2 && p.isYear(c):
		return p.ordered(l, c, number(a), number(b))
	}
	return calendar.Date{}, ErrNotADay
}

// evenly reports whether the same separator stands between the numbers, nothing
// before them and at most a point behind them.
func (p dateParts) evenly() bool {
	return p.gaps[0] == 0 && p.gaps[1] == p.gaps[2] && strings.ContainsRune(" ./-", p.gaps[1]) &&
		strings.ContainsRune("\x00 .", p.gaps[3])
}

// ordered tells the day from the month where the year is last.
func (p dateParts) ordered(l *Language, year string, a, b int) (calendar.Date, error) {
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

// number returns the value of a few digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// splitDate splits a text into numbers, words and separators. ok is false if
// there is anything else in it.
func splitDate(text string) (p dateParts, ok bool) {
	text = strings.TrimSpace(text)
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

// span returns the length of the beginning of text for which in is true.
func span(text string, in func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !in(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// separator reports whether r may stand between the parts of a date. Spaces
// around another separator do not count.
func (p *dateParts) separator(r rune) bool {
	gap := &p.gaps[len(p.numbers)]
	switch {
	case unicode.IsSpace(r):
		if *gap == 0 {
			*gap = ' '
		}
		return true
	case r == '\'' || r == '’': // before a year of two digits
		return true
	case unicode.Is(unicode.Pd, r):
		r = '-'
	case r != '.' && r != '/' && r != ',':
		return false
	}
	if *gap != 0 && *gap != ' ' {
		r = ',' // not between numbers
	}
	*gap = r
	return true
}

// word reports whether a date may have the word.
func (p *dateParts) word(w string) bool {
	w = fold.String(w)
	if month := monthWords()[w]; month > 0 && p.month == 0 {
		p.month = month
		return true
	}
	return slices.ContainsFunc(languages, func(l *Language) bool { return slices.Contains(l.dates.fillers, w) })
}

// shortestMonth is the number of letters that tell a month in all languages.
const shortestMonth = 3

// monthWords maps the folded names of the months in all languages, and their
// beginnings, to the months. The beginnings of two months are mapped to none.
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
	return words
})
