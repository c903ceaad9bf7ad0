package lists

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
)

// The form of a list has all choices, about the list and about its rows, each time that it
// is sent: two tabs with the same list, or Back, show what they were shown.

// Fields of the form. "column.3" is what the fourth column is, "cell.12.3" the text of the
// fourth cell of row 12, and "who.12" the person who row 12 is: an id, addNew, or nothing.
const (
	columnField = "column."
	cellField   = "cell."
	whoField    = "who."

	byHeading = "byHeading" // of a column: what its header says
	addNew    = "add"       // of a row: a new person
)

// form returns the fields of the form that was sent, or of an address that has the same.
func (v visit) form() url.Values {
	if v.R.Method == http.MethodPost {
		return v.R.PostForm
	}
	return v.Query()
}

// maxReturn is the length of the longest address that has the choices of a form, in bytes.
// Proxies refuse addresses of a few thousand bytes.
const maxReturn = 2000

// setReturn sets the address to which a choice of another language leads: the page at path
// with the list and, if there is room, the choices about all of it.
func (v visit) setReturn(path string, l *uploadedList) {
	if v.R.Method != http.MethodPost {
		return
	}
	if l.keptList != nil {
		query := maps.Clone(v.form())
		maps.DeleteFunc(query, func(name string, _ []string) bool { return isAnswer(name) || name == "checked" || name == "next" })
		address := path + "?" + query.Encode()
		if path += "?token=" + l.token; len(address) <= maxReturn {
			path = address
		}
	}
	v.R.PostForm.Set("next", path)
}

// readOptions returns the choices in a form. What it has about columns and rows is ignored
// if the form asks for another sheet, and about rows also if it asks for another encoding.
func (v visit) readOptions(form url.Values) imports.Options {
	o := imports.Options{Languages: []string{v.Lang.Tag, osutil.Language()}, Sheet: form.Get("sheet"),
		Encoding: form.Get("encoding"), Dates: form.Get("dates"), Names: form.Get("names"),
		Update: form.Get("update") != "", Spelling: form.Get("spelling") != "", SkipBad: form.Get("skipBad") != "",
		Zero: form.Get("zero") != "", LeaveOutBad: form.Get("leaveOutBad") != "", AddPerhaps: form.Get("addPerhaps") != ""}
	if form.Has("sheet") && o.Sheet != form.Get("was.sheet") {
		return o
	}
	o.Columns = map[int]string{}
	for name := range form {
		digits, ok := strings.CutPrefix(name, columnField)
		if number, err := strconv.Atoi(digits); ok && err == nil && form.Get(name) != byHeading {
			o.Columns[number] = form.Get(name)
		}
	}
	o.Corrections = imports.Corrections{}
	for name, value := range answers(form) {
		if row, ok := strings.CutPrefix(name, whoField); ok && value == addNew {
			o.SetAdd(row)
		} else if ok {
			o.SetSame(row + "=" + value)
		}
		place, _ := strings.CutPrefix(name, cellField)
		above, below, _ := strings.Cut(place, ".")
		row, err := strconv.Atoi(above)
		if column, wrong := strconv.Atoi(below); err == nil && wrong == nil {
			o.Corrections.Set(row, column, value)
		}
	}
	return o
}

// answers returns what a form has about rows, by the names of its fields.
func answers(form url.Values) map[string]string {
	all := map[string]string{}
	for _, field := range []string{"sheet", "encoding"} {
		if form.Has("was."+field) && form.Has(field) && form.Get(field) != form.Get("was."+field) {
			return all
		}
	}
	for name := range form {
		value := form.Get(name)
		if isAnswer(name) && !(value == "" && strings.HasPrefix(name, whoField)) {
			all[name] = value
		}
	}
	return all
}

// isAnswer reports whether a field is about a row.
func isAnswer(name string) bool {
	return strings.HasPrefix(name, cellField) || strings.HasPrefix(name, whoField)
}
