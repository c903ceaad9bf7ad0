package index

import (
	"cmp"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// find returns the positions of the records that match a query.
func (s *snapshot) find(q record.Query) set {
	var found set
	if len(q.Terms) > 0 {
		found = s.search(q)
	} else {
		found = newFullSet(len(s.numbers))
	}
	if q.Filter != (record.Filter{}) {
		s.narrow(found, q.Filter)
	}
	return found
}

// narrow removes the records that do not match a filter. It searches for an email address or phone
// number in all records at once, which leaves few to check one by one.
func (s *snapshot) narrow(found set, f record.Filter) {
	keep := func(texts *lines, term string) {
		if term != "" {
			matches := newSet(len(s.numbers))
			texts.find(term, matches)
			found.keep(matches)
		}
	}
	keep(&s.texts, fold.String(f.Email))
	keep(&s.digits, f.PhoneDigits)
	found.filter(func(position int) bool { return s.matches(position, f) })
}

func (s *snapshot) matches(position int, f record.Filter) bool {
	return s.updated[position] >= f.UpdatedSince &&
		(f.BirthMonth == 0 || int64(s.months[position]) == f.BirthMonth) &&
		record.Lets(f.HasDateOfBirth, s.months[position] != 0) &&
		(f.PhoneDigits == "" || s.digits.at(position) == f.PhoneDigits) &&
		record.Lets(f.HasPhoneNumber, !strings.HasSuffix(s.texts.at(position), "\n")) &&
		(f.Email == "" || strings.EqualFold(s.email(position), f.Email)) &&
		(f.HasEmail == nil || *f.HasEmail == (s.email(position) != ""))
}

// email returns the email address of the record at a position. Its case may differ.
func (s *snapshot) email(position int) string {
	return cmp.Or(s.emails.at(position), EmailIn(s.texts.at(position)))
}

// EmailIn returns the third line of a text: the email address after two names.
func EmailIn(text string) string {
	_, text, _ = strings.Cut(text, "\n")
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n")
	return text
}
