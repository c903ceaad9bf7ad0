package people

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// pageLength is the number of people on a page of the list.
const pageLength = 100

// listDefaults are what the list shows where its address does not say it.
var listDefaults = record.Query{Page: 1, PageSize: pageLength, SortBy: record.ByLastName, Letters: true}

// allPeople is a page length that no department reaches.
const allPeople = math.MaxUint32

// findPage returns a page of the list. It has only the people of an import, if that is not 0.
func findPage(v view.Visit, q record.Query, imported int64) (store.Page, error) {
	if imported == 0 {
		return v.Store.List(v.Session.Tenant, q)
	}
	ids, err := v.Store.Imported(v.Session.Tenant, imported)
	if err != nil {
		return store.Page{}, err
	}
	first := q.Offset()
	q.Page, q.PageSize = 1, allPeople
	found, err := v.Store.List(v.Session.Tenant, q)
	found.Items = slices.DeleteFunc(found.Items, func(f record.Firefighter) bool { return !ids[f.ID] })
	found.Total = int64(len(found.Items))
	found.Items = found.Items[min(found.Total, first):min(found.Total, first+pageLength)]
	return found, err
}

// findIDs returns the ids of all people of a list, in its order.
func findIDs(v view.Visit, q record.Query, imported int64) ([]string, error) {
	ids, err := v.Store.IDs(v.Session.Tenant, q)
	if err != nil || imported == 0 {
		return ids, err
	}
	of, err := v.Store.Imported(v.Session.Tenant, imported)
	return slices.DeleteFunc(ids, func(id string) bool { return !of[id] }), err
}

// parseList reads which list the address asks for. What it cannot read it
// leaves out, and returns a message for each such parameter.
func parseList(v view.Visit) (q record.Query, faults []string, err error) {
	q, err = listDefaults.Parse(v.R.URL.RawQuery)
	var wrong record.FieldErrors
	if errors.As(err, &wrong) {
		for _, e := range wrong {
			faults = append(faults, v.Text("list.fault", e.Field))
		}
		err = nil
	}
	q.PageSize = pageLength
	return q, faults, err
}

// searchText returns the text that was searched for.
func searchText(v view.Visit) string { return strings.TrimSpace(v.ListQuery().Get("search")) }
