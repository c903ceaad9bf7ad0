package imports

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// reasons are those of package alike as the API has them.
var reasons = [...]string{alike.EmailAndBirth: EmailAndBirth, alike.PhoneAndBirth: PhoneAndBirth,
	alike.Spelling: Spelling, alike.Swapped: Swapped, alike.BirthAndName: BirthAndName}

// known is somebody of the department who has a key of a row.
type known struct {
	alike.Person
	order  int // of the department
	id     string
	fields record.Fields
}

// keyed finds people of the department by the keys of rows. Both have up to 100,000, with
// several keys each, so it has hashes of the keys of rows only. The people it finds may have
// another key with the same hash.
type keyed struct {
	seed   maphash.Seed
	lists  map[uint64]int32 // by the hash of a key the position in people, from 1; 0: nobody has the key
	people [][]*known       // lists of people with a key
}

// ask adds the keys of a row. It must be called for all rows before add.
func (k *keyed) ask(who alike.Person) {
	for _, key := range who.Lookups() {
		k.lists[maphash.Comparable(k.seed, key)] = 0
	}
}

// add adds somebody to the lists of their keys. Of a name each list has as many people as
// a row names, and besides them as many of other names: a row is like those alone who
// have another name, or those who have its own.
func (k *keyed) add(s *record.Stored, order int) {
	who, p := alike.Of(&s.Fields), (*known)(nil) // most people have no key of a row
	for _, key := range who.Keys() {
		hash := maphash.Comparable(k.seed, key)
		at, sought := k.lists[hash]
		if !sought || at > 0 && isFull(k.people[at-1], &who) {
			continue
		}
		if p == nil {
			p = &known{who, order, s.ID, s.Fields}
		}
		if at == 0 {
			k.people = append(k.people, nil)
			at = int32(len(k.people))
			k.lists[hash] = at
		}
		k.people[at-1] = append(k.people[at-1], p)
	}
}

// isFull reports whether a list needs nobody else of a name.
func isFull(list []*known, who *alike.Person) bool {
	namesakes := 0
	for _, p := range list {
		if who.Named(&p.Person) {
			namesakes++
		}
	}
	return len(list) == 2*few || namesakes == few
}

// findAlike finds who is perhaps the same person as a row that would be added, by the
// position of the row.
func (d *decision) findAlike(ctx context.Context, roster store.Roster) (map[int][]Like, error) {
	k := &keyed{seed: maphash.MakeSeed(), lists: map[uint64]int32{}}
	var fresh []int
	for i := range d.verdicts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, p := &d.verdicts[i], d.person(i)
		if v.fresh && v.fault == "" && !v.said && len(p.Errors) == 0 && p.Readings == nil {
			fresh = append(fresh, i)
			k.ask(alike.Of(&p.Fields))
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	order := 0
	err := roster.Each(ctx, func(s *record.Stored) {
		k.add(s, order)
		order++
	})
	like := map[int][]Like{}
	for _, i := range fresh {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if found := k.like(&d.person(i).Fields); found != nil {
			like[i] = found
		}
	}
	return like, err
}

// person returns a distinct row as it was read.
func (d *decision) person(at int) *mapping.Person {
	return &d.file.Mapped.People[d.distinct.first[at]]
}

// like returns who is perhaps the same person as a row: each person once, at most few.
func (k *keyed) like(f *record.Fields) (all []Like) {
	type found struct {
		*known
		why alike.Reason
	}
	who, some := alike.Of(f), []found{}
	for _, key := range who.Lookups() {
		at := k.lists[maphash.Comparable(k.seed, key)]
		if at == 0 {
			continue
		}
		for _, p := range k.people[at-1] {
			if why := who.Why(&p.Person); why != alike.None {
				some = append(some, found{p, why})
			}
		}
	}
	slices.SortFunc(some, func(a, b found) int { return cmp.Or(cmp.Compare(a.why, b.why), cmp.Compare(a.order, b.order)) })
	some = slices.CompactFunc(some, func(a, b found) bool { return a.known == b.known })
	for _, p := range some[:min(len(some), few)] {
		all = append(all, Like{ID: new(p.id), Why: reasons[p.why], Person: p.fields}) // not &p.id, which would keep all of p
	}
	return all
}
