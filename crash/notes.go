package main

import (
	"fmt"
	"strings"
	"sync"
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

func (n *notes) wrong(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wrongs++
	if len(n.first) < shown {
		text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		n.first = append(n.first, text[:min(len(text), longestNote)])
	}
}
