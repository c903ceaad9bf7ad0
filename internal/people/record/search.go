package record

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Term is one word to search for. It is found in a record if one of its members is.
type Term struct {
	Text     string // folded: in a folded name, e-mail address or phone number
	Expanded string // with ae, oe or ue: in the same, and in Fields.Expanded; empty: there is none of these
	Number          // in the phone number
}

// Number is what to look for in the digits of phone numbers. The zero value is found in
// none.
type Number struct {
	Digits string // anywhere in them; empty: in none

	// The same number as it is written at home and abroad: 092 354 3631,
	// 00385 92 354 3631, +385 (0)92 354 3631.
	Country string // the code of the country; empty: not known
	Rest    string // what stands behind it, without a leading 0; empty: there is no other form
}

// leastRest is the number of digits without which a number has no other forms.
const leastRest = 7

// parseSearch returns the terms of a text: what stands between white space, but for what
// is there already or is empty once folded. Where all of them together are a number, it is
// another way to find a record, if the terms alone would not find everything that it does.
func parseSearch(text string) (terms []Term, number Number) {
	words := strings.Fields(text)
	for _, word := range words {
		t := newTerm(word)
		if t.Text != "" && !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	if len(words) > 1 && !strings.ContainsFunc(text, isNoPartOfNumber) {
		number = newNumber(text)
		if number.Rest == "" && !slices.ContainsFunc(words, func(word string) bool { return Digits(word) == "" }) {
			number = Number{}
		}
	}
	return terms, number
}

func newTerm(word string) Term {
	t := Term{Text: fold.String(word)}
	if !strings.ContainsFunc(word, unicode.IsLetter) {
		t.Number = newNumber(word)
	}
	expanded := fold.Expanded(word)
	if strings.Contains(expanded, "ae") || strings.Contains(expanded, "oe") || strings.Contains(expanded, "ue") {
		t.Expanded = expanded
	}
	return t
}

// isNoPartOfNumber reports whether a character is neither a digit nor what people put
// between digits.
func isNoPartOfNumber(r rune) bool {
	return (r < '0' || r > '9') && !strings.ContainsRune("+-/.()", r) && !unicode.Is(unicode.Pd, r) && !unicode.IsSpace(r)
}

// newNumber returns what to look for where somebody has typed a number.
func newNumber(text string) Number {
	n := Number{Digits: Digits(text)}
	abroad, isAbroad := strings.CutPrefix(n.Digits, "00")
	if plus := strings.Index(text, "+"); plus >= 0 && Digits(text[:plus]) == "" {
		abroad, isAbroad = n.Digits, true
	}
	switch {
	case isAbroad:
		n.Country, n.Rest = cutCountry(abroad)
	case strings.HasPrefix(n.Digits, "0"):
		n.Rest = n.Digits
	}
	if n.Rest = strings.TrimPrefix(n.Rest, "0"); len(n.Rest) < leastRest {
		n.Country, n.Rest = "", ""
	}
	return n
}

// In reports whether the number is found in the digits of a phone number.
func (n Number) In(digits string) bool {
	return n.Digits != "" && strings.Contains(digits, n.Digits) || n.Rest != "" && n.IsForm(digits)
}

// IsForm reports whether digits are another form of the number, or begin with one.
func (n Number) IsForm(digits string) bool {
	for from := 0; ; from++ {
		i := strings.Index(digits[from:], n.Rest)
		if i < 0 {
			return false
		}
		if from += i; n.mayFollow(digits[:from]) {
			return true
		}
	}
}

// mayFollow reports whether digits may stand before Rest in a form of the number.
func (n Number) mayFollow(digits string) bool {
	if digits == "" || digits == "0" {
		return true
	}
	country, rest := cutCountry(strings.TrimPrefix(digits, "00"))
	return country != "" && (n.Country == "" || n.Country == country) && (rest == "" || rest == "0")
}

// shortCodes are the codes of countries with one or two digits. All others have three.
const shortCodes = " 1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58" +
	" 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 "

// cutCountry cuts the code of a country off a number. It is empty if there is none.
func cutCountry(digits string) (country, rest string) {
	if strings.HasPrefix(digits, "0") {
		return "", digits
	}
	for length := 1; length <= 3 && length <= len(digits); length++ {
		if length == 3 || strings.Contains(shortCodes, " "+digits[:length]+" ") {
			return digits[:length], digits[length:]
		}
	}
	return "", digits
}

// Expanded returns the folded fields that are searched, a line each, with ae, oe and ue for
// ä, ö and ü. It is empty if they have none of these.
func (f *Fields) Expanded() string {
	if !fold.HasUmlaut(f.FirstName) && !fold.HasUmlaut(f.LastName) && !fold.HasUmlaut(f.Email) && !fold.HasUmlaut(f.PhoneNumber) {
		return ""
	}
	return fold.Expanded(strings.Join([]string{f.FirstName, f.LastName, f.Email, f.PhoneNumber}, "\n"))
}
