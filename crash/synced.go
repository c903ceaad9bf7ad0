package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// file is a file of a database as a power cut may leave it.
type file struct {
	durable []byte
	pending []event // what was done since, and is not synced
}

// apply gives content after an event.
func apply(content []byte, e event) []byte {
	if e.kind == truncating {
		return content[:min(len(content), e.offset)]
	}
	if end := e.offset + len(e.data); end > len(content) {
		content = append(content, make([]byte, end-len(content))...)
	}
	copy(content[e.offset:], e.data)
	return content
}

// machine is a computer whose power can be cut at any event.
type machine struct {
	files map[string]*file
	marks map[string]int  // of a thread that syncs: how much it will have synced
	done  map[string]bool // requests that have been answered
	folds int             // syncs of the database itself
}

func (m *machine) step(e event) {
	f := m.files[e.file]
	switch e.kind {
	case writing, truncating:
		f.pending = append(f.pending, e)
	case syncBegins:
		m.marks[e.thread] = len(f.pending)
	case syncEnds:
		synced := min(m.marks[e.thread], len(f.pending)) // another thread may have synced it meanwhile
		for _, one := range f.pending[:synced] {
			f.durable = apply(f.durable, one)
		}
		f.pending = slices.Clone(f.pending[synced:])
		if e.file == "" {
			m.folds++
		}
	case answering:
		m.done[e.id] = true
	}
}

// cutPower gives the files after a power cut: what was synced, and of the
// rest nothing, a part in any order, or with some of it torn.
func (m *machine) cutPower(r *rand.Rand) map[string][]byte {
	left := map[string][]byte{}
	chance := []float64{0, 0.5, 0.9}[r.IntN(3)]
	for name, f := range m.files {
		content := slices.Clone(f.durable)
		for _, e := range f.pending {
			if r.Float64() >= chance {
				continue
			}
			if len(e.data) > 512 && r.IntN(4) == 0 {
				e.data = e.data[:512*(1+r.IntN(len(e.data)/512))]
			}
			content = apply(content, e)
		}
		left[name] = content
	}
	return left
}

// written is a write that was made while the service was traced.
type written struct {
	id      string // of the request
	record  string
	becomes *person
}

// synced records every write, sync and answer of a service, and then cuts the
// power at many of these events, with only that left which was synced by then
// and any part of the rest. It takes no rights.
func synced(c *check) error {
	if !tool("strace", "-f", "true") {
		return notRun("there is no strace that may trace (apt-get install strace)")
	}
	db := filepath.Join(c.folder, "synced.db")
	truths, err := c.departments(db, 1)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(db)
	if err != nil {
		return err
	}
	log := filepath.Join(c.folder, "strace")
	writes, err := c.traceWrites(db, log, truths[0], 4000)
	if err != nil {
		return err
	}
	events, err := readTrace(log, db)
	if err != nil {
		return err
	}
	os.Remove(log)
	return c.cutEvents(truths[0], before, writes, events, c.choose(150, 1000))
}

// cutEvents cuts the power at so many of the events, and serves what is left.
func (c *check) cutEvents(t *truth, before []byte, writes []written, events []event, n int) error {
	m := &machine{map[string]*file{"": {durable: before}, "-wal": {}}, map[string]int{}, map[string]bool{}, 0}
	cuts := map[int]bool{}
	for range n {
		cuts[c.rand.IntN(len(events))] = true
	}
	var waiting []func() error
	for i, e := range events {
		m.step(e)
		if cuts[i] {
			left, truth, seed := m.cutPower(c.rand), truthOf(t, writes, m.done), c.rand.Uint64()
			waiting = append(waiting, func() error { return c.afterCut(i, left, truth, rand.New(rand.NewPCG(seed, 0))) })
		}
		if len(waiting) == workers || i == len(events)-1 {
			if err := all(waiting); err != nil {
				return err
			}
			waiting = nil
		}
	}
	c.found = fmt.Sprintf("%d writes by %d clients traced in %d events, with the -wal folded into the database %d times; "+
		"power cut at %d of them, with what was synced and any part of the rest", len(writes), tracedClients, len(events), m.folds, len(cuts))
	if len(m.done) != len(writes) || m.folds == 0 {
		c.wrong("the trace has %d answers and %d folds, which cannot be", len(m.done), m.folds)
	}
	return nil
}

// all does some things at the same time.
func all(things []func() error) error {
	return parallel(len(things), func(i int) error { return things[i]() })
}

const tracedClients = 8

// traceWrites has a traced service make so many changes, all of them answered.
func (c *check) traceWrites(db, log string, t *truth, n int) (writes []written, err error) {
	s, err := c.serve(db, "strace", "-D", "-f", "-y", "-xx", "-s", "70000", "-o", log, "-e", "trace="+tracedCalls)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = parallelBy(tracedClients, tracedClients, func(i int) error {
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		var own []string
		for range n / tracedClients {
			w, err := writeTraced(s.client, t, &own, r)
			if err != nil {
				return err
			}
			mu.Lock()
			writes = append(writes, w)
			mu.Unlock()
		}
		return nil
	})
	time.Sleep(100 * time.Millisecond) // what goes on behind an answer goes on
	s.kill()
	return writes, err
}

// writeTraced makes a change whose answer can be found in the trace.
func writeTraced(at *client, t *truth, own *[]string, r *rand.Rand) (w written, err error) {
	n := number.Add(1)
	traced := *at
	traced.requestID = fmt.Sprintf("w%d", n)
	p := somebody(r, n)
	w = written{id: traced.requestID, becomes: &p}
	var status int
	switch choice := r.IntN(10); {
	case len(*own) < 3 || choice < 6:
		w.record, status, err = t.create(&traced, p)
		*own = append(*own, w.record)
	case choice < 9:
		w.record = (*own)[r.IntN(len(*own))]
		status, err = t.replace(&traced, w.record, &p)
	default:
		w.record, w.becomes, *own = (*own)[0], nil, (*own)[1:]
		status, err = t.replace(&traced, w.record, nil)
	}
	if err != nil || status >= 300 {
		return w, fmt.Errorf("a traced write is answered by %d %w", status, err)
	}
	return w, nil
}

// truthOf is what the records must be when the answers in done were given:
// each as its last one says, or as the next one, which may be under way.
func truthOf(t *truth, writes []written, done map[string]bool) *truth {
	at := newTruth(t.name, t.key)
	under := map[string]bool{}
	for _, w := range writes {
		if at.possible[w.record] == nil {
			at.possible[w.record] = []*person{nil}
		}
		if done[w.id] {
			at.possible[w.record] = []*person{w.becomes}
		} else if !under[w.record] {
			under[w.record] = true
			at.possible[w.record] = append(at.possible[w.record], w.becomes)
		}
	}
	return at
}

// afterCut serves what a power cut has left.
func (c *check) afterCut(event int, left map[string][]byte, t *truth, r *rand.Rand) error {
	doing := fmt.Sprintf("power cut at event %d", event)
	db := filepath.Join(c.folder, fmt.Sprintf("cut%d.db", event))
	defer removeDatabase(db)
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if err := os.WriteFile(db+name, left[name], 0o600); err != nil {
			return err
		}
	}
	s, err := c.serve(db)
	if err != nil {
		c.wrong("%s: %v", doing, err)
		return nil
	}
	c.verifyAll(doing, s, []*truth{t}, r)
	if err := s.stop(); err != nil {
		c.wrong("%s: %v", doing, err)
	}
	c.judge(doing, s.log.String())
	if strings.Contains(s.log.String(), `"level":"ERROR"`) {
		c.wrong("%s: %s", doing, s.log)
	}
	c.sound(doing, db)
	return nil
}
