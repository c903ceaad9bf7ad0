package office

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// pageLength is the number of people on a page of the list.
const pageLength = 100

// listDefaults are what the list shows where its address does not say it.
var listDefaults = record.Query{Page: 1, PageSize: pageLength, SortBy: record.ByLastName}

// listPage is the Data of list.html.
type listPage struct {
	Search       string
	Searched     bool
	Imported     bool  // only the people of an import
	Total, Found int64 // all people of the department, and those who were found
	Columns      []sortColumn
	People       []person
	Rows         template.HTML // of People
	ShowStatus   bool          // somebody on the page has an invitation status
	Pages        pager
	Faults       []string // what of the address could not be read
	Query        string   // of this list, as in an address
	Add          string   // address of the form for a new person
}

// sortColumn is one that a list can be sorted by.
type sortColumn struct {
	Key, Label string
	Href       string // of the list sorted by it, or the other way round
	Sort       string // aria-sort: ascending, descending or empty
}

// person is a line of the list.
type person struct {
	ID, FirstName, LastName string
	Phone, Tel              string
	Email                   string
	Born                    string // empty: not known
	Age                     int
	Status                  string // of the invitation by the department's platform
}

// pager leads to the other pages of a list. An empty address is none.
type pager struct {
	Previous, Next string
	Page, Last     int64
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
	data := listPage{
		Search: v.search(), Searched: len(q.Terms) > 0 || imported > 0, Found: found.Total, Total: found.People, Imported: imported > 0,
		Columns: v.sortColumns(q), People: v.people(found.Items), Pages: v.pager(q, found.Total), Faults: faults, Query: v.listQuery().Encode(),
	}
	data.ShowStatus = slices.ContainsFunc(data.People, func(p person) bool { return p.Status != "" })
	back := listPath(v.listQuery())
	data.Add = withBack(newPersonPath, back)
	data.Rows = v.rowsOf(data, back, v.May(store.ScopeWrite))
	p := site.Page{Title: v.Text("list.title"), Section: "list", Wrong: len(faults) > 0, Data: data}
	if v.R.URL.Query().Get("part") == "results" { // the script asks for it while somebody types
		p.Part = "results"
		return v.Render(http.StatusOK, "list", p)
	}
	if p.Notice, err = v.listNotice(); err != nil {
		return err
	}
	if p.Notice == nil {
		p.Notice = notice
	}
	return v.Render(http.StatusOK, "list", p)
}

// importAsked returns the notice of the import that the address names, and its number. 0 is
// none, or one that was taken back.
func (v visit) importAsked() (*site.Notice, int64, error) {
	if !v.R.URL.Query().Has(importedParameter) {
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

// parseList reads which list the address asks for. What it cannot read it
// leaves out, and returns a message for each such parameter.
func (v visit) parseList() (q record.Query, faults []string, err error) {
	given, tooLong := parameters(v.R.URL.Query())
	for _, name := range tooLong {
		faults = append(faults, v.Text("list.fault", name))
	}
	q, err = listDefaults.Parse(given.Encode())
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

// parameters returns the parameters of an address that a list takes, and the names of
// the ones that are too long to be used.
func parameters(query url.Values) (given url.Values, tooLong []string) {
	given = url.Values{}
	for _, name := range []string{"search", "sortBy", "sortDir", "page"} {
		switch values := query[name]; {
		case len(strings.Join(values, "")) > maxParameter:
			tooLong = append(tooLong, name)
		case values != nil:
			given[name] = values
		}
	}
	return given, tooLong
}

// search returns the text that was searched for.
func (v visit) search() string {
	given, _ := parameters(v.R.URL.Query())
	return strings.TrimSpace(given.Get("search"))
}

// listQuery returns the parameters of the list that was asked for, but not those
// that hold for one answer only.
func (v visit) listQuery() url.Values {
	given, _ := parameters(v.R.URL.Query())
	kept := url.Values{}
	for name := range given {
		if value := given.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	if number := v.R.URL.Query().Get(importedParameter); number != "" && len(number) <= maxParameter {
		kept.Set(importedParameter, number)
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

// listColumns are the fields that the list can be sorted by, in their order.
var listColumns = []record.SortField{record.ByLastName, record.ByFirstName, record.ByPhoneNumber, record.ByEmail, record.ByDateOfBirth}

func (v visit) sortColumns(q record.Query) (columns []sortColumn) {
	for _, field := range listColumns {
		c := sortColumn{Key: string(field), Label: v.Text("field." + string(field))}
		query := v.listQuery()
		query.Del("page")
		query.Set("sortBy", c.Key)
		query.Set("sortDir", "asc")
		if field == q.SortBy {
			c.Sort = "ascending"
			if q.Descending {
				c.Sort = "descending"
			} else {
				query.Set("sortDir", "desc")
			}
		}
		c.Href = listPath(query)
		columns = append(columns, c)
	}
	return columns
}

func (v visit) pager(q record.Query, total int64) pager {
	p := pager{Page: q.Page, Last: (total + q.PageSize - 1) / q.PageSize}
	address := func(number int64) string {
		query := v.listQuery()
		query.Set("page", strconv.FormatInt(number, 10))
		return v.R.URL.Path + "?" + query.Encode()
	}
	if p.Page > 1 {
		p.Previous = address(max(1, min(p.Page-1, p.Last)))
	}
	if p.Page < p.Last {
		p.Next = address(p.Page + 1)
	}
	return p
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

// The rows of the list are written here, not by a template, because that takes
// 1.7 ms for forty people, five times the whole answer of the API. This takes a
// tenth of it.

// escaped is text that can stand in HTML. Only escape and breakable make it.
type escaped string

// escape returns text that can stand between double quotes, too.
func escape(text string) escaped { return escaped(template.HTMLEscapeString(text)) }

// breakable returns an e-mail address that a narrow column breaks before the @.
// For screen readers it stays one word, which it is not with <wbr>.
func breakable(address string) escaped {
	if name, host, ok := strings.Cut(address, "@"); ok {
		return escape(name) + "<span>" + escape("@"+host) + "</span>"
	}
	return escape(address)
}

// appendHTML appends HTML in which each %s is text.
func appendHTML(b []byte, html string, texts ...escaped) []byte {
	args := make([]any, len(texts))
	for i, text := range texts {
		args[i] = string(text)
	}
	return fmt.Appendf(b, html, args...)
}

// rows is what all rows of a list have in common.
type rows struct {
	phone, email, born, status, delete escaped // labels
	write, showStatus                  bool
	current                            string  // id of the person who was just saved
	query                              escaped // with which a person's page leads back to this list
	back                               escaped // field with which a form does
}

func (v visit) rowsOf(data listPage, back string, write bool) template.HTML {
	label := func(key string) escaped { return escape(v.Text(key)) }
	r := rows{label("field.phoneNumber"), label("field.email"), label("field.dateOfBirth"), label("list.status"), label("layout.delete"),
		write, data.ShowStatus, v.marked(), escape(withBack("", back)), ""}
	if back != site.Root {
		r.back = `<input type="hidden" name="back" value="` + escape(back) + `">`
	}
	const rowSize = 1100 // bytes, or nearly
	b := make([]byte, 0, len(data.People)*rowSize)
	for i := range data.People {
		b = r.append(b, &data.People[i])
	}
	return template.HTML(b)
}

func (r *rows) append(b []byte, p *person) []byte {
	id, name := escape(p.ID), escape(p.FirstName+" "+p.LastName)
	var current escaped
	if p.ID == r.current {
		current = ` aria-current="true"`
	}
	b = appendHTML(b, `<tr role="row" id="%s"%s><th scope="row" role="rowheader" class="last"><a href="/office/people/%s%s" aria-label="%s">%s</a></th>`+
		`<td role="cell" class="first">%s</td>`, id, current, id, r.query, name, escape(p.LastName), escape(p.FirstName))
	b = r.appendPhone(b, p)
	b = r.appendEmail(b, p)
	if p.Born == "" {
		b = appendHTML(b, `<td role="cell" data-label="%s" class="born empty"></td>`, r.born)
	} else {
		b = appendHTML(b, `<td role="cell" data-label="%s" class="born"><span>%s <span class="dim">(%s)</span></span></td>`,
			r.born, escape(p.Born), escape(strconv.Itoa(p.Age)))
	}
	if r.showStatus && p.Status == "" {
		b = appendHTML(b, `<td role="cell" data-label="%s" class="empty"></td>`, r.status)
	} else if r.showStatus {
		b = appendHTML(b, `<td role="cell" data-label="%s"><span class="tag">%s</span></td>`, r.status, escape(p.Status))
	}
	if r.write {
		b = appendHTML(b, `<td role="cell" class="actions"><form method="post" action="/office/people/%s/delete" data-inplace>`+
			`%s<button class="quiet danger">%s<span class="unseen"> %s</span></button></form></td>`,
			id, r.back, r.delete, name)
	}
	return append(b, "</tr>\n"...)
}

func (r *rows) appendPhone(b []byte, p *person) []byte {
	switch {
	case p.Phone == "":
		return appendHTML(b, `<td role="cell" data-label="%s" class="empty"></td>`, r.phone)
	case p.Tel == "":
		return appendHTML(b, `<td role="cell" data-label="%s">%s</td>`, r.phone, escape(p.Phone))
	}
	return appendHTML(b, `<td role="cell" data-label="%s"><a href="tel:%s">%s</a></td>`, r.phone, escape(p.Tel), escape(p.Phone))
}

func (r *rows) appendEmail(b []byte, p *person) []byte {
	if p.Email == "" {
		return appendHTML(b, `<td role="cell" data-label="%s" class="email empty"></td>`, r.email)
	}
	return appendHTML(b, `<td role="cell" data-label="%s" class="email"><a href="mailto:%s">%s</a></td>`,
		r.email, escape(url.PathEscape(p.Email)), breakable(p.Email))
}
