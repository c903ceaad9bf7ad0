package office

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// historyLength is the number of changes on a page, and of those that an import shows.
const historyLength = 50

// historyPage is the Data of history.html.
type historyPage struct {
	ID      string // of the person whose history it is; empty: the department's
	Person  string // address of that person's page
	Deleted bool   // the person is deleted
	Of      string // the import that the changes are of, translated; empty: of all
	Filter  historyFilter
	Older   string // address of the next page; empty: there is none
	Newest  string // address of the first page; empty: this is it
	entries
}

// entries is a list of changes, with the address of its page.
type entries struct {
	Entries []entry
	Back    string
	Within  bool // an entry, which is an import
}

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

// entry is a change of a record, for people, or an import or that it was taken back. The
// sentence that says it is Start, Name and End, so that the name can be a link.
type entry struct {
	Number           int64
	At               time.Time
	Start, Name, End string
	Link             string // address of the person's history; empty: no link
	Who              string // translated, as "by Ana"; empty: that of the import around it
	By               string // the import that has made the change, translated; empty: none
	New              bool   // nothing was there before
	Fields           []view.Difference
	Same             bool // all values stayed as they were
	Damaged          bool
	PutBack          string // address that brings back what was there before; empty: none does
	Import           *importEntry
}

// importEntry is what an entry of an import has besides.
type importEntry struct {
	People    string // what it is and how many people it has, translated
	TakenBack string // when, in the visitor's language; empty: it was not
	All       string // address of all changes of the import; empty: they are here
	Count     int    // of them
	entries
}

func showHistory(v view.Visit) error {
	return renderHistory(v, site.Page{Title: v.Text("history.title"), Section: "history"}, historyPage{})
}

func showPersonHistory(v view.Visit, id string) error {
	f, deleted, err := v.Find(id)
	if err != nil && !errors.As(err, new(*record.DamagedError)) { // of a damaged one the history may know more
		return err
	}
	return renderHistory(v, site.Page{Title: v.Text("history.of", view.NameOf(f.Fields)), Section: "list"}, historyPage{ID: id, Person: view.WithBack(view.PersonPath(id), v.Back()), Deleted: deleted})
}

// renderHistory answers with the changes of a person, or of the department, that the
// address asks for, newest first.
func renderHistory(v view.Visit, p site.Page, data historyPage) error {
	q, err := readFilter(v, &data)
	if err != nil {
		return err
	}
	data.Back = historyBack(v)
	if q.Before > 0 {
		data.Newest = pathWith(v, "before", "")
	}
	edits, err := v.Store.Edits(v.Session.Tenant, q, historyLength+1)
	if err != nil && !errors.Is(err, store.ErrNotFound) { // there is no such import
		return err
	}
	if len(edits) > historyLength {
		edits = edits[:historyLength]
		data.Older = pathWith(v, "before", strconv.FormatInt(edits[historyLength-1].Number, 10))
	}
	for _, e := range edits {
		line := newEntry(v, e)
		if data.ID != "" {
			line.Link = ""
		}
		if q.Import != 0 {
			data.Of, line.By = importName(v, *e.Import), ""
		}
		data.Entries = append(data.Entries, line)
	}
	p.Wrong = len(data.Filter.Faults) > 0
	p.Data = data
	return v.Render(http.StatusOK, "history", p)
}

// pathWith returns the address of this page with another value of a parameter, without
// notices; an empty value leaves it out.
func pathWith(v view.Visit, name, value string) string {
	query := url.Values{}
	for _, kept := range []string{"person", "who", "from", "to", "import", "before", "back"} {
		if given := v.Query().Get(kept); given != "" {
			query.Set(kept, given)
		}
	}
	if query.Set(name, value); value == "" {
		query.Del(name)
	}
	if len(query) == 0 {
		return v.R.URL.Path
	}
	return v.R.URL.Path + "?" + query.Encode()
}

// historyBack returns the address that the forms of a history lead back to: its own.
func historyBack(v view.Visit) string { return pathWith(v, "before", v.Query().Get("before")) }

// readFilter returns which changes the address asks for, and fills the form that asks.
// What cannot be read excludes nothing.
func readFilter(v view.Visit, data *historyPage) (q store.EditQuery, err error) {
	given, f := v.Query(), &data.Filter
	number := func(name string) int64 {
		n, err := strconv.ParseInt(given.Get(name), 10, 64)
		if err != nil {
			return 0
		}
		return max(0, n)
	}
	q.Before, q.Import = number("before"), number("import")
	f.Action = v.R.URL.Path
	if data.ID != "" {
		q.Records = []string{data.ID}
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
		return !slices.ContainsFunc(words, func(w word) bool { return !strings.Contains(plain, w.plain) && !strings.Contains(expanded, w.expanded) })
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
	return time.Date(day.Year, day.Month, day.Day+later, 0, 0, 0, 0, v.Now().Location())
}

// newEntry returns a change for people. One that lacks a version that its action must
// have is damaged: the disk has changed it.
func newEntry(v view.Visit, e store.Edit) entry {
	line := entry{Number: e.Number, At: e.At.Local(), Who: changedBy(v, e), New: e.Action == "create"}
	switch e.Action {
	case "import":
		line.Import = newImportEntry(v, e, "history.import")
		if line.Import.TakenBack == "" && v.May(store.ScopeWrite) {
			line.PutBack = view.UndoImportPath(e.Import.Number)
		}
		return line
	case "takeBack":
		line.Import = newImportEntry(v, e, "history.takenBack")
		return line
	case "purge":
		line.Start = v.Text("history.purge")
		return line
	}
	line.Name, line.Link = v.Text("history.nobody"), view.PersonPath(e.ID)+"/history"
	if known := cmp.Or(e.Before, e.After); known != nil {
		line.Name = view.NameOf(known.Fields)
	}
	const place = "\x00" // of the name; no message has it
	line.Start, line.End, _ = strings.Cut(v.Text("history."+e.Action, place), place)
	if e.Import != nil {
		line.By = importName(v, *e.Import)
	}
	line.Damaged = view.IsDamaged(e)
	if e.Action != "delete" && e.Action != "undelete" && !line.Damaged {
		line.Fields = v.Differences(fieldsOf(e.Before), fieldsOf(e.After))
		line.Same = len(line.Fields) == 0
	}
	if !line.Damaged && !line.Same && v.May(store.ScopeWrite) {
		line.PutBack = view.PutBackPath(e.Number)
	}
	return line
}

// newImportEntry returns an import, or that it was taken back, and the newest of its changes.
// message says what it is.
func newImportEntry(v view.Visit, e store.Edit, message string) *importEntry {
	i := &importEntry{entries: entries{Back: historyBack(v), Within: true}}
	i.People = v.Count(message, e.People, importName(v, *e.Import))
	if e.Action == "import" && !e.Import.TakenBackAt.IsZero() {
		i.TakenBack = v.Lang.Moment(e.Import.TakenBackAt.Local())
	}
	if len(e.Edits) > historyLength {
		e.Edits = e.Edits[:historyLength]
		i.All, i.Count = view.HistoryPath+"?import="+strconv.FormatInt(e.Import.Number, 10), e.Import.Added+e.Import.Changed
	}
	for _, one := range e.Edits {
		line := newEntry(v, one)
		line.Who, line.By = "", "" // that of the import
		i.Entries = append(i.Entries, line)
	}
	return i
}

// importName returns what an import is called.
func importName(v view.Visit, i store.Import) string {
	if i.File == "" {
		return v.Text("history.import.number", int(i.Number))
	}
	return v.Text("history.import.file", int(i.Number), view.Isolate(i.File))
}

// changedBy says who has changed something.
func changedBy(v view.Visit, e store.Edit) string {
	switch {
	case e.Key == 0:
		return v.Text("history.byCommand")
	case e.Label == "": // the key has no label, or is gone
		return v.Text("history.byKey", int(e.Key))
	}
	return v.Text("history.by", e.Label)
}

// fieldsOf returns the fields of a version of a person, none of nil.
func fieldsOf(f *record.Firefighter) record.Fields {
	if f == nil {
		return record.Fields{}
	}
	return f.Fields
}
