package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Invisible reports whether fonts do not show r: a format character such as a joiner or a direction
// mark, or another of Unicode's Default_Ignorable_Code_Points. Pasted texts contain them.
func Invisible(r rune) bool {
	return r == '\u00ad' || r >= '\u034f' && unicode.In(r, invisible...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

var invisible = []*unicode.RangeTable{unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}

// Clean returns s in NFC without invisible characters.
func Clean(s string) string {
	if IsASCII(s) {
		return s
	}
	composed := norm.NFC.String(strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return r
	}, s))
	return strings.ReplaceAll(composed, norm.GraphemeJoiner, "") // package norm inserts it after 30 marks
}

// CleanName returns s without the invisible characters that its letters do not need. A letter may
// need a joiner or a variation selector after it in most scripts, such as Arabic, Malayalam and
// Japanese, but not in Latin, Greek and Cyrillic.
func CleanName(s string) string {
	if IsASCII(s) {
		return s
	}
	needed := false // the previous letter may need one
	return strings.Map(func(r rune) rune {
		switch {
		case Invisible(r):
			if !needed || r != '\u200c' && r != '\u200d' && !unicode.Is(unicode.Variation_Selector, r) {
				return -1
			}
			needed = false
		case !unicode.IsMark(r):
			needed = unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
		}
		return r
	}, s)
}
