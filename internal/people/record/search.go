package record

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// Term is one search word. A record matches if any member of the term matches.
type Term struct {
	Text     string // folded; matches folded names, email addresses and phone numbers
	Expanded string // with ae, oe or ue; matches the same texts and Fields.Expanded; empty: the word contains none of these
	Number          // matches the phone number
}

// Number is a phone number to search for. The zero value matches nothing.
type Number struct {
	Digits string // matched anywhere in a phone number; empty: never

	// The same number in national and international form: 092 354 3631, 00385 92 354 3631, +385
	// (0)92 354 3631.
	Country string // country code; empty: unknown
	Rest    string // after the country code, without a leading 0; empty: no other forms
}

// leastRest is the minimum number of digits for other forms of a number.
const leastRest = 7

// SearchWords returns the words of a search. A comma or semicolon counts as a space, and so does a
// period before a space or at the end. "Horvat, Ivan" has two words, "ivan.horvat@" one.
func SearchWords(text string) (words []string) {
	for word := range strings.FieldsFuncSeq(text, isSpace) {
		if word = strings.TrimRight(word, "."); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// parseSearch parses the words of text as terms, dropping duplicates and words that fold to nothing.
// If the whole text is a phone number, it also returns that number, unless the terms find everything
// the number would.
func parseSearch(text string) (terms []Term, number Number) {
	words := SearchWords(text)
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

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' }

// isNoPartOfNumber reports whether r is neither a digit nor a separator used in phone numbers.
func isNoPartOfNumber(r rune) bool {
	return (r < '0' || r > '9') && !strings.ContainsRune("+-/.()", r) && !unicode.Is(unicode.Pd, r) && !isSpace(r)
}

// newNumber parses a phone number typed as a search.
func newNumber(text string) Number {
	n := Number{Digits: Digits(text)}
	abroad, isAbroad := strings.CutPrefix(n.Digits, "00")
	if plus := strings.Index(text, "+"); plus >= 0 && Digits(text[:plus]) == "" {
		abroad, isAbroad = n.Digits, true
	}
	switch {
	case isAbroad:
		n.Country, n.Rest = phone.CutCode(abroad)
	case strings.HasPrefix(n.Digits, "0"):
		n.Rest = n.Digits
	}
	if n.Rest = strings.TrimPrefix(n.Rest, "0"); len(n.Rest) < leastRest {
		n.Country, n.Rest = "", ""
	}
	return n
}

// In reports whether the digits of a phone number match.
func (n Number) In(digits string) bool {
	return n.Digits != "" && strings.Contains(digits, n.Digits) || n.Rest != "" && n.IsForm(digits)
}

// IsForm reports whether digits contain another form of the number at the start.
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

// mayFollow reports whether digits may precede Rest in a form of the number.
func (n Number) mayFollow(digits string) bool {
	if digits == "" || digits == "0" {
		return true
	}
	country, rest := phone.CutCode(strings.TrimPrefix(digits, "00"))
	return country != "" && (n.Country == "" || n.Country == country) && (rest == "" || rest == "0")
}

// Expanded returns the searched fields in expanded folded form, one per line, or an empty text if
// none contains ä, ö or ü.
func (f *Fields) Expanded() string {
	if !fold.HasUmlaut(f.FirstName) && !fold.HasUmlaut(f.LastName) && !fold.HasUmlaut(f.Email) && !fold.HasUmlaut(f.PhoneNumber) {
		return ""
	}
	return fold.Expanded(strings.Join([]string{f.FirstName, f.LastName, f.Email, f.PhoneNumber}, "\n"))
}
