package office

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
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
	Deleted bool   // the person is
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

// difference is a field before and after a change.
type difference struct{ Label, Old, New string }

// differences returns the fields in which two versions of a person differ. nil is
// a version without values. A day of birth that stayed the same while its time or
// offset changed is as the API has it.
func (v visit) differences(before, after *record.Firefighter) (list []difference) {
	empty := record.Firefighter{}
	if before == nil {
		before = &empty
	}
	if after == nil {
		after = &empty
	}
	old, stored := values(v.shown(before.Fields)), values(before.Fields)
	now, shown := values(after.Fields), v.shown(after.Fields)
	shown.Each(func(name string, value *string) {
		label := v.Text("field." + name)
		switch {
		case *value != old[name]:
			list = append(list, difference{label, old[name], *value})
		case now[name] != stored[name]:
			list = append(list, difference{label, stored[name], now[name]})
		}
	})
	return list
}

func showHistory(v visit) error {
	return v.renderHistory(site.Page{Title: v.Text("history.title"), Section: "history"}, historyPage{})
}

func showPersonHistory(v visit) error {
	id, err := v.recordID()
	if err != nil {
		return err
	}
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

// entry returns a change for people. What a change must have and does not have
// the disk has damaged.
func (v visit) entry(e store.Edit) entry {
	line := entry{At: e.At.Local(), Who: v.by(e), New: e.Action == "create"}
	if e.Action == "purge" {
		line.Start = v.Text("history.purge")
		return line
	}
	line.Name, line.Link = v.Text("history.nobody"), site.Root+"people/"+e.ID+"/history"
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
		line.Fields = v.differences(e.Before, e.After)
		line.Same = len(line.Fields) == 0
	}
	return line
}

// by says who has changed something.
func (v visit) by(e store.Edit) string {
	switch {
	case e.Key == 0:
		return v.Text("history.byCommand")
	case e.Label == "": // the key has no label, or is gone
		return v.Text("history.byKey", int(e.Key))
	}
	return v.Text("history.by", e.Label)
}

// deletedPage is the Data of deleted.html.
type deletedPage struct {
	People []deletedPerson
	Total  int
	Pages  pager
	Next   string // address of this page
}

type deletedPerson struct {
	person
	At      time.Time
	Damaged bool
}

func showDeleted(v visit) error {
	all, err := v.Store.Deleted(v.Session.Tenant, time.UnixMilli(math.MaxInt64))
	if err != nil {
		return err
	}
	slices.Reverse(all)
	number, err := strconv.ParseInt(v.R.URL.Query().Get("page"), 10, 64)
	if err != nil || number < 1 {
		number = 1
	}
	shown, total := record.Query{Page: number, PageSize: pageLength}, int64(len(all))
	data := deletedPage{Total: len(all), Pages: v.pager(shown, total), Next: v.R.URL.Path}
	if number > 1 {
		data.Next += "?page=" + strconv.FormatInt(number, 10)
	}
	first := min(total, shown.Offset())
	today := v.today()
	for _, f := range all[first:min(total, first+pageLength)] {
		data.People = append(data.People, deletedPerson{v.person(&f.Firefighter, today), time.UnixMilli(f.DeletedAt), f.Damaged})
	}
	note, err := v.listNotice()
	if err != nil {
		return err
	}
	return v.Render(http.StatusOK, "deleted", site.Page{Title: v.Text("deleted.title"), Section: "deleted", Notice: note, Data: data})
}
