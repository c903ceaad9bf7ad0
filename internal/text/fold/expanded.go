package fold

import "strings"

var expand = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "Ä", "ae", "Ö", "oe", "Ü", "ue",
	"a\u0308", "ae", "o\u0308", "oe", "u\u0308", "ue", "A\u0308", "ae", "O\u0308", "oe", "U\u0308", "ue",
)

// Expanded returns the folded form of s with ä, ö and ü spelled ae, oe and ue, as people type them
// on keyboards without umlauts.
func Expanded(s string) string {
	if !HasUmlaut(s) {
		return String(s)
	}
	return String(expand.Replace(s))
}

// HasUmlaut reports whether s may contain ä, ö or ü. If not, Expanded and String return the same
// text.
func HasUmlaut(s string) bool {
	for _, r := range s {
		switch r {
		case 'ä', 'ö', 'ü', 'Ä', 'Ö', 'Ü', '\u0308':
			return true
		}
	}
	return false
}
