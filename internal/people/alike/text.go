package alike

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Folded folds a text and makes each run of spaces one. A text of nothing but marks stays
// as it is, because it would fold to nothing.
func Folded(text string) string {
	return strings.Join(strings.Fields(cmp.Or(fold.String(text), text)), " ")
}

// SameSpelling reports whether two texts are the same when folded, where ue is ü as well.
func SameSpelling(a, b string) bool { return meet(foldings(a), foldings(b)) }

// typed has đ as it is typed where a keyboard or a program lacks it. So fold.Expanded has ä,
// ö and ü. What folding does with the letters, as u for ü, is another way to type them.
var typed = strings.NewReplacer("đ", "dj", "Đ", "dj")

// foldings returns the forms of a text that are one: "muller" and "mueller" of Müller,
// but "mueller" alone of Mueller. So Bauer stays another name than Baur.
func foldings(text string) []string {
	plain := Folded(text)
	if other := Folded(fold.Expanded(typed.Replace(text))); other != plain && other != "" {
		return []string{plain, other}
	}
	return []string{plain}
}

// spellings returns the forms of a name that are one, as foldings has them, without
// titles, suffixes, spaces and punctuation. A name of nothing else keeps them.
func spellings(name string) (forms []string) {
	if name == "" {
		return nil
	}
	for _, form := range foldings(cmp.Or(WithoutTitles(name), name)) {
		forms = append(forms, cmp.Or(strings.Map(letter, form), form))
	}
	return forms
}

// letter returns -1 for what can stand between the letters of a name.
func letter(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// comparedDigits is the number of digits that phone numbers must share at their end, where
// one has the code of a country or of an area.
const comparedDigits = 7

// digits returns the digits of a phone number without the zeros before them, and without
// the zero that is not dialled behind the code of a country.
func digits(phone string) string {
	return strings.TrimLeft(record.Digits(strings.Replace(phone, "(0)", "", 1)), "0")
}

// samePhone reports whether the digits of two phone numbers are one number, with or
// without the code of a country or of an area: "+385 (0)92 354 3631" is "092/3543631".
func samePhone(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b && a != "" || len(a) >= comparedDigits && strings.HasSuffix(b, a)
}
