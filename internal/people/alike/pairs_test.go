package alike_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestPairs checks which pairs of people are possible duplicates, in either order.
func TestPairs(t *testing.T) {
	t.Parallel()
	person := func(text string) *alike.Person {
		parts := strings.Split(text+"||||", "|")
		f := record.Fields{FirstName: parts[0], LastName: parts[1], PhoneNumber: parts[2], Email: parts[3], DateOfBirth: parts[4]}
		if f.DateOfBirth != "" {
			f.DateOfBirth += "T00:00:00Z"
		}
		return new(alike.Of(&f))
	}
	for pair, want := range map[[2]string]bool{
		{"Ana|Kos", "Ana|Kos"}: true,
		{"Ana|Kos|091 234 5678|a@old.hr", "Ana|Kos|091/234-5678|a@new.hr"}:                           true,
		{"Ana|Kos|091 111 2222|a@old.hr", "Ana|Kos|092 333 4444|a@new.hr"}:                           true,
		{"Ingrid|Schäfer|0171 1234567||1960-05-01", "Ingrid|Schäfer|0171 1234567||1961-05-01"}:       true,
		{"Ivan|Horvat|||1960-05-01", "Ivan|Horvat|||1990-05-01"}:                                     false,
		{"Ivan|Horvat||i@h.hr|1960-05-01", "Ivan|Horvat||I@H.hr|1990-05-01"}:                         true,
		{"Jürgen|Müller", "Juergen|Mueller"}:                                                         true,
		{"Jürgen|Müller|||1990-05-01", "Müller|Jürgen"}:                                              true,
		{"Eva|Anić|||1990-05-01", "Eva|Horvat|||1990-05-01"}:                                         true,
		{"Eva|Anić|01 234 5678||1960-05-01", "Ana|Anić|01 234 5678||1990-05-01"}:                     false,
		{"Marko|Perić|091 234 5678|m@p.hr|1990-05-01", "Tea|Babić|091 234 5678||1990-05-01"}:         true,
		{"Marko|Perić|091 234 5678|m@p.hr|1990-05-01", "Tea|Babić|092 234 5678|tea@p.hr|1990-05-01"}: false,
		{"Marko|Perić|091 234 5678|m@p.hr|1990-05-01", "Marko|Perić|091 234 5678|m@p.hr|1990-05-01"}: true,
	} {
		for range 2 {
			p := alike.NewPairs()
			if same := p.Add(*person(pair[0])); len(same) != 0 {
				t.Errorf("%q is %v", pair[0], same)
			}
			p.Add(*person("Zvonimir|Kanarinac"))
			if same := p.Add(*person(pair[1])); (len(same) == 1 && same[0] == 0) != want || len(same) > 1 {
				t.Errorf("%q is %v", pair, same)
			}
			pair[0], pair[1] = pair[1], pair[0]
		}
	}
}

// TestManyPairs checks that each of many people with the same name is compared with a few.
func TestManyPairs(t *testing.T) {
	t.Parallel()
	p, found := alike.NewPairs(), 0
	const people = 2000
	for i := range people {
		f := record.Fields{FirstName: "Ana", LastName: "Kos", PhoneNumber: fmt.Sprintf("091 %07d", i)}
		same := p.Add(alike.Of(&f))
		if found += len(same); i > 0 && (len(same) == 0 || same[0] != i-1) {
			t.Fatalf("person %d is %v", i, same)
		}
	}
	if found > 20*people {
		t.Errorf("%d pairs", found)
	}
}
