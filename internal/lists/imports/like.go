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

// reasons are the API codes of the reasons of package alike.
var reasons = [...]string{alike.EmailAndBirth: EmailAndBirth, alike.PhoneAndBirth: PhoneAndBirth,
	alike.Spelling: Spelling, alike.Swapped: Swapped, alike.BirthAndName: BirthAndName}

// known is an existing person who shares a key with a row.
type known struct {
	alike.Person
	order  int // position in the department
	id     string
	fields record.Fields
}

// keyed finds existing people by the keys of rows. With up to 100,000 rows and people and several
// keys each, it stores only hashes of row keys, so a result may have a different key with the same
// hash.
type keyed struct {
	seed   maphash.Seed
	lists  map[uint64]int32 // by hash of a key: index into people from 1; 0: no person has the key
	people [][]*known       // lists of people with the same key
}

// register adds the keys of a row. Call it for all rows before add.
func (k *keyed) register(person alike.Person) {
	for _, key := range person.Lookups() {
		k.lists[maphash.Comparable(k.seed, key)] = 0
	}
}

// add adds a person under each registered key. A list holds up to few people with the same name and
// as many with other names, because a row resembles only people with its own name or only others.
func (k *keyed) add(s *record.Stored, order int) {
	person, p := alike.Of(&s.Fields), (*known)(nil) // most people share no key with a row
	for _, key := range person.Keys() {
		hash := maphash.Comparable(k.seed, key)
		at, registered := k.lists[hash]
		if !registered || at > 0 && isFull(k.people[at-1], &person) {
			continue
		}
		if p == nil {
			p = &known{person, order, s.ID, s.Fields}
		}
		if at == 0 {
			k.people = append(k.people, nil)
			at = int32(len(k.people))
			k.lists[hash] = at
		}
		k.people[at-1] = append(k.people[at-1], p)
	}
}

// isFull reports whether a list needs no more people with the name of p.
func isFull(list []*known, p *alike.Person) bool {
	namesakes := 0
	for _, other := range list {
		if p.Named(&other.Identity) {
			namesakes++
		}
	}
	return len(list) == 2*few || namesakes == few
}

// findAlike returns the possible duplicates of rows that would be added, by distinct row. For a
// comparison, it also returns those of refused rows.
func (d *decision) findAlike(ctx context.Context, roster store.Roster) (map[int][]Like, error) {
	k := &keyed{seed: maphash.MakeSeed(), lists: map[uint64]int32{}}
	var added []int
	for i := range d.verdicts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, p := &d.verdicts[i], d.person(i)
		if d.isAdded(i) || d.file.comparing && v.person < 0 && !v.decided {
			added = append(added, i)
			k.register(alike.Of(&p.Fields))
		}
	}
	if len(added) == 0 {
		return nil, nil
	}
	order := 0
	err := roster.Each(ctx, func(s *record.Stored) {
		k.add(s, order)
		order++
	})
	like := map[int][]Like{}
	for _, i := range added {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var found []Like
		for _, p := range d.verdicts[i].like {
			found = append(found, Like{ID: new(d.members[p].id), Why: SameName, Person: d.members[p].fields})
		}
		if found = append(found, k.like(&d.person(i).Fields)...); found != nil {
			like[i] = found[:min(len(found), few)]
		}
	}
	return like, err
}

// isAdded reports whether a distinct row would be added without a decision.
func (d *decision) isAdded(at int) bool {
	v, p := &d.verdicts[at], d.person(at)
	return v.isNew && v.fault == "" && !v.decided && len(p.Errors) == 0 && p.Readings == nil
}

// kind returns the kind of question that a possible duplicate is: the reason for its first candidate,
// or Born.
func kind(f *record.Fields, like []Like) string {
	if like[0].Why == SameName && f.DateOfBirth != "" && like[0].Person.DateOfBirth != "" {
		return Born
	}
	return like[0].Why
}

// acceptAll finds the rows with one candidate whom no other row means, and decides, as Options.SameAll
// says, that they are the candidate.
func (d *decision) acceptAll(like map[int][]Like) {
	meant := map[string]int{} // rows that mean a person
	for i := range d.verdicts {
		if p := d.verdicts[i].person; p >= 0 {
			meant[d.members[p].id]++
		}
		for _, candidate := range like[i] {
			meant[*candidate.ID]++
		}
	}
	d.sole = map[int]bool{}
	for i, some := range like {
		d.sole[i] = d.isAdded(i) && len(some) == 1 && meant[*some[0].ID] == 1
		if all := d.file.Options.SameAll; !d.sole[i] || !all[All] && !all[kind(&d.person(i).Fields, some)] {
			continue
		}
		d.verdicts[i] = verdict{person: len(d.members), decided: true}
		d.members = append(d.members, member{id: *some[0].ID, fields: some[0].Person})
		delete(like, i)
	}
}

func (d *decision) person(at int) *mapping.Person {
	return &d.file.Mapped.People[d.distinct.first[at]]
}

// like returns the possible duplicates of a row, each person once and at most few.
func (k *keyed) like(f *record.Fields) (all []Like) {
	type found struct {
		*known
		why alike.Reason
	}
	person, some := alike.Of(f), []found{}
	for _, key := range person.Lookups() {
		at := k.lists[maphash.Comparable(k.seed, key)]
		if at == 0 {
			continue
		}
		for _, p := range k.people[at-1] {
			if why := person.Why(&p.Person); why != alike.None {
				some = append(some, found{p, why})
			}
		}
	}
	slices.SortFunc(some, func(a, b found) int { return cmp.Or(cmp.Compare(a.why, b.why), cmp.Compare(a.order, b.order)) })
	some = slices.CompactFunc(some, func(a, b found) bool { return a.known == b.known })
	for _, p := range some[:min(len(some), few)] {
		all = append(all, Like{ID: new(p.id), Why: reasons[p.why], Person: p.fields}) // &p.id would keep p in memory
	}
	return all
}
