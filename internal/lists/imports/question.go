package imports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Kinds are the kinds of questions. Their answers are fixed, except for nil.
var Kinds = map[string][]string{
	sheet.AskEncoding: sheet.Encodings,
	mapping.AskDates:  mapping.Orders,
	mapping.AskNames:  mapping.NameOrders,
	mapping.AskZero:   {"true", "false"},

	mapping.AskColumns:  {mapping.Change, mapping.Keep},
	mapping.AskSwapped:  {mapping.Change, mapping.Keep},
	mapping.AskMidnight: {mapping.Change, mapping.Keep},
	mapping.AskUnknown:  {mapping.Change, mapping.Keep},
}

// SetAnswer records the answer to a question, such as "dates:dmy". The error is a
// *record.TextError.
func (o *Options) SetAnswer(text string) error {
	kind, value, ok := strings.Cut(text, ":")
	values, known := Kinds[kind]
	if encoding, known := sheet.EncodingOf(value); kind == sheet.AskEncoding && known {
		value = encoding
	}
	if kind == mapping.AskZero && value == "1" { // as for the parameter zero
		value = "true"
	}
	fault := func(code, format string, args ...any) error {
		return &record.TextError{Code: code, Fault: fmt.Sprintf(format, args...)}
	}
	switch before := o.Answers[kind]; {
	case !ok || value == "":
		return fault(record.Invalid, "must be a kind and an option, like dates:dmy, not %s", strconv.Quote(text))
	case !known:
		return fault(record.Unknown, "has the unknown kind %q", kind)
	case values != nil && !slices.Contains(values, value):
		return fault(record.Invalid, "for %s must be one of %s, not %q", kind, strings.Join(values, ", "), value)
	case before != "" && before != value:
		return fault(record.Duplicate, "answers %s twice", kind)
	}
	if o.Answers == nil {
		o.Answers = sheet.Answers{}
	}
	o.Answers[kind] = value
	return nil
}

// Question is a sheet.Question as JSON, in English.
type Question struct{ sheet.Question }

// MarshalJSON returns the question with its text.
func (q Question) MarshalJSON() ([]byte, error) {
	type option struct {
		Value   string  `json:"value"`
		Label   string  `json:"label"`
		Example *string `json:"example"`
	}
	options := make([]option, len(q.Options))
	for i, o := range q.Options {
		label, example := English.Option(q.Kind, o)
		options[i] = option{o.Value, label, textOrNil(example)}
	}
	return json.Marshal(struct {
		Kind    string   `json:"kind"`
		Text    string   `json:"text"`
		Columns []string `json:"columns"`
		Rows    []int    `json:"rows"`
		Options []option `json:"options"`
		Answer  *string  `json:"answer"`
	}{q.Kind, English.Question(q.Question), append([]string{}, q.Columns...), append([]int{}, q.Rows...), options, textOrNil(q.Answer)})
}

// Open returns the kinds of the open questions that must be answered before an import.
func (o *Outcome) Open() (kinds []string) {
	for _, q := range o.Questions {
		if q.Blocks() {
			kinds = append(kinds, q.Kind)
		}
	}
	return kinds
}

// questions returns the questions about a file, of which those about rows concern rows.
func (f *File) questions(rows []Row) []Question {
	all := []Question{}
	for _, q := range f.Questions {
		if q.Kind == mapping.AskNames {
			q.Rows = nil
			for _, row := range rows {
				if slices.ContainsFunc(row.Like, func(like Like) bool { return like.Why == MixedNames }) {
					q.Rows = append(q.Rows, row.Row)
				}
			}
			if q.Answer == "" && q.Rows == nil {
				continue // the readings of all rows are people who exist
			}
		}
		if !q.Blocks() || !f.isSettled(q, rows) {
			all = append(all, Question{q})
		}
	}
	return all
}

// isSettled reports whether the answer to a question is what the department has: each row that it concerns
// is an existing person, and nothing would change in the columns concerned.
func (f *File) isSettled(q sheet.Question, rows []Row) bool {
	fields := map[string]bool{}
	for _, column := range f.Mapped.Columns {
		if concerned := len(q.Columns) == 0 || slices.Contains(q.Columns, column.Header); !concerned {
			continue
		} else if column.Field == mapping.LeftOut && len(q.Columns) > 0 {
			return false // the question is whether to read it
		}
		fields[column.Field] = true
		if column.IsFullName() {
			fields["firstName"], fields["lastName"] = true, true
		}
	}
	for i := range rows {
		row := &rows[i]
		if row.Result == Skipped || row.Twin != 0 || q.Changes != nil && !q.Changes[row.Row] {
			continue
		}
		if row.Before == nil || len(row.Errors) > 0 {
			return false
		}
		after, _ := f.merge(row)
		for d, value := range after.Each {
			if fields[d.Name] && *value != *d.Of(row.Before) {
				return false
			}
		}
	}
	return len(rows) > 0
}
