package office

import (
	"slices"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// fieldNames are the names of a record's fields, in their order.
var fieldNames = slices.Clip(record.FieldNames())

// fieldValues returns fields by name.
func fieldValues(f record.Fields) map[string]string {
	all := map[string]string{}
	f.Each(func(name string, value *string) { all[name] = *value })
	return all
}

// shown returns fields as people read them: the date of birth is a day in the
// visitor's language.
func (v visit) shown(f record.Fields) record.Fields {
	f.DateOfBirth = v.birth(f)
	return f
}

// nameOf returns a name for a sentence.
func nameOf(f record.Fields) string { return site.Isolate(f.FirstName + " " + f.LastName) }

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
