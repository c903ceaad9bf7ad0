package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

const (
	startRounds = 20 // for each of the rounds of other comparisons
	idleTime    = 10 * time.Second
)

// startRows compares the programs from their start: the time until they are ready, the memory
// of an idle service, and the size of the program.
func (b *bench) startRows() (rows []row, err error) {
	programs := append([]string{b.program, b.program}, b.against...)
	paths := make([]string, len(programs)) // of databases of 40 people
	for i, program := range programs {
		c, err := b.demo(program, fmt.Sprintf("start%d.db", i), 1, 40)
		if err != nil {
			return nil, err
		}
		paths[i] = c.path
	}
	existing := func(i int) string { return paths[i] }
	created := func(int) string { return filepath.Join(b.folder, "start", "new.db") }
	wall := func(_ *process, began time.Time) float64 { return time.Since(began).Seconds() * 1000 }
	used := func(p *process, _ time.Time) float64 { return p.cpu().Seconds() * 1000 }
	for _, r := range []struct {
		row
		values func() ([][]float64, error)
	}{
		{row{name: "start with 40 people", unit: "ms"}, func() ([][]float64, error) { return b.starts(programs, existing, wall) }},
		{row{name: "start with a new database", unit: "ms"}, func() ([][]float64, error) { return b.starts(programs, created, wall) }},
		{row{name: "CPU time of a start", unit: "ms"}, func() ([][]float64, error) { return b.starts(programs, existing, used) }},
		{row{name: "idle memory", unit: "MB"}, func() ([][]float64, error) { return b.idle(programs, paths) }},
		{row{name: "size of the program", unit: "MB"}, func() ([][]float64, error) { return sizes(programs) }},
	} {
		if err := b.fill(&r.row, r.values); err != nil {
			return nil, err
		}
		rows = append(rows, r.row)
	}
	return rows, nil
}

// serveReady starts a program on a database and waits until it is ready.
func (b *bench) serveReady(program, path string) (*process, error) {
	p, err := start(b.ctx, io.Discard, program, "serve", "--db", path, "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if _, err := fetch(p, newRequest("GET", "/readyz", "", "", 200, "")); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// starts runs the programs in turn, in random order, and calls meter for each when it is ready.
func (b *bench) starts(programs []string, path func(i int) string, meter func(*process, time.Time) float64) ([][]float64, error) {
	values := make([][]float64, len(programs))
	for range startRounds * b.rounds {
		for _, i := range b.country.random.Perm(len(programs)) {
			folder := filepath.Join(b.folder, "start") // for a new database
			if err := os.Mkdir(folder, 0o700); err != nil {
				return nil, err
			}
			began := time.Now()
			p, err := b.serveReady(programs[i], path(i))
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], meter(p, began))
			if err := p.stop(); err != nil {
				return nil, err
			}
			if err := os.RemoveAll(folder); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// idle returns the anonymous memory of services that have had no request for idleTime, in MB.
func (b *bench) idle(programs, paths []string) ([][]float64, error) {
	values := make([][]float64, len(programs))
	for range b.rounds {
		var all []*process
		for i, program := range programs {
			p, err := b.serveReady(program, paths[i])
			if err != nil {
				return nil, err
			}
			defer p.stop() // does nothing after the first time
			all = append(all, p)
		}
		time.Sleep(idleTime)
		for i, p := range all {
			values[i] = append(values[i], float64(p.memory("RssAnon"))/megabyte)
			p.stop()
		}
	}
	return values, nil
}

func sizes(programs []string) (values [][]float64, err error) {
	for _, program := range programs {
		info, err := os.Stat(program)
		if err != nil {
			return nil, err
		}
		values = append(values, []float64{float64(info.Size()) / megabyte})
	}
	return values, nil
}
