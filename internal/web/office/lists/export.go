package lists

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// exportPage is the Data of export.html.
type exportPage struct {
	Formats         []view.Choice
	Search          string // search text; empty: everyone
	Found, All      int64
	SortBy, SortDir string
	Fault           string // message about an invalid address
}

// exportFormats are the formats on the page. JSON lines are for programs, which use the API.
var exportFormats = []string{sheet.XLSX, sheet.CSV, sheet.VCard}

// exportOrder is the default order of an export.
var exportOrder = record.Query{Page: 1, PageSize: 1, SortBy: record.ByLastName}

func showExport(v view.Visit) error {
	query := v.Query()
	data := exportPage{Formats: choices(v, exportFormats, exportFormats[0], "export.format."),
		Search: strings.TrimSpace(query.Get("search")), SortBy: query.Get("sortBy"), SortDir: query.Get("sortDir")}
	q, err := exportOrder.Parse(v.R.URL.RawQuery)
	if err != nil {
		data.Fault, data.Search, data.SortBy, data.SortDir = v.Text("export.fault"), "", "", ""
		q = exportOrder
	}
	q.Page, q.PageSize = 1, 1
	found, err := v.Store.List(v.Session.Tenant, q)
	if err != nil {
		return err
	}
	data.Found, data.All = found.Total, found.People
	return v.Render(http.StatusOK, "export", site.Page{Title: v.Text("export.title"), Section: "export", Wrong: data.Fault != "", Data: data})
}

// sendExport responds with the file.
func sendExport(v view.Visit) error {
	format := v.Query().Get("format")
	q, err := exportOrder.Parse(v.R.URL.RawQuery)
	if err != nil || !slices.Contains(exportFormats, format) { // no browser sends this
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	name := v.Text("export.file") + "-" + v.Store.Clock().Now().Format(time.DateOnly) + "." + format
	return v.Send(upload.Attachment{Name: name, ContentType: sheet.ContentType(format)}, func(to io.Writer) error {
		return sheet.WriteAll(v.R.Context(), to, format, false, func(each func(*record.Firefighter) error) error {
			return v.Store.Each(v.Session.Tenant, q, each)
		})
	})
}
