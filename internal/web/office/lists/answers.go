package lists

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// What somebody says about single rows is kept with the list, because an address has no
// room for it, nor a page for the fields of all rows.

// Fields of the form about a row: "cell.12.3" is the text of the fourth cell of row 12,
// and "who.12" says who the row is: the id of a person, addNew, or nothing.
const (
	cellField = "cell."
	whoField  = "who."
	addNew    = "add"
)

// maxAnswers is the size of all answers about the rows of a list, in bytes.
const maxAnswers = 256 << 10

// answer keeps what a form says about the rows of a list, and returns all that was said.
// What was said of another sheet or encoding says nothing.
func (k *keptLists) answer(one *keptList, form url.Values) (map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	reread := form.Has("sheet") && form.Get("sheet") != form.Get("was.sheet") ||
		form.Has("was.encoding") && form.Get("encoding") != form.Get("was.encoding")
	all := maps.Clone(one.answers)
	if all == nil || reread {
		all = map[string]string{}
	}
	for name := range form {
		value := form.Get(name)
		switch isWho := strings.HasPrefix(name, whoField); {
		case reread:
		case isWho && value == "":
			delete(all, name)
		case isWho, strings.HasPrefix(name, cellField):
			all[name] = value
		}
	}
	size := 0
	for name, value := range all {
		size += len(name) + len(value)
	}
	if size > maxAnswers {
		return nil, &httpapi.Problem{Kind: httpapi.TooLarge}
	}
	one.answers = all
	return maps.Clone(all), nil
}

// takeAnswers takes over what was said about the rows of a list. No browser sends what it
// cannot read.
func takeAnswers(o *imports.Options, answers map[string]string) {
	o.Corrections = imports.Corrections{}
	for name, value := range answers {
		if row, ok := strings.CutPrefix(name, whoField); ok && value == addNew {
			o.SetAdd(row)
		} else if ok {
			o.SetSame(row + "=" + value)
		}
		place, _ := strings.CutPrefix(name, cellField)
		above, below, _ := strings.Cut(place, ".")
		row, err := strconv.Atoi(above)
		column, wrong := strconv.Atoi(below)
		if err != nil || wrong != nil {
			continue
		}
		if o.Corrections[row] == nil {
			o.Corrections[row] = map[int]string{}
		}
		o.Corrections[row][column] = value
	}
}

// form returns the fields of the form that was sent, or of an address that has the same.
func (v visit) form() url.Values {
	if v.R.Method == http.MethodPost {
		return v.R.PostForm
	}
	return v.Query()
}

// setReturn sets the address to which a choice of another language leads.
func (v visit) setReturn(address string) {
	if v.R.Method == http.MethodPost {
		v.R.PostForm.Set("next", address)
	}
}

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
	o := imports.Options{Languages: []string{v.Lang.Tag, osutil.Language()}, Sheet: form.Get("sheet"),
		Encoding: form.Get("encoding"), Dates: form.Get("dates"), Names: form.Get("names"),
		Update: form.Get("update") != "", Spelling: form.Get("spelling") != "", SkipBad: form.Get("skipBad") != "",
		Zero: form.Get("zero") != "", LeaveOutBad: form.Get("leaveOutBad") != "", AddPerhaps: form.Get("addPerhaps") != ""}
	if !form.Has("sheet") || o.Sheet == form.Get("was.sheet") {
		o.Columns = map[int]string{}
		for name := range form {
			digits, ok := strings.CutPrefix(name, columnField)
			if number, err := strconv.Atoi(digits); ok && err == nil && form.Get(name) != byHeading {
				o.Columns[number] = form.Get(name)
			}
		}
	}
	return o
}

// readingFields are the fields of a form that say how to read a list, beside those of its
// columns.
var readingFields = []string{"sheet", "was.sheet", "encoding", "dates", "names", "zero", "leaveOutBad", "update", "spelling", "addPerhaps"}

// readingPath returns the address of the page at path that reads a list as the form says.
// Back, reload and a choice of another language lead there.
func (v visit) readingPath(path string, list *keptList) string {
	if list == nil {
		return path
	}
	query := url.Values{"token": {list.token}}
	for name, values := range v.form() {
		switch {
		case name == "sheets":
			query[name] = values
		case slices.Contains(readingFields, name), strings.HasPrefix(name, columnField):
			query[name] = values[:1]
		}
	}
	return path + "?" + query.Encode()
}
