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

// table is the output: a line for each goal, then all findings of the lines that show only
// the worst of several.
type table struct{ lines, details strings.Builder }

const (
	tableHead  = "| work | goal | measured | figures | |\n|---|---|---|---|---|\n"
	tableNote  = "\nFigures are medians of the rounds, the service first.\n"
	detailHead = "\nAll values of the lines that show only the worst:\n\n| work | of | measured | figures |\n|---|---|---|---|\n"
)

// add adds the line of one goal with the worst of its findings. It reports whether the goal is met.
func (t *table) add(work string, g goal, findings ...finding) (met bool) {
	worst := findings[0]
	for _, f := range findings {
		if (f.value < worst.value) != g.upper {
			worst = f
		}
		if len(findings) > 1 {
			addLine(&t.details, fmt.Sprintf("| %s | %s | %.2f %s | %s |", work, f.name, f.value, g.unit, f.figures))
		}
	}
	figures, verdict := worst.figures, "met"
	if len(findings) > 1 {
		figures = worst.name + ": " + figures
	}
	if met = g.met(worst.value); !met {
		verdict = "**MISSED**"
	}
	addLine(&t.lines, fmt.Sprintf("| %s | %s | %.2f %s | %s | %s |", work, g, worst.value, g.unit, figures, verdict))
	return met
}

func (t *table) fail(work string, err error) {
	addLine(&t.lines, fmt.Sprintf("| %s | | | %s | **FAILED** |", work, strings.ReplaceAll(err.Error(), "|", "¦")))
}

// addLine adds a line to a part of the table and reports it as progress.
func addLine(to *strings.Builder, line string) {
	note("%s", line)
	to.WriteString(line + "\n")
}

func (t *table) markdown() string {
	text := tableHead + t.lines.String() + tableNote
	if t.details.Len() > 0 {
		text += detailHead + t.details.String()
	}
	return text
}
