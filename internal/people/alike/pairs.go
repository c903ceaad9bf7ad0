package alike

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// maxCompared is the number of people with the same key with whom Pairs compares a person.
const maxCompared = 20

// Pairs finds pairs of possible duplicates in a list. Its memory and time are linear.
type Pairs struct {
	seed   maphash.Seed
	people []Person
	byKey  map[uint64][]int32 // people by the hash of a key, which several keys may have
}

// NewPairs returns Pairs without people.
func NewPairs() *Pairs { return &Pairs{seed: maphash.MakeSeed(), byKey: map[uint64][]int32{}} }

// Add adds the next person of the list. It returns the indexes of earlier people who may be the same
// person, by Why or MayBe, the last one first.
func (p *Pairs) Add(person Person) (same []int) {
	at, keys := int32(len(p.people)), person.Keys()
	p.people = append(p.people, person)
	var near []int32
	for _, key := range append(person.Lookups(), keys...) {
		near = append(near, p.byKey[maphash.Comparable(p.seed, key)]...)
	}
	slices.SortFunc(near, func(a, b int32) int { return cmp.Compare(b, a) })
	for _, other := range slices.Compact(near) {
		if earlier := &p.people[other]; person.Why(earlier) != None || person.MayBe(&earlier.Identity) {
			same = append(same, int(other))
		}
	}
	for _, key := range keys {
		hash := maphash.Comparable(p.seed, key)
		list := p.byKey[hash]
		if len(list) == maxCompared {
			list = slices.Delete(list, 0, 1)
		}
		p.byKey[hash] = append(list, at)
	}
	return same
}
