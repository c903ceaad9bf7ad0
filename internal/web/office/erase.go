package office

import (
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
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// erasePage is the Data of erase.html: whom the address names, and what would happen.
type erasePage struct {
	ID      string   // of one person; empty: those of a day
	Before  question // the day before which they were deleted
	Day     string   // that day for programs; empty: none was typed, or none that can be
	Count   int
	People  []deletedPerson // the first of them
	More    int             // that People leaves out
	Confirm string          // what the button says
	Holding holding         // which backups hold them
	Faults  []fault
	Back    string
}

// namedBeforeErasing is how many people are named before they are erased.
const namedBeforeErasing = 50

// showErase says who would be erased, and what that does. Nothing is changed.
func showErase(v visit) error {
	query := v.Query()
	data := erasePage{ID: query.Get("id"), Before: question{Value: strings.TrimSpace(query.Get("before"))}, Back: deletedPath}
	var people []record.Stored
	switch {
	case data.ID != "":
		f, err := v.deletedRecord(data.ID)
		if err != nil {
			return err
		}
		people = append(people, f)
	case data.Before.Value != "":
		day, err := v.Lang.ParseDay(data.Before.Value)
		switch {
		case err != nil:
			data.Before.Fault = v.dayFault("before", err)
		case v.today().Before(day):
			data.Before.Fault = v.Text("erase.fault.future", v.Lang.Day(v.today()))
		default:
			data.Before.Value, data.Day = v.Lang.Day(day), day.String()
			if people, err = v.Store.Deleted(v.Session.Tenant, v.beginning(day)); err != nil {
				return err
			}
		}
		if data.Before.Fault != "" {
			data.Faults = []fault{{"before", data.Before.Fault}}
		}
	}
	if err := data.add(v, people); err != nil {
		return err
	}
	return v.Render(http.StatusOK, "erase", site.Page{Title: v.Text("erase.title"), Section: "deleted", Wrong: len(data.Faults) > 0, Data: data})
}

// add adds those who would be erased.
func (data *erasePage) add(v visit, people []record.Stored) error {
	data.Count, data.More = len(people), max(0, len(people)-namedBeforeErasing)
	for _, f := range people[:len(people)-data.More] {
		data.People = append(data.People, v.deletedLine(f))
	}
	data.Confirm = v.Count("erase.do", data.Count)
	if data.Count == 0 {
		return nil
	}
	found, err := holdersOf(v.Site.Search, people).Run(v.R.Context())
	data.Holding = v.holding(found)
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

// deletedRecord returns a person of the department who was deleted.
func (v visit) deletedRecord(id string) (f record.Stored, err error) {
	if id, err = record.ParseID(id); err != nil {
		return f, store.ErrNotFound
	}
	return v.Store.GetDeleted(v.Session.Tenant, id)
}

// beginning returns when a day begins where the service runs.
func (v visit) beginning(day calendar.Date) time.Time {
	return time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, v.now().Location())
}

// erase erases those whom the page before has named, but for those who were brought back
// since. Nobody comes to them: the day is not after today. Then it rewrites the file, also
// if nobody is left: the last time may not have had the room.
func erase(v visit) error {
	people, err := v.toErase(v.R.PostForm)
	if err != nil {
		return err
	}
	erased, err := v.Store.Purge(v.Session.Tenant, v.Session.ID, people)
	if err != nil {
		return err
	}
	if search := v.Site.Search; osutil.Exists(search.Options.Dir) { // if that fails, the next backup does it
		backup.NoteErased(search.Content, search.Database, search.Options.Dir)
	}
	n := site.Notice{Text: v.Count("erase.done", erased)}
	if erased == 0 { // pressed twice: the first answer was not seen
		n.Text = v.Text("erase.already")
	}
	if id, err := record.ParseID(v.R.PostForm.Get("id")); err == nil {
		n.More = append(n.More, site.Line{Text: v.Text("report.backups"), Link: reportPath(id) + "#backups"})
	}
	if err := v.Store.Vacuum(); err != nil {
		n.Warn, n.More = true, append(n.More, site.Line{Text: v.Text("erase.traces", "firefighters purge --tenant NAME --older-than 100y")})
	}
	return v.renderDeleted(1, &n)
}

// toErase returns those whom a form names.
func (v visit) toErase(form url.Values) (people []record.Stored, err error) {
	if id := form.Get("id"); id != "" {
		f, err := v.deletedRecord(id)
		if errors.Is(err, store.ErrNotFound) { // pressed twice
			return nil, nil
		}
		return []record.Stored{f}, err
	}
	day, err := v.Lang.ParseDay(form.Get("day"))
	if err != nil || v.today().Before(day) { // no browser sends this
		return nil, &httpapi.Problem{Kind: httpapi.Malformed}
	}
	return v.Store.Deleted(v.Session.Tenant, v.beginning(day))
}
