package office

import (
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// What an answer to a search has is written here, not by a template: the count, the tools
// and the people. For forty people a template takes 1.7 ms, five times the whole answer of
// the API, and this a tenth of it. For four people, as a search finds mostly, a template
// takes a tenth of the answer without their rows.

// escaped is text that can stand in HTML, or HTML. Only functions of this file make it.
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

// results writes the results of a list.
type results struct {
	v          visit
	list       *listPage
	query      record.Query
	columns    []sortColumn
	parameters url.Values // of the address of the list
	b          strings.Builder
	pieces     []template.HTML
}

// sortColumn is one that a list can be sorted by.
type sortColumn struct {
	Key   record.SortField
	Label escaped
	Href  escaped // of the list sorted by it, or the other way round
	Sort  escaped // aria-sort: ascending, descending or empty
}

// results returns the results of a list, and notes in it by what it is sorted. They are in
// pieces, because a template writes them through fmt, which keeps no buffer over 64 KB.
func (v visit) results(list *listPage, q record.Query, department string) []template.HTML {
	r := &results{v: v, list: list, query: q, parameters: v.listQuery()}
	r.sortColumns()
	r.b.Grow(6000) // what is around the rows, or nearly
	r.write(`<div class="line">
<p id="count" role="status" data-silent="`, r.text("list.silent"), `">`, r.count(), `</p>
<div id="tools">`)
	if list.Found > 0 {
		r.writeSorting()
		r.writeLinks(`<p class="tools">`)
	}
	r.write(`</div>
</div>
<div id="results">
`)
	r.writeFaults()
	if len(list.People) > 0 {
		r.writeTable(department)
	} else {
		r.writeEmpty()
	}
	r.write(v.pager(site.Root, q, list.Found))
	if list.Found > 0 {
		r.writeLinks(`<p class="tools below">`)
	}
	r.write("</div>\n")
	r.cut()
	return r.pieces
}

func (r *results) write(parts ...escaped) { writeHTML(&r.b, parts...) }

func (r *results) text(key string, args ...any) escaped { return escape(r.v.Text(key, args...)) }

// cut ends a piece.
func (r *results) cut() {
	r.pieces = append(r.pieces, template.HTML(r.b.String()))
	r.b.Reset()
}

func (r *results) count() escaped {
	if r.list.Searched {
		return escape(r.v.Count("list.found", int(r.list.Total), r.list.Found))
	}
	return escape(r.v.Count("list.count", int(r.list.Total)))
}

// sortedBy are the fields that the list can be sorted by, in their order.
var sortedBy = []record.SortField{record.ByLastName, record.ByFirstName, record.ByPhoneNumber, record.ByEmail, record.ByDateOfBirth}

// sortColumns finds the columns, and by which of them the list is sorted.
func (r *results) sortColumns() {
	kept := r.unsorted()
	sorted := listPath(kept) + "?"
	if len(kept) > 0 {
		sorted = listPath(kept) + "&"
	}
	for _, field := range sortedBy {
		c := sortColumn{Key: field, Label: r.text("field." + field), Href: escape(sorted + "sortBy=" + field + "&sortDir=asc")}
		if field == r.query.SortBy {
			c.Sort = "descending"
			if !r.query.Descending {
				c.Sort, c.Href = "ascending", escape(sorted+"sortBy="+field+"&sortDir=desc")
			}
			r.list.Sorted = c
		}
		r.columns = append(r.columns, c)
	}
}

// unsorted returns the parameters of the list without those of its order.
func (r *results) unsorted() url.Values {
	kept := maps.Clone(r.parameters)
	for _, name := range []string{"sortBy", "sortDir", "page"} {
		kept.Del(name)
	}
	return kept
}

// writeSorting writes the form that sorts a list on a small screen.
func (r *results) writeSorting() {
	r.write(`<form class="sort" action="/office/">`)
	for name, values := range r.unsorted() {
		r.write(`<input type="hidden" name="`, escape(name), `" value="`, escape(values[0]), `">`)
	}
	r.write(`<label class="unseen" for="sort-by">`, r.text("list.sortBy"), `</label>
<select id="sort-by" name="sortBy">`)
	for _, c := range r.columns {
		r.write(`<option value="`, escape(c.Key))
		if c.Sort != "" {
			r.write(`" selected="`)
		}
		r.write(`">`, c.Label, `</option>`)
	}
	r.write(`</select> <button>`, r.text("list.sort"), `</button>`)
	if c := r.list.Sorted; c.Sort != "" {
		r.write(` <a class="button `, c.Sort, `" href="`, c.Href, `"><span class="unseen">`, r.text("list.reverse"), `</span></a>`)
	}
	r.write(`</form>`)
}

// writeLinks writes the links to what one can do with the people found, in a paragraph.
func (r *results) writeLinks(paragraph escaped) {
	r.write(paragraph)
	if r.list.Searched {
		r.write(`<a href="/office/">`, r.text("list.all"), `</a> `)
	}
	if !r.list.Imported {
		query := escape(strings.TrimPrefix(listPath(r.parameters), site.Root))
		r.write(`<a href="/office/emails`, query, `">`, r.text("list.emails"), `</a> <a href="/office/export`, query, `">`, r.text("list.export"), `</a>`)
	}
	r.write("</p>\n")
}

// writeFaults writes what of the address could not be read.
func (r *results) writeFaults() {
	if len(r.list.Faults) == 0 {
		return
	}
	r.write(`<div id="faults" class="faults" role="alert" tabindex="-1" autofocus>`)
	for _, fault := range r.list.Faults {
		r.write(`<p>`, escape(fault), `</p>`)
	}
	r.write("</div>\n")
}

// writeEmpty writes why nobody is on the page, and what one can do.
func (r *results) writeEmpty() {
	title, todo := escaped(""), escaped("")
	switch {
	case r.list.Found > 0:
		title = r.text("list.beyond")
	case r.list.Total > 0:
		title, todo = r.text("list.none"), `<p>`+r.text("list.none.todo")+`</p>
<p><a class="button" href="/office/">`+r.text("list.all")+`</a></p>
`
	case r.list.Steps != nil: // they say it
		title = r.text("list.empty")
	case r.v.May(store.ScopeWrite):
		title, todo = r.text("list.empty"), `<p>`+r.text("list.empty.todo")+`</p>
<p><a class="button primary" href="`+escape(r.list.Add)+`">`+r.text("list.empty.add")+`</a> <a class="button" href="/office/import">`+r.text("list.empty.import")+`</a></p>
`
	default:
		title, todo = r.text("list.empty"), `<p>`+r.text("list.empty.read")+"</p>\n"
	}
	r.write(`<div class="empty">
<h2>`, title, "</h2>\n", todo, "</div>\n")
}

// writeTable writes the people of the page.
func (r *results) writeTable(department string) {
	r.writeLetters()
	write := r.v.May(store.ScopeWrite)
	status := slices.ContainsFunc(r.list.People, func(p person) bool { return p.Status != "" })
	r.write(`<table class="list people" role="table">
<caption class="unseen">`, r.text("list.caption", department), `</caption>
<thead role="rowgroup">
<tr role="row">`)
	for _, c := range r.columns {
		r.write(`<th scope="col" role="columnheader" class="`, escape(c.Key))
		if c.Sort != "" {
			r.write(`" aria-sort="`, c.Sort)
		}
		r.write(`"><a href="`, c.Href, `">`, c.Label, `</a></th>`)
	}
	if status {
		r.write(`<th scope="col" role="columnheader" class="status">`, r.text("list.status"), `</th>`)
	}
	if write {
		r.write(`<th scope="col" role="columnheader" class="actions"><span class="unseen">`, r.text("list.actions"), `</span></th>`)
	}
	r.write(`</tr>
</thead>
<tbody role="rowgroup">
`)
	rows := r.v.rows(listPath(r.parameters), write, status)
	const rowSize = 1100 // bytes, or nearly
	for people := range slices.Chunk(r.list.People, 25) {
		r.b.Grow(len(people) * rowSize)
		for i := range people {
			rows.write(&r.b, &people[i])
		}
		r.cut()
	}
	r.write("</tbody>\n</table>\n")
}

// mostLetters is how many letters a list can have to jump by. More are no alphabet.
const mostLetters = 100

// writeLetters writes links to where letters begin in a list by last name, and marks those
// rows of this page.
func (r *results) writeLetters() {
	if len(r.list.Letters) == 0 || len(r.list.Letters) > mostLetters {
		return
	}
	r.write(`<nav class="letters" aria-label="`, r.text("list.letters"), `">`)
	query := maps.Clone(r.parameters)
	for _, l := range r.list.Letters {
		if l.Letter == "" { // a name of marks alone
			continue
		}
		anchor := "at-" + strconv.FormatInt(l.Before+1, 10)
		query.Set("page", strconv.FormatInt(l.Before/r.query.PageSize+1, 10))
		r.write(`<a href="`, escape(listPath(query)+"#"+anchor), `">`, escape(strings.ToTitle(l.Letter)), `</a> `)
		if i := l.Before - r.query.Offset(); 0 <= i && i < int64(len(r.list.People)) {
			r.list.People[i].Anchor = anchor
		}
	}
	r.write("</nav>\n")
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

// rows returns what the rows of a list with this address have in common.
func (v visit) rows(list string, mayWrite, showStatus bool) *rows {
	const name = "\x00"
	before, after, _ := strings.Cut(v.Text("list.call", name), name)
	r := &rows{escape(v.Text("list.status")), escape(v.Text("layout.delete")), [2]escaped{escape(before), escape(after)},
		mayWrite, showStatus, v.marked(), escape(withBack("", list)), ""}
	if list != site.Root {
		r.back = `<input type="hidden" name="back" value="` + escape(list) + `">`
	}
	return r
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

// pager returns the links to the other pages of a list of so many people, nothing if it has
// one page.
func (v visit) pager(path string, q record.Query, total int64) escaped {
	last := (total + q.PageSize - 1) / q.PageSize
	if q.Page <= 1 && q.Page >= last {
		return ""
	}
	query := v.listQuery()
	address := func(number int64) escaped {
		query.Set("page", strconv.FormatInt(number, 10))
		return escape(path + "?" + query.Encode())
	}
	var b strings.Builder
	writeHTML(&b, `<nav class="pager" aria-label="`, escape(v.Text("layout.pager")), `">
<span class="unseen">`, escape(v.Text("layout.page", q.Page, last)), `</span>
`)
	if q.Page > 1 {
		writeHTML(&b, `<a class="button" rel="prev" href="`, address(max(1, min(q.Page-1, last))), `">`, escape(v.Text("layout.previous")), "</a>\n")
	}
	for _, number := range pageNumbers(q.Page, last) {
		if number == 0 {
			writeHTML(&b, `<span>…</span> `)
			continue
		}
		writeHTML(&b, `<a class="button" href="`, address(number))
		if number == q.Page {
			writeHTML(&b, `" aria-current="page`)
		}
		writeHTML(&b, `">`, escape(strconv.FormatInt(number, 10)), `</a> `)
	}
	if q.Page < last {
		writeHTML(&b, "\n", `<a class="button" rel="next" href="`, address(q.Page+1), `">`, escape(v.Text("layout.next")), `</a>`)
	}
	writeHTML(&b, "\n</nav>\n")
	return escaped(b.String())
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
