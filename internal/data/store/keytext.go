package store

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// A key is "ff_", then 32 random bytes in 43 base62 characters, then the CRC-32 (IEEE) of all
// characters before it in six base62 characters.
const (
	keyPrefix         = "ff_"
	keySecretBytes    = 32
	keySecretLength   = 43
	keyChecksumLength = 6
	base62            = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// codeDigits are the digits of the short codes that people read out and type. They leave out
// 0, 1, 2, 5, 8, B, I, L, O, S and Z, because each of them looks like another.
const codeDigits = "34679ACDEFGHJKMNPQRTUVWXY"

// KeyHash is the SHA-256 of a key or code. The database stores it in place of the text.
type KeyHash [sha256.Size]byte

// HashKey returns the hash of a key or code of any format.
func HashKey(text string) KeyHash { return sha256.Sum256([]byte(text)) }

func newKeyText() string {
	body := keyPrefix + encodeNumber(randomNumber(), base62, keySecretLength)
	return body + keyChecksum(body)
}

// IsMistyped reports whether text has the format of the keys of this program, but a wrong checksum.
func IsMistyped(text string) bool {
	body := len(text) - keyChecksumLength
	return strings.HasPrefix(text, keyPrefix) &&
		len(text) == len(keyPrefix)+keySecretLength+keyChecksumLength &&
		text[body:] != keyChecksum(text[:body])
}

func keyChecksum(body string) string {
	return encodeNumber(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), base62, keyChecksumLength)
}

// randomNumber returns a random number of 256 bits: so many that its last digits are equally
// random in any base.
func randomNumber() *big.Int {
	secret := make([]byte, keySecretBytes)
	rand.Read(secret) // never returns an error; if it fails, the program ends
	return new(big.Int).SetBytes(secret)
}

// encodeNumber returns the last length digits of n, with leading zeros.
func encodeNumber(n *big.Int, digits string, length int) string {
	text := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = digits[digit.Int64()]
	}
	return string(text)
}

func newCode(length int) string { return encodeNumber(randomNumber(), codeDigits, length) }

// groupCode returns a code in groups of four characters, separated by dashes.
func groupCode(code string) string {
	var groups []string
	for group := range slices.Chunk([]byte(code), 4) {
		groups = append(groups, string(group))
	}
	return strings.Join(groups, "-")
}

// normalizeCode returns a typed code as newCode returns it: in upper case, without spaces, dashes
// and invisible characters.
func normalizeCode(text string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) {
			return -1
		}
		return r
	}, fold.Clean(text)))
}

// CodeOf returns the last length digits of a number as a code.
func CodeOf(n uint64, length int) string {
	return encodeNumber(new(big.Int).SetUint64(n), codeDigits, length)
}

// ParseCode returns the number of a typed code. It reports whether the text is a code of this
// length, which is at most 13.
func ParseCode(text string, length int) (n uint64, ok bool) {
	text = normalizeCode(text)
	for _, r := range text {
		digit := strings.IndexRune(codeDigits, r)
		if digit < 0 {
			return 0, false
		}
		n = n*uint64(len(codeDigits)) + uint64(digit)
	}
	return n, len(text) == length
}
