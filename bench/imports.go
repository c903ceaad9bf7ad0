package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	importClients = 32
	imported      = 17_000               // people in a list
	createPace    = 5 * time.Millisecond // between two creates of all clients together
)

// lists returns a list of new people, and one that updates them.
func lists() (added, changed []byte, err error) {
	rows := people()
	if added, err = encodeCSV(rows); err != nil {
		return nil, nil, err
	}
	for i, row := range rows[1:] {
		if row[3]+row[4] != "" { // the e-mail address or the date of birth tells who it is
			row[2] = fmt.Sprintf("091 %07d", i)
		}
	}
	changed, err = encodeCSV(rows)
	return added, changed, err
}

// importWait measures how long creates in other departments wait while lists of 17,000
// people are imported.
func (b *bench) importWait() error {
	list := filepath.Join(b.folder, "imports.csv")
	added, changed, err := lists()
	if err != nil {
		return err
	}
	if err := os.WriteFile(list, added, 0o600); err != nil {
		return err
	}
	post := func(query string, list []byte) func(string) error {
		return func(tenant string) error { return b.postImport(tenant, query, list) }
	}
	command := func(tenant string) error {
		out, err := exec.CommandContext(b.ctx, b.program, "import", list, "--apply", "--new", "--tenant", tenant, "--db", b.country.path).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}
	ways := []struct {
		name    string
		imports func(string) error
		tenants []string
	}{
		{"one, by the API", post("", added), []string{"A"}},
		{"an update of everyone, by the API", post("&update=true", changed), []string{"A"}},
		{"one, by the command", command, []string{"B"}},
		{"two at once, by the API", post("", added), []string{"C", "D"}},
		{"two at once, by the command", command, []string{"E", "F"}},
	}
	type measured struct{ longest, p99, took []float64 }
	all := make([]measured, len(ways))
	for round := range b.rounds {
		for i, w := range ways {
			delays, took, err := b.createDuring(func() error {
				failures := make([]error, len(w.tenants))
				var working sync.WaitGroup
				for i, tenant := range w.tenants {
					working.Go(func() { failures[i] = w.imports(fmt.Sprintf("Importing %s %d", tenant, round)) })
				}
				working.Wait()
				return errors.Join(failures...)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			m := &all[i]
			m.longest = append(m.longest, milliseconds(delays[len(delays)-1]))
			m.p99 = append(m.p99, milliseconds(delays[len(delays)*99/100]))
			m.took = append(m.took, took.Seconds())
		}
	}
	var longest, p99 []finding
	for i, w := range ways {
		m := all[i]
		longest = append(longest, finding{w.name, median(m.longest), fmt.Sprintf("all done after %.1f s", median(m.took))})
		p99 = append(p99, finding{w.name, median(m.p99), fmt.Sprintf("200 creates a second; slowest round %.0f ms", slices.Max(m.p99))})
	}
	b.table.add("longest wait of a create during an import of 17,000 people into another department", atMost(1200, "ms"), longest...)
	b.table.add("p99 of these creates", atMost(1200, "ms"), p99...)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// people returns the rows of a list: a header as a station would write it, and
// invented people.
func people() [][]string {
	rows := [][]string{{"Last name", "First name", "Mobile", "E-mail", "Date of birth"}}
	for n := range imported {
		f := inventor.Person(today, 1, n)
		rows = append(rows, []string{fmt.Sprintf("%s %d", f.LastName, n), f.FirstName, f.PhoneNumber, f.Email, f.DateOfBirth})
	}
	return rows
}

func encodeCSV(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
}

// postImport creates a department and imports a list into it by the API.
func (b *bench) postImport(tenant, query string, list []byte) error {
	key, err := exec.CommandContext(b.ctx, b.program, "keys", "create", "--new", "--tenant", tenant, "--db", b.country.path).Output()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(b.ctx, "POST", "http://"+b.service.address+"/api/v1/imports?apply=true"+query, bytes.NewReader(list))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	r.Header.Set("Content-Type", "text/csv")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode != http.StatusCreated {
		err = fmt.Errorf("status %d: %.200s", w.StatusCode, body)
	}
	return err
}

// createDuring creates people in all departments at a steady pace until work returns. It
// returns the delay of each create, sorted. A delay starts when the create is due, not
// when it is sent.
func (b *bench) createDuring(work func() error) (delays []time.Duration, took time.Duration, err error) {
	creates := creates(b.country.random, b.country.drawn)
	clients, err := dialAll(b.service, importClients)
	defer closeAll(clients)
	if err != nil {
		return nil, 0, err
	}
	waited, failures := make([][]time.Duration, len(clients)), make([]error, len(clients))
	ended := make(chan struct{})
	begin := time.Now()
	var working sync.WaitGroup
	for i, c := range clients {
		working.Go(func() {
			for n := i; failures[i] == nil; n += len(clients) {
				due := begin.Add(time.Duration(n) * createPace)
				select {
				case <-ended:
					return
				case <-time.After(time.Until(due)):
				}
				_, failures[i] = c.do(&creates[n%len(creates)])
				waited[i] = append(waited[i], time.Since(due))
			}
		})
	}
	err = work()
	took = time.Since(begin)
	close(ended)
	working.Wait()
	delays = slices.Concat(waited...)
	slices.Sort(delays)
	return delays, took, errors.Join(err, errors.Join(failures...))
}
