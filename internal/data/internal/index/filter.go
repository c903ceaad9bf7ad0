package index

import (
	"cmp"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// find returns the positions of the records that a query finds.
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

// narrow removes from found what a filter does not let through. An e-mail address or a
// phone number is looked for in all records at once: few are left then.
func (s *snapshot) narrow(found set, f record.Filter) {
	keep := func(texts *lines, with string) {
		if with != "" {
			those := newSet(len(s.numbers))
			texts.find(with, those)
			found.keep(those)
		}
	}
	keep(&s.texts, fold.String(f.Email))
	keep(&s.digits, f.PhoneDigits)
	found.filter(func(position int) bool { return s.lets(position, f) })
}

// lets reports whether a filter lets the record at a position through.
func (s *snapshot) lets(position int, f record.Filter) bool {
	return s.updated[position] >= f.UpdatedSince &&
		(f.BirthMonth == 0 || int64(s.months[position]) == f.BirthMonth) &&
		record.Lets(f.HasDateOfBirth, s.months[position] != 0) &&
		(f.PhoneDigits == "" || s.digits.at(position) == f.PhoneDigits) &&
		record.Lets(f.HasPhoneNumber, !strings.HasSuffix(s.texts.at(position), "\n")) &&
		(f.Email == "" || strings.EqualFold(s.email(position), f.Email)) &&
		(f.HasEmail == nil || *f.HasEmail == (s.email(position) != ""))
}

// email returns the e-mail address of the record at a position, but for its case.
func (s *snapshot) email(position int) string {
	return cmp.Or(s.emails.at(position), EmailIn(s.texts.at(position)))
}

// EmailIn returns the e-mail address in a text that has it after the names, a line each.
func EmailIn(text string) string {
	_, text, _ = strings.Cut(text, "\n")
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n")
	return text
}
