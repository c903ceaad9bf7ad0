package alike

import (
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// Identity is what a record or a row of a list says about who a person is. It has no name without a
// first and a last name.
type Identity struct {
	whole   string // folded full name
	name    string // whole without titles and suffixes
	spelled string // name with ue for ü
	suffix  string // Jr. and the like, in one spelling; empty: none
	email   string // folded
	phone   string
	birth   string // date without time

	inPhone []phone.Number // numbers in phone; nil: not read yet
}

// Identify returns the identity of a record. Full names make the column of a middle name irrelevant.
func Identify(f *record.Fields) Identity {
	birth, _, _ := strings.Cut(f.DateOfBirth, "T")
	i := Identity{email: Folded(f.Email), phone: f.PhoneNumber, birth: birth}
	if f.FirstName != "" && f.LastName != "" {
		i.setName(f.FirstName + " " + f.LastName)
	}
	return i
}

func (i *Identity) setName(text string) {
	i.whole = Folded(text)
	i.name = i.whole
	if mayHaveTitle(i.whole) {
		if name, suffix := cutTitles(text); name != "" { // not a name such as Dr. Jr.
			text, i.suffix = name, suffix
			i.name = Folded(name)
		}
	}
	i.spelled = i.name
	if !fold.IsASCII(text) {
		i.spelled = Folded(fold.Expanded(typed.Replace(text)))
	}
}

// mayHaveTitle reports whether a folded name may contain a title, suffix or remark. Most names do
// not.
func mayHaveTitle(folded string) bool {
	if strings.ContainsAny(folded, ".-/(["+markedBy) {
		return true
	}
	for word := range strings.FieldsSeq(folded) {
		word = strings.Trim(word, "(),")
		if titles[word] || generations[word] || maiden[word] || word == "domu" || strings.Trim(word, "iv") == "" {
			return true
		}
	}
	return false
}

// HasName reports whether the identity has a name.
func (i *Identity) HasName() bool { return i.whole != "" }

// Key returns a text that is equal for people with equal names. People with other names may have it
// too: use Named to compare them.
func (i *Identity) Key() string {
	return strings.Map(func(r rune) rune {
		if r == 'e' || r == 'j' { // which ü and đ have in other spellings
			return -1
		}
		return r
	}, i.name)
}

// Named reports whether two people have the same folded name, apart from titles. ue is a spelling of
// ü. Only one of them may have a suffix, unless both have the same.
func (i *Identity) Named(other *Identity) bool {
	if i.otherGeneration(other) {
		return false
	}
	if i.name == other.name {
		return true
	}
	if i.name == i.spelled && other.name == other.spelled {
		return false
	}
	a, b, spelledA, spelledB := strings.Fields(i.name), strings.Fields(other.name), strings.Fields(i.spelled), strings.Fields(other.spelled)
	if len(a) != len(b) || len(spelledA) != len(a) || len(spelledB) != len(b) {
		return false
	}
	for n := range a {
		if a[n] != b[n] && a[n] != spelledB[n] && spelledA[n] != b[n] && spelledA[n] != spelledB[n] {
			return false
		}
	}
	return true
}

// otherGeneration reports whether the suffixes of two names differ, as for father and son.
func (i *Identity) otherGeneration(other *Identity) bool {
	return i.suffix != "" && other.suffix != "" && i.suffix != other.suffix
}

// NamedExactly reports whether two people have the same folded name with titles.
func (i *Identity) NamedExactly(other *Identity) bool { return i.whole == other.whole }

// Values are some of the values that identify a person in addition to the name.
type Values uint8

// Values of an identity.
const (
	Email Values = 1 << iota
	Phone
	Birth
)

// Compare returns the values that two people have in common, and those that differ. A value that
// one of them lacks is neither. It is not safe for concurrent use.
func (i *Identity) Compare(other *Identity) (common, differing Values) {
	compare := func(value Values, a, b string, same func() bool) {
		switch {
		case a == "" || b == "":
		case a == b || same != nil && same():
			common |= value
		default:
			differing |= value
		}
	}
	compare(Email, i.email, other.email, nil)
	compare(Phone, i.phone, other.phone, func() bool { return phone.Share(i.numbers(), other.numbers()) })
	compare(Birth, i.birth, other.birth, nil)
	return common, differing
}

// MayBe reports whether two people with the same name may be one: they have something in common, or
// their dates of birth do not differ.
func (i *Identity) MayBe(other *Identity) bool {
	if !i.Named(other) {
		return false
	}
	common, differing := i.Compare(other)
	return common != 0 || differing&Birth == 0
}

// numbers returns the numbers in phone. It reads them once, because many people are never compared,
// and some often.
func (i *Identity) numbers() []phone.Number {
	if i.inPhone == nil {
		i.inPhone = append([]phone.Number{}, phone.Numbers(i.phone)...)
	}
	return i.inPhone
}
