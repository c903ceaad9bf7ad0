package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The load of a kill.
const (
	clients         = 32
	departmentCount = 3
	readyLimit      = 2 * time.Second
)

// killing is a database that lives through many kills.
type killing struct {
	*check
	db      string
	truths  []*truth
	own     [][]string
	keys    []string // made by other processes, while the service was killed
	ready   []time.Duration
	writes  int64
	reads   int64
	unknown int64
	early   int // kills of a service that was only starting
	late    int // kills of one that was stopping
}

// kill kills the service at random moments: mostly under load, sometimes while
// it starts, and so recovers, or while it stops. The same database goes on.
func kill(c *check) error {
	k := &killing{check: c, db: filepath.Join(c.folder, "kill.db"), own: make([][]string, clients)}
	var err error
	if k.truths, err = c.departments(k.db, departmentCount); err != nil {
		return err
	}
	for n := range c.kills {
		if err := k.round(n); err != nil || c.ctx.Err() != nil {
			return err
		}
	}
	if err := k.look("at the end"); err != nil {
		return err
	}
	created := 0
	for _, t := range k.truths {
		created += t.size()
	}
	slices.Sort(k.ready)
	c.found = fmt.Sprintf("%d kills under %d clients, %d of them while it started and %d while it stopped; "+
		"%d writes and %d keys acknowledged, %d writes unknown, %d reads; %d records made; "+
		"ready again after %v (median), %v (slowest)", c.kills, clients, k.early, k.late, k.writes, len(k.keys), k.unknown,
		k.reads, created, k.ready[len(k.ready)/2].Round(time.Millisecond), k.ready[len(k.ready)-1].Round(time.Millisecond))
	return nil
}

// round starts the service, looks at everything, and kills it under load.
func (k *killing) round(n int) error {
	if n%5 == 2 {
		k.early++
		s, err := k.launch(k.db)
		if err != nil {
			return err
		}
		k.pause(0, 40*time.Millisecond)
		s.kill()
		k.judge("killed while it started", s.log.String())
	}
	s, err := k.start()
	if err != nil {
		return err
	}
	k.verifyAll(fmt.Sprintf("after kill %d", n), s, k.truths, k.rand)
	if n%2 == 0 {
		k.sound(fmt.Sprintf("after kill %d, while it is served", n), k.db)
	}
	prune(k.truths, k.own)
	l := k.startLoad(s, k.truths, k.own)
	k.pause(10*time.Millisecond, 400*time.Millisecond)
	if n%5 == 0 {
		key, err := k.key(k.db, k.truths[0].name)
		if err != nil {
			k.wrong("beside the load: %v", err)
		} else {
			k.keys = append(k.keys, key)
		}
	}
	l.end(func() {
		if n%8 == 3 {
			k.late++
			s.command.Process.Signal(syscall.SIGTERM)
			k.pause(0, 30*time.Millisecond)
		}
		s.kill()
	})
	k.writes, k.reads, k.unknown = k.writes+l.writes.Load(), k.reads+l.reads.Load(), k.unknown+l.unknown.Load()
	k.judge("the log", s.log.String())
	if n%2 == 0 {
		k.sound(fmt.Sprintf("after kill %d, as it lay", n+1), k.db) // else the service is the next to open it
	}
	return nil
}

// start starts the service after a kill, in good time.
func (k *killing) start() (*service, error) {
	s, err := k.serve(k.db)
	if err != nil {
		return nil, err
	}
	took, err := s.ready(k.truths[0].key)
	if took > readyLimit {
		k.wrong("ready after %v", took)
	}
	k.ready = append(k.ready, took)
	return s, err
}

// look looks at everything once more: the keys too, and the whole file.
func (k *killing) look(doing string) error {
	s, err := k.start()
	if err != nil {
		return err
	}
	k.verifyAll(doing, s, k.truths, k.rand)
	for _, key := range k.keys {
		if status, _, err := s.client.do("GET", records, key, nil); err != nil || status != 200 {
			k.wrong("a key that was made is answered by %d %v", status, err)
		}
	}
	k.sound(doing+", while it is served", k.db)
	if err := s.stop(); err != nil {
		k.wrong("%s: %v", doing, err)
	}
	if text := s.log.String(); strings.Contains(text, `"level":"ERROR"`) {
		k.wrong("%s: the log has %s", doing, text)
	}
	k.sound(doing, k.db)
	return nil
}
