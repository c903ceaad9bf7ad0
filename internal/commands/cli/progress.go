package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Progress shows on Stderr how far work has come, if that is a terminal and the work takes
// longer than a second. Set and End may be called from any goroutine.
type Progress struct {
	doing       string // as "Importing people"
	began       time.Time
	done, total atomic.Int64
	stop        func() // waits until nothing is drawn any more
}

// Progress is drawn first after drawAfter, and then every drawEvery.
const (
	drawAfter = time.Second
	drawEvery = 100 * time.Millisecond
)

// StartProgress returns the progress of work that begins now. End must be called.
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

// Set sets how much is done. A total of 0 is not known.
func (p *Progress) Set(done, total int) {
	p.done.Store(int64(done))
	p.total.Store(int64(total))
}

// End removes what was drawn, so that other output can follow.
func (p *Progress) End() { p.stop() }

// draw draws the progress until ended is closed.
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
