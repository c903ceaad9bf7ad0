package alike

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Folded folds text and collapses runs of white space. It keeps a text that consists only of marks,
// because folding would empty it.
func Folded(text string) string {
	return strings.Join(strings.Fields(cmp.Or(fold.String(text), text)), " ")
}

// SameSpelling reports whether two texts have a folded form in common. It treats ue as a spelling
// of ü.
func SameSpelling(a, b string) bool { return meet(foldings(a), foldings(b)) }

// typed spells đ as dj, as people type it on keyboards without the letter. fold.Expanded does the
// same for ä, ö and ü.
var typed = strings.NewReplacer("đ", "dj", "Đ", "dj")

// foldings returns the equivalent folded forms of text: "muller" and "mueller" for Müller, but only
// "mueller" for Mueller. Bauer and Baur remain different names.
func foldings(text string) []string {
	plain := Folded(text)
	if other := Folded(fold.Expanded(typed.Replace(text))); other != plain && other != "" {
		return []string{plain, other}
	}
	return []string{plain}
}

// spellings returns the folded forms of a name without titles, suffixes, spaces and punctuation. It
// keeps names that consist of nothing else.
func spellings(name string) (forms []string) {
	if name == "" {
		return nil
	}
	for _, form := range foldings(cmp.Or(WithoutTitles(name), name)) {
		forms = append(forms, cmp.Or(strings.Map(letter, form), form))
	}
	return forms
}

// letter maps spaces, punctuation and symbols to -1.
func letter(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) {
		return -1
	}
	return r
}
