package main

import (
	"fmt"
	"net"
	"net/url"
	"slices"
)

// page expects a page of the office with a text on it.
func (d *department) page(at *process, query, want string) request {
	_, port, _ := net.SplitHostPort(at.address)
	bytes := fmt.Appendf(nil, "GET /office/?%s HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Language: en\r\nCookie: firefighters-%s=%s\r\n\r\n",
		query, port, d.session)
	return request{bytes, 200, []byte(want)}
}

// inOrder is the order of the office's list.
const inOrder = "sortBy=lastName&sortDir=asc&pageSize=100"

// office compares the page for people with the API, for the same list and for
// the same searches.
func (b *bench) office() error {
	pages := each(b.country.sample(), func(d *department) request { return d.page(b.service, "", fmt.Sprintf(">%d people<", d.people)) })
	lists := each(b.country.sample(), func(d *department) request { return d.list(inOrder) })
	if err := b.versus("office, list of a department of 40 : the API's", atLeast(0.3), reading(b.service, pages), reading(b.service, lists)); err != nil {
		return err
	}
	return b.officeSearch()
}

// officeSearch compares what the search field asks for at each key with the
// API's search for as many people: the first letters of a name in the largest department.
func (b *bench) officeSearch() error {
	var all []finding
	for _, k := range slices.Concat(shortTerms[:1], longTerms) {
		pages, searches := &supply{}, &supply{}
		for range termsDrawn {
			term, found, err := k.draw(b.country.random, b.country.large)
			if err != nil {
				return err
			}
			pages.requests = append(pages.requests, b.country.large.page(b.service, "part=results&search="+url.QueryEscape(term), ">"+grouped(found)+" of "))
			search := b.country.large.list(inOrder + "&search=" + url.QueryEscape(term))
			searches.requests = append(searches.requests, search)
		}
		c, err := b.compare(b.round/2, sending(b.service, 1, pages), sending(b.service, 1, searches))
		if err != nil {
			return err
		}
		all = append(all, c.rates(k.name, 0, 1))
	}
	b.table.add("office, search in 17,000, one person typing : the API's", atLeast(0.8), all...)
	return nil
}

// grouped returns a number as a page in English has it.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
