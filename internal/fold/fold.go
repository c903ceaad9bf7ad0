// Package fold reduces text to the form in which it is searched and sorted,
// so that "Čović", "čović" and "Covic" are the same.
package fold

import (
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var caser = cases.Fold() // has no state, and so may be shared

// letters are those that do not decompose, mapped to what people type for them.
var letters = map[rune]string{
	'đ': "d", 'ø': "o", 'ł': "l", 'ß': "ss", 'æ': "ae", 'œ': "oe",
	'ı': "i", 'ħ': "h", 'þ': "th", 'ð': "d",
}

// String folds s: full Unicode case folding, compatibility decomposition,
// marks dropped, letters mapped. Folding twice is folding once. Compare the
// results byte by byte: in UTF-8 that is the order of code points.
func String(s string) string {
	if folded, ok := foldASCII(s); ok {
		return folded
	}
	for {
		folded := foldOnce(s)
		if folded == s {
			return s
		}
		// A decomposition can yield a capital (ℌ) and so ask for another turn.
		s = folded
	}
}

// foldASCII is the quick way for most text; ok is false for any other.
func foldASCII(s string) (folded string, ok bool) {
	capitals := false
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", false
		}
		capitals = capitals || 'A' <= s[i] && s[i] <= 'Z'
	}
	if !capitals {
		return s, true
	}
	small := []byte(s)
	for i, c := range small {
		small[i] = lower(c)
	}
	return string(small), true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// foldOnce decomposes rune by rune, for package norm breaks up a run of more
// than 30 marks with a joiner that would stay behind when the marks are gone.
func foldOnce(s string) string {
	var folded, decomposed []byte
	for _, r := range s {
		if r < utf8.RuneSelf {
			folded = append(folded, lower(byte(r)))
			continue
		}
		decomposed = norm.NFKD.AppendString(decomposed[:0], foldCase(r))
		for rest := decomposed; len(rest) > 0; {
			d, size := utf8.DecodeRune(rest)
			if norm.NFKD.Properties(rest).CCC() == 0 {
				folded = appendLetter(folded, d)
			}
			rest = rest[size:]
		}
	}
	return string(folded)
}

// foldCase is the full case folding of Unicode's CaseFolding.txt, which turns
// small Cherokee letters into capitals. Package cases does that too, but also
// turns the capitals into small ones, and so they are left out.
func foldCase(r rune) string {
	if '\u13a0' <= r && r <= '\u13f5' {
		return string(r)
	}
	return caser.String(string(r))
}

func appendLetter(b []byte, r rune) []byte {
	if mapped, ok := letters[r]; ok {
		return append(b, mapped...)
	}
	return utf8.AppendRune(b, r)
}
