// Package demo invents firefighters for demonstrations and measurements: names
// in many alphabets, phone numbers in many spellings, shared e-mail addresses,
// missing fields. The same numbers always return the same person.
package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Sizes divides people among departments and returns the size of each. A few
// large departments come first, the others are of about the same size. With
// 1,200,000 people in 30,000 departments the largest has some 17,000 and most
// have 40.
func Sizes(departments, people int) []int {
	weight := func(i int) float64 {
		return 1 + float64(departments)/70/math.Pow(float64(i+1), 1.5)
	}
	var total float64
	for i := range departments {
		total += weight(i)
	}
	sizes := make([]int, departments)
	var sum float64
	for i, placed := 0, 0; i < departments; i++ {
		sum += weight(i)
		sizes[i] = int(math.Round(sum/total*float64(people))) - placed
		placed += sizes[i]
	}
	return sizes
}

// Department returns the name of a department by its number, from 0. No two
// departments have the same name.
func Department(number int) string {
	place := places[number%len(places)]
	if n := number / len(places); n > 0 {
		return fmt.Sprintf("%s Fire Department %d", place, n+1)
	}
	return place + " Fire Department"
}

var fields = record.AllFields()

// Person returns a member of a department, both by number from 0. The fields
// pass record.Fields.Normalize.
func Person(department, number int) record.Fields {
	r := rand.New(rand.NewPCG(uint64(department), uint64(number)))
	names := nameSets[r.IntN(len(nameSets))]
	f := record.Fields{
		FirstName: pick(r, names.first),
		LastName:  pick(r, names.last),
	}
	if r.IntN(12) == 0 {
		f.FirstName += " " + pick(r, names.first)
	}
	if r.IntN(10) > 0 {
		f.PhoneNumber = phoneNumber(r)
	}
	if r.IntN(5) > 0 {
		f.Email = email(r, department, f)
	}
	if r.IntN(8) > 0 {
		f.DateOfBirth = fmt.Sprintf("%d-%02d-%02d", 1955+r.IntN(52), 1+r.IntN(12), 1+r.IntN(28))
	}
	i := 0
	f.Each(func(_ string, value *string) {
		if from := fields[i].Demo; from != nil && r.IntN(8) > 0 {
			*value = pick(r, from)
		}
		i++
	})
	return f
}

// Searched returns the last name of a member of a department of so many people,
// and a text that finds it in a search: the name in plain Latin letters, if a
// member has a name with accents. Both are empty if there is nobody.
func Searched(department, people int) (name, text string) {
	for i := range people {
		name := Person(department, i).LastName
		if plain := latin(name); plain == fold.String(name) && plain != strings.ToLower(name) {
			return name, plain
		}
	}
	if people > 0 {
		name = Person(department, 0).LastName
	}
	return name, name
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// phoneNumber returns a phone number in one of the spellings that people use.
func phoneNumber(r *rand.Rand) string {
	area, first, last := 91+r.IntN(9), r.IntN(1000), r.IntN(10000)
	spelling := pick(r, []string{
		"0%d %03d %04d", "0%d/%03d-%04d", "(0%d) %03d-%04d", "+385 %d %03d %04d",
		"00385%d%03d%04d", "0%d%03d%04d", "0%d-%03d-%04d", "+385 (0)%d %03d %04d",
	})
	return fmt.Sprintf(spelling, area, first, last)
}

// email returns an address of the person's own or one that a station shares.
func email(r *rand.Rand, department int, f record.Fields) string {
	local := latin(f.FirstName) + "." + latin(f.LastName)
	if local == "." || r.IntN(8) == 0 {
		return fmt.Sprintf("station%d.%d@example.org", r.IntN(5)+1, department)
	}
	return strings.Trim(local, ".") + fmt.Sprintf("%d@example.com", r.IntN(1000))
}

// latin returns the letters of a name that any e-mail address may have.
func latin(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, fold.String(name))
}
