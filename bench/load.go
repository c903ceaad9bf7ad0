package main

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Numbers of clients that send at the same time.
const (
	readers = 32
	writers = 64
)

// supply hands out requests in the order of the slice. After the last request it starts
// again.
type supply struct {
	requests []request
	taken    atomic.Uint64
}

// take returns the next request.
func (s *supply) take() *request {
	n := s.taken.Add(1) - 1
	return &s.requests[n%uint64(len(s.requests))]
}

// load is a number of clients that send requests. Each client waits for an answer before
// it sends its next request.
type load struct {
	at      *process
	clients int
	supply  *supply
}

// sending returns a side on which clients send requests.
func sending(at *process, clients int, s *supply) side {
	return load{at, clients, s}.run
}

// result is the outcome of a load.
type result struct {
	requests  int
	elapsed   time.Duration
	server    time.Duration // CPU time of the server
	generator time.Duration // CPU time of this process
}

func (r result) rate() float64 { return float64(r.requests) / r.elapsed.Seconds() }

// run sends requests for the given time. One unexpected answer makes the whole load
// fail.
func (l load) run(length time.Duration) (result, error) {
	clients, err := dialAll(l.at, l.clients)
	defer closeAll(clients)
	if err != nil {
		return result{}, err
	}
	requests := make([]int, l.clients)
	failures := make([]error, l.clients)
	server, generator := l.at.cpu(), cpu(os.Getpid())
	var working sync.WaitGroup
	begin := time.Now()
	for i, c := range clients {
		working.Go(func() {
			for failures[i] == nil && time.Since(begin) < length {
				_, failures[i] = c.do(l.supply.take())
				requests[i]++
			}
		})
	}
	working.Wait()
	sum := result{elapsed: time.Since(begin), server: l.at.cpu() - server, generator: cpu(os.Getpid()) - generator}
	for _, n := range requests {
		sum.requests += n
	}
	return sum, errors.Join(failures...)
}

// dialAll connects clients. It returns those that connected even if one fails.
func dialAll(at *process, n int) (clients []*client, err error) {
	for range n {
		c, err := dial(at.address)
		if err != nil {
			return clients, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, c := range clients {
		c.conn.Close()
	}
}
