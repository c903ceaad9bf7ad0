package lang

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Errors of ParseDay, beside AmbiguousError.
var (
	ErrNotADay   = errors.New("not a date")
	ErrNoSuchDay = errors.New("no such day")
)

// AmbiguousError says that a date can be read as two days. Both are written as
// Day writes them.
type AmbiguousError struct{ DayFirst, MonthFirst string }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("either %s or %s", e.DayFirst, e.MonthFirst)
}

// maxDate is the length in bytes of the longest text that can be a date.
const maxDate = 100

// ParseDay reads a date as people type it. It reads everything that Day writes in
// any of the languages, abbreviated months, the month before the day if it is a
// word, year-month-day, and day, month and year in numbers with points, dashes,
// slashes or spaces between them. The year has four digits.
//
// In English, two numbers of which each can be the month are an AmbiguousError,
// unless points separate them. In the other languages the day is first.
func (l *Language) ParseDay(text string) (year int, month time.Month, day int, err error) {
	p, ok := splitDate(text)
	switch {
	case !ok:
		err = ErrNotADay
	case p.month != 0:
		year, month, day, err = p.worded()
	default:
		year, month, day, err = p.numeric(l)
	}
	if err == nil && !exists(year, month, day) {
		err = ErrNoSuchDay
	}
	if err != nil {
		return 0, 0, 0, err
	}
	return year, month, day, nil
}

func exists(year int, month time.Month, day int) bool {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return t.Month() == month && t.Day() == day
}

// dateParts are the numbers of a date and the month, if it is a word.
type dateParts struct {
	month   time.Month
	numbers []string
	gaps    [4]rune // what stands before, between and behind the numbers
}

// worded returns the date if the month is a word.
func (p dateParts) worded() (year int, month time.Month, day int, err error) {
	if len(p.numbers) != 2 {
		return 0, 0, 0, ErrNotADay
	}
	first, second := p.numbers[0], p.numbers[1]
	if len(first) == 4 {
		first, second = second, first
	}
	if len(first) > 2 || len(second) != 4 {
		return 0, 0, 0, ErrNotADay
	}
	return number(second), p.month, number(first), nil
}

// numeric returns the date if it has only numbers.
func (p dateParts) numeric(l *Language) (year int, month time.Month, day int, err error) {
	if len(p.numbers) != 3 || !p.evenly() {
		return 0, 0, 0, ErrNotADay
	}
	a, b, c := p.numbers[0], p.numbers[1], p.numbers[2]
	switch {
	case len(a) == 4 && len(b) <= 2 && len(c) <= 2:
		return number(a), time.Month(number(b)), number(c), nil
	case len(a) <= 2 && len(b) <= 2 && len(c) == 4:
		return l.ordered(number(c), number(a), number(b), p.gaps[1])
	}
	return 0, 0, 0, ErrNotADay
}

// evenly reports whether the same separator stands between the numbers, nothing
// before them and at most a point behind them.
func (p dateParts) evenly() bool {
	return p.gaps[0] == 0 && p.gaps[1] == p.gaps[2] && strings.ContainsRune(" ./-", p.gaps[1]) &&
		strings.ContainsRune("\x00 .", p.gaps[3])
}

// ordered tells the day from the month where the year is last.
func (l *Language) ordered(year, a, b int, separator rune) (int, time.Month, int, error) {
	isMonth := func(n int) bool { return 1 <= n && n <= 12 }
	monthFirst := l.calendar.eitherOrder && separator != '.' && isMonth(a) && a != b
	switch {
	case monthFirst && isMonth(b):
		return 0, 0, 0, &AmbiguousError{l.Day(year, time.Month(b), a), l.Day(year, time.Month(a), b)}
	case monthFirst:
		return year, time.Month(a), b, nil
	}
	return year, time.Month(b), a, nil
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
	return fillers[w]
}

// fillers are the words around a number that do not change a date: "1st", "1er",
// "de", "godine".
var fillers = map[string]bool{"of": true, "st": true, "nd": true, "rd": true, "th": true,
	"er": true, "de": true, "del": true, "god": true, "godine": true}

// monthVariants are the names of months that Day does not write, folded.
var monthVariants = map[string]time.Month{"janner": time.January, "feber": time.February,
	"jaenner": time.January, "maerz": time.March, "mrz": time.March, "setiembre": time.September}

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
		for i := range l.calendar.months {
			add(fold.String(l.calendar.months[i]), time.Month(i+1))
			add(fold.String(l.calendar.genitives[i]), time.Month(i+1))
		}
	}
	for name, month := range monthVariants {
		add(name, month)
	}
	return words
})
