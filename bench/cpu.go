package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of a comparison by CPU time. A scrub of so many people ends after half a minute.
const (
	cpuDepartments = 1000
	cpuPeople      = 40_000
	cpuRounds      = 60 // for each of the rounds of other comparisons
)

// variant is a process of a comparison by CPU time. It has a copy of the database.
type variant struct {
	at      *process
	clients []*client
}

// cpuWork is one kind of work. Each variant gets the same requests in each turn.
type cpuWork struct {
	name     string
	clients  int
	inTurn   int // requests
	requests func(at *process) []request
	bare     []request // for the bare handler
}

// cpuPerRequest compares the CPU time of a request with that of a bare handler. It
// takes several hundred short turns in random order, so other work on the machine falls
// on all processes alike, and takes none of their time: their own clocks are read. The
// program runs twice, to show what such a comparison can tell.
func (b *bench) cpuPerRequest() error {
	c, err := b.demo("cpu.db", min(b.departments, cpuDepartments), min(b.people, cpuPeople))
	if err != nil {
		return err
	}
	programs := []string{b.program, b.program}
	if b.against != "" {
		programs = append(programs, b.against)
	}
	var variants []*variant
	for i, program := range programs {
		v, err := b.variant(c, fmt.Sprintf("cpu%d.db", i), program)
		if err != nil {
			return err
		}
		defer v.stop()
		variants = append(variants, v)
	}
	for _, v := range variants {
		if err := v.awaitRest(); err != nil {
			return err
		}
	}
	bare := &variant{at: b.baseline}
	defer func() { closeAll(bare.clients) }()
	groups, err := c.cpuWorks()
	if err != nil {
		return err
	}
	used := spent{}
	for _, group := range groups {
		note("measuring: cpu, %s", group[0].name)
		if err := b.cpuRounds(group, append(variants[:len(variants):len(variants)], bare), used); err != nil {
			return fmt.Errorf("%s: %w", group[0].name, err)
		}
	}
	b.addCPU(slices.Concat(groups...), used)
	return nil
}

// spent is the CPU time of one request in microseconds, by work, variant and round. The
// last variant is the bare handler.
type spent map[string][][]float64

// compared returns the median of the ratios of two variants, one for each round.
func (s spent) compared(name, ours string, i int, theirs string, j int) finding {
	a, b := s[ours][i], s[theirs][j]
	var ratios []float64
	for n := range a {
		ratios = append(ratios, a[n]/b[n])
	}
	return finding{name, median(ratios), fmt.Sprintf("%.1f µs : %.1f µs", median(slices.Clone(a)), median(slices.Clone(b)))}
}

// variant starts a program on a copy of a country.
func (b *bench) variant(c *country, name, program string) (*variant, error) {
	path := filepath.Join(b.folder, name)
	if err := copyFile(path, c.path); err != nil {
		return nil, err
	}
	p, err := start(b.ctx, program, "serve", "--db", path, "--listen", "127.0.0.1:0")
	return &variant{at: p}, err
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

func (v *variant) stop() {
	closeAll(v.clients)
	v.at.stop()
}

const (
	restTime  = 5 * time.Second
	restCPU   = 100 * time.Millisecond // in restTime; an idle service takes half as much, and a scrub twice
	restLimit = 15 * time.Minute
)

// awaitRest waits until a process that nobody asks for anything does nothing: until the
// scrub after its start has ended.
func (v *variant) awaitRest() error {
	for began := time.Now(); time.Since(began) < restLimit; {
		before := v.at.cpu()
		time.Sleep(restTime)
		if v.at.cpu()-before < restCPU {
			return nil
		}
	}
	return errors.New("a service without requests does not come to rest")
}

// cpuWorks returns all kinds of work. Those that are compared with each other are a group,
// and those that write come last.
func (c *country) cpuWorks() (groups [][]cpuWork, err error) {
	gets := c.gets().requests
	bare := anyBody(c.gets()).requests
	lists := c.lists("").requests
	creates := c.creates().requests
	fixed := func(all []request) func(*process) []request {
		return func(*process) []request { return all }
	}
	var terms []string
	for range termsDrawn {
		term, _, err := longTerms[0].draw(c.random, c.large)
		if err != nil {
			return nil, err
		}
		terms = append(terms, url.QueryEscape(term))
	}
	pages := func(at *process) (all []request) {
		for _, d := range c.sample() {
			all = append(all, d.page(at, "", fmt.Sprintf(">%d people<", d.people)))
		}
		return all
	}
	typed := func(at *process) (all []request) {
		for _, term := range terms {
			all = append(all, c.large.page(at, "part=results&search="+term, " of "))
		}
		return all
	}
	searches := func(*process) (all []request) {
		for _, term := range terms {
			all = append(all, c.large.list(inOrder+"&search="+term))
		}
		return all
	}
	return [][]cpuWork{
		{{"GET by id", readers, 320, fixed(gets), bare}},
		{{"list of 20", readers, 160, fixed(lists), bare}},
		{{"office, list of 40", readers, 64, pages, bare}},
		{{"office, search in 17,000", 1, 16, typed, bare}, {"search in 17,000", 1, 16, searches, bare}},
		{{"create, 1 client", 1, 16, fixed(creates), bare}},
		{{"create, 64 clients", writers, 320, fixed(creates), bare}},
	}, nil
}

// cpuRounds adds the CPU time of one request of each work of a group, by variant and
// round. In each round all variants do all works, in random order.
func (b *bench) cpuRounds(group []cpuWork, variants []*variant, used spent) error {
	type task struct {
		work     *cpuWork
		variant  int
		requests []request
	}
	var tasks []task
	for n := range group {
		w := &group[n]
		used[w.name] = make([][]float64, len(variants))
		for i, v := range variants {
			requests := w.bare
			if i < len(variants)-1 {
				requests = w.requests(v.at)
			}
			tasks = append(tasks, task{w, i, requests})
		}
	}
	for round := range cpuRounds * b.rounds {
		for _, n := range b.country.random.Perm(len(tasks)) {
			t := tasks[n]
			taken, err := variants[t.variant].turn(t.work.clients, t.work.inTurn, t.requests, round)
			if err != nil {
				return err
			}
			all := &used[t.work.name][t.variant]
			*all = append(*all, float64(taken.Nanoseconds())/1000/float64(t.work.inTurn))
		}
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
	return nil
}

// turn sends the requests of a round and returns the CPU time that the process took for
// them.
func (v *variant) turn(clients, count int, requests []request, round int) (time.Duration, error) {
	for len(v.clients) < clients {
		c, err := dial(v.at.address)
		if err != nil {
			return 0, err
		}
		v.clients = append(v.clients, c)
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

// The goals, in units of a bare handler's CPU time.
var cpuGoals = []struct {
	work string
	most float64
}{
	{"GET by id", 3.0},
	{"list of 20", 5.6},
	{"create, 64 clients", 7.0},
	{"office, list of 40", 30},
}

// addCPU adds the lines.
func (b *bench) addCPU(works []cpuWork, used spent) {
	const service, again, other = 0, 1, 2
	bare := len(used[works[0].name]) - 1
	for _, g := range cpuGoals {
		b.table.add("CPU, "+g.work+" : bare handler", atMost(g.most, "×"), used.compared("", g.work, service, g.work, bare))
	}
	const typed, search = "office, search in 17,000", "search in 17,000"
	b.table.add("CPU, the API's search in 17,000 : the office's, for as many people", atLeast(0.8), used.compared("", search, service, typed, service))
	var control, against []finding
	for _, w := range works {
		twice := used.compared(w.name, w.name, service, w.name, again)
		twice.value = max(twice.value, 1/twice.value)
		control = append(control, twice)
		if bare > other {
			against = append(against, used.compared(w.name, w.name, service, w.name, other))
		}
	}
	b.table.add("CPU, the same program twice", atMost(1.03, "×"), control...)
	if against != nil {
		b.table.add("CPU, this build : another build", atMost(1.03, "×"), against...)
	}
}
