// Package apikey makes API keys and recognises mistyped ones.
//
// A key is "ff_", 43 base62 characters that hold 32 random bytes, and six
// base62 characters that hold the CRC-32 (IEEE) of all that stands before them.
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

// New returns a fresh random key.
func New() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails: it ends the program instead
	body := prefix + base62(new(big.Int).SetBytes(secret), secretLength)
	return body + checksum(body)
}

// Hash is what is stored of a key. Any key has one, of whatever format.
func Hash(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

// Mistyped reports whether key has the shape of the keys that New makes but
// not the right checksum.
func Mistyped(key string) bool {
	body := len(key) - checksumLength
	return strings.HasPrefix(key, prefix) &&
		len(key) == len(prefix)+secretLength+checksumLength &&
		key[body:] != checksum(key[:body])
}

func checksum(body string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLength)
}

// base62 writes n in exactly length digits, leading zeros included.
func base62(n *big.Int, length int) string {
	text := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = digits[digit.Int64()]
	}
	return string(text)
}
