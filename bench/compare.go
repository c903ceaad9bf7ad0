package main

import "slices"

// versus adds the line of a goal: the ratio of the request rates of two loads. They run in turn,
// forwards and backwards, so that other load on the machine affects both equally. A short warm-up of
// each load comes first and does not count.
func (b *bench) versus(work string, g goal, loads [2]load) error {
	var rates [2][]float64
	for _, l := range loads {
		if _, err := l.run(b.round / 5); err != nil {
			return err
		}
	}
	for n := range b.rounds {
		for turn := range loads {
			i := (turn + n) % 2
			rate, err := loads[i].run(b.round)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	b.table.add(work, g, compared("", "requests/s", rates[0], rates[1]))
	return nil
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return numbers[middle]
	}
	return (numbers[middle-1] + numbers[middle]) / 2
}
