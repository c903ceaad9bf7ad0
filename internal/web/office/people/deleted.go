package people

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const deletedPath = site.Root + "deleted"

// deletedPage is the Data of deleted.html.
type deletedPage struct {
	People []deletedPerson
	Total  int
	Pages  *pager
	Back   string // address of this page
}

type deletedPerson struct {
	view.Person
	At      time.Time
	Damaged bool
}

func showDeleted(v view.Visit) error {
	number, err := strconv.ParseInt(v.Query().Get("page"), 10, 64)
	if err != nil || number < 1 {
		number = 1
	}
	return renderDeleted(v, number, nil)
}

// renderDeleted responds with a page of the deleted people, most recently deleted first.
func renderDeleted(v view.Visit, number int64, n *site.Notice) error {
	all, err := v.Store.Deleted(v.Session.Tenant, time.UnixMilli(math.MaxInt64))
	if err != nil {
		return err
	}
	slices.Reverse(all)
	shown, total := record.Query{Page: number, PageSize: view.PageLength}, int64(len(all))
	data := deletedPage{Total: len(all), Pages: newPager(v, deletedPath, shown, total), Back: deletedPath}
	if number > 1 {
		data.Back += "?page=" + strconv.FormatInt(number, 10)
	}
	first := min(total, shown.Offset())
	for _, f := range all[first:min(total, first+view.PageLength)] {
		data.People = append(data.People, deletedLine(v, f))
	}
	return v.Render(http.StatusOK, "deleted", site.Page{Title: v.Text("deleted.title"), Section: "deleted", Notice: n, Data: data})
}

func deletedLine(v view.Visit, f record.Stored) deletedPerson {
	return deletedPerson{v.Person(&f.Firefighter, v.Today()), time.UnixMilli(f.DeletedAt), f.Damaged}
}
