package main

import (
	"fmt"
	"slices"
	"time"
)

// side is one side of a comparison. It sends its load for the given time.
type side func(length time.Duration) (result, error)

// comparison holds the results of two sides by round.
type comparison [2][]result

// compare runs two sides in turn, forwards and backwards, so that other load on the
// machine affects both equally. A short warm-up of each side comes first and does not
// count.
func (b *bench) compare(sides [2]side) (c comparison, err error) {
	for _, work := range sides {
		if _, err := work(b.round / 5); err != nil {
			return c, err
		}
	}
	for n := range b.rounds {
		for turn := range sides {
			i := (turn + n) % 2
			r, err := sides[i](b.round)
			if err != nil {
				return c, err
			}
			c[i] = append(c[i], r)
		}
	}
	return c, nil
}

// versus adds the line of a goal: the ratio of the rates of two sides.
func (b *bench) versus(work string, g goal, ours, theirs side) error {
	c, err := b.compare([2]side{ours, theirs})
	if err == nil {
		b.table.add(work, g, c.rates())
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

// ratio returns the median of the ratios of the request rates of the two sides, one
// per round.
func (c comparison) ratio() float64 {
	var ratios []float64
	for n := range c[0] {
		ratios = append(ratios, c[0][n].rate()/c[1][n].rate())
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

// describe formats the median rate of a side and the CPU time per request of the
// server and of the load generator.
func (c comparison) describe(side int) string {
	var rates []float64
	for _, r := range c[side] {
		rates = append(rates, r.rate())
	}
	return fmt.Sprintf("%.0f/s (%.0f + %.0f µs)", median(rates),
		c.perRequest(side, func(r result) time.Duration { return r.server }),
		c.perRequest(side, func(r result) time.Duration { return r.generator }))
}

// rates returns the ratio of the request rates.
func (c comparison) rates() finding {
	return finding{"", c.ratio(), c.describe(0) + " : " + c.describe(1)}
}
