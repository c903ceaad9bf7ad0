package history

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// historyLength is the number of changes on a page, and of those that an import shows.
const historyLength = 50

// entries is a list of changes, with the address of its page.
type entries struct {
	Entries []entry
	Back    string
	Within  bool // an entry, which is an import
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
	People string // what it is and how many people it has, translated
	Undone string // when, in the visitor's language; empty: it was not
	All    string // address of all changes of the import; empty: they are here
	Count  int    // of them
	entries
}

// newEntry returns a change for people. One that lacks a version that its action must
// have is damaged: the disk has changed it.
func newEntry(v view.Visit, e store.Edit) entry {
	line := entry{Number: e.Number, At: e.At.Local(), Who: changedBy(v, e), New: e.Action == "create"}
	switch e.Action {
	case "import":
		line.Import = newImportEntry(v, e, "history.import")
		if line.Import.Undone == "" && v.May(store.ScopeWrite) {
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
	if e.Action == "import" && !e.Import.UndoneAt.IsZero() {
		i.Undone = v.Lang.Moment(e.Import.UndoneAt.Local())
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
