package main

import (
	"fmt"
	"strings"
)

// finding is one measured value with the figures behind it.
type finding struct {
	name    string
	value   float64
	figures string
}

// goal is a lower or an upper limit for a value.
type goal struct {
	limit float64
	upper bool
	unit  string
}

func atLeast(ratio float64) goal             { return goal{ratio, false, "×"} }
func atMost(limit float64, unit string) goal { return goal{limit, true, unit} }

func (g goal) met(value float64) bool { return value >= g.limit != g.upper || value == g.limit }

func (g goal) String() string {
	sign := "≥"
	if g.upper {
		sign = "≤"
	}
	return fmt.Sprintf("%s %.4g %s", sign, g.limit, g.unit)
}

// table is the output, with a line for each finding.
type table struct{ lines strings.Builder }

const (
	tableHead = "| work | goal | measured | figures | |\n|---|---|---|---|---|\n"
	tableNote = "\nFigures are medians of the rounds, the service first.\n"
)

// add adds a line for each finding about a goal. It reports whether all of them meet the goal.
func (t *table) add(work string, g goal, findings ...finding) (met bool) {
	met = true
	for _, f := range findings {
		figures, verdict := f.figures, "met"
		if f.name != "" {
			figures = f.name + ": " + figures
		}
		if !g.met(f.value) {
			met, verdict = false, "**MISSED**"
		}
		t.addLine(fmt.Sprintf("| %s | %s | %.2f %s | %s | %s |", work, g, f.value, g.unit, figures, verdict))
	}
	return met
}

func (t *table) fail(work string, err error) {
	t.addLine(fmt.Sprintf("| %s | | | %s | **FAILED** |", work, strings.ReplaceAll(err.Error(), "|", "¦")))
}

// addLine adds a line to the table and reports it as progress.
func (t *table) addLine(line string) {
	note("%s", line)
	t.lines.WriteString(line + "\n")
}

func (t *table) markdown() string { return tableHead + t.lines.String() + tableNote }
