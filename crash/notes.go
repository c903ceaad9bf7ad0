package main

import (
	"fmt"
	"strings"
	"sync"
)

// notes are what was found wrong, by goroutines at the same time.
type notes struct {
	mu     sync.Mutex
	wrongs int
	first  []string // of them
}

// shown is how many wrong things are printed of each check.
const (
	shown       = 8
	longestNote = 700 // bytes
)

func (n *notes) wrong(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wrongs++
	if len(n.first) < shown {
		text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		n.first = append(n.first, text[:min(len(text), longestNote)])
	}
}

// workers is how many copies of a database are looked at at the same time.
const workers = 2

// parallel does something for each number below n, a few at a time, and gives
// an error if there was one, after which it begins nothing more.
func parallel(n int, do func(i int) error) error { return parallelBy(workers, n, do) }

func parallelBy(workers, n int, do func(i int) error) error {
	var (
		working sync.WaitGroup
		mu      sync.Mutex
		next    int
		failure error
	)
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if failure != nil || next == n {
			return -1
		}
		next++
		return next - 1
	}
	for range workers {
		working.Go(func() {
			for i := take(); i >= 0; i = take() {
				if err := do(i); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
				}
			}
		})
	}
	working.Wait()
	return failure
}
