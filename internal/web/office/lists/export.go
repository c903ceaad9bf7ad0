package lists

import (
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// exportPage is the Data of export.html.
type exportPage struct {
	Formats    []view.Choice
	Kept       url.Values // parameters of the list
	Only       string     // see view.List
	Found, All int64
	Fault      string // message about an invalid address
}

// exportFormats are the formats on the page. JSON lines are for programs, which use the API.
var exportFormats = []string{sheet.XLSX, sheet.CSV, sheet.VCard}

func showExport(v view.Visit) error {
	data := exportPage{Formats: choices(v, exportFormats, exportFormats[0], "export.format."), Kept: v.ListQuery()}
	l, err := v.List(v.R.URL.RawQuery)
	if len(l.Faults) > 0 && err == nil {
		data.Fault, data.Kept = v.Text("export.fault"), nil
		l, err = v.List("")
	}
	if err != nil {
		return err
	}
	l.Query.Page, l.Query.PageSize = 1, 1
	found, err := v.Store.List(v.Session.Tenant, l.Query)
	if err != nil {
		return err
	}
	data.Only, data.Found, data.All = l.Only, found.Total, found.People
	return v.Render(http.StatusOK, "export", site.Page{Title: v.Text("export.title"), Section: "export", Wrong: data.Fault != "", Data: data})
}

// sendExport responds with the file: in the form for people, unless the form for an import is
// requested.
func sendExport(v view.Visit) error {
	format := v.Query().Get("format")
	l, err := v.List(v.R.URL.RawQuery)
	if err != nil {
		return err
	}
	if len(l.Faults) > 0 || !slices.Contains(exportFormats, format) { // no browser sends this
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	q := l.Query
	if v.Query().Get("who") == "all" {
		q = record.Query{SortBy: q.SortBy, Descending: q.Descending}
	}
	var form sheet.Form
	if v.Query().Get("columns") != "all" {
		department, err := v.Store.TenantName(v.Session.Tenant)
		if err != nil {
			return err
		}
		form.Sheet = sheet.SheetName(department, v.Today().String())
		for _, name := range view.FieldNames {
			form.Labels = append(form.Labels, v.Text("field."+name))
		}
	}
	name := v.Text("export.file") + "-" + v.Today().String() + "." + format
	return v.Send(upload.Attachment{Name: name, ContentType: sheet.ContentType(format)}, func(to io.Writer) error {
		return sheet.WriteAll(v.R.Context(), to, format, form, func(each func(*record.Firefighter) error) error {
			return v.Store.Each(v.Session.Tenant, q, each)
		})
	})
}
