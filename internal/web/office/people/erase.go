package people

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// erasePage is the Data of erase.html: whom the address names, and what would happen.
type erasePage struct {
	ID      string        // of one person; empty: those of a day
	Before  view.Question // the day before which they were deleted
	Day     string        // that day for programs; empty: none was typed, or none that can be
	Count   int
	People  []deletedPerson // the first of them
	More    int             // that People leaves out
	Confirm string          // what the button says
	Holding backup.Holders
	Faults  []view.Fault
	Back    string
}

// namedBeforeErasing is how many people are named before they are erased.
const namedBeforeErasing = 50

// showErase says who would be erased, and what that does. Nothing is changed.
func showErase(v view.Visit) error {
	data := erasePage{Back: deletedPath}
	people, err := toErase(v, v.Query(), &data)
	if err != nil {
		return err
	}
	if err := data.add(v, people); err != nil {
		return err
	}
	p := site.Page{Title: v.Text("erase.title"), Section: "deleted", Wrong: len(data.Faults) > 0, Data: data}
	return v.Render(http.StatusOK, "erase", p)
}

// toErase returns those whom an address or a form names, and adds to data how it names them.
func toErase(v view.Visit, form url.Values, data *erasePage) ([]record.Stored, error) {
	data.ID, data.Before.Value = form.Get("id"), strings.TrimSpace(form.Get("before"))
	if data.ID != "" {
		id, err := record.ParseID(data.ID)
		if err != nil {
			return nil, store.ErrNotFound
		}
		f, err := v.Store.GetDeleted(v.Session.Tenant, id)
		return []record.Stored{f}, err
	}
	if data.Before.Value == "" {
		return nil, nil
	}
	day, err := v.Lang.ParseDay(data.Before.Value)
	switch {
	case err != nil:
		data.Before.Fault = v.DayFault("before", err)
	case v.Today().Before(day):
		data.Before.Fault = v.Text("erase.fault.future", v.Lang.Day(v.Today()))
	default:
		data.Before.Value, data.Day = v.Lang.Day(day), day.String()
		return v.Store.Deleted(v.Session.Tenant, v.DayStart(day, 0))
	}
	data.Faults = []view.Fault{{Name: "before", Fault: data.Before.Fault}}
	return nil, nil
}

// add adds those who would be erased.
func (data *erasePage) add(v view.Visit, people []record.Stored) (err error) {
	data.Count, data.More = len(people), max(0, len(people)-namedBeforeErasing)
	for _, f := range people[:len(people)-data.More] {
		data.People = append(data.People, deletedLine(v, f))
	}
	data.Confirm = v.Count("erase.do", data.Count)
	if data.Count == 0 {
		return nil
	}
	data.Holding, err = holdersOf(v.Site.Search, people).Run(v.R.Context())
	return err
}

// holdersOf returns a search for the backups that hold one of some people.
func holdersOf(search backup.Search, people []record.Stored) backup.Search {
	var ids []string
	for _, f := range people {
		ids = append(ids, f.ID)
		if made := time.UnixMilli(f.CreatedAt); search.From.IsZero() || made.Before(search.From) {
			search.From = made
		}
	}
	search.Holds = func(c *sqlite.Conn) (holds bool, err error) {
		for _, id := range ids {
			if holds, err = store.HoldsRecord(c, id); holds || err != nil {
				break
			}
		}
		return holds, err
	}
	return search
}

// erase erases those whom the page before has named, but for those who were brought back
// since. Nobody comes to them: the day is not after today. Then it rewrites the file, also
// if nobody is left: the last time may not have had the room.
func erase(v view.Visit) error {
	var named erasePage
	people, err := toErase(v, v.R.PostForm, &named)
	switch {
	case named.ID != "" && errors.Is(err, store.ErrNotFound): // pressed twice
		people = nil
	case err != nil:
		return err
	case named.ID == "" && named.Day == "": // no browser sends this
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	erased, err := v.Store.Purge(v.Session.Tenant, v.Session.ID, people, nil)
	if err != nil {
		return err
	}
	if search := v.Site.Search; osutil.Exists(search.Options.Dir) { // if that fails, the next backup does it
		backup.NoteErased(search.Database, search.Options.Dir)
	}
	n := site.Notice{Text: v.Count("erase.done", erased)}
	if erased == 0 { // pressed twice: the first answer was not seen
		n.Text = v.Text("erase.already")
	}
	if id, err := record.ParseID(named.ID); err == nil {
		n.More = append(n.More, site.Line{Text: v.Text("report.backups"), Link: view.ReportPath(id) + "#backups"})
	}
	if err := v.Store.Vacuum(context.WithoutCancel(v.R.Context())); err != nil {
		n.Warn, n.More = true, append(n.More, site.Line{Text: v.Text("erase.traces", "firefighters purge --tenant NAME --older-than 100y")})
	}
	return renderDeleted(v, 1, &n)
}
