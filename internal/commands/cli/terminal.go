package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal: an *os.File, or what
// writes to one and has its descriptor.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// ToTerminal reports whether results go to a terminal.
func (env Env) ToTerminal() bool { return IsTerminal(env.Stdout) }

// Confirm asks a question on the terminal, and returns an error unless the
// answer is yes. Without a terminal that is a usage error, which hints at the
// flag --yes.
func (env Env) Confirm(question string) error {
	if !IsTerminal(env.Stdin) {
		return Usage("there is no terminal to ask on: "+question, "the same with --yes")
	}
	io.WriteString(env.Stderr, question+" Type yes: ")
	answer, err := bufio.NewReader(env.Stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New("the answer was not yes; nothing was changed")
	}
	return nil
}

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
