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

// historyFilter is the form that asks for some changes.
type historyFilter struct {
	Action   string        // address of the page without a filter
	Person   view.Question // name as typed
	ID, Name string        // of the person whom the address names; empty: none
	Everyone string        // address without that person
	Who      []view.Choice
	From, To view.Question
	Faults   []view.Fault
	On       bool // something is asked for
}

// readFilter returns which changes the address asks for, of the person with an id or of all,
// and fills the form that asks.
// What cannot be read excludes nothing.
func readFilter(v view.Visit, id string, f *historyFilter) (q store.EditQuery, err error) {
	given := v.Query()
	number := func(name string) int64 {
		n, err := strconv.ParseInt(given.Get(name), 10, 64)
		if err != nil {
			return 0
		}
		return max(0, n)
	}
	q.Before, q.Import = number("before"), number("import")
	f.Action = v.R.URL.Path
	if id != "" {
		q.Records = []string{id}
	} else if q.Records, err = readPerson(v, f, strings.TrimSpace(given.Get("person"))); err != nil {
		return q, err
	}
	if q.Keys, err = readWho(v, f, given.Get("who")); err != nil {
		return q, err
	}
	q.Since = readFilterDay(v, f, &f.From, "from", 0)
	q.Until = readFilterDay(v, f, &f.To, "to", 1)
	f.On = q.Import != 0 || f.Person.Value != "" || f.ID != "" || q.Keys != nil || f.From.Value != "" || f.To.Value != ""
	return q, nil
}

// readPerson returns the ids of the people whom a text of the address means, deleted ones
// included: the one with that id, or those with that name. An empty text means nobody in
// particular, and nil is returned.
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

// named returns a function that reports whether each word of a text is in the name of a
// person, whatever its case and accents, and with ue for ü.
func named(text string) func(*record.Fields) bool {
	type word struct{ plain, expanded string }
	var words []word
	for _, w := range strings.Fields(text) {
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

// byCommand is what "who" is in an address for changes that a command has made.
const byCommand = "0"

// readWho returns the keys and sessions of the person whom a text of the address names, nil
// for an empty text. Somebody has a session for each browser, and they all have the name. A
// key without a label goes by its number.
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
		o := view.Choice{Value: k.Person(), Label: k.Person(), Chosen: false}
		if _, err := strconv.ParseInt(o.Value, 10, 64); err == nil || o.Value == "" {
			o.Value, o.Label = strconv.FormatInt(int64(k.ID), 10), cmp.Or(o.Label, v.Text("history.key", int(k.ID)))
		}
		if o.Value == text || k.Label == text && text != "" {
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

// readFilterDay returns the beginning of a day of the form, or of one so many days later,
// the zero time for none.
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
