package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// notes collects faults. It is safe for concurrent use.
type notes struct {
	mu     sync.Mutex
	wrongs int
	first  []string // the first faults
}

const (
	shown       = 8   // faults that are printed for each check
	longestNote = 700 // in bytes
)

// wrong counts a fault.
func (n *notes) wrong(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wrongs++
	if len(n.first) < shown {
		text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		n.first = append(n.first, text[:min(len(text), longestNote)])
	}
}

// workers is the number of copies of a database that are examined concurrently.
const workers = 2

// parallel is parallelBy with the usual number of workers.
func parallel(n int, do func(i int) error) error { return parallelBy(workers, n, do) }

// parallelBy calls do for each number below n, with at most so many concurrent
// calls as there are workers. After an error it starts no more calls. It returns
// the last error.
func parallelBy(workers, n int, do func(i int) error) error {
	var working sync.WaitGroup
	var next atomic.Int64
	var failure atomic.Pointer[error]
	for range workers {
		working.Go(func() {
			for failure.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	working.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}
