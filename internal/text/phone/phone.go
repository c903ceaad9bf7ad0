// Package phone finds the telephone numbers in a text.
package phone

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/regex"
)

// Number is a telephone number.
type Number struct {
	Dial      string // the digits to dial, after a + if they start with a calling code
	Extension string // the digits to dial after the call is answered; empty: none
}

// Link returns the number for a tel: link (RFC 3966).
func (n Number) Link() string { return n.with(";ext=") }

// Contact returns the number for the contacts of a phone, which dials an extension after a pause.
func (n Number) Contact() string { return n.with(",") }

func (n Number) with(separator string) string {
	if n.Extension == "" {
		return n.Dial
	}
	return n.Dial + separator + n.Extension
}

// Numbers returns all numbers in a text that are certain, in order: those of at least five digits,
// and an emergency number that is the whole text. It returns none of several that it cannot separate.
func Numbers(text string) []Number { return read(text).numbers }

// Parts splits a text at spaces that are not part of a number. An extension is a separate part.
func Parts(text string) (parts []string) {
	numbers := Numbers(text)
	if len(numbers) < 2 && !strings.ContainsFunc(text, unicode.IsLetter) {
		return []string{text}
	}
	start := 0
	for at := 0; at < len(text)-1; at++ {
		if text[at] != ' ' {
			continue
		}
		before, after := Numbers(text[start:at]), Numbers(text[at+1:])
		if slices.EqualFunc(append(before, after...), numbers, func(a, b Number) bool { return a.Dial == b.Dial }) {
			parts, start, numbers = append(parts, text[start:at]), at+1, after
		}
	}
	return append(parts, text[start:])
}

// Limits on the digits of a number. A shorter one is internal. Few countries have national numbers of
// more than eleven digits, in addition to a leading zero; without a zero, the first may be a calling
// code.
const (
	leastDigits       = 5
	mostNational      = 12
	mostWithoutZero   = 13
	mostInternational = 15
)

// emergency are emergency numbers. Shorter and other numbers of three digits may be internal.
const emergency = " 000 110 111 112 113 115 117 118 119 120 122 123 131 132 133 140 144 150 155 158 190 191 192 193 194 195 " +
	"911 991 993 994 997 998 999 15 17 18 "

// keepZero are the calling codes after which a zero is dialled.
const keepZero = " 39 225 241 242 378 379 "

var lazy = regex.Lazy

var (
	// noise matches what has digits but is not a number: an e-mail address, a number in scientific
	// notation, a date with a year, a time, and an ordinal such as "2. ".
	noise = lazy(`(?i)\S*@\S*|[+-]?\d+(?:[.,]\d+)?e\+?\d+` +
		`|\b[0-3]?\d[./-][0-3]?\d[./-](?:19|20)\d\d\b|\b(?:19|20)\d\d-[01]\d-[0-3]\d\b` +
		`|(?:^|[ (,;/])(?:00?-24|24/7|(?:[0-2]?\d(?:[:.]\d\d)? ?- ?[0-2]?\d(?:[:.]\d\d)? ?|[0-2]?\d(?:[:.]\d\d)?)` +
		`(?:h|hrs|uhr|am|pm))\b` +
		`|(?:^|[ (,;/])[1-9](?:\. |\.$)|(?:^|[ ,;/])[1-9]\) `)
	run       = lazy(`(?:[+(] ?)*\d[\d /.()-]*`)
	isFloat   = lazy(`^\+?\d{6,}\.0+$`)
	extension = lazy(`^[ ,;(/-]*(?i:extensi[oó]n|ext|x|#|durchwahl|dw|klappe|kl|nebenstelle|nst|apparat|app|` +
		`poste|interno|interni|internal|int|anexo|lokal|lok|wewn|wew|w|toestel|tst|ku[cć]ni)[ .:=#]*(\d{1,6})(?: */|[. ]*[^\d /.-]|$)`)
)

// maxText is the maximum length of a text with numbers, in bytes. A record has up to 50 characters.
const maxText = 256

// result is what a text contains.
type result struct {
	numbers []Number
	others  string // the rest, with the digits that are not part of a number
}

func read(text string) (r result) {
	if len(text) > maxText {
		return result{others: text}
	}
	text = strings.Trim(strings.Map(plain, fold.Clean(text)), " .")
	isSimple := isSimple(text) // saves most of the time
	if !isSimple && unclear().MatchString(text) {
		return result{others: text}
	}
	if mayHaveNoise(text) {
		text = noise().ReplaceAllString(text, ";")
	}
	whole := strings.Trim(text, " ()")
	if strings.Contains(emergency, " "+whole+" ") && !strings.Contains(whole, " ") && whole != "" {
		return result{numbers: []Number{{Dial: whole}}}
	}
	if isSimple {
		r.add(text)
		return r
	}
	for {
		at := run().FindStringIndex(text)
		if at == nil {
			r.others += text
			return r
		}
		part, rest := text[at[0]:at[1]], text[at[1]:]
		r.others += text[:at[0]]
		before := len(r.numbers)
		r.add(part)
		if found := extension().FindStringSubmatch(rest); found != nil && len(r.numbers) > before {
			r.numbers[len(r.numbers)-1].Extension = found[1]
			rest = rest[strings.Index(rest, found[1])+len(found[1]):]
		}
		text = rest
	}
}

// mayHaveNoise reports whether noise may match a text. It costs much more than the rest.
func mayHaveNoise(text string) bool {
	separators := strings.Count(text, "/") + strings.Count(text, "-")
	return strings.Trim(text, "0123456789 +/-()") != "" || separators > 1 || separators > 0 && strings.Contains(text, "24") ||
		strings.Count(text, "(") != strings.Count(text, ")")
}

// isSimple reports whether a text is a run of digits and spaces, with or without a plus before it.
func isSimple(text string) bool {
	digits := strings.TrimPrefix(text, "+")
	return digits != "" && digits[0] != ' ' && strings.Trim(digits, "0123456789 ") == ""
}

// unclear matches a plus between digits, and a letter in place of a digit.
var unclear = lazy(`\d\+\d|(?:\b|\d)[oOIl]\d|\d[oOIl]\b`)

// plain maps characters that separate digits to their ASCII forms, and line breaks to a comma.
func plain(c rune) rune {
	switch {
	case c == '\n' || c == '\r':
		return ','
	case c == '\u00a0' || c == '\u2007' || c == '\u2009' || c == '\u202f' || c == '\t':
		return ' '
	case c >= '\u2010' && c <= '\u2015' || c == '\u2212':
		return '-'
	}
	return c
}

// group is a run of digits and the characters before it.
type group struct{ before, digits string }

// add adds the numbers in a run of digits and separators.
func (r *result) add(part string) {
	part = strings.TrimRight(part, " /.(-")
	if strings.Contains(part, ".") && isFloat().MatchString(part) {
		part, _, _ = strings.Cut(part, ".")
	}
	var all []group
	for before, rest := "", part; rest != ""; {
		start := strings.IndexFunc(rest, func(c rune) bool { return c >= '0' && c <= '9' })
		if start < 0 {
			break
		}
		before, rest = rest[:start], rest[start:]
		end := strings.IndexFunc(rest+" ", func(c rune) bool { return c < '0' || c > '9' })
		all = append(all, group{before, rest[:end]})
		rest = rest[end:]
	}
	first := 0
	for i := 1; i < len(all); i++ {
		if isEnd(all[first:i], all[i:]) {
			r.addNumber(all[first:i])
			first = i
		}
	}
	r.addNumber(all[first:])
}

// isEnd reports whether a number ends between two lists of groups.
func isEnd(left, right []group) bool {
	before, number, next := right[0].before, joined(left), right[0].digits
	significant := strings.TrimLeft(number, "0")
	zero, abroad := len(significant) < len(number), strings.Contains(left[0].before, "+")
	if abroad || strings.HasPrefix(number, "00") {
		_, significant = CutCode(significant)
		significant = strings.TrimLeft(significant, "0") // +385 (0)91
	}
	remaining := len(joined(right))
	switch {
	case strings.Contains(before, "/"):
		const mostArea, mostAreaWithoutZero = 5, 3 // 037298 in Germany, 555 in the US
		isArea := len(significant) <= mostAreaWithoutZero || (zero || abroad) && len(significant) <= mostArea
		return !isArea || !zero && !abroad && next[0] == '0' // an emergency number and another one
	case strings.Contains(before, "("):
		return len(significant) >= leastDigits
	case strings.Contains(before, "  "), strings.Contains(before, " - "):
		return len(significant) >= 7 && remaining >= 7
	case len(number)+len(joined(untilSlash(right))) <= limit(number, abroad):
		return false
	}
	return next[0] == '0' && len(number) >= 9 && remaining >= 9 || len(left) == 1 && len(number) >= 6 && len(next) >= 6
}

// untilSlash returns the groups before the first slash.
func untilSlash(groups []group) []group {
	at := slices.IndexFunc(groups[1:], func(g group) bool { return strings.Contains(g.before, "/") })
	if at < 0 {
		return groups
	}
	return groups[:at+1]
}

func joined(groups []group) (digits string) {
	for _, g := range groups {
		digits += g.digits
	}
	return digits
}

// limit returns the maximum number of digits of a number that starts with digits.
func limit(digits string, abroad bool) int {
	switch {
	case abroad, strings.HasPrefix(digits, "00"):
		return mostInternational + len("00")
	case strings.HasPrefix(digits, "0"):
		return mostNational
	}
	return mostWithoutZero
}

// addNumber adds the number of some groups, or its digits if it is not certain.
func (r *result) addNumber(groups []group) {
	if len(groups) == 0 {
		return
	}
	number, abroad := joined(groups), strings.Contains(groups[0].before, "+")
	most := limit(number, abroad)
	if rest, found := strings.CutPrefix(number, "00"); found && !abroad {
		abroad, number = true, rest
	}
	if abroad {
		code, rest := CutCode(number)
		if !strings.Contains(keepZero, " "+code+" ") {
			rest = strings.TrimLeft(rest, "0")
		}
		most = mostInternational
		if number = code + rest; code == "" {
			most = 0
		}
	}
	switch {
	case len(number) < leastDigits || len(number) > most:
		r.others += number
	case abroad:
		r.numbers = append(r.numbers, Number{Dial: "+" + number})
	default:
		r.numbers = append(r.numbers, Number{Dial: number})
	}
}
