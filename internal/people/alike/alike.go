// Package alike tells who is perhaps the same person. Lists spell names in their own way:
// "Jürgen Müller" stands in one as "Juergen Mueller", in another as "Mueller Jürgen" or as
// "Dr. Jürgen Müller".
package alike

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Reason says why two people are perhaps the same. The lower of two is the stronger.
type Reason int

// The reasons, the strongest first behind None.
const (
	None          Reason = iota
	EmailAndBirth        // they have one e-mail address and date of birth
	PhoneAndBirth        // they have one phone number and date of birth
	Spelling             // their names differ in the spelling alone
	Swapped              // likewise, and the first name of one is the last name of the other
	BirthAndName         // they have one date of birth and first name, or last name
)

// Person is what somebody is compared by.
type Person struct {
	name        string   // folded
	first, last []string // spellings
	email       string   // folded
	phone       string   // its digits
	birth       string   // the day of the calendar
}

// Of returns what somebody is compared by. A field without a value has no part in it.
func Of(f *record.Fields) Person {
	birth, _, _ := strings.Cut(f.DateOfBirth, "T")
	return Person{
		name: Folded(f.FirstName + " " + f.LastName), first: spellings(f.FirstName), last: spellings(f.LastName),
		email: Folded(f.Email), phone: digits(f.PhoneNumber), birth: birth,
	}
}

// Why returns the strongest reason why two people are perhaps the same. Spelling and
// Swapped are no reasons for two whose names are the same when folded, nor for two who
// were born on different days, such as a father and a son.
func (p *Person) Why(other *Person) Reason {
	born := p.birth != "" && p.birth == other.birth
	byName := p.name != other.name && (born || p.birth == "" || other.birth == "")
	switch {
	case born && p.email != "" && p.email == other.email:
		return EmailAndBirth
	case born && samePhone(p.phone, other.phone):
		return PhoneAndBirth
	case byName && meet(joined(p.first, p.last), joined(other.first, other.last)):
		return Spelling
	case byName && meet(joined(p.first, p.last), joined(other.last, other.first)):
		return Swapped
	case born && (meet(p.first, other.first) || meet(p.last, other.last)):
		return BirthAndName
	}
	return None
}

// Key is what an index of people finds somebody by.
type Key struct {
	Reason      Reason
	Text, Birth string
}

// What stands for the date of birth in a Key.
const (
	anyBirth = "*"
	noBirth  = "-"
)

// Keys returns the keys that somebody is in an index by.
func (p *Person) Keys() []Key {
	return p.keys(joined(p.last, p.first), anyBirth, cmp.Or(p.birth, noBirth))
}

// Lookups returns the keys that find in an index whoever is perhaps the same person. Why
// tells of each who is found whether they are.
func (p *Person) Lookups() []Key {
	if p.birth == "" {
		return p.keys(joined(p.first, p.last), anyBirth)
	}
	return p.keys(joined(p.first, p.last), p.birth, noBirth)
}

// keys returns keys of which those by the name have one of some births each. swapped is
// the whole name as the other side of Swapped has it.
func (p *Person) keys(swapped []string, births ...string) (keys []Key) {
	for _, birth := range births {
		for _, name := range joined(p.first, p.last) {
			keys = append(keys, Key{Spelling, name, birth})
		}
		for _, name := range swapped {
			keys = append(keys, Key{Swapped, name, birth})
		}
	}
	if p.birth == "" {
		return keys
	}
	if p.email != "" {
		keys = append(keys, Key{EmailAndBirth, p.email, p.birth})
	}
	if p.phone != "" {
		keys = append(keys, Key{PhoneAndBirth, p.phone[max(0, len(p.phone)-comparedDigits):], p.birth})
	}
	for _, name := range p.first {
		keys = append(keys, Key{BirthAndName, name + ",", p.birth})
	}
	for _, name := range p.last {
		keys = append(keys, Key{BirthAndName, "," + name, p.birth})
	}
	return keys
}

// Named reports whether two people have the same whole name when folded.
func (p *Person) Named(other *Person) bool { return p.name == other.name }

// joined returns each of some texts with each of others behind it. Without spaces it is
// all one where the first name ends.
func joined(some, others []string) (all []string) {
	for _, a := range some {
		for _, b := range others {
			all = append(all, a+b)
		}
	}
	return all
}

// meet reports whether two lists have a text in common.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(text string) bool { return slices.Contains(b, text) })
}
