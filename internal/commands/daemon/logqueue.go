package daemon

import (
	"bytes"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

const (
	queueCapacity = 1000        // lines that wait, at most
	queueRetry    = time.Second // between two attempts to say that lines were lost
)

// logQueue lets the daemon log without waiting for the reader of its log. It is a writer
// that never blocks and never fails. Each Write is a line,
// or some lines that belong together. One goroutine writes them to the stream
// in their order. Lines that find the queue full, or that the stream refuses,
// are lost. As soon as the stream takes lines again, one says how many.
type logQueue struct {
	stream        io.Writer
	text          bool
	lines         chan []byte
	lost          atomic.Int64 // since the last line that said so
	torn          bool         // the stream has taken the beginning of a line only
	stop, stopped chan struct{}
}

// newLogQueue returns a queue for a stream. Its log is text for people, or else JSON.
func newLogQueue(stream io.Writer, text bool) *logQueue {
	q := &logQueue{stream: stream, text: text, lines: make(chan []byte, queueCapacity),
		stop: make(chan struct{}), stopped: make(chan struct{})}
	go q.run()
	return q
}

// Logger returns a log that writes to the queue.
func (q *logQueue) Logger() *slog.Logger { return cli.NewLog(q, q.text) }

// Write adds a line to the queue.
func (q *logQueue) Write(line []byte) (int, error) {
	select {
	case q.lines <- bytes.Clone(line):
	default:
		q.lost.Add(1)
	}
	return len(line), nil
}

// Fd returns the descriptor of the stream, as *os.File does, so that a
// terminal is still known as one.
func (q *logQueue) Fd() uintptr {
	if file, ok := q.stream.(interface{ Fd() uintptr }); ok {
		return file.Fd()
	}
	return ^uintptr(0)
}

// Close returns when all lines are written, or after limit. The lines that are
// left then, and later ones, are lost.
func (q *logQueue) Close(limit time.Duration) {
	close(q.stop)
	select {
	case <-q.stopped:
	case <-time.After(limit):
	}
}

func (q *logQueue) run() {
	defer close(q.stopped)
	ticker := time.NewTicker(queueRetry)
	defer ticker.Stop()
	for {
		select {
		case line := <-q.lines:
			q.put(line)
		case <-ticker.C:
			q.report()
		case <-q.stop:
			for len(q.lines) > 0 {
				q.put(<-q.lines)
			}
			q.report()
			return
		}
	}
}

func (q *logQueue) put(line []byte) {
	if !q.report() || !q.write(line) {
		q.lost.Add(1)
	}
}

// report says how many lines were lost, if any were. It returns false if that
// could not be written.
func (q *logQueue) report() bool {
	n := q.lost.Swap(0)
	if n == 0 {
		return true
	}
	var line bytes.Buffer
	cli.NewLog(&line, q.text).Warn("log lines were lost", "count", n)
	written := q.write(line.Bytes())
	if !written {
		q.lost.Add(n)
	}
	return written
}

// write writes a line, and on a line of its own where the last one was torn.
func (q *logQueue) write(line []byte) bool {
	if q.torn {
		line = append([]byte("\n"), line...)
	}
	n, err := q.stream.Write(line)
	if n > 0 {
		q.torn = n < len(line)
	}
	return err == nil
}
