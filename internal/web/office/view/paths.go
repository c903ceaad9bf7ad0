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

// UndoChangePath returns the address that undoes an entry of the history.
func UndoChangePath(number int64) string {
	return HistoryPath + "/" + strconv.FormatInt(number, 10) + "/put-back"
}

// ImportsPath is the address of the import history.
const ImportsPath = site.Root + "imports"

// UndoImportPath returns the address that undoes an import.
func UndoImportPath(number int64) string {
	return ImportsPath + "/" + strconv.FormatInt(number, 10) + "/undo"
}

// ReportPath returns the address of the report of all data about a person.
func ReportPath(id string) string { return PersonPath(id) + "/report" }

// ImportedParameter restricts a list to the people of an import.
const ImportedParameter = "imported"

// MissingPath is the address of the page about people who are not in an imported list.
const MissingPath = site.Root + "import/missing"

// DuplicatesPath is the address of the list of possible duplicates.
const DuplicatesPath = site.Root + "duplicates"

// WithBack adds the address of the page to which the forms of a page lead back.
func WithBack(path, back string) string {
	if back == site.Root { // the default
		return path
	}
	return path + "?back=" + url.QueryEscape(back)
}

// WithParameter returns an address with a parameter set to a value.
func WithParameter(address, name, value string) string {
	u, _ := url.Parse(address) // checked by site.LocalPath
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// ListQuery returns the parameters of the requested list, except notices.
func (v Visit) ListQuery() url.Values {
	kept := url.Values{}
	names := []string{"search", "sortBy", "sortDir", "page", ImportedParameter}
	for _, p := range presence {
		names = append(names, p.parameter)
	}
	for _, name := range names {
		if value := v.Query().Get(name); value != "" && len(value) <= maxParameter {
			kept.Set(name, value)
		}
	}
	return kept
}

// maxParameter is the maximum length of a parameter in bytes. Every link of a list repeats them.
const maxParameter = 1000
