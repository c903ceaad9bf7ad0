package main

import (
	"encoding/json"
	"fmt"
	"time"
)

const (
	waitingClients = 2000
	waitingSeconds = 60 // longer than this takes
	// idleWhileWaiting is for how long the service is watched while all wait: CPU times have
	// steps of 10 ms.
	idleWhileWaiting = 5 * time.Second
)

// waiting measures what it costs that 2,000 clients wait for a change, and how long it
// takes until all have it. It is that of the department of 40 in a file of its own.
func (b *bench) waiting() error {
	p, d := b.alone, b.own.ordinary[0]
	last, err := fetch(p, newRequest("GET", changesPath+"?limit=1000", d.key, "", 200, `"more":false`))
	if err != nil {
		return err
	}
	var feed struct{ Next string }
	if err := json.Unmarshal(last, &feed); err != nil {
		return err
	}
	idle := func() time.Duration {
		used := p.cpu()
		time.Sleep(idleWhileWaiting)
		return p.cpu() - used
	}
	before, usedBefore := p.memory("VmRSS"), idle()
	ask := newRequest("GET", fmt.Sprintf("%s?after=%s&wait=%d", changesPath, feed.Next, waitingSeconds), d.key, "", 200, `"action":"create"`)
	answered := make(chan error, waitingClients)
	for range waitingClients {
		c, err := dial(p.address)
		if err != nil {
			return err
		}
		defer c.conn.Close()
		c.buffer = make([]byte, 4<<10) // there are many
		go func() {
			_, err := c.do(&ask)
			answered <- err
		}()
	}
	time.Sleep(idleTime) // until all are there, and the garbage is gone
	memory, used := p.memory("VmRSS"), idle()
	began, usedAnswering := time.Now(), p.cpu()
	if _, err := fetch(p, d.create(body(b.own.random, d))); err != nil {
		return err
	}
	for range waitingClients {
		if err := <-answered; err != nil {
			return err
		}
	}
	took := time.Since(began)
	usedAnswering = p.cpu() - usedAnswering
	b.table.add("CPU time of a second while 2,000 wait for a change", atMost(10, "ms"),
		finding{"", used.Seconds() * 1000 / idleWhileWaiting.Seconds(), fmt.Sprintf("%d ms in %v, %d ms when nobody waited", used.Milliseconds(), idleWhileWaiting, usedBefore.Milliseconds())})
	b.table.add("memory for each that waits", atMost(40, "KB"),
		finding{"", float64(memory-before) / 1024 / waitingClients, fmt.Sprintf("VmRSS %d MB, %d MB before", memory/megabyte, before/megabyte)})
	b.table.add("2,000 who wait have a change", atMost(1000, "ms"),
		finding{"", float64(took.Microseconds()) / 1000, fmt.Sprintf("from the create on; CPU time of the server %d ms, VmRSS %d MB then", usedAnswering.Milliseconds(), p.memory("VmRSS")/megabyte)})
	return nil
}
