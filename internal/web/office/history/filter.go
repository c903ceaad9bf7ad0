package history

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// historyFilter is the filter form of a history.
type historyFilter struct {
	Action   string        // address of the page without a filter
	Person   view.Question // name as typed
	ID, Name string        // of the person, if the address has an ID
	Everyone string        // address without the person
	Who      []view.Choice
	From, To view.Question
	Faults   []view.Fault
	On       bool // the form restricts the changes
}

// readFilter returns the query of the address, for one person if id is not empty, and fills the
// form. Invalid parameters are ignored.
func readFilter(v view.Visit, id string, f *historyFilter) (q store.EditQuery, err error) {
	parameters := v.Query()
	number := func(name string) int64 {
		n, err := strconv.ParseInt(parameters.Get(name), 10, 64)
		if err != nil {
			return 0
		}
		return max(0, n)
	}
	q.Before, q.Import = number("before"), number("import")
	f.Action = v.R.URL.Path
	if id != "" {
		q.Records = []string{id}
	} else if q.Records, err = readPerson(v, f, strings.TrimSpace(parameters.Get("person"))); err != nil {
		return q, err
	}
	if q.Keys, err = readWho(v, f, parameters.Get("who")); err != nil {
		return q, err
	}
	q.Since = readFilterDay(v, f, &f.From, "from", 0)
	q.Until = readFilterDay(v, f, &f.To, "to", 1)
	f.On = q.Import != 0 || f.Person.Value != "" || f.ID != "" || q.Keys != nil || f.From.Value != "" || f.To.Value != ""
	return q, nil
}

// readPerson returns the IDs of the people that an ID or a name matches, deleted people
// included. It returns nil for an empty text, which matches everyone.
func readPerson(v view.Visit, f *historyFilter, text string) (ids []string, err error) {
	if text == "" {
		return nil, nil
	}
	if id, err := record.ParseID(text); err == nil {
		f.ID, f.Name, f.Everyone = id, v.Text("history.nobody"), pathWith(v, "person", "")
		known, _, err := v.Find(id)
		if err == nil || errors.As(err, new(*record.DamagedError)) {
			f.Name = view.NameOf(known.Fields)
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		return []string{id}, nil
	}
	f.Person.Value, ids = text, []string{}
	isNamed := named(text)
	add := func(p *record.Stored) {
		if isNamed(&p.Fields) {
			ids = append(ids, p.ID)
		}
	}
	err = v.Store.ReadRoster(v.Session.Tenant, func(r store.Roster) error { return r.Each(v.R.Context(), add) })
	if err != nil {
		return nil, err
	}
	gone, err := v.Store.Deleted(v.Session.Tenant, v.Now().AddDate(1, 0, 0))
	for i := range gone {
		add(&gone[i])
	}
	return ids, err
}

// named returns a function that reports whether a name contains each word of a text. Case and
// accents are ignored, and ue equals ü.
func named(text string) func(*record.Fields) bool {
	type word struct{ plain, expanded string }
	var words []word
	for _, w := range record.SearchWords(text) {
		words = append(words, word{fold.String(w), fold.Expanded(w)})
	}
	return func(f *record.Fields) bool {
		name := f.FirstName + " " + f.LastName
		plain, expanded := fold.String(name), fold.Expanded(name)
		return !slices.ContainsFunc(words, func(w word) bool {
			return !strings.Contains(plain, w.plain) && !strings.Contains(expanded, w.expanded)
		})
	}
}

// byCommand is the value of the parameter "who" for changes by commands.
const byCommand = "0"

// readWho returns the keys and sessions with a label, or nil for an empty text. A person may
// have several sessions with the same label. A key without a label is named by its number.
func readWho(v view.Visit, f *historyFilter, text string) (keys []store.KeyID, err error) {
	all, err := v.Store.Editors(v.Session.Tenant)
	if err != nil {
		return nil, err
	}
	f.Who = []view.Choice{{Value: byCommand, Label: v.Text("history.command"), Chosen: text == byCommand}}
	number, err := strconv.ParseInt(text, 10, 64)
	if text != "" {
		keys = []store.KeyID{}
	}
	if err == nil {
		keys = append(keys, store.KeyID(number))
	}
	for _, k := range all {
		o := view.Choice{Value: k.Label, Label: k.Label}
		if _, err := strconv.ParseInt(o.Value, 10, 64); err == nil || o.Value == "" {
			o.Value, o.Label = strconv.FormatInt(int64(k.ID), 10), cmp.Or(o.Label, v.Text("history.key", int(k.ID)))
		}
		if o.Value == text {
			keys, o.Chosen = append(keys, k.ID), true
		}
		if i := slices.IndexFunc(f.Who, func(other view.Choice) bool { return other.Value == o.Value }); i >= 0 {
			f.Who[i].Chosen = f.Who[i].Chosen || o.Chosen
		} else {
			f.Who = append(f.Who, o)
		}
	}
	slices.SortStableFunc(f.Who[1:], func(a, b view.Choice) int { return cmp.Compare(fold.String(a.Label), fold.String(b.Label)) })
	return keys, nil
}

// readFilterDay returns the start of the day in a field, or of a later day, or the zero time if
// the field is empty or invalid.
func readFilterDay(v view.Visit, f *historyFilter, q *view.Question, name string, later int) time.Time {
	q.Value = strings.TrimSpace(v.Query().Get(name))
	if q.Value == "" {
		return time.Time{}
	}
	day, err := v.Lang.ParseDay(q.Value)
	if err != nil {
		q.Fault = v.DayFault("before", err)
		f.Faults = append(f.Faults, view.Fault{Name: name, Fault: q.Fault})
		return time.Time{}
	}
	q.Value = v.Lang.Day(day)
	return v.DayStart(day, later)
}
