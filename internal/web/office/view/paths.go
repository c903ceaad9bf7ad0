package view

import (
	"net/url"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/web/site"
)

// PersonPath returns the address of a person's page.
func PersonPath(id string) string { return site.Root + "people/" + id }

// ListPath returns the address of a list.
func ListPath(query url.Values) string {
	if len(query) == 0 {
		return site.Root
	}
	return site.Root + "?" + query.Encode()
}

// HistoryPath is the address of the department's history.
const HistoryPath = site.Root + "history"

// PutBackPath returns the address that brings back what was there before an entry.
func PutBackPath(number int64) string {
	return HistoryPath + "/" + strconv.FormatInt(number, 10) + "/put-back"
}

// ImportsPath is the address of the imports that were made.
const ImportsPath = site.Root + "imports"

// UndoImportPath returns the address that undoes an import.
func UndoImportPath(number int64) string {
	return ImportsPath + "/" + strconv.FormatInt(number, 10) + "/undo"
}

// ReportPath returns the address of everything that is kept about a person.
func ReportPath(id string) string { return PersonPath(id) + "/report" }

// ImportedParameter names an import in the address of a list: the list has only its
// people.
const ImportedParameter = "imported"

// The way back. A form leads back to the list from which somebody came, with a notice of
// what has happened to a person and at that person's row.

// WithBack returns the address of a page whose forms lead back to another one.
func WithBack(path, back string) string {
	if back == site.Root { // there they lead in any case
		return path
	}
	return path + "?back=" + url.QueryEscape(back)
}

// WithParameter returns an address with another value of a parameter.
func WithParameter(address, name, value string) string {
	u, _ := url.Parse(address) // which site.LocalPath has checked
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// ListQuery returns the parameters of the list that was asked for, but not those
// that hold for one answer only.
func (v Visit) ListQuery() url.Values {
	kept := url.Values{}
	for _, name := range []string{"search", "sortBy", "sortDir", "page", ImportedParameter} {
		if value := v.Query().Get(name); value != "" && len(value) <= maxParameter {
			kept.Set(name, value)
		}
	}
	return kept
}

// maxParameter is the length of the longest parameter of a list, in bytes. Links in
// each row repeat them.
const maxParameter = 1000
