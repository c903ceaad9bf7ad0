package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/firefighter-records/firefighters/internal/people/demo"
)

// imported is the number of people in a file to import.
const imported = 17_000

// imports measures the command import beside the service: how long it takes, and
// its memory. The people must be found at once.
func (b *bench) imports() error {
	var took, memory []finding
	for number, format := range []struct {
		name  string
		write func(path string, rows [][]string) error
	}{{"xlsx", writeXLSX}, {"csv", writeCSV}} {
		path := filepath.Join(b.folder, "people."+format.name)
		rows := people(number + 1)
		if err := format.write(path, rows); err != nil {
			return err
		}
		tenant := "Import of " + format.name
		began := time.Now()
		peak, err := b.command("import", path, "--apply", "--tenant", tenant, "--db", b.own.path)
		if err != nil {
			return err
		}
		length := time.Since(began)
		found, err := b.findImported(tenant, rows)
		if err != nil {
			return err
		}
		figures := fmt.Sprintf("%d rows, found %d ms later, %.0f MB", imported, found.Milliseconds(), peak/megabyte)
		took = append(took, finding{format.name, length.Seconds(), figures})
		memory = append(memory, finding{format.name, peak / megabyte, fmt.Sprintf("VmHWM of the command, which took %.1f s", length.Seconds())})
	}
	b.table.add("import of 17,000 people, beside the service", atMost(10, "s"), took...)
	b.table.add("memory of that import", atMost(150, "MB"), memory...)
	return nil
}

// people returns the rows of a file: a header as a station would write it, and
// invented people. Each number is another file.
func people(number int) [][]string {
	rows := [][]string{{"Last name", "First name", "Mobile", "E-mail", "Date of birth"}}
	for n := range imported {
		f := demo.Person(number, n)
		rows = append(rows, []string{fmt.Sprintf("%s %d", f.LastName, n), f.FirstName, f.PhoneNumber, f.Email, f.DateOfBirth})
	}
	return rows
}

func writeCSV(path string, rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

func writeXLSX(path string, rows [][]string) error {
	book := excelize.NewFile()
	defer book.Close()
	for i, row := range rows {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			return err
		}
	}
	return book.SaveAs(path)
}

// findImported searches for the last person of a file through the service, with a
// new key, and returns how long that took.
func (b *bench) findImported(tenant string, rows [][]string) (time.Duration, error) {
	began := time.Now()
	key, err := b.newKey(tenant, b.own.path)
	if err != nil {
		return 0, err
	}
	last := rows[len(rows)-1][0]
	query := "search=" + url.QueryEscape(strings.Join(strings.Fields(last), " "))
	_, err = fetch(b.alone, newRequest("GET", records+"?"+query, key, "", 200, someItem))
	return time.Since(began), err
}

func (b *bench) newKey(tenant, db string, flags ...string) (string, error) {
	key, err := exec.CommandContext(b.ctx, b.program, append([]string{"keys", "create", "--tenant", tenant, "--db", db}, flags...)...).Output()
	return strings.TrimSpace(string(key)), err
}

// command runs a command of the service's program and returns the most memory
// that it had, in bytes. The figure of getrusage would have that of this program
// in it.
func (b *bench) command(args ...string) (peak float64, err error) {
	var stderr bytes.Buffer
	c := &process{command: exec.CommandContext(b.ctx, b.program, args...), exited: make(chan error, 1)}
	c.command.Stderr = &stderr
	if err := c.command.Start(); err != nil {
		return 0, err
	}
	go func() { c.exited <- c.command.Wait() }()
	for {
		select {
		case err := <-c.exited:
			if err != nil {
				err = fmt.Errorf("%w: %s", err, stderr.String())
			}
			return peak, err
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, float64(c.memory("VmHWM")))
		}
	}
}

// exports measures the memory of a service that sends a department of the size of
// the country, in each format that can have so many and in two orders.
func (b *bench) exports() error {
	path := filepath.Join(b.folder, "nation.db")
	if _, err := b.invent(path, 1, b.people); err != nil {
		return err
	}
	key, err := b.newKey(demo.Department(0), path)
	if err != nil {
		return err
	}
	var all []finding
	for _, query := range []string{"format=csv", "format=csv&sortBy=lastName", "format=jsonl", "format=vcf"} {
		f, err := b.export(path, key, query)
		if err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		all = append(all, f)
	}
	b.table.add("memory of an export of 1,200,000 people, one department", atMost(150, "MB"), all...)
	return os.Remove(path)
}

// export reads an export to its end from a service of its own, and checks that
// everybody is in it.
func (b *bench) export(path, key, query string) (f finding, err error) {
	p, err := start(b.ctx, b.program, "serve", "--db", path, "--listen", "127.0.0.1:0")
	if err != nil {
		return f, err
	}
	defer p.stop()
	request, err := http.NewRequestWithContext(b.ctx, "GET", "http://"+p.address+"/api/v1/export?"+query, nil)
	if err != nil {
		return f, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return f, err
	}
	defer response.Body.Close()
	first := time.Since(began)
	sent := &counter{mark: personMark(query)}
	size, err := io.Copy(sent, response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || sent.found != b.people) {
		err = fmt.Errorf("status %d with %d people", response.StatusCode, sent.found)
	}
	figures := fmt.Sprintf("VmHWM; %d MB in %.1f s, the first byte after %.1f s", size>>20, time.Since(began).Seconds(), first.Seconds())
	return finding{query, float64(p.memory("VmHWM")) / megabyte, figures}, err
}

// personMark returns a text that each person has once in an export.
func personMark(query string) []byte {
	switch {
	case strings.Contains(query, "vcf"):
		return []byte("BEGIN:VCARD")
	case strings.Contains(query, "jsonl"):
		return []byte(`{"id":`)
	}
	return []byte("\r\n0") // ids of version 7 begin with 0 until the year 2527
}

// counter counts how often a text occurs in what is written to it.
type counter struct {
	mark  []byte
	rest  []byte // the end of what was written, which may be the beginning of a mark
	found int
}

func (c *counter) Write(b []byte) (int, error) {
	text := append(c.rest, b...)
	c.found += bytes.Count(text, c.mark)
	c.rest = append([]byte(nil), text[max(0, len(text)-len(c.mark)+1):]...)
	return len(b), nil
}
