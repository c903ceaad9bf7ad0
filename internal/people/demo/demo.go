// Package demo invents fire departments for demonstrations and benchmarks. The same language, day and
// numbers always yield the same person.
package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Sizes distributes people among departments and returns the size of each. It starts with a few
// large departments; the rest are about equal. With 1,200,000 people in 30,000 departments, the
// largest has about 17,000 people and most have 40.
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

// Country has what the departments and people of a country consist of.
type Country struct {
	Language string // tag of the language
	Code     string // ISO 3166-1 alpha-2
	You      string // name of the visitor

	department       string // name of a department, with %s for the place
	places           []string
	women, men, last []string
	twoNames         bool    // people have two last names, and keep them when they marry
	mobile, home     numbers // no one can be called on them
}

// In returns the country whose people speak a language, or nil if there is none.
func In(language string) *Country {
	i := slices.IndexFunc(countries, func(c *Country) bool { return c.Language == language })
	if i < 0 {
		return nil
	}
	return countries[i]
}

// Department returns the unique name of a department, numbered from 0.
func (c *Country) Department(number int) string {
	name := fmt.Sprintf(c.department, c.places[number%len(c.places)])
	if n := number / len(c.places); n > 0 {
		name += " " + strconv.Itoa(n+1)
	}
	return name
}

// named is the number of people of a department whose last names differ, except in families.
const named = 60

// Person returns a member of a department, both numbered from 0, as of a day. The fields pass
// record.Fields.Normalize. Only the first person has a birthday on that day.
func (c *Country) Person(today calendar.Date, department, number int) record.Fields {
	r := rand.New(rand.NewPCG(uint64(department), uint64(number)))
	head := headOf(number)
	f := record.Fields{
		FirstName:   c.first(r, number),
		LastName:    c.lastName(rand.New(rand.NewPCG(uint64(department), uint64(head))), department, head),
		PhoneNumber: c.mobile.at(department*131 + number + 7),
		DateOfBirth: born(r, today, number).String(),
	}
	if number >= named && r.IntN(4) == 0 {
		f.FirstName += " " + c.first(r, number)
	}
	if c.twoNames {
		second := r
		if head != number { // siblings share both
			second = rand.New(rand.NewPCG(uint64(head), uint64(department)))
		}
		f.LastName += " " + pick(second, c.last)
	}
	if isFamily(number) {
		f.PhoneNumber = c.home.at(department*131 + head)
	}
	f.Email = email(r, f, number)
	for _, few := range []struct { // people who lack a field
		every int
		field *string
	}{{7, &f.Email}, {11, &f.PhoneNumber}, {13, &f.DateOfBirth}} {
		if number%few.every == few.every-1 {
			*few.field = ""
		}
	}
	for d, value := range f.Each {
		if d.Demo != nil && r.IntN(8) > 0 {
			*value = pick(r, d.Demo)
		}
	}
	return f
}

// headOf returns the number of the parent of a person in a family, and number for everyone else.
// Families share the last name and the phone: of twenty people, two belong to one family and three
// to another.
func headOf(number int) int {
	switch number % 20 {
	case 5, 12:
		return number - 1
	case 13:
		return number - 2
	}
	return number
}

func isFamily(number int) bool { return headOf(number) != number || headOf(number+1) == number }

// born returns a date of birth of a person who is 16 to 80 years old today.
func born(r *rand.Rand, today calendar.Date, number int) calendar.Date {
	age, days := 16+r.IntN(45)+r.IntN(21), 1+r.IntN(363)
	switch {
	case number == 0:
		age, days = 40, 0 // 29 February exists 40 years earlier
	case headOf(number) != number:
		age = 16 + r.IntN(7)
	case isFamily(number):
		age = 44 + r.IntN(12)
	}
	d := calendar.Of(time.Date(today.Year-age, today.Month, today.Day-days, 0, 0, 0, 0, time.UTC))
	if number > 0 && d.Month == time.February && d.Day == 29 { // its birthday may be today
		d.Day = 27
	}
	return d
}

// first returns a first name. Women have even numbers.
func (c *Country) first(r *rand.Rand, number int) string {
	if number%2 == 0 {
		return pick(r, c.women)
	}
	return pick(r, c.men)
}

func (c *Country) lastName(r *rand.Rand, department, head int) string {
	const step = 37 // coprime to the number of names
	name := c.last[(department+head*step)%len(c.last)]
	if head >= named && !c.twoNames && r.IntN(4) == 0 {
		name += "-" + pick(r, c.last)
	}
	return name
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// email returns an address in a domain that is reserved for examples (RFC 2606).
func email(r *rand.Rand, f record.Fields, number int) string {
	last, _, _ := strings.Cut(f.LastName, " ")
	local := latin(f.FirstName) + "." + latin(last)
	if number >= named {
		local += strconv.Itoa(number)
	}
	return local + "@example." + pick(r, []string{"org", "com", "net"})
}

// latin returns the letters a to z of a folded name.
func latin(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, fold.Expanded(name))
}

// numbers are phone numbers.
type numbers struct {
	ranges []string // x is any digit
	total  int
}

func newNumbers(ranges ...string) numbers {
	n := numbers{ranges: ranges}
	for _, r := range ranges {
		n.total += sizeOf(r)
	}
	return n
}

func sizeOf(phones string) int { return int(math.Pow10(strings.Count(phones, "x"))) }

// at returns number n. The first total numbers differ.
func (n numbers) at(number int) string {
	number %= n.total
	i := 0
	for ; number >= sizeOf(n.ranges[i]); i++ {
		number -= sizeOf(n.ranges[i])
	}
	const step = 6180339 // has no factor in common with 10
	digits := number * step
	phone := []byte(n.ranges[i])
	for j, c := range slices.Backward(phone) {
		if c == 'x' {
			phone[j] = '0' + byte(digits%10)
			digits /= 10
		}
	}
	return string(phone)
}

// Change is a change that the visitor made to a department.
type Change struct {
	Days   int            // before today
	Number int            // of the person, who has joined if it is the size of the department
	Fields *record.Fields // after the change; nil: the person has left
}

// Changes returns the latest changes in the first department, which has a size of at least ten
// before and after them.
func (c *Country) Changes(today calendar.Date, size int) []Change {
	r := rand.New(rand.NewPCG(0, 0))
	mail, married, phone, joined := c.Person(today, 0, 6), c.Person(today, 0, 8), c.Person(today, 0, 3), c.Person(today, 0, size)
	mail.Email = email(r, mail, 6)
	married.LastName = c.Person(today, 0, 7).LastName
	if c.twoNames {
		married = c.Person(today, 0, 8)
		married.Email = strings.Replace(married.Email, ".", "", 1)
	}
	phone.PhoneNumber = c.mobile.at(size + 8)
	joined.DateOfBirth = born(r, today, 5).String() // as young as a child in a family
	return []Change{{34, 3, &phone}, {20, 8, &married}, {13, 9, nil}, {6, size, &joined}, {2, 6, &mail}}
}
