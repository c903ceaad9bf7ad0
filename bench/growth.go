package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
)

const (
	growthClients = 8
	growthRounds  = 6   // for each of the rounds of other comparisons
	growthPeople  = 400 // people drawn of each size
)

// grown is a service with departments of one size.
type grown struct {
	*variant
	name        string
	size        int64 // of each department
	random      *rand.Rand
	departments []*department
	people      []person
}

// growth measures the CPU time of a request in departments of 40, of 17,000 and of 1,200,000
// people, and in the country.
func (b *bench) growth() error {
	var all []*grown
	for _, people := range []int{40, imported, b.largest} {
		c, err := b.demo(b.program, fmt.Sprintf("growth%d.db", people), 1, people)
		if err != nil {
			return err
		}
		p, err := b.serve(c)
		if err != nil {
			return err
		}
		g := &grown{variant: &variant{at: p}, departments: []*department{c.large}, people: c.drawn}
		g.name = fmt.Sprintf("a department of %d", people)
		defer g.stop()
		all = append(all, g)
	}
	country := &grown{variant: &variant{at: b.service}, name: "departments of 40 in the country", departments: b.country.sample()}
	for _, p := range b.country.drawn {
		if slices.Contains(country.departments, p.department) {
			country.people = append(country.people, p)
		}
	}
	defer func() { closeAll(country.clients) }()
	all = append(all, country)
	for i, g := range all {
		g.size, g.random = g.departments[0].people, rand.New(rand.NewPCG(4, uint64(i)))
		if g.people = g.people[:min(growthPeople, len(g.people))]; len(g.people) == 0 {
			return fmt.Errorf("%s: no one was drawn", g.name)
		}
		if g.size <= cpuPeople { // the scrub of more takes ten minutes, and 5 % of a processor
			g.awaitRest()
		}
	}
	for _, w := range growthWorks {
		note("measuring: growth, %s", w.name)
		var variants []*variant
		var requests [][]request
		for _, g := range all {
			variants, requests = append(variants, g.variant), append(requests, w.requests(g))
		}
		_, err := b.cpuTime(1, 1, 1, variants, requests) // builds the index
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		used, err := b.cpuTime(growthRounds, growthClients, w.inTurn, variants, requests)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		b.addGrowth(w, all, used)
	}
	return nil
}

// growthWork is one kind of work.
type growthWork struct {
	name     string
	inTurn   int  // requests per turn
	through  bool // reads the whole department, so a large one takes longer
	requests func(*grown) []request
}

// growthWorks lists all kinds of work. Writes come last.
var growthWorks = []growthWork{
	{"GET by id", 160, false, func(g *grown) []request { return each(g.people, person.get) }},
	{"list of 20, newest first", 96, false, func(g *grown) []request { return g.lists("") }},
	{"list of 20 by last name", 96, false, func(g *grown) []request { return g.lists("sortBy=lastName") }},
	{"page in the middle, by last name", 64, false, func(g *grown) []request {
		return g.lists(fmt.Sprintf("sortBy=lastName&page=%d", (g.size+39)/40))
	}},
	{"office, list of 40", 32, false, func(g *grown) []request {
		return each(g.departments, func(d *department) request { return d.page(g.at, "", " people<") })
	}},
	{"email=, exactly", 16, true, func(g *grown) []request { return g.byEmail("email=") }},
	{"search for an e-mail address", 16, true, func(g *grown) []request { return g.byEmail("search=") }},
	{"create", 32, false, func(g *grown) []request { return creates(g.random, g.people) }},
	{"PUT", 32, false, func(g *grown) []request { return replaces(g.random, g.people) }},
}

func (g *grown) lists(query string) []request {
	return each(g.departments, func(d *department) request { return d.list(query) })
}

// byEmail returns a request for each e-mail address. The answer may be empty: a PUT may have changed the address.
func (g *grown) byEmail(parameter string) (all []request) {
	for _, p := range g.people {
		if p.email != "" {
			all = append(all, newRequest("GET", records+"?"+parameter+url.QueryEscape(p.email), p.key, "", 200, `"totalCount":`))
		}
	}
	return all
}

// addGrowth adds the result of a work to the table. The goal grows with the logarithm: a
// B-tree of 1,200,000 people has 3.8 times as many levels as for 40. Work that reads the
// whole department may take proportionally longer.
func (b *bench) addGrowth(w growthWork, all []*grown, used [][]float64) {
	var findings []finding
	for i, g := range all[1:] {
		findings = append(findings, compared(g.name, "µs", used[i+1], used[0]))
	}
	most := math.Log(float64(b.largest)) / math.Log(40)
	if w.through {
		most = float64(b.largest) / 40
	}
	b.table.add("CPU, "+w.name+" : in a department of 40", atMost(math.Round(most*10)/10, "×"), findings...)
}
