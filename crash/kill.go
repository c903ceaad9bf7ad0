package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	clients         = 32
	departmentCount = 3
	readyLimit      = 2 * time.Second // longest time from the start to a successful request
)

// killRun kills the service of one database repeatedly.
type killRun struct {
	*check
	db      string
	truths  []*truth
	own     [][]string
	keys    []string // created by other processes under load
	imports *importRun
	ready   []time.Duration
	writes  int64
	reads   int64
	unknown int64
	early   int // kills during a start
	late    int // kills during a stop
}

// kill kills the service at random moments: mostly under load, sometimes during startup
// and recovery, or during a stop. All kills use the same database.
func kill(c *check) error {
	k := &killRun{check: c, db: filepath.Join(c.folder, "kill.db"), own: make([][]string, clients)}
	k.imports = &importRun{check: c, db: k.db, file: filepath.Join(c.folder, "people.csv")}
	var err error
	if k.truths, err = c.departments(k.db, departmentCount); err != nil {
		return err
	}
	if k.imports.key, err = c.key(k.db, importing); err != nil {
		return err
	}
	for n := range c.kills {
		if err := k.round(n); err != nil || c.ctx.Err() != nil {
			return err
		}
	}
	if err := k.verifyEnd(); err != nil {
		return err
	}
	created := 0
	for _, t := range k.truths {
		created += t.size()
	}
	slices.Sort(k.ready)
	c.summary = fmt.Sprintf("%d kills under %d clients, %d of them during startup and %d during a stop; "+
		"%d writes and %d keys acknowledged, %d writes unanswered, %d reads; %d records created; "+
		"%d kills of import and undo commands, %d of which completed; ready again after %v (median), %v (slowest)",
		c.kills, clients, k.early, k.late, k.writes, len(k.keys), k.unknown, k.reads, created, k.imports.kills, k.imports.done,
		k.ready[len(k.ready)/2].Round(time.Millisecond), k.ready[len(k.ready)-1].Round(time.Millisecond))
	return nil
}

// round starts the service, verifies all records, and kills it under load.
func (k *killRun) round(n int) error {
	if n%5 == 2 {
		k.early++
		s, err := k.launch(k.db)
		if err != nil {
			return err
		}
		k.pause(0, 40*time.Millisecond)
		s.kill()
		k.checkText("killed during startup", s.log.String())
	}
	s, err := k.start()
	if err != nil {
		return err
	}
	k.verifyAll(fmt.Sprintf("after kill %d", n), s, k.truths, k.rand)
	if err := k.imports.verify(s); err != nil {
		return err
	}
	if n%2 == 0 {
		k.runCheck(fmt.Sprintf("after kill %d, while the service runs", n), k.db)
	}
	prune(k.truths, k.own)
	l := k.startLoad(s, k.truths, k.own)
	if n%4 == 1 {
		if err := k.imports.start(); err != nil {
			return err
		}
	}
	k.pause(10*time.Millisecond, 400*time.Millisecond)
	if n%5 == 0 {
		key, err := k.key(k.db, k.truths[0].name)
		if err != nil {
			k.wrong("creating a key under load: %v", err)
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
	k.imports.wait()
	k.writes, k.reads, k.unknown = k.writes+l.writes.Load(), k.reads+l.reads.Load(), k.unknown+l.unknown.Load()
	k.checkText("the log", s.log.String())
	if n%2 == 0 { // after odd rounds the service opens the database first
		k.runCheck(fmt.Sprintf("after kill %d, before a start", n+1), k.db)
	}
	return nil
}

// start starts the service after a kill and checks readyLimit.
func (k *killRun) start() (*service, error) {
	s, err := k.serve(k.db)
	if err != nil {
		return nil, err
	}
	took, err := s.ready(k.truths[0].key)
	if took > k.limit(readyLimit) {
		k.wrong("ready after %v", took)
	}
	k.ready = append(k.ready, took)
	return s, err
}

func (k *killRun) verifyEnd() error {
	const doing = "at the end"
	s, err := k.start()
	if err != nil {
		return err
	}
	k.verifyAll(doing, s, k.truths, k.rand)
	if err := k.imports.verify(s); err != nil {
		return err
	}
	for _, key := range k.keys {
		if status, _, err := s.client.do("GET", records, key, nil); err != nil || status != 200 {
			k.wrong("a request with a created key returned %d %v", status, err)
		}
	}
	k.runCheck(doing+", while the service runs", k.db)
	k.end(doing, s, k.db)
	if text := s.log.String(); strings.Contains(text, `"level":"ERROR"`) {
		k.wrong("%s: errors in the log: %s", doing, text)
	}
	return nil
}
