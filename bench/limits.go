package main

import (
	"fmt"
	"time"
)

// file tells what a record takes, in the file that demo made and closed.
func (b *bench) file() error {
	var records int64
	for _, d := range b.country.departments {
		records += d.people
	}
	b.table.add("file, for each record", atMost(700, "bytes"), finding{"", float64(b.country.size) / float64(records),
		fmt.Sprintf("%d MB, %d records; made and served after %.0f s", b.country.size>>20, records, b.country.took.Seconds())})
	return nil
}

// starts is how often a start is timed; the slowest counts.
const starts = 5

// timeStart starts the service and gets a record. It gives the time until the
// service said that it listens, and until it answered.
func (b *bench) timeStart(c *country) (p *process, listening, answered time.Duration, err error) {
	began := time.Now()
	if p, err = b.serve(c); err != nil {
		return nil, 0, 0, err
	}
	listening = time.Since(began)
	_, err = answerOf(p, c.drawn[0].get())
	return p, listening, time.Since(began), err
}

// start stops the service and starts it again.
func (b *bench) start() error {
	var slowest finding
	for range starts {
		if err := b.service.stop(); err != nil {
			return err
		}
		p, listening, answered, err := b.timeStart(b.country)
		if p != nil {
			b.service = p
		}
		if err != nil {
			return err
		}
		if answered.Seconds() > slowest.value {
			slowest = finding{"", answered.Seconds(), fmt.Sprintf("slowest of %d: listening after %d ms, first answer after %d ms",
				starts, listening.Milliseconds(), answered.Milliseconds())}
		}
	}
	b.table.add("start with the country, to the first answer", atMost(0.2, "s"), slowest)
	return nil
}

// recovery kills the service again and again while 64 clients write. The
// baseline must not have the file open, or there would be nothing to recover.
func (b *bench) recovery() error {
	if err := b.baseline.stop(); err != nil {
		return err
	}
	creates := b.country.creates()
	var slowest finding
	for range 3 {
		go writing(b.service, writers, creates)(b.round * 10) // ends with the service
		time.Sleep(b.round)
		b.service.kill()
		p, listening, answered, err := b.timeStart(b.country)
		if p != nil {
			b.service = p
		}
		if err != nil {
			return err
		}
		if answered.Seconds() > slowest.value {
			slowest = finding{"", answered.Seconds(), fmt.Sprintf("slowest of 3: listening after %d ms, first answer after %d ms",
				listening.Milliseconds(), answered.Milliseconds())}
		}
	}
	b.table.add("start after kill -9 while 64 clients create", atMost(2, "s"), slowest)
	return nil
}

const megabyte = 1 << 20

// memory tells the most that the service has had in all rounds so far.
func (b *bench) memory() error {
	b.table.add("memory serving the country, mapped pages apart", atMost(150, "MB"), finding{"",
		float64(b.service.peak) / megabyte, fmt.Sprintf("most RssAnon at the end of any round so far; VmRSS now %d MB",
			b.service.memory("VmRSS")/megabyte)})
	return nil
}

// idle tells what a service has that has answered once, and waits.
func (b *bench) idle() error {
	if _, err := answerOf(b.alone, b.own.ordinary[0].list("")); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	b.table.add("memory idle, small file", atMost(40, "MB"), finding{"", float64(b.alone.memory("VmRSS")) / megabyte,
		fmt.Sprintf("VmRSS; RssAnon %d MB", b.alone.memory("RssAnon")/megabyte)})
	return nil
}
