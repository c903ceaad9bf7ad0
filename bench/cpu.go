package main

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of a comparison by CPU time. The service scrubs a database of this size within
// half a minute.
const (
	cpuDepartments = 1000
	cpuPeople      = 40_000
	cpuRounds      = 60 // for each of the rounds of other comparisons
)

// variant is a process in a comparison by CPU time. It serves a separate country.
type variant struct {
	at      *process
	country *country // nil for the bare handler
	clients []*client
}

// cpuWork is one kind of work on a country. The requests of all countries are alike.
type cpuWork struct {
	name     string
	clients  int
	inTurn   int     // requests per turn
	most     float64 // goal, in units of a bare handler's CPU time; 0 for none
	requests []request
}

// cpuPerRequest compares the CPU time of a request with a bare handler. It runs several
// hundred short turns in random order, so that other load on the machine affects all
// processes equally. It reads the CPU clock of each process, which excludes that load.
// The same program runs twice, to show the precision of the comparison. Each process serves
// a country that its program created.
func (b *bench) cpuPerRequest() error {
	var variants []*variant
	for i, program := range append([]string{b.program, b.program}, b.against...) {
		c, err := b.demo(program, fmt.Sprintf("cpu%d.db", i), min(b.departments, cpuDepartments), min(b.people, cpuPeople))
		if err != nil {
			return err
		}
		p, err := b.serve(c)
		if err != nil {
			return err
		}
		v := &variant{at: p, country: c}
		defer v.stop()
		variants = append(variants, v)
	}
	rows, err := b.startRows()
	if err != nil {
		return err
	}
	works := make([][]cpuWork, len(variants)) // by variant
	for i, v := range variants {
		v.awaitRest()
		if works[i], err = v.country.cpuWorks(v.at); err != nil {
			return err
		}
	}
	bare := &variant{at: b.baseline}
	defer func() { closeAll(bare.clients) }()
	variants = append(variants, bare)
	for n, w := range works[0] {
		var requests [][]request
		for _, of := range works {
			requests = append(requests, of[n].requests)
		}
		requests = append(requests, variants[0].country.bareRequests())
		r := row{name: "CPU, " + w.name, unit: "µs", most: w.most}
		err := b.fill(&r, func() ([][]float64, error) {
			return b.cpuTime(cpuRounds, w.clients, w.inTurn, variants, requests)
		})
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	return b.addRows(rows)
}

func (v *variant) stop() {
	closeAll(v.clients)
	v.at.stop()
}

const (
	restTime  = 5 * time.Second
	restCPU   = 100 * time.Millisecond // in restTime; an idle service takes half as much, and a scrub twice
	restLimit = 2 * time.Minute
)

// awaitRest waits until a process without requests is idle: until its scrub after startup
// has ended. It waits for at most restLimit. Later work of the process affects the figures.
func (v *variant) awaitRest() {
	for began := time.Now(); time.Since(began) < restLimit; {
		before := v.at.cpu()
		time.Sleep(restTime)
		if v.at.cpu()-before < restCPU {
			return
		}
	}
	note("%s is still busy after %v", v.at.command, restLimit)
}

// bareRequests returns requests for the bare handler, which always sends the same
// record.
func (c *country) bareRequests() []request {
	requests := each(c.drawn, person.get)
	for i := range requests {
		requests[i].want = nil
	}
	return requests
}

// inOrder is the order of the office's list.
const inOrder = "sortBy=lastName&sortDir=asc&pageSize=100"

// cpuWorks returns all kinds of work of the process that serves the country. Writes come last.
func (c *country) cpuWorks(at *process) ([]cpuWork, error) {
	terms, err := c.large.terms(c.random, 400)
	if err != nil {
		return nil, err
	}
	pages := each(c.sample(), func(d *department) request { return d.page(at, "", fmt.Sprintf(">%d people<", d.people)) })
	typed := each(terms, func(term string) request { return c.large.page(at, "part=results&search="+term, " of ") })
	birthdays := c.large.page(at, "", "Birthdays")
	birthdays.bytes = bytes.Replace(birthdays.bytes, []byte("/office/?"), []byte("/office/birthdays?"), 1)
	searches := each(terms, func(term string) request { return c.large.list(inOrder + "&search=" + term) })
	var few []request
	for _, d := range c.sample() {
		term, err := d.terms(c.random, 1)
		if err != nil {
			return nil, err
		}
		few = append(few, d.list("search="+term[0]))
	}
	lists := each(c.ordinary, func(d *department) request { return d.list("") })
	creates := creates(c.random, c.drawn)
	return []cpuWork{
		{"GET by id", readers, 320, 3.0, each(c.drawn, person.get)},
		{"list of 20", readers, 160, 5.6, lists},
		{"search, department of 40", readers, 160, 0, few},
		{"search in the largest department", 1, 64, 0, searches},
		{"office, list of 40", readers, 64, 30, pages},
		{"office, search in the largest department", 1, 64, 0, typed},
		{"office, birthdays of the largest department", 1, 8, 0, []request{birthdays}},
		{"create, 1 client", 1, 16, 0, creates},
		{"create, 64 clients", writers, 320, 7.0, creates},
		{"PUT, 64 clients", writers, 320, 0, replaces(c.random, c.drawn)},
	}, nil
}

// cpuTime returns the CPU time of one request, by variant and round. In each round all variants send
// inTurn of their own requests, in random order. rounds is for each of the rounds of other comparisons.
func (b *bench) cpuTime(rounds, clients, inTurn int, variants []*variant, requests [][]request) ([][]float64, error) {
	used := make([][]float64, len(variants))
	for round := range rounds * b.rounds {
		for _, i := range b.country.random.Perm(len(variants)) {
			taken, err := variants[i].turn(clients, inTurn, requests[i], round)
			if err != nil {
				return nil, err
			}
			used[i] = append(used[i], float64(taken.Nanoseconds())/1000/float64(inTurn))
		}
		if b.ctx.Err() != nil {
			return nil, b.ctx.Err()
		}
	}
	return used, nil
}

// turn sends the requests of a round and returns the CPU time that the process used.
func (v *variant) turn(clients, count int, requests []request, round int) (time.Duration, error) {
	if missing := clients - len(v.clients); missing > 0 {
		more, err := dialAll(v.at, missing)
		v.clients = append(v.clients, more...)
		if err != nil {
			return 0, err
		}
	}
	var taken atomic.Int64
	failures := make([]error, clients)
	before := v.at.cpu()
	var working sync.WaitGroup
	for i, c := range v.clients[:clients] {
		c.conn.SetDeadline(time.Now().Add(clientLimit))
		working.Go(func() {
			for failures[i] == nil {
				n := int(taken.Add(1)) - 1
				if n >= count {
					return
				}
				_, failures[i] = c.do(&requests[(round*count+n)%len(requests)])
			}
		})
	}
	working.Wait()
	return v.at.cpu() - before, errors.Join(failures...)
}
