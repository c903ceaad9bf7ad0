package office

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// pageLength is the number of people on a page of the list.
const pageLength = 100

// listDefaults are what the list shows where its address does not say it.
var listDefaults = record.Query{Page: 1, PageSize: pageLength, SortBy: record.ByLastName, Letters: true}

// listPage is the Data of list.html.
type listPage struct {
	Search       string
	Searched     bool
	Imported     bool  // only the people of an import
	Total, Found int64 // all people of the department, and those who were found
	Columns      []sortColumn
	Sorted       sortColumn // by what it is sorted; empty: as people were added
	People       []person
	HasStatus    bool // somebody on the page has a status
	Letters      []letterLink
	Pages        *pager
	Faults       []string // what of the address could not be read
	Add          string   // address of the form for a new person
	Steps        *steps   // of the department; nil: none to show

	Unsorted url.Values // parameters of the list without those of its order
	Query    string     // all parameters of the list, as links repeat them
	Back     string     // address of the list
	From     string     // query with which the page of a person leads back to the list
	Marked   string     // id of the person who was just saved
	Call     [2]string  // the text before and after the name in "Call Ana Čović"
}

// person is a line of the list.
type person struct {
	ID, FirstName, LastName string
	Phone, Tel              string
	Email                   string
	Mailto                  string // the e-mail address as a link has it
	Mailbox, MailHost       string // the parts of the e-mail address; a narrow column breaks between them
	Born                    string // empty: not known
	Age                     int
	Status                  string // of the invitation by the department's platform
	Anchor                  string // that the letter of the person leads to; empty: none
}

// allPeople is a page length that no department reaches.
const allPeople = math.MaxUint32

// everybody returns all people of the department, by name.
func (v visit) everybody() (store.Page, error) {
	q := listDefaults
	q.PageSize = allPeople
	return v.Store.List(v.Session.Tenant, q)
}

func showList(v visit) error {
	q, faults, err := v.parseList()
	if err != nil {
		return err
	}
	notice, imported, err := v.importAsked()
	if err != nil {
		return err
	}
	found, err := v.list(q, imported)
	if err != nil {
		return err
	}
	if moved, err := v.movedTo(q, imported, found); err != nil {
		return err
	} else if moved != "" {
		return v.Redirect(moved)
	}
	data := v.listPage(q, found)
	data.Searched, data.Imported, data.Faults = len(q.Terms) > 0 || imported > 0, imported > 0, faults
	p := site.Page{Title: v.Text("list.title"), Department: found.Department, Section: "list", Wrong: len(faults) > 0, Notice: notice}
	if v.Query().Get("part") == "results" { // the script asks for it while somebody types
		p.Part = "results"
	} else if !data.Searched && q.Page == 1 {
		if data.Steps, err = v.firstSteps(data.Total); err != nil {
			return err
		}
	}
	p.Data = data
	return v.Render(http.StatusOK, "list", p)
}

// listPage returns what list.html shows of a page of the list.
func (v visit) listPage(q record.Query, found store.Page) *listPage {
	parameters := v.listQuery()
	address := listPath(parameters)
	unsorted := maps.Clone(parameters)
	for _, name := range []string{"sortBy", "sortDir", "page"} {
		unsorted.Del(name)
	}
	p := &listPage{
		Search: v.search(), Found: found.Total, Total: found.People, People: v.people(found.Items), Add: withBack(newPersonPath, address),
		Unsorted: unsorted, Query: strings.TrimPrefix(address, site.Root), Back: address, From: withBack("", address), Marked: v.marked(),
		Pages: v.pager(site.Root, q, found.Total),
	}
	p.Columns, p.Sorted = v.sortColumns(q, unsorted)
	p.Letters = letterLinks(found.Letters, q, parameters, p.People)
	p.HasStatus = slices.ContainsFunc(p.People, func(one person) bool { return one.Status != "" })
	const name = "\x00"
	p.Call[0], p.Call[1], _ = strings.Cut(v.Text("list.call", name), name)
	return p
}

// importAsked returns the notice of the import that the address names, and its number. 0 is
// none, or one that was taken back.
func (v visit) importAsked() (*site.Notice, int64, error) {
	if !v.Query().Has(importedParameter) {
		return nil, 0, nil
	}
	all, err := v.Store.Imports(v.Session.Tenant)
	notice, number := v.importNotice(all)
	return notice, number, err
}

// list returns a page of the list. It has only the people of an import, if that is not 0.
func (v visit) list(q record.Query, imported int64) (store.Page, error) {
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

// ids returns the ids of all people of a list, in its order.
func (v visit) ids(q record.Query, imported int64) ([]string, error) {
	ids, err := v.Store.IDs(v.Session.Tenant, q)
	if err != nil || imported == 0 {
		return ids, err
	}
	of, err := v.Store.Imported(v.Session.Tenant, imported)
	return slices.DeleteFunc(ids, func(id string) bool { return !of[id] }), err
}

// parseList reads which list the address asks for. What it cannot read it
// leaves out, and returns a message for each such parameter.
func (v visit) parseList() (q record.Query, faults []string, err error) {
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

// maxParameter is the length of the longest parameter of a list, in bytes. Links in
// each row repeat them.
const maxParameter = 1000

// search returns the text that was searched for.
func (v visit) search() string { return strings.TrimSpace(v.listQuery().Get("search")) }

// listQuery returns the parameters of the list that was asked for, but not those
// that hold for one answer only.
func (v visit) listQuery() url.Values {
	kept := url.Values{}
	for _, name := range []string{"search", "sortBy", "sortDir", "page", importedParameter} {
		if value := v.Query().Get(name); value != "" && len(value) <= maxParameter {
			kept.Set(name, value)
		}
	}
	return kept
}

// listPath returns the address of a list.
func listPath(query url.Values) string {
	if len(query) == 0 {
		return site.Root
	}
	return site.Root + "?" + query.Encode()
}

func (v visit) people(items []record.Firefighter) []person {
	today := v.today()
	people := make([]person, len(items))
	for i := range items {
		people[i] = v.person(&items[i], today)
	}
	return people
}

// person returns a line of the list.
func (v visit) person(f *record.Firefighter, today calendar.Date) person {
	p := person{ID: f.ID, FirstName: f.FirstName, LastName: f.LastName, Phone: f.PhoneNumber, Tel: dialled(f.PhoneNumber), Email: f.Email}
	if f.Email != "" {
		name, _, _ := strings.Cut(f.Email, "@")
		p.Mailto, p.Mailbox, p.MailHost = url.PathEscape(f.Email), name, strings.TrimPrefix(f.Email, name)
	}
	if born, ok := bornOn(f.Fields); ok {
		p.Born, p.Age = v.Lang.Day(born), born.AgeOn(today)
	}
	if f.InvitationStatus != nil {
		p.Status = *f.InvitationStatus
	}
	return p
}

// dialled returns what a telephone needs of a number: its digits, behind a plus
// sign if it has one. A zero in parentheses is dialled within a country only.
func dialled(number string) string {
	abroad := strings.HasPrefix(number, "+")
	if abroad {
		number = strings.Replace(number, "(0)", "", 1)
	}
	digits := record.Digits(number)
	if abroad && digits != "" {
		return "+" + digits
	}
	return digits
}
