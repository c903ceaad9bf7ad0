package view

import (
	"errors"
	"slices"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// FieldNames are the names of a record's fields, in their order.
var FieldNames = slices.Clip(record.FieldNames())

// FieldValues returns fields by name.
func FieldValues(f record.Fields) map[string]string {
	all := map[string]string{}
	for d, value := range f.Each {
		all[d.Name] = *value
	}
	return all
}

// Shown returns fields for display, with the day of birth in the visitor's language.
func (v Visit) Shown(f record.Fields) record.Fields {
	f.DateOfBirth = v.Birth(f)
	return f
}

// NameOf returns the full name.
func NameOf(f record.Fields) string { return f.FirstName + " " + f.LastName }

// Difference is a field with different values in two versions of a person.
type Difference struct{ Label, Old, New string }

// Differences returns the fields that differ, in display form. Dates of birth on the same day
// that differ in time or offset are returned as stored.
func (v Visit) Differences(before, after record.Fields) (list []Difference) {
	old, stored := FieldValues(v.Shown(before)), FieldValues(before)
	shown, now := FieldValues(v.Shown(after)), FieldValues(after)
	for _, name := range FieldNames {
		label := v.Text("field." + name)
		switch {
		case old[name] != shown[name]:
			list = append(list, Difference{label, old[name], shown[name]})
		case stored[name] != now[name]:
			list = append(list, Difference{label, stored[name], now[name]})
		}
	}
	return list
}

// BornOn returns the day of birth at its own UTC offset. known is false if the field is empty.
func BornOn(f record.Fields) (day calendar.Date, known bool) {
	return calendar.Of(f.Born()), f.DateOfBirth != ""
}

// Birth returns the day of birth in the visitor's language, or an empty text.
func (v Visit) Birth(f record.Fields) string {
	day, known := BornOn(f)
	if !known {
		return ""
	}
	return v.Lang.Day(day)
}

// DayFault returns the message for an invalid day in a field.
func (v Visit) DayFault(field string, err error) string {
	message, two := "fault."+field+".", (*lang.AmbiguousError)(nil)
	switch {
	case errors.As(err, &two):
		return v.Text(message+"ambiguous", two.One, two.Other)
	case errors.Is(err, lang.ErrNoSuchDay):
		return v.Text(message + "no_such_day")
	}
	return v.Text(message+"invalid", v.Lang.Day(v.Today()))
}

// Choice is an option of a select, a radio button or a checkbox.
type Choice struct {
	Value, Label string
	Chosen       bool
}

// Question is a field of a filter form, with its value as typed.
type Question struct{ Value, Fault string }

// Fault is an error for the summary above a form. Name is the ID of its field. Fault is
// empty if there is none.
type Fault struct{ Name, Fault string }

// Faults returns the errors for the summary.
func (f Fault) Faults() []Fault {
	if f.Fault == "" {
		return nil
	}
	return []Fault{f}
}
