// Package fold reduces text to the form in which it is searched and sorted.
// "Čović", "čović" and "Covic" have the same form.
package fold

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var caser = cases.Fold() // has no state, so goroutines may share it

// letters maps the letters that do not decompose to what people type for them.
var letters = map[rune]string{
	'đ': "d", 'ø': "o", 'ł': "l", 'ß': "ss", 'æ': "ae", 'œ': "oe",
	'ı': "i", 'ħ': "h", 'þ': "th", 'ð': "d",
}

// String returns the folded form of s: full Unicode case folding, compatibility
// decomposition (NFKD) without marks, and letters mapped to what people type.
// A folded text folds to itself. The order of folded texts is that of their
// bytes, which in UTF-8 is the order of code points.
func String(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
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

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// endOfLatin is the end of the letters that are in most names. A name of them folds
// ten times as fast by a table.
const endOfLatin = 0x250

// latinForms returns the folded form of each character before endOfLatin.
var latinForms = sync.OnceValue(func() *[endOfLatin]string {
	var forms [endOfLatin]string
	for r := range rune(endOfLatin) {
		forms[r] = foldRune(r)
	}
	return &forms
})

// foldRune returns the folded form of a character. Each has its own: package norm
// breaks up a run of more than 30 marks with a joiner, which would stay when the marks
// are dropped.
func foldRune(r rune) string {
	for form := string(r); ; {
		folded := foldOnce(form)
		if folded == form {
			return form
		}
		// A decomposition can yield a capital letter (ℌ), which must be folded, too.
		form = folded
	}
}

func foldOnce(s string) string {
	var folded, decomposed []byte
	for _, r := range s {
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

// foldCase returns the full case folding of Unicode's CaseFolding.txt. There,
// small Cherokee letters become capitals and capitals stay. Package cases also
// turns the capitals into small letters, so they do not go through it.
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
