package lists

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// uploadedList is a parsed upload.
type uploadedList struct {
	*keptList // nil: no list
	options   imports.Options
	answers   map[string]string // choices about rows, by form field
	file      *imports.File     // nil: unreadable
	faults    []view.Fault
	sheets    []string // to choose from
	question  string   // asks which sheet to read; empty: no choice needed
	released  bool     // the cells have been freed
}

// isRead reports whether the list was read without faults.
func (l *uploadedList) isRead() bool { return l.file != nil && len(l.faults) == 0 }

// release frees the cells of a list that is too long to correct on the page. The cells use more
// memory than the people.
func (l *uploadedList) release() {
	const mostCells = 200_000
	if rows := len(l.file.Table.Rows); rows*len(l.file.Table.Header) > mostCells {
		l.released = true
		l.file.Release()
	}
}

// status returns the status code of a page that shows the list. stale is empty, or the reason why
// the list was not imported.
func (l *uploadedList) status(stale string) int {
	if stale != "" || len(l.faults) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// receiveList stores an uploaded list and redirects to its page. Without an upload, it calls show.
func receiveList(show func(visit) error) func(visit) error {
	show = onList(show)
	return func(v visit) error {
		if l := v.receivedList(); l != nil {
			return v.Redirect(v.R.URL.Path + "?token=" + l.token)
		}
		if number := v.form().Get("leaveOut"); number != "" { // the button that ignores a column
			v.form().Set(columnField+number, mapping.LeftOut)
		}
		return show(v)
	}
}

// receivedList stores the uploaded file or text. It returns nil without an upload.
func (v visit) receivedList() *keptList {
	tenant, text := v.Session.Tenant, v.form().Get("text")
	l := &keptList{tenant: tenant, name: v.Text("import.pasted"), pasted: true}
	switch {
	case v.Upload != nil && v.Upload.File != nil:
		l.file, v.Upload.File = v.Upload.File, nil // so the visit does not close it
		l.name, l.pasted = strings.ToValidUTF8(l.file.Name, "\uFFFD"), false
	case v.Upload != nil && v.Upload.Text != nil:
		l.file, v.Upload.Text = v.Upload.Text, nil
	case strings.TrimSpace(text) != "":
		l.file = upload.FromText(int64(tenant), text)
	default:
		return nil
	}
	return v.lists.add(l)
}

// onList returns a handler that runs handle within Work if the form names a stored list, and
// directly otherwise.
func onList(handle func(visit) error) func(visit) error {
	return func(v visit) error {
		if v.lists.find(v.Session.Tenant, v.form().Get("token")) == nil {
			return handle(v)
		}
		return v.Work(upload.Reading, func() error { return handle(v) })
	}
}

// openList reads the list with the token of the form, with the choices of the form. Problems with
// the list become faults.
func (v visit) openList() (*uploadedList, error) { return v.openListAs(v.readOptions(v.form())) }

// openListAs is openList with other choices for the reading and the rows.
func (v visit) openListAs(o imports.Options) (*uploadedList, error) {
	form, ctx, now := v.form(), v.R.Context(), v.Store.Clock().Now()
	l := &uploadedList{options: o, sheets: form["sheets"], answers: answers(form)}
	l.keptList = v.lists.find(v.Session.Tenant, form.Get("token"))
	if l.keptList == nil {
		switch {
		case form.Get("token") != "":
			l.faults = []view.Fault{{Name: "file", Fault: v.Text("import.fault.gone")}}
		case form.Has("token") || v.R.Method == http.MethodPost && !form.Has("language"):
			l.faults = []view.Fault{{Name: "file", Fault: v.Text("import.fault.missing")}}
		}
		return l, nil
	}
	l.options.Name = l.name
	var err error
	if l.options.Country, err = v.Store.Country(v.Session.Tenant); err != nil {
		return nil, err
	}
	cells, err := v.lists.read(ctx, l.keptList, l.options, now)
	if errors.Is(err, os.ErrClosed) {
		return &uploadedList{faults: []view.Fault{{Name: "file", Fault: v.Text("import.fault.gone")}}}, nil
	}
	if err == nil {
		l.file, err = cells.Map(ctx, l.options, now)
	}
	return l, l.explain(v, err)
}

// shownHeaders is the maximum number of headers in a message.
const shownHeaders = 20

// explain adds a fault that describes an error of the list and its solution, or a question. It
// returns an error that is not about the list.
func (l *uploadedList) explain(v visit, err error) error {
	if file, ok := errors.AsType[*sheet.FileError](err); ok && file.Code == sheet.FileSheets {
		l.sheets, l.question = file.Sheets, v.words().Say(err)
		return nil
	}
	shortened := err
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok && len(e.Headers) > shownHeaders {
		short := *e
		short.Headers = append(e.Headers[:shownHeaders:shownHeaders], "…")
		shortened = &short
	}
	problem, advice, ok := v.words().Explain(shortened)
	if !ok {
		return err
	}
	field, choose := l.fieldToFix(err)
	if choose != "" {
		advice = v.Text("import.choose." + choose)
	}
	l.faults = append(l.faults, view.Fault{Name: field, Fault: strings.TrimSpace(problem + " " + advice)})
	return nil
}

// fieldToFix returns the id of the field that can fix an error of the list, and the end of the key
// of a message that asks for a choice there, or an empty text for the usual advice.
func (l *uploadedList) fieldToFix(err error) (field, choose string) {
	var file *sheet.FileError
	var columns *mapping.ColumnsError
	var rows *imports.RowsError
	switch {
	case errors.As(err, &file) && file.Sheets != nil:
		l.sheets = file.Sheets
		return "sheet", "sheet"
	case file != nil && file.Code == sheet.FileEncoding:
		return "encoding", "encoding"
	case errors.As(err, &columns) && columns.Code == mapping.ColumnsTwice:
		at := slices.IndexFunc(l.file.Mapped.Columns, func(c mapping.Column) bool { return slices.Contains(columns.Headers, c.Header) })
		return columnID(max(0, at)), "columns"
	case columns != nil && columns.Code == mapping.ColumnsUnknown:
		return columnID(0), "columns"
	case errors.As(err, &rows) && rows.Option == "headerRow":
		return "headerRow", ""
	case columns != nil && columns.Code == mapping.ColumnsNoName:
		return columnID(0), ""
	}
	return "file", "" // only a change to the file can fix it
}

func columnID(number int) string { return "column-" + strconv.Itoa(number) }

// text returns the text of a pasted list, or an empty text if it is longer than maxText.
func (l *uploadedList) text() string {
	if l.keptList == nil || !l.pasted || l.keptList.file.Size() > maxText {
		return ""
	}
	content, _ := l.keptList.file.Content() // optional on the page
	return string(content)
}

// maxText is the maximum length of a pasted text that a page shows again, in bytes. In HTML, it can
// become five times as long.
const maxText = 64 << 10

// sendReportFile responds with a file about a list, within Work. name is the message key of its name.
func (v visit) sendReportFile(name, format string, write func(io.Writer) error) error {
	upload.Attachment{Name: v.Text(name) + "." + format, ContentType: sheet.ContentType(format)}.Describe(v.W.Header())
	return write(v.W)
}
