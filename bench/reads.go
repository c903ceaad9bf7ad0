package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// readers is the number of clients that read at the same time.
const readers = 32

// reading returns a side on which all readers send requests.
func reading(at *process, s *supply) side { return sending(at, readers, s) }

// anyBody returns a supply that accepts any body: the baseline always sends the
// same one.
func anyBody(s *supply) *supply {
	requests := slices.Clone(s.requests)
	for i := range requests {
		requests[i].want = nil
	}
	return &supply{requests: requests}
}

func (b *bench) get() error {
	gets := b.country.gets()
	return b.versus("GET by id, in the country : bare handler, same bytes", atLeast(0.40), reading(b.service, gets), reading(b.baseline, anyBody(gets)))
}

func (b *bench) list() error {
	lists := b.country.lists("")
	return b.versus("list of 20, department of 40 : encoding/json of 20 records, no database", atLeast(0.42),
		reading(b.service, lists), reading(b.baseline, anyBody(lists)))
}

// orders returns the queries for all values of sortBy and sortDir.
func orders() (queries []string) {
	for _, field := range []string{"createdAt", "firstName", "lastName", "email", "phoneNumber", "dateOfBirth"} {
		for _, direction := range []string{"asc", "desc"} {
			queries = append(queries, "sortBy="+field+"&sortDir="+direction)
		}
	}
	return queries
}

// firstPage returns requests for the first page of the largest department.
func (c *country) firstPage(order string) *supply {
	return &supply{requests: []request{c.large.list(order)}}
}

func (b *bench) firstPages() error {
	var all []finding
	for _, order := range orders() {
		c, err := b.compare(b.round/2, reading(b.service, b.country.firstPage(order)),
			reading(b.service, b.country.lists(order)))
		if err != nil {
			return err
		}
		all = append(all, c.rates(order, 0, 1))
	}
	b.table.add("first page, department of 17,000 : department of 40, every order", atLeast(0.80), all...)
	return nil
}

// depths are the places, as parts of the list, at which slowestPages measures.
// In the orders by optional fields the records without a value begin at about
// nine tenths.
var depths = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 1}

// pagesAt returns requests for random pages of the largest department around a
// depth.
func (c *country) pagesAt(order string, depth float64) *supply {
	last := int((c.large.people + 19) / 20)
	s := &supply{}
	for range 64 {
		page := int(depth*float64(last)) - c.random.IntN(max(1, last/50))
		s.requests = append(s.requests, c.large.list(fmt.Sprintf("%s&page=%d", order, max(1, page))))
	}
	return s
}

// slowestPages finds the depth with the slowest pages, in one short round for
// each depth.
func (b *bench) slowestPages(order string) (slowest *supply, depth float64, err error) {
	lowest := 0.0
	for _, at := range depths {
		pages := b.country.pagesAt(order, at)
		r, err := reading(b.service, pages)(b.round / 6)
		if err != nil {
			return nil, 0, err
		}
		if slowest == nil || r.rate() < lowest {
			slowest, depth, lowest = pages, at, r.rate()
		}
	}
	return slowest, depth, nil
}

func (b *bench) worstPages() error {
	var all []finding
	for _, order := range orders() {
		pages, depth, err := b.slowestPages(order)
		if err != nil {
			return err
		}
		c, err := b.compare(b.round/2, reading(b.service, pages), reading(b.service, b.country.firstPage(order)))
		if err != nil {
			return err
		}
		all = append(all, c.rates(fmt.Sprintf("%s, at %.0f %%", order, 100*depth), 0, 1))
	}
	b.table.add("worst page of the 17,000 : first page, every order", atLeast(0.20), all...)
	return nil
}

// search measures the three goals for searching.
func (b *bench) search() error {
	if err := b.searchLarge("search in 17,000, selective terms of 3 and more : four LIKE", atLeast(10), longTerms); err != nil {
		return err
	}
	if err := b.searchLarge("search in 17,000, terms of 1 or 2 : four LIKE", atLeast(2), shortTerms); err != nil {
		return err
	}
	searches, err := b.country.searches(anyTerm)
	if err != nil {
		return err
	}
	bare := each(b.country.sample(), func(d *department) request { return d.list("") })
	return b.versus("search, department of 40 : its bare list", atLeast(0.8), reading(b.service, searches), reading(b.service, bare))
}

// searchLarge compares searches in the largest department with four LIKE, for
// each kind of terms.
func (b *bench) searchLarge(work string, g goal, kinds []kind) error {
	var all []finding
	for _, k := range kinds {
		searches, likes := &supply{}, &supply{}
		for range termsDrawn {
			term, found, err := k.draw(b.country.random, b.country.large)
			if err != nil {
				return err
			}
			searches.requests = append(searches.requests, b.country.large.search(term, found))
			likes.requests = append(likes.requests, b.country.large.like(term))
		}
		c, err := b.compare(b.round/2, reading(b.service, searches), reading(b.baseline, likes))
		if err != nil {
			return err
		}
		all = append(all, c.rates(k.name, 0, 1))
	}
	b.table.add(work, g, all...)
	return nil
}

// ownFile compares the country with one department in a file of its own. The
// lists use all orders: then each person of the one department appears equally
// often, and the answers are about as long as those of many departments.
func (b *bench) ownFile() error {
	var all []finding
	searches, err := b.country.searches(fewFound)
	if err != nil {
		return err
	}
	ownSearches, err := b.own.searches(fewFound)
	if err != nil {
		return err
	}
	for _, read := range []struct {
		name        string
		ours, alone *supply
	}{
		{"get", b.country.gets(), b.own.gets()},
		{"list as created", b.country.lists(orders()[:2]...), b.own.lists(orders()[:2]...)},
		{"list sorted", b.country.lists(orders()[2:]...), b.own.lists(orders()[2:]...)},
		{"search", searches, ownSearches},
	} {
		c, err := b.compare(b.round, reading(b.service, read.ours), reading(b.alone, read.alone))
		if err != nil {
			return err
		}
		all = append(all, c.rates(read.name, 0, 1))
	}
	b.table.add("the country : one department of 40 in a file of its own", atLeast(0.65), all...)
	return nil
}

// mixture returns all kinds of reads in equal parts. The totals of searches are
// not checked, because creates may change them meanwhile.
func (c *country) mixture() (*supply, error) {
	searches, err := c.searches(anyTerm)
	if err != nil {
		return nil, err
	}
	s := &supply{}
	for i, search := range searches.requests {
		search.want = []byte(someItem)
		list := c.ordinary[i%len(c.ordinary)].list("")
		s.requests = append(s.requests, search, list, c.reads()[i%len(c.reads())].get(), c.large.list("sortBy=lastName"))
	}
	return s, nil
}

const (
	besideRate = 500  // creates a second
	calmRate   = 2000 // reads a second that leave the service idle time
)

// besideWrites compares the latency of reads with and without concurrent
// creates, both at full load and at calmRate.
func (b *bench) besideWrites() error {
	reads, err := b.country.mixture()
	if err != nil {
		return err
	}
	var all []finding
	for _, l := range []struct {
		name string
		load load
	}{
		{"32 readers without a pause", load{at: b.service, clients: readers, supply: reads}},
		{"2,000 reads a second", load{at: b.service, clients: readers, supply: reads, pace: calmRate}},
	} {
		c, err := b.compare(b.round, b.withCreates(l.load.run), l.load.run)
		if err != nil {
			return err
		}
		all = append(all, c.delays(l.name, 0, 1))
	}
	b.table.add("reads beside 500 creates a second : without", atMost(2, "×"), all...)
	return nil
}

// withCreates returns a side that runs work with concurrent creates. It fails
// if fewer creates were made than 90 % of besideRate.
func (b *bench) withCreates(work side) side {
	creates := load{at: b.service, clients: writers, supply: b.country.creates(), pace: besideRate}
	return func(length time.Duration) (result, error) {
		var made result
		var failure error
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			made, failure = creates.run(length)
		}()
		r, err := work(length)
		<-finished
		if wanted := besideRate * length.Seconds(); failure == nil && float64(made.requests) < 0.9*wanted {
			failure = fmt.Errorf("only %d of %.0f creates were made", made.requests, wanted)
		}
		return r, errors.Join(err, failure)
	}
}
