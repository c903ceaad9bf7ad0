package lists

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
)

// Each request contains all choices of the form, so two tabs with the same list do not affect each
// other, and the browser's Back button works.

// Fields of the form: "column.3" is the meaning of the fourth column, "cell.12.3" the text of the
// fourth cell of row 12, "who.12" the person of row 12: an ID, addNew, or empty, and "skip.12" whether to
// leave out row 12: leaveOut, or empty. "sameAll.KIND" and "addAll.KIND" settle all possible duplicates of
// a kind. The answer to a question has the name of its kind; several such answers can be in "answer", as
// in the API.
const (
	columnField = "column."
	cellField   = "cell."
	whoField    = "who."
	skipField   = "skip."

	sameAllField = "sameAll."
	addAllField  = "addAll."

	byHeading = "byHeading" // of a column: according to its header
	addNew    = "add"       // of a row: a new person
	leaveOut  = "1"         // of a row: left out
)

// form returns the fields of the submitted form, or the parameters of the address.
func (v visit) form() url.Values {
	if v.R.Method == http.MethodPost {
		return v.R.PostForm
	}
	return v.Query()
}

// readOptions returns the choices in a form. It ignores choices about columns if the form selects
// another sheet or header row, and choices about rows if it selects another sheet, header row or
// encoding.
func (v visit) readOptions(form url.Values) imports.Options {
	o := imports.Options{Languages: []string{v.Lang.Tag, osutil.Language()}, Sheet: form.Get("sheet"),
		Update: form.Get("update") != "", Spelling: form.Get("spelling") != "", SkipBad: form.Get("skipBad") != "",
		LeaveOutBad: form.Get("leaveOutBad") != ""}
	for kind := range imports.Kinds {
		o.SetAnswer(kind + ":" + form.Get(kind)) // an unknown option is no answer
	}
	for _, answer := range form["answer"] {
		o.SetAnswer(answer)
	}
	if form.Has("sheet") && o.Sheet != form.Get("was.sheet") {
		return o
	}
	o.HeaderRow, _ = strconv.Atoi(form.Get("headerRow"))
	if form.Get("headerRow") != form.Get("was.headerRow") {
		return o
	}
	o.SameAll, o.AddAll = map[string]bool{}, map[string]bool{}
	o.Columns = map[int]string{}
	for name := range form {
		if kind, ok := strings.CutPrefix(name, sameAllField); ok {
			o.SameAll[kind] = true
		} else if kind, ok := strings.CutPrefix(name, addAllField); ok {
			o.AddAll[kind] = true
		}
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
		if row, ok := strings.CutPrefix(name, skipField); ok {
			o.SetSkip(row, value == leaveOut)
		}
		place, _ := strings.CutPrefix(name, cellField)
		rowText, columnText, _ := strings.Cut(place, ".")
		row, err := strconv.Atoi(rowText)
		if column, columnErr := strconv.Atoi(columnText); err == nil && columnErr == nil {
			o.Corrections.Set(row, column, value)
		}
	}
	return o
}

// answers returns the choices about rows, by field name. It returns none if the form selects another
// sheet, header row or encoding.
func answers(form url.Values) map[string]string {
	all := map[string]string{}
	for _, field := range []string{"sheet", "encoding", "headerRow"} {
		if form.Has("was."+field) && form.Has(field) && form.Get(field) != form.Get("was."+field) {
			return all
		}
	}
	for name, values := range form {
		value := values[len(values)-1] // a hidden field precedes a checkbox that is not empty by default
		if isAnswer(name) && !(value == "" && strings.HasPrefix(name, whoField)) {
			all[name] = value
		}
	}
	return all
}

// isAnswer reports whether a field contains a choice about a row.
func isAnswer(name string) bool {
	return strings.HasPrefix(name, cellField) || strings.HasPrefix(name, whoField) || strings.HasPrefix(name, skipField)
}
