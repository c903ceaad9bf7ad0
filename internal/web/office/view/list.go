package view

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// List is a list of people as an address requests it.
type List struct {
	Query  record.Query
	Only   string       // what the people have in common, such as a search text; empty: everyone
	Faults []string     // messages about invalid parameters, which the query ignores
	Notice *site.Notice // about the import whose people the list has; nil: none
}

// PageLength is the number of people on a page of the list.
const PageLength = 100

// presence are the fields that a list can be filtered by, and the parameters of their filters.
var presence = []struct{ field, parameter string }{
	{record.ByPhoneNumber, "hasPhoneNumber"}, {record.ByEmail, "hasEmail"}, {record.ByDateOfBirth, "hasDateOfBirth"}}

// List returns the list that the query of an address requests, by last name unless it has an order.
func (v Visit) List(rawQuery string) (l List, err error) {
	l.Query, err = record.Query{Page: 1, SortBy: record.ByLastName}.Parse(rawQuery)
	l.Query.PageSize = PageLength
	var invalid record.FieldErrors
	errors.As(err, &invalid)
	for _, e := range invalid {
		l.Faults = append(l.Faults, v.Text("list.fault", e.Field))
	}
	var only []string
	parameters := record.ParseParameters(rawQuery)
	if len(l.Query.Terms) > 0 {
		only = append(only, strings.TrimSpace(parameters.Get("search")))
	}
	only = append(only, v.filtered(l.Query.Filter)...)
	if number := parameters.Get(ImportedParameter); number != "" {
		all, err := v.Store.Imports(v.Session.Tenant)
		if err != nil {
			return l, err
		}
		notice, found := v.ImportNotice(all, number)
		if l.Notice = notice; found > 0 {
			ids, err := v.Store.Imported(v.Session.Tenant, found)
			if err != nil {
				return l, err
			}
			l.Query.IDs = append([]string{}, ids...) // not nil, even if all were permanently deleted
			only = append(only, v.Text("imports.import", int(found)))
		}
	}
	l.Only = strings.Join(only, " · ")
	return l, nil
}

// All returns the query of the whole list, on one page.
func (l List) All() record.Query {
	q := l.Query
	q.Page, q.PageSize = 1, math.MaxUint32
	return q
}

// filtered returns the filters in words.
func (v Visit) filtered(f record.Filter) (filters []string) {
	for _, key := range []string{"list.missing", "list.with"} {
		var labels []string
		for i, has := range []*bool{f.HasPhoneNumber, f.HasEmail, f.HasDateOfBirth} {
			if has != nil && *has == (key == "list.with") {
				labels = append(labels, v.Text("field."+presence[i].field))
			}
		}
		if labels != nil {
			filters = append(filters, v.Text(key)+v.Text("layout.colon")+strings.Join(labels, ", "))
		}
	}
	return filters
}

// Missing returns the links that turn the filters for missing values on and off. A link is chosen
// while its filter is on.
func (v Visit) Missing() (links []Choice) {
	for _, p := range presence {
		query := v.ListQuery()
		on := slices.Contains([]string{"false", "0"}, query.Get(p.parameter))
		query.Del("page")
		if query.Set(p.parameter, "false"); on {
			query.Del(p.parameter)
		}
		links = append(links, Choice{Value: ListPath(query), Label: v.Text("field." + p.field), Chosen: on})
	}
	return links
}
