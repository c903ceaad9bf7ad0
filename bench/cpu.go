package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// variant is a process in a comparison by CPU time. It has a separate copy of the database.
type variant struct {
	at      *process
	clients []*client
}

// cpuWork is one kind of work. Each variant gets the same requests in each turn.
type cpuWork struct {
	name     string
	clients  int
	inTurn   int     // requests per turn
	most     float64 // goal, in units of a bare handler's CPU time; 0 for none
	requests func(at *process) []request
}

// cpuPerRequest compares the CPU time of a request with a bare handler. It runs several
// hundred short turns in random order, so that other load on the machine affects all
// processes equally. It reads the CPU clock of each process, which excludes that load.
// The same program runs twice, to show the precision of the comparison.
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
		v.awaitRest()
	}
	bare := &variant{at: b.baseline}
	defer func() { closeAll(bare.clients) }()
	works, err := c.cpuWorks()
	if err != nil {
		return err
	}
	used := spent{}
	for _, w := range works {
		note("measuring: cpu, %s", w.name)
		if used[w.name], err = b.cpuRounds(w, append(slices.Clip(variants), bare), c.bareRequests()); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	b.addCPU(works, used)
	return nil
}

// spent is the CPU time of one request in microseconds, by work, variant and round. The
// last variant is the bare handler.
type spent map[string][][]float64

// compared returns the median of the ratios of two variants, one for each round.
func (s spent) compared(name, work string, i, j int) finding {
	a, b := s[work][i], s[work][j]
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
	requests := c.gets().requests
	for i := range requests {
		requests[i].want = nil
	}
	return requests
}

// inOrder is the order of the office's list.
const inOrder = "sortBy=lastName&sortDir=asc&pageSize=100"

// cpuWorks returns all kinds of work. Writes come last.
func (c *country) cpuWorks() ([]cpuWork, error) {
	terms, err := c.large.terms(c.random, 400)
	if err != nil {
		return nil, err
	}
	pages := func(at *process) []request {
		return each(c.sample(), func(d *department) request { return d.page(at, "", fmt.Sprintf(">%d people<", d.people)) }).requests
	}
	typed := func(at *process) []request {
		return each(terms, func(term string) request { return c.large.page(at, "part=results&search="+term, " of ") }).requests
	}
	searches := each(terms, func(term string) request { return c.large.list(inOrder + "&search=" + term) })
	fixed := func(s *supply) func(*process) []request {
		return func(*process) []request { return s.requests }
	}
	creates := fixed(c.creates())
	return []cpuWork{
		{"GET by id", readers, 320, 3.0, fixed(c.gets())},
		{"list of 20", readers, 160, 5.6, fixed(c.lists())},
		{"search in 17,000", 1, 16, 0, fixed(searches)},
		{"office, list of 40", readers, 64, 30, pages},
		{"office, search in 17,000", 1, 16, 0, typed},
		{"create, 1 client", 1, 16, 0, creates},
		{"create, 64 clients", writers, 320, 7.0, creates},
		{"PUT, 64 clients", writers, 320, 0, fixed(c.replaces())},
	}, nil
}

// cpuRounds returns the CPU time of one request, by variant and round. In each round all
// variants do the work, in random order. The last variant gets the bare requests.
func (b *bench) cpuRounds(w cpuWork, variants []*variant, bare []request) ([][]float64, error) {
	requests := make([][]request, len(variants))
	for i, v := range variants[:len(variants)-1] {
		requests[i] = w.requests(v.at)
	}
	requests[len(variants)-1] = bare
	used := make([][]float64, len(variants))
	for round := range cpuRounds * b.rounds {
		for _, i := range b.country.random.Perm(len(variants)) {
			taken, err := variants[i].turn(w.clients, w.inTurn, requests[i], round)
			if err != nil {
				return nil, err
			}
			used[i] = append(used[i], float64(taken.Nanoseconds())/1000/float64(w.inTurn))
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

// addCPU adds the results of all comparisons by CPU time to the table.
func (b *bench) addCPU(works []cpuWork, used spent) {
	const service, again, other = 0, 1, 2
	bare := len(used[works[0].name]) - 1
	var control, against []finding
	for _, w := range works {
		if w.most > 0 {
			b.table.add("CPU, "+w.name+" : bare handler", atMost(w.most, "×"), used.compared("", w.name, service, bare))
		}
		twice := used.compared(w.name, w.name, service, again)
		twice.value = max(twice.value, 1/twice.value)
		control = append(control, twice)
		if bare > other {
			against = append(against, used.compared(w.name, w.name, service, other))
		}
	}
	b.table.add("CPU, the same program twice", atMost(1.03, "×"), control...)
	if against != nil {
		b.table.add("CPU, this build : another build", atMost(1.03, "×"), against...)
	}
}
