package office

import (
	"net/http"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/site"
)

// printPage is the Data of print.html.
type printPage struct {
	Full   bool // all fields; else names and numbers
	Date   time.Time
	Count  int64
	Code   string // of the department's version
	People []person
}

func showPrint(v visit) error {
	found, err := v.everybody()
	if err != nil {
		return err
	}
	codes, err := v.codes()
	if err != nil {
		return err
	}
	data := printPage{Full: v.R.URL.Query().Get("list") == "full", Date: v.now(),
		Count: found.Total, Code: codes.of(found.Version), People: v.people(found.Items)}
	title := "print.phone"
	if data.Full {
		title = "print.full"
	}
	return v.Render(http.StatusOK, "print", site.Page{Title: v.Text(title), Section: "print", Data: data})
}
