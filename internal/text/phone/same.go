package phone

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Same reports whether two texts contain the same numbers, however they are written, and the same
// words. In a country (ISO 3166-1 alpha-2), a number without a calling code gets the code of the
// country; if the country is empty, it may have any.
func Same(a, b, country string) bool {
	if a == b {
		return true
	}
	left, right, code := read(a), read(b), CallingCode(country)
	return words(left.others) == words(right.others) &&
		slices.EqualFunc(left.numbers, right.numbers, func(a, b Number) bool { return a.is(b, code) })
}

// words returns the folded letters and digits of a text.
func words(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, fold.String(text))
}

// is reports whether two numbers are the same in a country with a calling code.
func (n Number) is(other Number, code string) bool {
	codeA, a := n.split(code)
	codeB, b := other.split(code)
	sameCode := codeA == codeB || codeA == "" || codeB == ""
	return n.Extension == other.Extension && (a == b && sameCode || n.digits() == other.digits())
}

// trunk are the digits before a national number, by calling code; in other countries a 0.
var trunk = map[string]string{"1": "1", "7": "8", "36": "06"}

// split returns the calling code, for a national number the code of its country, and the digits after it
// and after the trunk prefix. The code is empty if it is unknown.
func (n Number) split(code string) (of, rest string) {
	if abroad, ok := strings.CutPrefix(n.Dial, "+"); ok {
		of, rest = CutCode(abroad)
		return of, strings.TrimPrefix(rest, "0") // in Italy
	}
	prefix, other := trunk[code]
	if rest, ok := strings.CutPrefix(n.Dial, prefix); ok && other && len(rest) >= comparedDigits {
		return code, rest
	}
	rest = strings.TrimPrefix(n.Dial, "0")
	if other && rest != n.Dial {
		return "", rest // perhaps the country is wrong
	}
	return code, rest
}

func (n Number) digits() string { return strings.TrimPrefix(n.Dial, "+") }

// comparedDigits is how many last digits two numbers must share if only one of them has a calling code
// or an area code.
const comparedDigits = 7

// Key returns a key that is equal for numbers of which Share is true.
func (n Number) Key() string {
	number := strings.TrimLeft(n.digits(), "0")
	return number[max(0, len(number)-comparedDigits):]
}

// Share reports whether two lists have a number in common, with or without a calling code or an area
// code: +385 (0)92 354 3631 and 354 3631. Extensions do not matter.
func Share(a, b []Number) bool {
	return slices.ContainsFunc(a, func(n Number) bool {
		short := strings.TrimLeft(n.digits(), "0")
		return slices.ContainsFunc(b, func(other Number) bool {
			short, long := short, strings.TrimLeft(other.digits(), "0")
			if len(short) > len(long) {
				short, long = long, short
			}
			return short == long || len(short) >= comparedDigits && strings.HasSuffix(long, short)
		})
	})
}

// twoDigitCodes are the calling codes of two digits. Codes 1 and 7 have one digit, all others three.
const twoDigitCodes = " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 " +
	"60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 "

// CutCode splits the calling code from the digits of an international number. The code is empty if there
// is none.
func CutCode(digits string) (code, rest string) {
	length := 3
	switch {
	case strings.HasPrefix(digits, "1"), strings.HasPrefix(digits, "7"):
		length = 1
	case len(digits) > 1 && strings.Contains(twoDigitCodes, " "+digits[:2]+" "):
		length = 2
	}
	if strings.HasPrefix(digits, "0") || length > len(digits) {
		return "", digits
	}
	return digits[:length], digits[length:]
}
