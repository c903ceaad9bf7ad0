package apikey

import (
	"crypto/rand"
	"math"
	"math/big"
	"strings"
	"unicode"
)

// codeDigits are the digits of a code, which people read out and type. They leave out 0, 1, 2, 5, 8, B, I, L, O, S
// and Z, because each of them looks like another.
const codeDigits = "34679ACDEFGHJKMNPQRTUVWXY"

const codeBase = uint64(len(codeDigits))

// NewCode returns a random code of so many characters.
func NewCode(length int) string {
	text := make([]byte, length)
	for i := range text {
		digit, _ := rand.Int(rand.Reader, big.NewInt(int64(codeBase))) // never returns an error
		text[i] = codeDigits[digit.Int64()]
	}
	return string(text)
}

// GroupCode returns a code in groups of four characters with dashes between them.
func GroupCode(text string) string {
	var b strings.Builder
	for i, r := range text {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// NormalizeCode returns a code that somebody has typed as NewCode returns it: in upper
// case, without spaces and dashes.
func NormalizeCode(text string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) {
			return -1
		}
		return r
	}, text))
}

// CodeOf returns the last digits of a number, so many, as a code.
func CodeOf(n uint64, length int) string {
	text := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		text[i] = codeDigits[n%codeBase]
		n /= codeBase
	}
	return string(text)
}

// ParseCode returns the number of a code that somebody has typed. It reports
// whether the text is the code of a number.
func ParseCode(text string) (n uint64, ok bool) {
	text = NormalizeCode(text)
	for _, r := range text {
		digit := strings.IndexRune(codeDigits, r)
		if digit < 0 || n > (math.MaxUint64-uint64(digit))/codeBase {
			return 0, false
		}
		n = n*codeBase + uint64(digit)
	}
	return n, text != ""
}
