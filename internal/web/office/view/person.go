package view

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/phone"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Person is a line of the list.
type Person struct {
	ID, FirstName, LastName string
	Name                    string // first and last name
	Phone                   string
	Tel                     string // the number to call, for a link; empty: none
	Email                   string
	Mailto                  string // the e-mail address, escaped for a link
	Mailbox, MailHost       string // parts of the e-mail address, between which a line may break
	Born                    string // empty if unknown
	Age                     int
	Status                  string // of the invitation
	Anchor                  string // target of a letter link
}

// People returns lines of the list.
func (v Visit) People(items []record.Firefighter) []Person {
	today := v.Today()
	people := make([]Person, len(items))
	for i := range items {
		people[i] = v.Person(&items[i], today)
	}
	return people
}

// Person returns a line of the list.
func (v Visit) Person(f *record.Firefighter, today calendar.Date) Person {
	p := Person{ID: f.ID, FirstName: f.FirstName, LastName: f.LastName, Name: NameOf(f.Fields), Phone: f.PhoneNumber, Email: f.Email}
	if numbers := phone.Numbers(f.PhoneNumber); len(numbers) > 0 {
		p.Tel = numbers[0].Link()
	}
	if f.Email != "" {
		name, _, _ := strings.Cut(f.Email, "@")
		p.Mailto, p.Mailbox, p.MailHost = url.PathEscape(f.Email), name, strings.TrimPrefix(f.Email, name)
	}
	if born, ok := BornOn(f.Fields); ok {
		p.Born, p.Age = v.Lang.Day(born), born.AgeOn(today)
	}
	if f.InvitationStatus != nil {
		p.Status = *f.InvitationStatus
	}
	return p
}

// Numbers returns the numbers to call, each on one line as typed, and with its link.
func (p Person) Numbers() (all []site.Line) {
	numbers := phone.Numbers(p.Phone)
	for _, part := range phone.Parts(p.Phone) {
		if found := len(phone.Numbers(part)); found > 0 {
			text := strings.ReplaceAll(strings.Trim(part, " ,;/"), " ", "\u00a0")
			all, numbers = append(all, site.Line{Text: text, Link: numbers[0].Link()}), numbers[found:]
		}
	}
	return all
}

// maxAlike is the maximum number of possible duplicates to show.
const maxAlike = 10

// Alike returns a line about each of AlikePeople.
func (v Visit) Alike(f record.Fields, exclude string) (lines []site.Line, err error) {
	people, err := v.AlikePeople(f, exclude)
	for _, other := range people {
		line := site.Line{Text: v.Text("person.alike", NameOf(other.Fields)), Link: PersonPath(other.ID)}
		if born, known := BornOn(other.Fields); known {
			line.Text = v.Text("person.alike.born", NameOf(other.Fields), strconv.Itoa(born.Year))
		}
		lines = append(lines, line)
	}
	return lines, err
}

// AlikePeople returns the possible duplicates of a person, best match first: people with the same
// name, and people whom an import would report as possible duplicates. It returns none without a
// first and a last name. exclude is the ID of the person.
func (v Visit) AlikePeople(f record.Fields, exclude string) (people []record.Firefighter, err error) {
	if f.FirstName == "" || f.LastName == "" {
		return nil, nil
	}
	type match struct {
		why    alike.Reason
		person record.Firefighter
	}
	var found []match
	whole, name := alike.Of(&f), alike.Of(&record.Fields{FirstName: f.FirstName, LastName: f.LastName})
	err = v.Store.Each(v.Session.Tenant, record.Query{SortBy: record.ByCreatedAt}, func(other *record.Firefighter) error {
		person := alike.Of(&other.Fields)
		why := cmp.Or(whole.Why(&person), name.Why(&person))
		if other.ID != exclude && (why != alike.None || name.Named(&person.Identity)) {
			found = append(found, match{why, *other})
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.why, b.why) })
	for _, m := range found[:min(len(found), maxAlike)] {
		people = append(people, m.person)
	}
	return people, err
}
