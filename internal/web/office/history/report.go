package history

import (
	"io"
	"net/http"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/office/access"
	"github.com/firefighter-records/firefighters/internal/web/office/lists"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// reportPage is the Data of report.html. The title and the file name omit the person's name,
// because programs that print or download keep both.
type reportPage struct {
	dossier
	Name      string // empty for a purged person
	Path      string // address of this page
	Facts     []fact
	Deleted   time.Time // zero if the person is not deleted
	Created   time.Time
	Updated   time.Time
	Imports   []lists.ImportLine
	Readers   []access.KeyLine
	Responses []storedResponse
	entries
}

type fact struct{ Label, Value string }

// storedResponse is a response kept for repeated requests with the same idempotency key.
type storedResponse struct {
	At, Until time.Time
	Of        string // name of the import; empty: the request added only this person
}

func showReport(v view.Visit, id string) error {
	d, err := readDossier(v, id)
	if err != nil {
		return err
	}
	data := reportPage{dossier: d, Path: view.ReportPath(id)}
	if f := d.Record; f != nil {
		data.Name, data.Deleted = view.NameOf(f.Fields), view.Moment(f.DeletedAt)
		data.Created, data.Updated = view.Moment(f.CreatedAt), view.Moment(f.UpdatedAt)
		shown := v.Shown(f.Fields)
		for d, value := range shown.Each {
			data.Facts = append(data.Facts, fact{v.Text("field." + d.Name), *value})
		}
	}
	for _, e := range d.Edits {
		line := newEntry(v, e)
		line.Link, line.Undo = "", ""
		if e.Import != nil { // the name of the file may refer to other people
			line.By = v.Text("history.import.number", int(e.Import.Number))
		}
		data.Entries = append(data.Entries, line)
	}
	for _, i := range d.Imports() {
		data.Imports = append(data.Imports, lists.NewImportLine(v, i))
	}
	for _, k := range d.Readers {
		data.Readers = append(data.Readers, access.KeyLine{ID: k.ID, Label: v.LabelOf(k), Scope: k.Scope, State: k.State(d.At),
			Created: view.Moment(k.CreatedAt), Used: view.Moment(k.LastUsedAt), Expires: view.Moment(k.Ended()), Birthdays: k.Birthdays})
	}
	for _, r := range d.Replays {
		line := storedResponse{At: r.At.Local(), Until: r.Until.Local()}
		if r.Import != 0 {
			line.Of = v.Text("history.import.number", int(r.Import))
		}
		data.Responses = append(data.Responses, line)
	}
	return v.Render(http.StatusOK, "report", site.Page{Title: v.Text("report.title"), Section: "list", Data: data})
}

func sendReport(v view.Visit, id string) error {
	return v.Send(upload.Attachment{Name: "person-" + id + ".json", ContentType: "application/json"}, func(to io.Writer) error {
		d, err := readDossier(v, id)
		if err != nil {
			return err
		}
		v.W.Header().Set("Cache-Control", "private, no-store")
		return d.writeJSON(to)
	})
}
