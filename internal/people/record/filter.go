package record

import (
	"strings"
	"time"
)

// Filter narrows a list to the records of which all holds that it says. The zero value
// says nothing.
type Filter struct {
	Email          string // the whole address, in any case
	PhoneDigits    string // all digits of the phone number, and no more
	BirthMonth     int64  // 1 to 12, of the date as it was sent
	HasEmail       *bool  // nil says nothing, and so do the next two
	HasPhoneNumber *bool
	HasDateOfBirth *bool
	UpdatedSince   int64 // in milliseconds: the fields were written then or later
}

// Lets reports whether a filter for something that may be there lets a record through.
func Lets(has *bool, there bool) bool { return has == nil || *has == there }

const (
	maxIDs    = 100
	maxMonths = 12
)

// readFilter reads what narrows a list. An empty filter is invalid, because it must not mean
// everyone.
func (p *Parameters) readFilter(q *Query) {
	for _, name := range []string{"id", "email", "phoneNumber", "birthMonth", "hasEmail", "hasPhoneNumber", "hasDateOfBirth", "updatedSince"} {
		if values := p.values[name]; values != nil && strings.Join(values, "") == "" {
			p.errs.Add(name, Invalid, "%s must have a value.", name)
		}
	}
	q.IDs = p.ids("id")
	q.Filter = Filter{
		Email:          p.email("email"),
		PhoneDigits:    p.digits("phoneNumber"),
		BirthMonth:     p.month("birthMonth"),
		HasEmail:       p.yesOrNo("hasEmail"),
		HasPhoneNumber: p.yesOrNo("hasPhoneNumber"),
		HasDateOfBirth: p.yesOrNo("hasDateOfBirth"),
		UpdatedSince:   p.moment("updatedSince"),
	}
}

// email reads an e-mail address. White space alone is none.
func (p *Parameters) email(name string) string {
	text := p.Get(name)
	if text != "" && strings.TrimSpace(text) == "" {
		p.errs.Add(name, Invalid, "%s must be an e-mail address.", name)
		return ""
	}
	return normalizeEmail(&p.errs, Field{Name: name, limit: maxEmail}, text, time.Time{})
}

// ids reads ids of records, nil for none. A list of commas and spaces is invalid, because it must
// not mean everyone.
func (p *Parameters) ids(name string) (ids []string) {
	given := p.All(name)
	switch {
	case len(given) > maxIDs:
		p.errs.Add(name, OutOfRange, "%s may be given at most %d times.", name, maxIDs)
		return nil
	case len(given) == 0 && strings.Join(p.values[name], "") != "":
		p.errs.Add(name, Invalid, "%s must be a UUID, or several with commas.", name)
		return nil
	}
	for _, text := range given {
		id, err := ParseID(text)
		if err != nil {
			p.errs.Add(name, Invalid, "%s must be a UUID, or several with commas.", name)
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// digits reads the digits of a phone number.
func (p *Parameters) digits(name string) string {
	text := p.Get(name)
	digits := Digits(text)
	if text != "" && digits == "" {
		p.errs.Add(name, Invalid, "%s must have a digit.", name)
	}
	return digits
}

// month reads the number of a month, 0 for none.
func (p *Parameters) month(name string) int64 {
	month := p.WholeNumber(name, 0, maxMonths+1)
	if month > maxMonths {
		p.errs.Add(name, OutOfRange, "%s must be a whole number from 1 to %d.", name, maxMonths)
	}
	return month
}

// moment reads an instant of RFC 3339. It returns the first millisecond that is not
// before it, 0 for none and for all before 1970.
func (p *Parameters) moment(name string) int64 {
	text := p.Get(name)
	if text == "" {
		return 0
	}
	canonical, ok := canonicalBirth(text)
	if parts := birthForm.FindStringSubmatch(text); !ok || parts[4] == "" {
		p.errs.Add(name, Invalid, "%s must be a time with an offset, like 2026-11-23T10:00:00.000Z. In a URL a plus is %%2B.", name)
		return 0
	}
	at, _ := time.Parse(time.RFC3339Nano, canonical)
	return max(0, at.Add(time.Millisecond-time.Nanosecond).UnixMilli())
}
