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

// file is the content of a file of a database, with and without syncs.
type file struct {
	durable []byte
	pending []event // later events that are not synced
}

// apply returns content after an event.
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

// machine models a computer whose power can be cut at any event.
type machine struct {
	files       map[string]*file
	marks       map[string]int  // for each syncing thread, the number of events that its sync covers
	done        map[string]bool // ids of the answered requests
	checkpoints int             // syncs of the database file itself
}

// step applies the next event.
func (m *machine) step(e event) {
	f := m.files[e.file]
	switch e.kind {
	case writing, truncating:
		f.pending = append(f.pending, e)
	case syncBegins:
		m.marks[e.thread] = len(f.pending)
	case syncEnds:
		synced := min(m.marks[e.thread], len(f.pending)) // another thread may have synced some of them meanwhile
		for _, pending := range f.pending[:synced] {
			f.durable = apply(f.durable, pending)
		}
		f.pending = slices.Clone(f.pending[synced:])
		if e.file == "" {
			m.checkpoints++
		}
	case answering:
		m.done[e.id] = true
	}
}

// cutPower returns the files after a power cut: what was synced, and of the rest
// nothing, or a random part with some writes torn.
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

// tracedWrite is an answered write of the traced service.
type tracedWrite struct {
	id      string  // of the request
	record  string  // id of the record
	becomes *person // new content; nil for a delete
}

// synced traces every write, sync and answer of a service. Then it cuts the power
// at many of these events: what was synced stays, and a random part of the rest.
// It does not need root.
func synced(c *check) error {
	if !tool("strace", "-f", "true") {
		return notRun("strace is missing or may not trace (apt-get install strace)")
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
	return c.cutEvents(truths[0], before, writes, events, c.choose(60, 1000))
}

// cutEvents cuts the power at n random events and serves what is left.
func (c *check) cutEvents(t *truth, before []byte, writes []tracedWrite, events []event, n int) error {
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
			if err := parallel(len(waiting), func(i int) error { return waiting[i]() }); err != nil {
				return err
			}
			waiting = nil
		}
	}
	c.summary = fmt.Sprintf("%d writes by %d clients traced in %d events; checkpoints: %d; "+
		"power cut at %d of them, with what was synced and any part of the rest", len(writes), tracedClients, len(events), m.checkpoints, len(cuts))
	if len(m.done) != len(writes) || m.checkpoints == 0 {
		c.wrong("the trace has %d answers for %d writes and %d checkpoints", len(m.done), len(writes), m.checkpoints)
	}
	return nil
}

const tracedClients = 8

// traceWrites makes n changes on a traced service. All of them must be answered.
func (c *check) traceWrites(db, log string, t *truth, n int) (writes []tracedWrite, err error) {
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
	time.Sleep(100 * time.Millisecond) // let work that continues after an answer finish
	s.kill()
	return writes, err
}

// writeTraced makes a change with a request id, by which the trace shows its
// answer.
func writeTraced(at *client, t *truth, own *[]string, r *rand.Rand) (w tracedWrite, err error) {
	traced := *at
	traced.requestID = fmt.Sprintf("w%d", number.Add(1))
	w.id = traced.requestID
	var status int
	w.record, w.becomes, status, err = t.change(&traced, own, r)
	if err != nil || status >= 300 {
		return w, fmt.Errorf("a traced write was answered by %d %w", status, err)
	}
	return w, nil
}

// truthOf returns the truth after the answers in done. A record has the content
// of its last answered write, or of the next write, which may be in progress.
func truthOf(t *truth, writes []tracedWrite, done map[string]bool) *truth {
	at := newTruth(t.name, t.key)
	inProgress := map[string]bool{}
	for _, w := range writes {
		if at.possible[w.record] == nil {
			at.possible[w.record] = []*person{nil}
		}
		if done[w.id] {
			at.possible[w.record] = []*person{w.becomes}
		} else if !inProgress[w.record] {
			inProgress[w.record] = true
			at.possible[w.record] = append(at.possible[w.record], w.becomes)
		}
	}
	return at
}

// afterCut serves the files that a power cut has left.
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
	c.end(doing, s, db)
	if strings.Contains(s.log.String(), `"level":"ERROR"`) {
		c.wrong("%s: %s", doing, s.log)
	}
	return nil
}
