package view

import (
	"net/url"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

// Person is a line of the list.
type Person struct {
	ID, FirstName, LastName string
	Phone, Tel              string
	Email                   string
	Mailto                  string // the e-mail address as a link has it
	Mailbox, MailHost       string // the parts of the e-mail address; a narrow column breaks between them
	Born                    string // empty: not known
	Age                     int
	Status                  string // of the invitation by the department's platform
	Anchor                  string // that the letter of the person leads to; empty: none
}

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
	p := Person{ID: f.ID, FirstName: f.FirstName, LastName: f.LastName, Phone: f.PhoneNumber, Tel: dialled(f.PhoneNumber), Email: f.Email}
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

// dialled returns what a telephone needs of a number: its digits, behind a plus
// sign if it has one. A zero in parentheses is dialled within a country only.
func dialled(number string) string {
	abroad := strings.HasPrefix(number, "+")
	if abroad {
		number = strings.Replace(number, "(0)", "", 1)
	}
	digits := record.Digits(number)
	if abroad && digits != "" {
		return "+" + digits
	}
	return digits
}
