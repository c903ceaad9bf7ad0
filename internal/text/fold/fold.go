// Package fold reduces text to the form used for searching and sorting. "Čović", "čović" and
// "Covic" fold to the same text. It also removes invisible characters from texts to store.
package fold

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var caser = cases.Fold() // stateless, so safe for concurrent use

// Version is the version of the folding, and of the keys that package record makes of folded texts.
// Databases contain them: a start with another version computes them again.
const Version = 1

// replacements maps letters that do not decompose to their usual ASCII replacements, and
// apostrophes to one.
var replacements = map[rune]string{
	'đ': "d", 'ø': "o", 'ł': "l", 'ß': "ss", 'æ': "ae", 'œ': "oe",
	'ı': "i", 'ħ': "h", 'þ': "th", 'ð': "d",
	'`': "'", '´': "'", '‘': "'", '’': "'", '‛': "'", '′': "'", 'ʻ': "'", 'ʼ': "'",
}

// Words returns the words of a text as a set.
func Words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// String returns the folded form of s, with one kind of apostrophe and one of dash: full Unicode case
// folding, compatibility decomposition (NFKD) without marks and invisible characters, and ASCII
// replacements for letters that do not decompose. Folding is idempotent. Folded texts sort by their
// bytes, which for UTF-8 is code point order.
func String(s string) string {
	if IsASCII(s) {
		return strings.ReplaceAll(strings.ToLower(s), "`", "'")
	}
	latin := latinForms()
	folded := make([]byte, 0, len(s))
	for _, r := range s {
		if r < endOfLatin {
			folded = append(folded, latin[r]...)
		} else {
			folded = append(folded, foldRune(r)...)
		}
	}
	return string(folded)
}

// IsASCII reports whether all characters of s are ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// endOfLatin ends the range of letters found in most names. A lookup table makes folding these ten
// times as fast.
const endOfLatin = 0x250

// latinForms returns the folded form of each character below endOfLatin.
var latinForms = sync.OnceValue(func() *[endOfLatin]string {
	var forms [endOfLatin]string
	for r := range rune(endOfLatin) {
		forms[r] = foldRune(r)
	}
	return &forms
})

// foldRune returns the folded form of one character. Characters are folded one by one because
// package norm splits runs of more than 30 marks with a joiner, which would remain after the marks
// are removed.
func foldRune(r rune) string {
	for form := string(r); ; {
		folded := foldOnce(form)
		if folded == form {
			return form
		}
		// A decomposition can yield a capital letter (ℌ), which needs folding again.
		form = folded
	}
}

func foldOnce(s string) string {
	var folded, decomposed []byte
	for _, r := range s {
		replacement, known := replacements[r]
		switch {
		case known:
			folded = append(folded, replacement...)
			continue
		case unicode.Is(unicode.Pd, r), r == '\u2212': // dashes and the minus sign
			folded = append(folded, '-')
			continue
		case Invisible(r):
			continue
		}
		decomposed = norm.NFKD.AppendString(decomposed[:0], foldCase(r))
		for rest := decomposed; len(rest) > 0; {
			properties := norm.NFKD.Properties(rest)
			if properties.CCC() == 0 {
				folded = append(folded, rest[:properties.Size()]...)
			}
			rest = rest[properties.Size():]
		}
	}
	return string(folded)
}

// foldCase returns the full case folding of r by Unicode's CaseFolding.txt, which maps small
// Cherokee letters to capitals. Package cases also lowercases the capitals, so they bypass it.
func foldCase(r rune) string {
	if '\u13a0' <= r && r <= '\u13f5' {
		return string(r)
	}
	return caser.String(string(r))
}
