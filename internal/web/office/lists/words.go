package lists

import (
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// words returns the messages about lists in the user's language.
func (v visit) words() imports.Words {
	quote := func(text string) string { return v.Text("import.quoted", text) }
	return imports.Words{Language: v.Lang, Show: short,
		Quote: func(text string) string { return quote(short(text)) },
		Field: func(name string) string { return quote(v.fieldLabel(name)) }}
}

// longest is the maximum number of characters that a page shows of a text from a list. A cell may
// contain megabytes.
const longest = 200

// short returns a text from a list for display.
func short(text string) string { return lang.Short(text, longest) }

// notes returns the messages of notes.
func (v visit) notes(notes []sheet.Note) (all []string) {
	for _, note := range notes {
		all = append(all, v.words().Note(note))
	}
	return all
}

// fieldLabel returns the label of a meaning of a column.
func (v visit) fieldLabel(field string) string {
	switch field {
	case mapping.LeftOut:
		return v.Text("import.field.none")
	case mapping.FullName:
		return v.Text("import.field.name")
	case mapping.LastFirst:
		return v.Text("import.field.reversed")
	case mapping.ID:
		return v.Text("import.field.id")
	}
	return v.Text("field." + field)
}

// heading returns the heading of a column. The columns of vCards have field names as headers, which
// are translated.
func (v visit) heading(header string) string {
	if slices.Contains(view.FieldNames, header) {
		return v.fieldLabel(header)
	}
	return short(header)
}

// columnUse returns a column and its meaning, or only the meaning if both are equal.
func columnUse(heading, label string) string {
	if strings.EqualFold(heading, label) {
		return label
	}
	return heading + " (" + label + ")"
}

// valuesOf returns all values of a person except the name.
func (v visit) valuesOf(f record.Fields) string {
	var all []string
	shown := view.FieldValues(v.Shown(f))
	for _, name := range view.FieldNames[record.NameFields:] {
		if shown[name] != "" {
			all = append(all, shown[name])
		}
	}
	return strings.Join(all, " · ")
}

// refusal returns the reason why a row is refused.
func (v visit) refusal(e record.FieldError, row imports.Row) string {
	if text, ok := v.words().Row(e, &row); ok {
		return text
	}
	if isUnknown(e) && row.Deleted != "" {
		return v.Text("import.reason.id.deleted")
	}
	if e.Code == mapping.CellError || e.Code == mapping.Misplaced {
		return v.Text("import.reason."+e.Code, v.fieldLabel(e.Field))
	}
	for _, key := range []string{"import.reason." + e.Field + "." + e.Code, "fault." + e.Field + "." + e.Code} {
		if text := v.Text(key); text != key {
			return text
		}
	}
	return e.Detail
}

// isUnknown reports whether an error is an ID without a person.
func isUnknown(e record.FieldError) bool { return e.Field == mapping.ID && e.Code == record.Unknown }

// describe returns the person that a row could match, or the readings of its name.
func (v visit) describe(like imports.Like) string {
	if like.ID != nil {
		return strings.TrimSuffix(view.NameOf(like.Person)+", "+v.Birth(like.Person), ", ")
	}
	var readings []string
	for _, name := range like.Readings {
		readings = append(readings, v.words().Name(name))
	}
	return strings.Join(readings, "; ")
}

// choices returns choices of values. prefix and a value form the key of its label.
func choices(v view.Visit, values []string, chosen, prefix string) (all []view.Choice) {
	for _, value := range values {
		all = append(all, view.Choice{Value: value, Label: v.Text(prefix + value), Chosen: value == chosen})
	}
	return all
}
