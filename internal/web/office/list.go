package office

import (
	"errors"
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
var listDefaults = record.Query{Page: 1, PageSize: pageLength, SortBy: record.ByLastName, Letters: true}

// listPage is the Data of list.html.
type listPage struct {
	Search       string
	Searched     bool
	Imported     bool          // only the people of an import
	Total, Found int64         // all people of the department, and those who were found
	Sorted       sortColumn    // by what it is sorted; empty: as people were added
	Headers      template.HTML // of the columns
	Sorting      template.HTML // the form that sorts on a small screen
	Links        template.HTML // to what one can do with the people found
	People       []person
	Rows         []template.HTML // of People
	ShowStatus   bool            // somebody on the page has an invitation status
	Letters      template.HTML   // links to where letters begin
	Pages        pager
	Faults       []string // what of the address could not be read
	Add          string   // address of the form for a new person
	Steps        *steps   // of the department; nil: none to show
}

// sortColumn is one that a list can be sorted by.
type sortColumn struct {
	Key  record.SortField
	Href string // of the list sorted by it, or the other way round
	Sort string // aria-sort: ascending, descending or empty
}

// person is a line of the list.
type person struct {
	ID, FirstName, LastName string
	Phone, Tel              string
	Email                   string
	Born                    string // empty: not known
	Age                     int
	Status                  string // of the invitation by the department's platform
	Anchor                  string // that the letter of the person leads to; empty: none
}

// pager leads to the other pages of a list. An empty address is none.
type pager struct {
	Previous, Next string
	Page, Last     int64
	Numbers        template.HTML // links to pages by their numbers
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
		People: v.people(found.Items), Pages: v.pager(q, found.Total), Faults: faults,
	}
	data.Letters = v.letters(q, found, data.People)
	v.addHeaders(&data, q)
	data.ShowStatus = slices.ContainsFunc(data.People, func(p person) bool { return p.Status != "" })
	back := listPath(v.listQuery())
	data.Add = withBack(newPersonPath, back)
	data.Rows = v.rowsOf(data, back, v.May(store.ScopeWrite))
	p := site.Page{Title: v.Text("list.title"), Department: found.Department, Section: "list", Wrong: len(faults) > 0, Notice: notice, Data: data}
	if v.Query().Get("part") == "results" { // the script asks for it while somebody types
		p.Part = "results"
		return v.Render(http.StatusOK, "list", p)
	}
	if !data.Searched && q.Page == 1 {
		if data.Steps, err = v.firstSteps(data.Total); err != nil {
			return err
		}
		p.Data = data
	}
	return v.Render(http.StatusOK, "list", p)
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
	given, tooLong := parameters(v.Query())
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
	given, _ := parameters(v.Query())
	return strings.TrimSpace(given.Get("search"))
}

// listQuery returns the parameters of the list that was asked for, but not those
// that hold for one answer only.
func (v visit) listQuery() url.Values {
	given, _ := parameters(v.Query())
	kept := url.Values{}
	for name := range given {
		if value := given.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	if number := v.Query().Get(importedParameter); number != "" && len(number) <= maxParameter {
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

// addHeaders adds the heads of the columns, by which it is sorted, and the tools.
func (v visit) addHeaders(data *listPage, q record.Query) {
	var headers, options strings.Builder
	kept := v.listQuery()
	for _, name := range []string{"sortBy", "sortDir", "page"} {
		kept.Del(name)
	}
	sorted := listPath(kept) + "?"
	if len(kept) > 0 {
		sorted = listPath(kept) + "&"
	}
	for _, field := range listColumns {
		c := sortColumn{Key: field, Href: sorted + "sortBy=" + field + "&sortDir=asc"}
		if field == q.SortBy {
			c.Sort = "descending"
			if !q.Descending {
				c.Sort, c.Href = "ascending", sorted+"sortBy="+field+"&sortDir=desc"
			}
		}
		key, label := escape(field), escape(v.Text("field."+field))
		writeHTML(&headers, `<th scope="col" role="columnheader" class="`, key)
		writeHTML(&options, `<option value="`, key)
		if c.Sort != "" {
			data.Sorted = c
			writeHTML(&headers, `" aria-sort="`, escape(c.Sort))
			writeHTML(&options, `" selected="`)
		}
		writeHTML(&headers, `"><a href="`, escape(c.Href), `">`, label, `</a></th>`)
		writeHTML(&options, `">`, label, `</option>`)
	}
	data.Headers = template.HTML(headers.String())
	if data.Found > 0 {
		data.Sorting, data.Links = v.sorting(data, kept, escaped(options.String())), v.links(data)
	}
}

// sorting returns the form that sorts a list on a small screen.
func (v visit) sorting(data *listPage, kept url.Values, options escaped) template.HTML {
	var b strings.Builder
	text := func(key string) escaped { return escape(v.Text(key)) }
	writeHTML(&b, `<form class="sort" action="/office/">`)
	for name := range kept {
		writeHTML(&b, `<input type="hidden" name="`, escape(name), `" value="`, escape(kept.Get(name)), `">`)
	}
	writeHTML(&b, `<label class="unseen" for="sort-by">`, text("list.sortBy"), `</label>
<select id="sort-by" name="sortBy">`, options, `</select> <button>`, text("list.sort"), `</button>`)
	if c := data.Sorted; c.Sort != "" {
		writeHTML(&b, ` <a class="button `, escape(c.Sort), `" href="`, escape(c.Href), `"><span class="unseen">`, text("list.reverse"), `</span></a>`)
	}
	writeHTML(&b, `</form>`)
	return template.HTML(b.String())
}

// links returns the links to what one can do with the people found.
func (v visit) links(data *listPage) template.HTML {
	var b strings.Builder
	text := func(key string) escaped { return escape(v.Text(key)) }
	if data.Searched {
		writeHTML(&b, `<a href="/office/">`, text("list.all"), `</a> `)
	}
	if !data.Imported {
		query := strings.TrimPrefix(listPath(v.listQuery()), site.Root)
		writeHTML(&b, `<a href="/office/emails`, escape(query), `">`, text("list.emails"), `</a> <a href="/office/export`, escape(query), `">`, text("list.export"), `</a>`)
	}
	return template.HTML(b.String())
}

// pager returns the links to the other pages of a list of so many people.
func (v visit) pager(q record.Query, total int64) pager {
	p := pager{Page: q.Page, Last: (total + q.PageSize - 1) / q.PageSize}
	query := v.listQuery()
	address := func(number int64) string {
		query.Set("page", strconv.FormatInt(number, 10))
		return v.R.URL.Path + "?" + query.Encode()
	}
	if p.Page > 1 {
		p.Previous = address(max(1, min(p.Page-1, p.Last)))
	}
	if p.Page < p.Last {
		p.Next = address(p.Page + 1)
	}
	var b strings.Builder
	for _, number := range pageNumbers(p.Page, p.Last) {
		if number == 0 {
			writeHTML(&b, `<span>…</span> `)
			continue
		}
		writeHTML(&b, `<a class="button" href="`, escape(address(number)))
		if number == p.Page {
			writeHTML(&b, `" aria-current="page`)
		}
		writeHTML(&b, `">`, escape(strconv.FormatInt(number, 10)), `</a> `)
	}
	p.Numbers = template.HTML(b.String())
	return p
}

// pageNumbers returns which of the pages from 1 to last a page has links to: the first,
// the last, and those beside it. 0 stands for several that are left out.
func pageNumbers(page, last int64) (numbers []int64) {
	before := int64(0)
	for _, number := range []int64{1, page - 1, page, page + 1, last} {
		switch {
		case number <= before || number > last:
			continue
		case number == before+2:
			numbers = append(numbers, before+1)
		case number > before+2:
			numbers = append(numbers, 0)
		}
		numbers, before = append(numbers, number), number
	}
	return numbers
}

// mostLetters is how many letters a list can have to jump by. More are no alphabet.
const mostLetters = 100

// letters returns links to where letters begin in a list by last name, and marks those
// rows of this page.
func (v visit) letters(q record.Query, found store.Page, people []person) template.HTML {
	if len(found.Letters) > mostLetters {
		return ""
	}
	var b strings.Builder
	query := v.listQuery()
	for _, l := range found.Letters {
		if l.Letter == "" { // a name of marks alone
			continue
		}
		anchor := "at-" + strconv.FormatInt(l.Before+1, 10)
		query.Set("page", strconv.FormatInt(l.Before/q.PageSize+1, 10))
		writeHTML(&b, `<a href="`, escape(listPath(query)+"#"+anchor), `">`, escape(strings.ToTitle(l.Letter)), `</a> `)
		if i := l.Before - q.Offset(); 0 <= i && i < int64(len(people)) {
			people[i].Anchor = anchor
		}
	}
	return template.HTML(b.String())
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

// The rows of the list are written here, not by a template, because that takes 1.7 ms for
// forty people, five times the whole answer of the API. This takes a tenth of it. So are the
// other parts that an answer to a search has, a seventh of its time.

// escaped is text that can stand in HTML. Only escape and breakable make it.
type escaped string

// special are the bytes that HTML must not have in text.
var special = [256]bool{0: true, '"': true, '&': true, '\'': true, '<': true, '>': true}

// escape returns text that can stand between double quotes, too.
func escape(text string) escaped {
	for i := range len(text) {
		if special[text[i]] {
			return escaped(template.HTMLEscapeString(text))
		}
	}
	return escaped(text)
}

// breakable returns an e-mail address that a narrow column breaks before the @.
// For screen readers it stays one word, which it is not with <wbr>.
func breakable(address string) escaped {
	if name, host, ok := strings.Cut(address, "@"); ok {
		return escape(name) + "<span>" + escape("@"+host) + "</span>"
	}
	return escape(address)
}

// writeHTML writes HTML. A string is no part of it: it must be a constant, or escaped.
func writeHTML(b *strings.Builder, parts ...escaped) {
	for _, part := range parts {
		b.WriteString(string(part))
	}
}

// rows is what all rows of a list have in common.
type rows struct {
	status, delete       escaped    // labels
	call                 [2]escaped // what stands before and after a name in "Call Ana Čović"
	mayWrite, showStatus bool
	current              string  // id of the person who was just saved
	query                escaped // with which a person's page leads back to this list
	back                 escaped // field with which a form does
}

// rowsOf returns the rows in pieces, because a template writes them through fmt, which
// keeps no buffer over 64 KB.
func (v visit) rowsOf(data listPage, back string, write bool) (all []template.HTML) {
	const name = "\x00"
	before, after, _ := strings.Cut(v.Text("list.call", name), name)
	r := rows{escape(v.Text("list.status")), escape(v.Text("layout.delete")), [2]escaped{escape(before), escape(after)},
		write, data.ShowStatus, v.marked(), escape(withBack("", back)), ""}
	if back != site.Root {
		r.back = `<input type="hidden" name="back" value="` + escape(back) + `">`
	}
	const rowSize = 1100 // bytes, or nearly
	for people := range slices.Chunk(data.People, 25) {
		var b strings.Builder
		b.Grow(len(people) * rowSize)
		for i := range people {
			r.write(&b, &people[i])
		}
		all = append(all, template.HTML(b.String()))
	}
	return all
}

func (r *rows) write(b *strings.Builder, p *person) {
	id, name := escape(p.ID), escape(p.FirstName+" "+p.LastName)
	writeHTML(b, `<tr role="row" id="`, id)
	if p.ID == r.current {
		writeHTML(b, `" aria-current="true`)
	}
	writeHTML(b, `"><th scope="row" role="rowheader" class="last"><a href="/office/people/`, id, r.query, `" aria-label="`, name, `">`,
		escape(p.LastName), `</a></th><td role="cell" class="first"`)
	if p.Anchor != "" {
		writeHTML(b, ` id="`, escape(p.Anchor), `"`)
	}
	writeHTML(b, `>`, escape(p.FirstName), `</td><td role="cell" class="phone">`)
	if p.Tel == "" {
		writeHTML(b, escape(p.Phone))
	} else {
		writeHTML(b, `<a href="tel:`, escape(p.Tel), `"><span>`, escape(p.Phone), `</span><span class="call">`,
			r.call[0], `<bdi>`, name, `</bdi>`, r.call[1], `</span></a>`)
	}
	writeHTML(b, `</td><td role="cell" class="email">`)
	if p.Email != "" {
		writeHTML(b, `<a href="mailto:`, escape(url.PathEscape(p.Email)), `">`, breakable(p.Email), `</a>`)
	}
	writeHTML(b, `</td><td role="cell" class="born">`)
	if p.Born != "" {
		writeHTML(b, escape(p.Born), ` <span class="dim">(`, escape(strconv.Itoa(p.Age)), `)</span>`)
	}
	writeHTML(b, `</td>`)
	if r.showStatus && p.Status == "" {
		writeHTML(b, `<td role="cell" class="status"></td>`)
	} else if r.showStatus {
		writeHTML(b, `<td role="cell" data-label="`, r.status, `" class="status"><span class="tag">`, escape(p.Status), `</span></td>`)
	}
	if r.mayWrite {
		writeHTML(b, `<td role="cell" class="actions"><form method="post" action="/office/people/`, id, `/delete" data-inplace>`, r.back,
			`<button class="quiet danger">`, r.delete, `<span class="unseen"> `, name, `</span></button></form></td>`)
	}
	writeHTML(b, "</tr>\n")
}
