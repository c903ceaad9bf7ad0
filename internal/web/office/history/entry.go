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
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// historyLength is the number of changes on a page, and within an import.
const historyLength = 50

// entries is a list of changes, for the template of the same name.
type entries struct {
	Entries []entry
	Back    string // address of the page that shows them
	Within  bool   // the list is part of an import
}

// entry is a change of a record, an import or an undone import. All texts are translated.
type entry struct {
	Number           int64
	At               time.Time
	Start, Name, End string    // the sentence, with the name as a possible link
	Link             string    // address of the person's history
	With             site.Line // the other record of a merge, after the sentence
	Who              string    // such as "by Ana"; empty within an import
	By               string    // name of the import that made the change
	New              bool      // the change added the person
	Fields           []view.Difference
	Same             bool // no field differs
	Damaged          bool
	Undo, Undoes     string // address that undoes the change, and what this does
	Import           *importEntry
}

// importEntry has the changes of an import.
type importEntry struct {
	People string // name of the import and its number of people
	Undone string // when it was undone
	All    string // address of all changes, if entries has only some of them
	Count  int    // number of all changes
	entries
}

// newEntry returns a change for display. It is damaged if it lacks a version of the record
// that its action requires.
func newEntry(v view.Visit, e store.Edit) entry {
	line := entry{Number: e.Number, At: e.At.Local(), Who: changedBy(v, e), New: e.Action == "create"}
	switch e.Action {
	case "import":
		line.Import = newImportEntry(v, e, "history.import")
		if line.Import.Undone == "" && v.May(store.ScopeWrite) {
			line.Undo, line.Undoes = view.UndoImportPath(e.Import.Number), v.Text("history.putBack.hint.import")
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
	const place = "\x00" // stands for the name; no message contains it
	line.Start, line.End, _ = strings.Cut(v.Text("history."+e.Action, place), place)
	if e.Merged != "" {
		line.Start, line.End, _ = strings.Cut(v.Text("history.merge."+e.Action, place), place)
		line.With = mergedWith(v, e.Merged)
	}
	if e.Import != nil {
		line.By = importName(v, *e.Import)
	}
	line.Damaged = view.IsDamaged(e)
	if e.Action != "delete" && e.Action != "undelete" && !line.Damaged {
		line.Fields = v.Differences(fieldsOf(e.Before), fieldsOf(e.After))
		line.Same = len(line.Fields) == 0
	}
	if !line.Damaged && !line.Same && v.May(store.ScopeWrite) {
		line.Undo, line.Undoes = view.UndoChangePath(e.Number), v.Text("history.putBack.hint."+e.Action, line.Name)
		if e.Merged != "" {
			line.Undoes = v.Text("history.putBack.hint.merge")
		}
	}
	return line
}

// mergedWith returns the name of a record, with the address of its history.
func mergedWith(v view.Visit, id string) site.Line {
	f, _, err := v.Find(id)
	if err != nil { // permanently deleted or damaged
		return site.Line{Text: v.Text("history.nobody")}
	}
	return site.Line{Text: view.NameOf(f.Fields), Link: view.PersonPath(id) + "/history"}
}

// newImportEntry returns an import, or its undoing, with the newest of its changes. message is
// the key of its description.
func newImportEntry(v view.Visit, e store.Edit, message string) *importEntry {
	i := &importEntry{entries: entries{Back: pathWith(v, "before", v.Query().Get("before")), Within: true}}
	i.People = v.Count(message, e.People, importName(v, *e.Import))
	if e.Action == "import" && !e.Import.UndoneAt.IsZero() {
		i.Undone = v.Lang.Moment(e.Import.UndoneAt.Local())
	}
	if len(e.Edits) > historyLength {
		e.Edits = e.Edits[:historyLength]
		i.All, i.Count = view.HistoryPath+"?import="+strconv.FormatInt(e.Import.Number, 10), e.Import.Added+e.Import.Changed
	}
	for _, edit := range e.Edits {
		line := newEntry(v, edit)
		line.Who, line.By = "", ""
		i.Entries = append(i.Entries, line)
	}
	return i
}

func importName(v view.Visit, i store.Import) string {
	if i.File == "" {
		return v.Text("history.import.number", int(i.Number))
	}
	return v.Text("history.import.file", int(i.Number), i.File)
}

// changedBy returns who made a change, such as "by Ana".
func changedBy(v view.Visit, e store.Edit) string {
	switch {
	case e.Key == 0:
		return v.Text("history.byCommand")
	case e.Label == "": // the key has no label or no longer exists
		return v.Text("history.byKey", int(e.Key))
	}
	return v.Text("history.by", e.Label)
}

// fieldsOf returns the fields of a record, or empty fields for nil.
func fieldsOf(f *record.Firefighter) record.Fields {
	if f == nil {
		return record.Fields{}
	}
	return f.Fields
}

// pathWith returns the address of this page with a parameter set to a value, or without it if
// the value is empty. Notices are left out.
func pathWith(v view.Visit, name, value string) string {
	query := url.Values{}
	for _, kept := range []string{"person", "who", "from", "to", "import", "before", "back"} {
		if value := v.Query().Get(kept); value != "" {
			query.Set(kept, value)
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
