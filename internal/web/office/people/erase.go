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

// erasePage is the Data of erase.html, which shows the people to delete permanently.
type erasePage struct {
	ID      string        // of one person; empty for all before a day
	Before  view.Question // people deleted before this day
	Day     string        // that day in ISO format; empty if it is missing or invalid
	Count   int
	People  []deletedPerson // the first ones
	More    int             // number of people not in People
	Confirm string          // label of the button
	Holding backup.Holders
	Faults  []view.Fault
	Back    string
}

// maxNamed is the maximum number of people listed by name.
const maxNamed = 50

// showErase shows who would be permanently deleted, and what this means. It changes nothing.
func showErase(v view.Visit) error {
	data := erasePage{Back: deletedPath}
	people, err := toErase(v, v.Query(), &data)
	if err != nil {
		return err
	}
	data.Count, data.More = len(people), max(0, len(people)-maxNamed)
	for _, f := range people[:len(people)-data.More] {
		data.People = append(data.People, deletedLine(v, f))
	}
	if data.Count > 0 {
		data.Confirm = v.Count("erase.do", data.Count)
		if data.Holding, err = holdersOf(v.Site.Search, people).Run(v.R.Context()); err != nil {
			return err
		}
	}
	p := site.Page{Title: v.Text("erase.title"), Section: "deleted", Wrong: len(data.Faults) > 0, Data: data}
	return v.Render(http.StatusOK, "erase", p)
}

// toErase returns the people that an address or a form selects, and records the selection in data.
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

// holdersOf returns a search for the backups that contain any of the people.
func holdersOf(search backup.Search, people []record.Stored) backup.Search {
	var ids []string
	for _, f := range people {
		ids = append(ids, f.ID)
		if created := time.UnixMilli(f.CreatedAt); search.From.IsZero() || created.Before(search.From) {
			search.From = created
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

// erase permanently deletes the selected people, except those restored since. No one can join a
// selection by day, because the day is not in the future. It then rewrites the database file,
// even if no one was deleted: the previous attempt may have failed for lack of disk space.
func erase(v view.Visit) error {
	var named erasePage
	people, err := toErase(v, v.R.PostForm, &named)
	switch {
	case named.ID != "" && errors.Is(err, store.ErrNotFound): // sent twice
		people = nil
	case err != nil:
		return err
	case named.ID == "" && named.Day == "": // not sent by the form
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	erased, err := v.Store.Purge(v.Session.Tenant, v.Session.ID, people, nil)
	if err != nil {
		return err
	}
	if search := v.Site.Search; osutil.Exists(search.Options.Dir) { // on failure, the next backup does it
		backup.NoteErased(search.Database, search.Options.Dir)
	}
	n := site.Notice{Text: v.Count("erase.done", erased)}
	if erased == 0 { // sent twice
		n.Text = v.Text("erase.already")
	}
	if id, err := record.ParseID(named.ID); err == nil {
		n.More = append(n.More, site.Line{Text: v.Text("report.backups"), Link: view.ReportPath(id) + "#backups"})
	}
	if err := v.Store.Rewrite(context.WithoutCancel(v.R.Context())); err != nil {
		n.Warn, n.More = true, append(n.More, site.Line{Text: v.Text("backups.traces")})
	}
	return renderDeleted(v, 1, &n)
}
