// Package apikey makes API keys, recognises mistyped ones, and makes the short codes
// that people read out and type.
//
// A key is "ff_", then 32 random bytes in 43 base62 characters, then the CRC-32
// (IEEE) of all characters before it in six base62 characters.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math"
	"math/big"
	"strings"
	"unicode"
)

const (
	prefix         = "ff_"
	secretBytes    = 32
	secretLength   = 43
	checksumLength = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// codeDigits are the digits of a code. They leave out 0, 1, 2, 5, 8, B, I, L, O, S and
// Z, because each of them looks like another.
const codeDigits = "34679ACDEFGHJKMNPQRTUVWXY"

// New returns a new random key.
func New() string {
	body := prefix + encode(random(), base62, secretLength)
	return body + checksum(body)
}

// NewCode returns a random code of so many characters.
func NewCode(length int) string { return encode(random(), codeDigits, length) }

// Hash returns the SHA-256 of a key of any format. It is stored in place of the
// key.
func Hash(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

// Mistyped reports whether key has the form of the keys that New returns, but
// a wrong checksum.
func Mistyped(key string) bool {
	body := len(key) - checksumLength
	return strings.HasPrefix(key, prefix) &&
		len(key) == len(prefix)+secretLength+checksumLength &&
		key[body:] != checksum(key[:body])
}

func checksum(body string) string {
	return encode(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), base62, checksumLength)
}

// random returns a random number of 256 bits: so many that the last digits of it are
// as random in any base.
func random() *big.Int {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never returns an error; if it fails, the program ends
	return new(big.Int).SetBytes(secret)
}

// encode returns the last digits of n, so many, with leading zeros.
func encode(n *big.Int, digits string, length int) string {
	text := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = digits[digit.Int64()]
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
	return encode(new(big.Int).SetUint64(n), codeDigits, length)
}

// ParseCode returns the number of a code that somebody has typed. It reports
// whether the text is the code of a number.
func ParseCode(text string) (n uint64, ok bool) {
	const base = uint64(len(codeDigits))
	text = NormalizeCode(text)
	for _, r := range text {
		digit := strings.IndexRune(codeDigits, r)
		if digit < 0 || n > (math.MaxUint64-uint64(digit))/base {
			return 0, false
		}
		n = n*base + uint64(digit)
	}
	return n, text != ""
}
