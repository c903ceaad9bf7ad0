package record

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Filter restricts a list to records that match all its conditions. The zero value matches every
// record.
type Filter struct {
	Email          string // full address, ignoring case
	PhoneDigits    string // all digits of the phone number
	BirthMonth     int64  // 1 to 12, by the date as sent
	HasEmail       *bool  // nil: any; also for the next two
	HasPhoneNumber *bool
	HasDateOfBirth *bool
	UpdatedSince   int64 // fields changed at or after this time, in milliseconds
}

// Lets reports whether a filter on the presence of a value matches.
func Lets(has *bool, present bool) bool { return has == nil || *has == present }

const (
	maxIDs    = 100
	maxMonths = 12
)

// readFilter reads the filter parameters. An empty filter is an error, because it must not match
// everyone.
func (p *Parameters) readFilter(q *Query) {
	for _, name := range []string{"id", "email", "phoneNumber", "birthMonth", "hasEmail", "hasPhoneNumber", "hasDateOfBirth", "updatedSince"} {
		if values := p.values[name]; values != nil && strings.Join(values, "") == "" {
			p.errs.Add(name, Invalid, "%s must have a value.", name)
		}
	}
	q.IDs = p.ids("id")
	q.Filter = Filter{Email: p.email("email"), PhoneDigits: p.digits("phoneNumber"), BirthMonth: p.month("birthMonth")}
	p.readPresence(&q.Filter)
	q.Filter.UpdatedSince = p.moment("updatedSince")
}

// readPresence reads the filters on the presence of a value.
func (p *Parameters) readPresence(f *Filter) {
	f.HasEmail, f.HasPhoneNumber, f.HasDateOfBirth = p.yesOrNo("hasEmail"), p.yesOrNo("hasPhoneNumber"), p.yesOrNo("hasDateOfBirth")
}

// email reads an email address. Text without one is an error.
func (p *Parameters) email(name string) string {
	text := p.Get(name)
	email := normalizeEmail(&p.errs, Field{Name: name, limit: maxEmail}, text, time.Time{})
	if text != "" && email == "" && !p.errs.Has(name) {
		p.errs.Add(name, Invalid, "%s must be an e-mail address.", name)
	}
	return email
}

// ids reads record ids. It returns nil if there are none. A list of only commas and spaces is an
// error, because it must not match everyone.
func (p *Parameters) ids(name string) (ids []string) {
	texts := p.All(name)
	switch {
	case len(texts) > maxIDs:
		p.errs.Add(name, OutOfRange, "%s may be given at most %d times.", name, maxIDs)
		return nil
	case len(texts) == 0 && strings.Join(p.values[name], "") != "":
		p.errs.Add(name, Invalid, "%s must be a UUID, or several separated by commas.", name)
		return nil
	}
	for _, text := range texts {
		id, err := parseListedID(text)
		if err != nil {
			p.errs.Add(name, Invalid, "%s must be a UUID, or several separated by commas.", name)
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// parseListedID is ParseID but also accepts the short form of LinkQuery.
func parseListedID(text string) (string, error) {
	if id, err := base64.RawURLEncoding.DecodeString(text); err == nil && len(id) == len(uuid.UUID{}) {
		return uuid.UUID(id).String(), nil
	}
	return ParseID(text)
}

// maxPlainIDs is how many ids links repeat unchanged.
const maxPlainIDs = 10

// LinkQuery returns the URL query of a list for links to its pages. It writes many ids in base64url,
// so that the headers of a proxy hold 100 of them.
func (q Query) LinkQuery(rawQuery string) string {
	if len(q.IDs) <= maxPlainIDs {
		return rawQuery
	}
	var short []string
	for _, text := range q.IDs {
		id := uuid.MustParse(text)
		short = append(short, base64.RawURLEncoding.EncodeToString(id[:]))
	}
	values := ParseParameters(rawQuery).values
	values["id"] = []string{strings.Join(short, ",")}
	return values.Encode()
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

// month reads a month number, or 0 if absent.
func (p *Parameters) month(name string) int64 {
	month := p.WholeNumber(name, 1, 0, maxMonths+1)
	if month > maxMonths {
		p.errs.Add(name, OutOfRange, "%s must be a whole number from 1 to %d.", name, maxMonths)
	}
	return month
}

// moment reads a time with an offset and rounds it up to milliseconds. It returns 0 if the time is
// absent or before 1970.
func (p *Parameters) moment(name string) int64 {
	text := p.Get(name)
	if text == "" {
		return 0
	}
	part := birthForm().FindStringSubmatch(text)
	if part == nil || part[5] == "" {
		p.errs.Add(name, Invalid, "%s must be a time with an offset, like 2026-11-23T10:00:00.000Z. In a URL a plus is %%2B.", name)
		return 0
	}
	canonical, missing := canonicalBirth(part)
	if missing != "" {
		p.errs.Add(name, Invalid, "%s must be a %s that exists.", name, missing)
		return 0
	}
	at, _ := time.Parse(time.RFC3339Nano, canonical)
	return max(0, at.Add(time.Millisecond-time.Nanosecond).UnixMilli())
}
