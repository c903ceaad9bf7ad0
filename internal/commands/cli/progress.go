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
	what     string // is counted
	stderr   io.Writer
	terminal bool
	began    time.Time
	shown    bool
}

// NewProgress returns a bar for work that begins now.
func NewProgress(env Env, what string) *Progress {
	return &Progress{what: what, stderr: Unwrap(env.Stderr), terminal: IsTerminal(env.Stderr), began: time.Now()}
}

// Set sets how much is done of how much.
func (p *Progress) Set(done, total int) {
	if !p.terminal || total <= 0 || !p.shown && time.Since(p.began) <= time.Second {
		return
	}
	const width = 40
	full := min(width, width*done/total)
	fmt.Fprintf(p.stderr, "\r[%s%s] %d of %d %s", strings.Repeat("=", full), strings.Repeat(" ", width-full), done, total, p.what)
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
	bar := NewProgress(env, "pages")
	return func(done, total int) {
		if done == total {
			bar.what = "pages copied, now checking them"
		}
		bar.Set(done, total)
	}, bar.End
}
