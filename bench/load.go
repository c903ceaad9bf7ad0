package main

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// supply hands out requests in the random order in which they were drawn.
type supply struct {
	requests []request
	once     bool // hand out each request once; otherwise start again at the end
	taken    atomic.Uint64
}

// take returns the next request, or nil when none is left.
func (s *supply) take() *request {
	n := s.taken.Add(1) - 1
	if s.once && n >= uint64(len(s.requests)) {
		return nil
	}
	return &s.requests[n%uint64(len(s.requests))]
}

// load is a number of clients that send requests. Each client sends its next
// request when the last one has been answered.
type load struct {
	at      *process
	clients int
	supply  *supply
	pace    float64 // requests a second of all clients together; 0 for no limit
}

// result is the outcome of a load.
type result struct {
	requests  int
	elapsed   time.Duration
	latencies []time.Duration
	server    time.Duration // CPU time of the server
	generator time.Duration // CPU time of this process
}

func (r result) rate() float64 { return float64(r.requests) / r.elapsed.Seconds() }

// percentile returns the latency that the share p of all requests did not
// exceed.
func (r result) percentile(p float64) time.Duration {
	slices.Sort(r.latencies)
	return r.latencies[int(p*float64(len(r.latencies)-1))]
}

// run sends requests for the given time, or until the supply ends. One
// unexpected answer makes the whole load fail.
func (l load) run(length time.Duration) (result, error) {
	clients, err := l.dial()
	defer closeAll(clients)
	if err != nil {
		return result{}, err
	}
	done := make([]result, l.clients)
	failures := make([]error, l.clients)
	server, generator := l.at.cpu(), cpu(os.Getpid())
	var working sync.WaitGroup
	begin := time.Now()
	for i, c := range clients {
		working.Go(func() { done[i], failures[i] = l.work(c, i, begin, length) })
	}
	working.Wait()
	sum := result{elapsed: time.Since(begin), server: l.at.cpu() - server, generator: cpu(os.Getpid()) - generator}
	l.at.sample()
	for _, r := range done {
		sum.requests += r.requests
		sum.latencies = append(sum.latencies, r.latencies...)
	}
	if err := errors.Join(failures...); err != nil {
		return sum, err
	}
	if sum.requests == 0 {
		return sum, errors.New("no requests were left to send")
	}
	return sum, nil
}

// dial connects all clients. It returns those that connected even if one fails.
func (l load) dial() (clients []*client, err error) {
	for range l.clients {
		c, err := dial(l.at.address)
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

// work sends the requests of the client with the given number.
func (l load) work(c *client, number int, begin time.Time, length time.Duration) (r result, err error) {
	for {
		sent := l.wait(begin, r.requests*l.clients+number)
		if sent.Sub(begin) >= length {
			return r, nil
		}
		next := l.supply.take()
		if next == nil {
			return r, nil
		}
		if _, err := c.do(next); err != nil {
			return r, err
		}
		r.requests++
		r.latencies = append(r.latencies, time.Since(sent))
	}
}

// wait waits until the request with the given number is due and returns the
// time.
func (l load) wait(begin time.Time, number int) time.Time {
	if l.pace > 0 {
		time.Sleep(time.Until(begin.Add(time.Duration(float64(number) / l.pace * float64(time.Second)))))
	}
	return time.Now()
}
