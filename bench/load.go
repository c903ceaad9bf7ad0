package main

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Numbers of clients that send at the same time.
const (
	readers = 32
	writers = 64
)

// load is a number of clients that send requests in their order, and then again. Each client waits
// for an answer before it sends its next request.
type load struct {
	at       *process
	clients  int
	requests []request
}

// run sends requests for the given time and returns the rate per second. One unexpected answer
// makes the whole load fail.
func (l load) run(length time.Duration) (rate float64, err error) {
	clients, err := dialAll(l.at, l.clients)
	defer closeAll(clients)
	if err != nil {
		return 0, err
	}
	var taken atomic.Int64
	failures := make([]error, l.clients)
	var working sync.WaitGroup
	begin := time.Now()
	for i, c := range clients {
		working.Go(func() {
			for failures[i] == nil && time.Since(begin) < length {
				_, failures[i] = c.do(&l.requests[int(taken.Add(1)-1)%len(l.requests)])
			}
		})
	}
	working.Wait()
	return float64(taken.Load()) / time.Since(begin).Seconds(), errors.Join(failures...)
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
