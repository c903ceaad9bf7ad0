package main

import (
	"fmt"
	"slices"
	"time"
)

// side is one side of a comparison. It sends its load for the given time.
type side func(length time.Duration) (result, error)

// comparison holds the results by side and round.
type comparison [][]result

// compare runs the sides in turn, forwards and backwards, so that other load on
// the machine affects all of them alike. A short warm-up of each side comes
// first and does not count.
func (b *bench) compare(length time.Duration, sides ...side) (comparison, error) {
	c := make(comparison, len(sides))
	for i, work := range sides {
		c[i] = make([]result, b.rounds)
		if _, err := work(length / 5); err != nil {
			return nil, err
		}
	}
	for n := range b.rounds {
		for turn := range sides {
			i := turn
			if n%2 == 1 {
				i = len(sides) - 1 - turn
			}
			var err error
			if c[i][n], err = sides[i](length); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// versus adds the line of a goal: the ratio of the rates of two sides.
func (b *bench) versus(work string, g goal, ours, theirs side) error {
	c, err := b.compare(b.round, ours, theirs)
	if err == nil {
		b.table.add(work, g, c.rates("", 0, 1))
	}
	return err
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return numbers[middle]
	}
	return (numbers[middle-1] + numbers[middle]) / 2
}

// median returns the median of one figure of a side over all rounds.
func (c comparison) median(side int, of func(result) float64) float64 {
	var numbers []float64
	for _, r := range c[side] {
		numbers = append(numbers, of(r))
	}
	return median(numbers)
}

// ratio returns the median of the ratios of side i to side j, one per round.
func (c comparison) ratio(i, j int, of func(result) float64) float64 {
	var ratios []float64
	for n := range c[i] {
		ratios = append(ratios, of(c[i][n])/of(c[j][n]))
	}
	return median(ratios)
}

// perRequest returns the CPU time per request in microseconds, over all rounds.
func (c comparison) perRequest(side int, of func(result) time.Duration) float64 {
	var spent time.Duration
	requests := 0
	for _, r := range c[side] {
		spent += of(r)
		requests += r.requests
	}
	return float64(spent.Microseconds()) / float64(requests)
}

// describe formats the rate of a side and the CPU time per request of the
// server and of the load generator.
func (c comparison) describe(side int) string {
	return fmt.Sprintf("%.0f/s (%.0f + %.0f µs)", c.median(side, result.rate),
		c.perRequest(side, func(r result) time.Duration { return r.server }),
		c.perRequest(side, func(r result) time.Duration { return r.generator }))
}

// rates returns the ratio of the request rates of side i and side j.
func (c comparison) rates(name string, i, j int) finding {
	return finding{name, c.ratio(i, j, result.rate), c.describe(i) + " : " + c.describe(j)}
}

// delays returns the ratio of the 99th percentiles of the latencies of side i
// and side j.
func (c comparison) delays(name string, i, j int) finding {
	p99 := func(r result) float64 { return float64(r.percentile(0.99).Microseconds()) / 1000 }
	return finding{name, c.ratio(i, j, p99), fmt.Sprintf("p99 %.2f ms : %.2f ms at %.0f/s : %.0f/s",
		c.median(i, p99), c.median(j, p99), c.median(i, result.rate), c.median(j, result.rate))}
}
