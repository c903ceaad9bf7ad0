package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Progress shows the progress of work that takes longer than a second, if Stderr is a terminal. Its
// methods are safe for concurrent use.
type Progress struct {
	doing       string // such as "Importing people"
	began       time.Time
	done, total atomic.Int64
	stop        func() // stops drawing and waits for the end of it
}

const (
	drawAfter = time.Second
	drawEvery = 100 * time.Millisecond
)

// StartProgress starts the progress of work. The caller must call End.
func (env Env) StartProgress(doing string) *Progress {
	p := &Progress{doing: doing, began: time.Now(), stop: func() {}}
	if !IsTerminal(env.Stderr) {
		return p
	}
	ended := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() { p.draw(Unwrap(env.Stderr), ended) })
	p.stop = sync.OnceFunc(func() {
		close(ended)
		drawing.Wait()
	})
	return p
}

// Set sets the amount of completed work. A total of 0 means unknown.
func (p *Progress) Set(done, total int) {
	p.done.Store(int64(done))
	p.total.Store(int64(total))
}

// End erases the progress from the terminal.
func (p *Progress) End() { p.stop() }

func (p *Progress) draw(terminal io.Writer, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-time.After(drawAfter):
	}
	ticker := time.NewTicker(drawEvery)
	defer ticker.Stop()
	width := 0
	for {
		line := p.String()
		width = max(width, len(line))
		fmt.Fprintf(terminal, "\r%-*s", width, line)
		select {
		case <-ended:
			fmt.Fprint(terminal, "\r"+strings.Repeat(" ", width)+"\r")
			return
		case <-ticker.C:
		}
	}
}

// String returns the progress in one line.
func (p *Progress) String() string {
	done, total := p.done.Load(), p.total.Load()
	if total <= 0 {
		return fmt.Sprintf("%s: %s", p.doing, FormatSpan(time.Since(p.began)))
	}
	const width = 30
	full := int(min(width, width*done/total))
	return fmt.Sprintf("%s [%s%s] %d of %d", p.doing, strings.Repeat("=", full), strings.Repeat(" ", width-full), done, total)
}
