// Package alike detects possible duplicates. Lists spell names differently: "Jürgen Müller" may
// appear as "Juergen Mueller", "Mueller Jürgen" or "Dr. Jürgen Müller".
package alike

import (
	"cmp"
	"slices"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// Reason is why two people may be the same person. A lower value is a stronger reason.
type Reason int

// Reasons in descending strength, after None.
const (
	None          Reason = iota
	EmailAndBirth        // same email address and date of birth
	PhoneAndBirth        // same phone number and date of birth
	Spelling             // names that differ only in spelling
	Swapped              // the same with first and last name swapped
	BirthAndName         // same date of birth, and same first or last name
)

// Person holds the attributes used to compare two people.
type Person struct {
	Identity
	first, last []string // all spellings
}

// Of returns the attributes of a record. Fields without a value are not compared.
func Of(f *record.Fields) Person {
	return Person{Identify(f), spellings(f.FirstName), spellings(f.LastName)}
}

// Why returns the strongest reason why two people may be the same person. Spelling and Swapped do
// not apply to people with equal names, or if the dates of birth differ and nothing is in common.
func (p *Person) Why(other *Person) Reason {
	born := p.birth != "" && p.birth == other.birth
	byName := !p.Named(&other.Identity) && !p.otherGeneration(&other.Identity) &&
		(born || p.birth == "" || other.birth == "" || p.email != "" && p.email == other.email || phone.Share(p.numbers(), other.numbers()))
	switch {
	case born && p.email != "" && p.email == other.email:
		return EmailAndBirth
	case born && phone.Share(p.numbers(), other.numbers()):
		return PhoneAndBirth
	case byName && meet(concat(p.first, p.last), concat(other.first, other.last)):
		return Spelling
	case byName && meet(concat(p.first, p.last), concat(other.last, other.first)):
		return Swapped
	case born && (meet(p.first, other.first) || meet(p.last, other.last)):
		return BirthAndName
	}
	return None
}

// Key is an index key for finding possible duplicates.
type Key struct {
	Reason      Reason
	Text, Birth string
}

// Placeholders for the date of birth in a Key.
const (
	anyBirth = "*"
	noBirth  = "-"
)

// Keys returns the keys under which to index a person.
func (p *Person) Keys() []Key {
	return p.keys(concat(p.last, p.first), anyBirth, cmp.Or(p.birth, noBirth))
}

// Lookups returns the keys that find all possible duplicates of a person. Use Why to confirm each
// match.
func (p *Person) Lookups() []Key {
	if p.birth == "" {
		return p.keys(concat(p.first, p.last), anyBirth)
	}
	return p.keys(concat(p.first, p.last), p.birth, noBirth, anyBirth)
}

// keys returns keys with one entry per birth for keys based on the name. swapped is the full name
// in the order used for Swapped.
func (p *Person) keys(swapped []string, births ...string) (keys []Key) {
	for _, birth := range births {
		for _, name := range concat(p.first, p.last) {
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
	for _, number := range p.numbers() {
		keys = append(keys, Key{PhoneAndBirth, number.Key(), p.birth})
	}
	for _, name := range p.first {
		keys = append(keys, Key{BirthAndName, name + ",", p.birth})
	}
	for _, name := range p.last {
		keys = append(keys, Key{BirthAndName, "," + name, p.birth})
	}
	return keys
}

// concat joins each text of some with each text of others. Without a space, the boundary between
// first and last name does not matter.
func concat(some, others []string) (all []string) {
	for _, a := range some {
		for _, b := range others {
			all = append(all, a+b)
		}
	}
	return all
}

// meet reports whether two lists have a common element.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(text string) bool { return slices.Contains(b, text) })
}
