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

// uploadedList is an uploaded list, as it was read.
type uploadedList struct {
	*keptList // nil: there is none
	options   imports.Options
	answers   map[string]string // about rows, by the fields of the form
	file      *imports.File     // nil where it cannot be read at all
	faults    []view.Fault
	sheets    []string // to choose from
	asked     string   // a question: which of them; empty: it was settled
	released  bool     // the cells of the file are gone
}

// isRead reports whether the people of the list are known.
func (l *uploadedList) isRead() bool { return l.file != nil && len(l.faults) == 0 }

// release frees the cells of a list that is too long to be corrected on the page. They take
// more memory than the people.
func (l *uploadedList) release() {
	const mostCells = 200_000
	if rows := len(l.file.Table.Rows); rows*len(l.file.Table.Header) > mostCells {
		l.released = true
		l.file.Release()
	}
}

// status returns the status of a page that shows the list. stale is empty, or says why
// the list was not imported.
func (l *uploadedList) status(stale string) int {
	if stale != "" || len(l.faults) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// receiveList keeps an uploaded list and leads to its page. A form without one is shown.
func receiveList(show func(visit) error) func(visit) error {
	show = onList(show)
	return func(v visit) error {
		if l := v.receivedList(); l != nil {
			return v.Redirect(v.R.URL.Path + "?token=" + l.token)
		}
		if number := v.form().Get("leaveOut"); number != "" { // a button that leaves out a column
			v.form().Set(columnField+number, mapping.LeftOut)
		}
		return show(v)
	}
}

// receivedList returns the file or the text that was uploaded, nil for none.
func (v visit) receivedList() *keptList {
	tenant, text := v.Session.Tenant, v.form().Get("text")
	l := &keptList{tenant: tenant, name: v.Text("import.pasted"), pasted: true}
	switch {
	case v.Upload != nil && v.Upload.File != nil:
		l.file, v.Upload.File = v.Upload.File, nil // the visit does not close it
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

// onList returns a handler that waits for a place to work on the list that the form
// names. Where there is no such list it does not wait.
func onList(handle func(visit) error) func(visit) error {
	return func(v visit) error {
		if v.lists.find(v.Session.Tenant, v.form().Get("token")) == nil {
			return handle(v)
		}
		return v.Work(upload.Reading, func() error { return handle(v) })
	}
}

// openList returns the list with the token of the form, read as the form says. Without a
// token there is none yet.
func (v visit) openList() (*uploadedList, error) {
	form, ctx, now := v.form(), v.R.Context(), v.Store.Clock().Now()
	l := &uploadedList{options: v.readOptions(form), sheets: form["sheets"], answers: answers(form)}
	l.keptList = v.lists.find(v.Session.Tenant, form.Get("token"))
	if l.keptList == nil {
		switch {
		case form.Get("token") != "":
			l.faults = []view.Fault{{Name: "file", Fault: v.Text("import.fault.gone")}}
		case form.Has("token") || v.R.Method == http.MethodPost:
			l.faults = []view.Fault{{Name: "file", Fault: v.Text("import.fault.missing")}}
		}
		return l, nil
	}
	l.options.Name = l.name
	cells, err := v.lists.read(ctx, l.keptList, l.options, now)
	if errors.Is(err, os.ErrClosed) {
		return &uploadedList{faults: []view.Fault{{Name: "file", Fault: v.Text("import.fault.gone")}}}, nil
	}
	if err == nil {
		l.file, err = cells.Map(ctx, l.options, now)
	}
	return l, l.explain(v, err)
}

// shownHeaders is how many headers of a list stand in a sentence.
const shownHeaders = 20

// explain adds what is wrong with the list as a whole, and what to do. It returns an
// error that is not about the list.
func (l *uploadedList) explain(v visit, err error) error {
	if file, ok := errors.AsType[*sheet.FileError](err); ok && file.Code == sheet.FileSheets {
		l.sheets, l.asked = file.Sheets, v.words().Say(err)
		return nil
	}
	if errors.As(err, new(*imports.EncodingError)) {
		l.faults = append(l.faults, view.Fault{Name: "encoding", Fault: v.Text("import.encoding.unsure")})
		return nil
	}
	said := err
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok && len(e.Headers) > shownHeaders {
		some := *e
		some.Headers = append(e.Headers[:shownHeaders:shownHeaders], "…")
		said = &some
	}
	what, do, ok := v.words().Explain(said)
	if !ok {
		return err
	}
	field, choose := l.cure(err)
	if choose != "" {
		do = v.Text("import.choose." + choose)
	}
	l.faults = append(l.faults, view.Fault{Name: field, Fault: strings.TrimSpace(what + " " + do)})
	return nil
}

// cure returns the id of the field that can cure what is wrong with the list, and
// which message asks to choose there, if one does.
func (l *uploadedList) cure(err error) (field, choose string) {
	var file *sheet.FileError
	var columns *mapping.ColumnsError
	var dates *mapping.DatesError
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
	case columns != nil && columns.Code == mapping.ColumnsNoName:
		return columnID(0), ""
	case errors.As(err, &dates) && dates.Other != "":
		return "dates", "order"
	case dates != nil:
		return "dates", "dates"
	}
	return "file", "" // it can be cured in the list alone
}

func columnID(number int) string { return "column-" + strconv.Itoa(number) }

// text returns the text of a list that was pasted, nothing if that is long.
func (l *uploadedList) text() string {
	if l.keptList == nil || !l.pasted || l.keptList.file.Size() > maxText {
		return ""
	}
	content, _ := l.keptList.file.Content() // the page can do without
	return string(content)
}

// maxText is the length of the longest text that a page shows again, in bytes. It
// gets up to five times as long in HTML.
const maxText = 64 << 10

// sendReportFile answers with a file about a list, within Work. name is the key of its name.
func (v visit) sendReportFile(name, format string, write func(io.Writer) error) error {
	upload.Attachment{Name: v.Text(name) + "." + format, ContentType: sheet.ContentType(format)}.Describe(v.W.Header())
	return write(v.W)
}
