package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	attempts  = 3    // to measure a row
	agreement = 1.02 // of the same program with itself, in a row
	tolerance = 1.03 // of a row, to its figure
)

// row is one line of a comparison of programs. The program runs twice, to show the precision
// of the comparison; then come the other builds and perhaps the bare handler.
type row struct {
	name, unit string
	most       float64     // goal, in units of the bare handler; 0 for none
	values     [][]float64 // by process and round
}

// fill measures a row. It adds further rounds if the program disagrees with itself, or is
// above a figure.
func (b *bench) fill(r *row, values func() ([][]float64, error)) error {
	for range attempts {
		note("measuring: %s", r.name)
		more, err := values()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if r.values == nil {
			r.values = make([][]float64, len(more))
		}
		for i := range more {
			r.values[i] = append(r.values[i], more[i]...)
		}
		above := false
		for i := range b.against {
			above = above || b.figures != nil && r.against(2+i).value > b.limit(r)
		}
		if r.twice().value <= agreement && !above {
			break
		}
	}
	return nil
}

// limit is the highest ratio of a row to another build.
func (b *bench) limit(r *row) float64 {
	if figure, found := b.figures[r.name]; found {
		return figure * tolerance
	}
	return tolerance
}

func (r *row) twice() finding {
	f := compared(r.name, r.unit, r.values[0], r.values[1])
	f.value = max(f.value, 1/f.value)
	return f
}

// against compares the program with process i. Both processes of the program count. Their mean
// would not do: the median of a mean is higher, because a few rounds take much longer.
func (r *row) against(i int) finding {
	return compared("", r.unit, slices.Concat(r.values[0], r.values[1]), slices.Concat(r.values[i], r.values[i]))
}

// compared returns the median of the ratios of two processes, one for each round.
func compared(name, unit string, a, b []float64) finding {
	var ratios []float64
	for n := range a {
		ratios = append(ratios, a[n]/b[n])
	}
	return finding{name, median(ratios), fmt.Sprintf("%.1f %s : %.1f %s", median(slices.Clone(a)), unit, median(slices.Clone(b)), unit)}
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return numbers[middle]
	}
	return (numbers[middle-1] + numbers[middle]) / 2
}

// addRows adds rows to the table. With figures, a row without a result and a row above its
// figure are errors.
func (b *bench) addRows(rows []row) error {
	var control []finding
	var faults []string
	for _, r := range rows {
		if r.most > 0 {
			b.table.add(r.name+" : bare handler", atMost(r.most, "×"), r.against(len(r.values)-1))
		}
		twice := r.twice()
		control = append(control, twice)
		if twice.value > agreement {
			faults = append(faults, fmt.Sprintf("%s: the program differs from itself by a factor of %.3f", r.name, twice.value))
		}
		for i, program := range b.against {
			f := r.against(2 + i)
			f.figures += fmt.Sprintf("; itself %.3f ×", twice.value)
			if !b.table.add(r.name+" : "+filepath.Base(program), atMost(b.limit(&r), "×"), f) {
				faults = append(faults, fmt.Sprintf("%s: %.3f times the other build, above %.3f", r.name, f.value, b.limit(&r)))
			}
		}
	}
	for name := range b.figures {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			faults = append(faults, name+": has a figure but is not a row")
		}
	}
	b.table.add("the same program twice", atMost(agreement, "×"), control...)
	if b.figures == nil || faults == nil {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// figureLine is a line with the figure of a row.
var figureLine = regexp.MustCompile(`(?m)^([0-9.]+) (.+)$`)

// readFigures reads the figures of rows from a file such as bench/base.
func readFigures(path string) (map[string]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	figures := map[string]float64{}
	for _, line := range figureLine.FindAllStringSubmatch(string(text), -1) {
		if figures[line[2]], err = strconv.ParseFloat(line[1], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return figures, nil
}
