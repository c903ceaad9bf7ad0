package office

import (
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// broughtList is a list that somebody has brought, as it was read.
type broughtList struct {
	*keptList // nil: there is none
	content   []byte
	options   imports.Options
	file      *imports.File // nil where it cannot be read at all
	faults    []fault
	sheets    []string // to choose from
}

// bringList keeps a list, and leads to the page at path, which shows it. Without a list
// it answers with missing.
func bringList(path string, missing func(visit) error) func(visit) error {
	return func(v visit) error {
		if u := v.receivedList(); u != nil {
			return v.Redirect(v.readingPath(path, u))
		}
		return missing(v)
	}
}

// openList reads the list with the token of the form.
func (v visit) openList() (*broughtList, error) {
	l, err := &broughtList{options: v.readingOptions(), sheets: v.form()["sheets"]}, error(nil)
	l.keptList, l.content, err = v.lists.read(v.Session.Tenant, v.form().Get("token"))
	if err != nil {
		return nil, err
	}
	if l.keptList == nil {
		message := "import.fault.missing"
		if v.form().Get("token") != "" {
			message = "import.fault.gone"
		}
		l.faults = []fault{{"file", v.Text(message)}}
		return l, nil
	}
	l.options.Name = l.name
	l.file, err = imports.Read(v.R.Context(), l.content, l.options, v.Store.Clock().Now())
	if hash := v.form().Get("hash"); l.file != nil && hash != "" && hash != l.hash() {
		l.options = imports.Options{Name: l.name, Update: l.options.Update, SkipBad: l.options.SkipBad} // the others are about another list
		l.file, err = imports.Read(v.R.Context(), l.content, l.options, v.Store.Clock().Now())
	}
	return l, l.explain(v, err)
}

// form returns the fields of the form that was sent, or of an address that has the same.
func (v visit) form() url.Values {
	if v.R.Method == http.MethodPost {
		return v.R.PostForm
	}
	return v.R.URL.Query()
}

// receivedList returns the list that the form has, its file or its text, or the one
// with its token. nil is none.
func (v visit) receivedList() *keptList {
	form, tenant := v.form(), v.Session.Tenant
	var text *upload.File
	switch {
	case v.Upload != nil && v.Upload.File != nil:
		file := v.Upload.File
		v.Upload.File = nil // the visit does not close it
		return v.lists.add(&keptList{tenant: tenant, name: strings.ToValidUTF8(file.Name, "\uFFFD"), file: file})
	case v.Upload != nil && v.Upload.Text != nil:
		text, v.Upload.Text = v.Upload.Text, nil
	case strings.TrimSpace(form.Get("text")) != "":
		text = upload.FromText(int64(tenant), form.Get("text"))
	default:
		return v.lists.find(tenant, form.Get("token"))
	}
	return v.lists.add(&keptList{tenant: tenant, name: v.Text("import.pasted"), pasted: true, file: text})
}

// hash returns the hash of the content of a list, for a form.
func (l *broughtList) hash() string { return hex.EncodeToString(l.file.Hash) }

// columnField begins the names of the fields that say what a column is. byHeading
// is the value of one that leaves it to the heading.
const (
	columnField = "column."
	byHeading   = "byHeading"
)

// readingOptions returns how the form asks to read a list. What it says of columns holds
// for the sheet that it was made of.
func (v visit) readingOptions() imports.Options {
	form := v.form()
	o := imports.Options{Sheet: form.Get("sheet"), Encoding: form.Get("encoding"), Dates: form.Get("dates"),
		Update: form.Get("update") != "", SkipBad: form.Get("skipBad") != ""}
	if !form.Has("sheet") || o.Sheet == form.Get("was.sheet") {
		o.Columns = columnsOf(form)
	}
	return o
}

// columnsOf returns what each column is, by its number.
func columnsOf(form url.Values) map[int]string {
	columns := map[int]string{}
	for name := range form {
		if digits, ok := strings.CutPrefix(name, columnField); ok && form.Get(name) != byHeading {
			if number, err := strconv.Atoi(digits); err == nil {
				columns[number] = form.Get(name)
			}
		}
	}
	return columns
}

// words are the sentences about lists in the visitor's language.
func (v visit) words() imports.Words {
	quote := func(text string) string { return v.Text("import.quoted", text) }
	return imports.Words{Language: v.Lang, Show: quoted,
		Quote: func(text string) string { return quote(quoted(text)) },
		Field: func(name string) string { return quote(v.fieldLabel(name)) }}
}

// shownHeaders is how many headers of a list stand in a sentence.
const shownHeaders = 20

// explain adds what is wrong with the list as a whole, and what to do. It returns an
// error that is not about the list.
func (l *broughtList) explain(v visit, err error) error {
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
	l.faults = append(l.faults, fault{field, strings.TrimSpace(what + " " + do)})
	return nil
}

// cure returns the id of the field that can cure what is wrong with the list, and
// which message asks to choose there, if one does.
func (l *broughtList) cure(err error) (field, choose string) {
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

// fieldLabel returns what people call what a column can be.
func (v visit) fieldLabel(field string) string {
	switch field {
	case mapping.LeftOut:
		return v.Text("import.field.none")
	case mapping.FullName:
		return v.Text("import.field.name")
	case mapping.LastFirst:
		return v.Text("import.field.reversed")
	case mapping.ID:
		return v.Text("import.field.id")
	}
	return v.Text("field." + field)
}
