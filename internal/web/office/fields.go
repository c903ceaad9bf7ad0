package office

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// fieldNames are the names of a record's fields, in their order.
var fieldNames = slices.Clip(record.FieldNames())

// fieldValues returns fields by name.
func fieldValues(f record.Fields) map[string]string {
	all := map[string]string{}
	for d, value := range f.Each {
		all[d.Name] = *value
	}
	return all
}

// shown returns fields as people read them: the date of birth is a day in the
// visitor's language.
func (v visit) shown(f record.Fields) record.Fields {
	f.DateOfBirth = v.birth(f)
	return f
}

// nameOf returns a name for a sentence.
func nameOf(f record.Fields) string { return isolate(f.FirstName + " " + f.LastName) }

// difference is a field that two versions of a person have differently.
type difference struct{ Label, Old, New string }

// differences returns the fields in which two versions of a person differ. A day of
// birth that is the same while its time or offset differs is as the API has it.
func (v visit) differences(before, after record.Fields) (list []difference) {
	old, stored := fieldValues(v.shown(before)), fieldValues(before)
	shown, now := fieldValues(v.shown(after)), fieldValues(after)
	for _, name := range fieldNames {
		label := v.Text("field." + name)
		switch {
		case old[name] != shown[name]:
			list = append(list, difference{label, old[name], shown[name]})
		case stored[name] != now[name]:
			list = append(list, difference{label, stored[name], now[name]})
		}
	}
	return list
}

// fault is something wrong, for the summary above a form. Name is the id of the field
// that it is about.
type fault struct{ Name, Fault string }

// turning are the characters that change the direction of what follows.
const turning = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// isolate returns a text for a sentence. Where it has characters that turn the
// direction of text, it stands between U+2068 and U+2069, so that it turns nothing
// but itself.
func isolate(text string) string {
	if strings.ContainsAny(text, turning) {
		return "\u2068" + text + "\u2069"
	}
	return text
}

// now returns the time where the service runs.
func (v visit) now() time.Time { return v.Store.Clock().Now().Local() }

// today returns the day that it is where the service runs.
func (v visit) today() calendar.Date { return calendar.Of(v.now()) }

// bornOn returns the day of birth by the calendar of the offset that was sent.
func bornOn(f record.Fields) (day calendar.Date, known bool) {
	return calendar.Of(f.Born()), f.DateOfBirth != ""
}

// birth returns the day of birth in the visitor's language, empty if it is not
// known.
func (v visit) birth(f record.Fields) string {
	day, known := bornOn(f)
	if !known {
		return ""
	}
	return v.Lang.Day(day)
}

// readBirth returns a day as it is stored. stored is what the record has.
func (v visit) readBirth(text, stored string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	day, err := v.Lang.ParseBirth(text, v.today())
	if err != nil {
		return "", err
	}
	if before, known := bornOn(record.Fields{DateOfBirth: stored}); known && before == day {
		return stored, nil
	}
	return day.String(), nil
}

// dayFault returns the message for a day in a field that cannot be read.
func (v visit) dayFault(field string, err error) string {
	message, two := "fault."+field+".", (*lang.AmbiguousError)(nil)
	switch {
	case errors.As(err, &two):
		return v.Text(message+"ambiguous", two.One, two.Other)
	case errors.Is(err, lang.ErrNoSuchDay):
		return v.Text(message + "no_such_day")
	}
	return v.Text(message+"invalid", v.Lang.Day(v.today()))
}
