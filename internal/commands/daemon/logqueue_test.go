package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stream is one that takes what it has room for, or keeps its writer waiting
// while it is locked.
type stream struct {
	locked chan bool // nil: never

	mu   sync.Mutex
	text bytes.Buffer
	room int
}

func (s *stream) Write(p []byte) (int, error) {
	if s.locked != nil {
		<-s.locked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(p), s.room)
	s.room -= n
	s.text.Write(p[:n])
	if n < len(p) {
		return n, errors.New("there is no room")
	}
	return n, nil
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *stream) makeRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room = plenty
}

const plenty = 1 << 30

func TestLogQueueOrder(t *testing.T) {
	t.Parallel()
	s := &stream{room: plenty}
	q := newLogQueue(s, true)
	var want strings.Builder
	line := make([]byte, 0, 10)
	for i := range 500 {
		line = fmt.Appendf(line[:0], "line %d\n", i) // the queue must not keep it
		want.Write(line)
		if n, err := q.Write(line); n != len(line) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	q.Close(time.Hour)
	if s.String() != want.String() {
		t.Errorf("got %s", s)
	}
}

// TestLogQueueBlocked: a stream that blocks holds nothing up, and the log says how
// many lines that cost, in its own form.
func TestLogQueueBlocked(t *testing.T) {
	t.Parallel()
	for text, says := range map[bool]string{true: `level=WARN msg="log lines were lost" count=`, false: `"level":"WARN","msg":"log lines were lost","count":`} {
		synctest.Test(t, func(t *testing.T) {
			s := &stream{room: plenty, locked: make(chan bool)}
			q := newLogQueue(s, text)
			log := q.Logger()
			log.Info("hello")
			synctest.Wait() // it is being written
			for range 1500 {
				log.Info("hello")
			}
			close(s.locked)
			q.Close(time.Hour)
			if got := s.String(); strings.Count(got, "hello") != 1001 || strings.Count(got, says+"500") != 1 || strings.Count(got, "\n") != 1002 {
				t.Errorf("%d lines, text %v: %s", strings.Count(got, "\n"), text, got)
			}
		})
	}
}

// TestLogQueueClose: a stream that blocks for ever does not hold up the end.
func TestLogQueueClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stream{room: plenty, locked: make(chan bool)}
		q := newLogQueue(s, true)
		q.Write([]byte("x\n"))
		began := time.Now()
		q.Close(time.Second)
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		q.Write([]byte("later\n"))
		close(s.locked) // so that the goroutine ends
	})
}

// TestLogQueueFull: lines that the disk does not take are counted. The log says so by
// itself when there is room.
func TestLogQueueFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stream{room: len("one\ntw")}
		q := newLogQueue(s, true)
		for _, line := range []string{"one\n", "two\n", "three\n"} {
			q.Write([]byte(line))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.String(); got != "one\ntw" {
			t.Errorf("got %q", got)
		}
		s.makeRoom()
		time.Sleep(2 * time.Second)
		q.Write([]byte("four\n"))
		q.Close(time.Hour)
		lines := strings.Split(s.String(), "\n")
		if len(lines) != 5 || lines[1] != "tw" || !strings.HasSuffix(lines[2], ` msg="log lines were lost" count=2`) || lines[3] != "four" {
			t.Errorf("got %q", lines)
		}
	})
}

// TestLogQueueFullAtTheEnd: a stream that takes nothing is given up.
func TestLogQueueFullAtTheEnd(t *testing.T) {
	t.Parallel()
	s := &stream{}
	q := newLogQueue(s, true)
	q.Write([]byte("x\n"))
	q.Close(time.Hour)
	if s.String() != "" {
		t.Errorf("got %q", s)
	}
}

func TestLogQueueFd(t *testing.T) {
	t.Parallel()
	for want, stream := range map[uintptr]io.Writer{os.Stderr.Fd(): os.Stderr, ^uintptr(0): io.Discard} {
		q := newLogQueue(stream, true)
		if got := q.Fd(); got != want {
			t.Errorf("%d, not %d", got, want)
		}
		q.Close(time.Hour)
	}
}
