package main

import (
	"fmt"
	"time"
)

// file measures the bytes per record in the file that demo created and closed.
func (b *bench) file() error {
	var records int64
	for _, d := range b.country.departments {
		records += d.people
	}
	b.table.add("file, for each record", atMost(700, "bytes"), finding{"", float64(b.country.size) / float64(records),
		fmt.Sprintf("%d MB, %d records; created and served after %.0f s", b.country.size>>20, records, b.country.took.Seconds())})
	return nil
}

const (
	starts   = 5 // measured starts; the slowest counts
	kills    = 3 // measured starts after kill -9; the slowest counts
	idleTime = 2 * time.Second
	megabyte = 1 << 20
)

// timeStart starts the service and gets a record. It returns the time until the
// service listened and the time until it answered.
func (b *bench) timeStart(c *country) (p *process, listening, answered time.Duration, err error) {
	began := time.Now()
	if p, err = b.serve(c); err != nil {
		return nil, 0, 0, err
	}
	listening = time.Since(began)
	_, err = fetch(p, c.drawn[0].get())
	return p, listening, time.Since(began), err
}

// slowestStart starts the service several times, each after end has ended it, and
// returns the slowest start.
func (b *bench) slowestStart(times int, end func() error) (slowest finding, err error) {
	for range times {
		if err := end(); err != nil {
			return slowest, err
		}
		p, listening, answered, err := b.timeStart(b.country)
		if p != nil {
			b.service = p
		}
		if err != nil {
			return slowest, err
		}
		if answered.Seconds() > slowest.value {
			slowest = finding{"", answered.Seconds(), fmt.Sprintf("slowest of %d: listening after %d ms, first answer after %d ms",
				times, listening.Milliseconds(), answered.Milliseconds())}
		}
	}
	return slowest, nil
}

// start measures starts after an orderly stop.
func (b *bench) start() error {
	slowest, err := b.slowestStart(starts, func() error { return b.service.stop() })
	if err == nil {
		b.table.add("start with the country, to the first answer", atMost(0.2, "s"), slowest)
	}
	return err
}

// recovery measures starts after kill -9 while 64 clients write. It stops the
// baseline first: while another process has the database open, SQLite recovers
// nothing.
func (b *bench) recovery() error {
	if err := b.baseline.stop(); err != nil {
		return err
	}
	creates := b.country.creates()
	slowest, err := b.slowestStart(kills, func() error {
		go sending(b.service, writers, creates)(b.round * 10) // ends when the service does
		time.Sleep(b.round)
		b.service.kill()
		return nil
	})
	if err == nil {
		b.table.add("start after kill -9 while 64 clients create", atMost(2, "s"), slowest)
	}
	return err
}

// memory measures the most memory that the service used in all rounds so far.
func (b *bench) memory() error {
	b.table.add("memory serving the country (VmRSS)", atMost(150, "MB"), finding{"", float64(b.service.peak) / megabyte,
		fmt.Sprintf("most VmRSS at the end of any round so far; RssAnon now %d MB", b.service.memory("RssAnon")/megabyte)})
	return nil
}

// idle measures the memory of a service that has answered once and now waits.
func (b *bench) idle() error {
	if _, err := fetch(b.alone, b.own.ordinary[0].list("")); err != nil {
		return err
	}
	time.Sleep(idleTime)
	b.table.add("memory idle, small file", atMost(40, "MB"), finding{"", float64(b.alone.memory("VmRSS")) / megabyte,
		fmt.Sprintf("VmRSS; RssAnon %d MB", b.alone.memory("RssAnon")/megabyte)})
	return nil
}
