// Package code makes codes that people read out and type. They have no
// characters that look alike.
package code

import (
	"crypto/rand"
	"math"
	"math/big"
	"strings"
	"unicode"
)

// alphabet has the digits of a code. It leaves out 0, 1, 2, 5, 8, B, I, L, O, S
// and Z, because each of them looks like another.
const alphabet = "34679ACDEFGHJKMNPQRTUVWXY"

const base = uint64(len(alphabet))

// New returns a random code of so many characters.
func New(length int) string {
	text := make([]byte, length)
	for i := range text {
		digit, _ := rand.Int(rand.Reader, big.NewInt(int64(base))) // never returns an error
		text[i] = alphabet[digit.Int64()]
	}
	return string(text)
}

// Grouped returns a code in groups of four characters with dashes between them.
func Grouped(text string) string {
	var b strings.Builder
	for i, r := range text {
		if i > 0 && i%4 == 0 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Normalize returns a code that somebody has typed as New returns it: in upper
// case, without spaces and dashes.
func Normalize(text string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) {
			return -1
		}
		return r
	}, text))
}

// FromNumber returns the last so many digits of a number as a code.
func FromNumber(n uint64, length int) string {
	text := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		text[i] = alphabet[n%base]
		n /= base
	}
	return string(text)
}

// Number returns the number of a code as somebody has typed it. It reports
// whether the text is the code of a number.
func Number(text string) (n uint64, ok bool) {
	text = Normalize(text)
	for _, r := range text {
		digit := strings.IndexRune(alphabet, r)
		if digit < 0 || n > (math.MaxUint64-uint64(digit))/base {
			return 0, false
		}
		n = n*base + uint64(digit)
	}
	return n, text != ""
}
