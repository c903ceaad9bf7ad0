package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress is a bar on Stderr for work that takes over a second. It shows
// nothing where Stderr is not a terminal.
type Progress struct {
	what        string // is counted
	stderr      io.Writer
	terminal    bool
	began       time.Time
	done, total int
	shown       bool
}

// NewProgress returns a bar for work that begins now.
func NewProgress(env Env, what string, total int) *Progress {
	return &Progress{what: what, stderr: Unwrap(env.Stderr), terminal: IsTerminal(env.Stderr), began: time.Now(), total: total}
}

// Rename changes what is counted.
func (p *Progress) Rename(what string) { p.what = what }

// Add adds n to what is done.
func (p *Progress) Add(n int) { p.Set(p.done+n, p.total) }

// Set sets how much is done of how much.
func (p *Progress) Set(done, total int) {
	p.done, p.total = done, total
	if p.terminal && total > 0 && (p.shown || time.Since(p.began) > time.Second) {
		p.draw()
	}
}

func (p *Progress) draw() {
	const width = 40
	full := min(width, width*p.done/p.total)
	fmt.Fprintf(p.stderr, "\r[%s%s] %d of %d %s",
		strings.Repeat("=", full), strings.Repeat(" ", width-full), p.done, p.total, p.what)
	p.shown = true
}

// End ends the line of the bar, so that other output may follow.
func (p *Progress) End() {
	if p.shown {
		fmt.Fprintln(p.stderr)
		p.shown = false
	}
}

// CopyProgress returns a function that shows the progress of a copy in pages,
// and one that ends what is shown.
func CopyProgress(env Env) (progress func(done, total int), end func()) {
	bar := NewProgress(env, "pages", 0)
	return func(done, total int) {
		if done == total {
			bar.Rename("pages copied, now checking them")
		}
		bar.Set(done, total)
	}, bar.End
}
