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
	"math/big"
	"strings"
)

const (
	prefix         = "ff_"
	secretBytes    = 32
	secretLength   = 43
	checksumLength = 6
	digits         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// New returns a new random key.
func New() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never returns an error; if it fails, the program ends
	body := prefix + base62(new(big.Int).SetBytes(secret), secretLength)
	return body + checksum(body)
}

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
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLength)
}

// base62 returns n in length digits, with leading zeros.
func base62(n *big.Int, length int) string {
	text := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = digits[digit.Int64()]
	}
	return string(text)
}
