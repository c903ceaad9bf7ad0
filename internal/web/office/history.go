package office

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// historyLength is the number of changes on a page.
const historyLength = 50

// historyPage is the Data of history.html.
type historyPage struct {
	ID      string // of the person whose history it is; empty: the department's
	Deleted bool   // the person is deleted
	Entries []entry
	Older   string // address of the next page; empty: there is none
	Newest  string // address of the first page; empty: this is it
}

// entry is a change of a record, for people. The sentence that says it is Start,
// Name and End, so that the name can be a link.
type entry struct {
	At               time.Time
	Start, Name, End string
	Link             string // address of the person's history; empty: no link
	Who              string // translated, as "by Ana"
	New              bool   // nothing was there before
	Fields           []difference
	Same             bool // all values stayed as they were
	Damaged          bool
}

func showHistory(v visit) error {
	return v.renderHistory(site.Page{Title: v.Text("history.title"), Section: "history"}, historyPage{})
}

func showPersonHistory(v visit, id string) error {
	f, deleted, err := v.find(id)
	if err != nil && !errors.As(err, new(*record.DamagedError)) { // of a damaged one the history may know more
		return err
	}
	return v.renderHistory(site.Page{Title: v.Text("history.of", nameOf(f.Fields)), Section: "list"}, historyPage{ID: id, Deleted: deleted})
}

// renderHistory answers with the changes of a person, or of the department,
// newest first.
func (v visit) renderHistory(p site.Page, data historyPage) error {
	before, err := strconv.ParseInt(v.R.URL.Query().Get("before"), 10, 64)
	if err != nil || before < 1 {
		before = 0 // from the newest
	} else {
		data.Newest = v.R.URL.Path
	}
	edits, err := v.Store.Edits(v.Session.Tenant, data.ID, before, historyLength+1)
	if err != nil {
		return err
	}
	if len(edits) > historyLength {
		edits = edits[:historyLength]
		query := url.Values{"before": {strconv.FormatInt(edits[historyLength-1].Number, 10)}}
		data.Older = v.R.URL.Path + "?" + query.Encode()
	}
	for _, e := range edits {
		line := v.entry(e)
		if data.ID != "" {
			line.Link = ""
		}
		data.Entries = append(data.Entries, line)
	}
	p.Data = data
	return v.Render(http.StatusOK, "history", p)
}

// entry returns a change for people. One that lacks a version that its action must
// have is damaged: the disk has changed it.
func (v visit) entry(e store.Edit) entry {
	line := entry{At: e.At.Local(), Who: v.changedBy(e), New: e.Action == "create"}
	if e.Action == "purge" {
		line.Start = v.Text("history.purge")
		return line
	}
	line.Name, line.Link = v.Text("history.nobody"), personPath(e.ID)+"/history"
	if known := cmp.Or(e.Before, e.After); known != nil {
		line.Name = nameOf(known.Fields)
	}
	const place = "\x00" // of the name; no message has it
	line.Start, line.End, _ = strings.Cut(v.Text("history."+e.Action, place), place)
	if e.Action == "create" || e.Action == "undelete" {
		line.Damaged = e.After == nil
	} else {
		line.Damaged = e.Before == nil || e.Action == "replace" && e.After == nil
	}
	if e.Action != "delete" && e.Action != "undelete" && !line.Damaged {
		line.Fields = v.differences(fieldsOf(e.Before), fieldsOf(e.After))
		line.Same = len(line.Fields) == 0
	}
	return line
}

// changedBy says who has changed something.
func (v visit) changedBy(e store.Edit) string {
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
