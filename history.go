package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"firefighters/internal/record"
)

// The actions that the table changes knows.
const (
	actionCreate   = "create"
	actionReplace  = "replace"
	actionDelete   = "delete"
	actionUndelete = "undelete"
	actionPurge    = "purge"
)

// change is what happened to a record.
type change struct {
	action string
	id     string
	before *before // nil if it was not, or is no longer known
}

// before is a record before a change.
type before struct {
	record.Firefighter
	damaged bool
}

// before gives a record that is about to change, if it is as on asks for, and
// its row number.
func (t *transaction) before(tenant tenantID, id string, on conditions) (*before, int64, error) {
	f, row, err := t.firefighter(tenant, id)
	damaged := errors.As(err, new(damagedRecord))
	if err == nil || damaged {
		err = on.checkBefore(f)
	}
	return &before{f, damaged}, row, err
}

// json is the record as the API has it. One that is damaged says so.
func (b *before) json() value {
	if b == nil {
		return nil
	}
	text := b.AppendJSON(nil)
	if b.damaged {
		text = append(text[:len(text)-1], `,"damaged":true}`...)
	}
	return string(text)
}

const rememberSQL = `
	INSERT INTO changes (at, tenant_id, record_id, action, key_id, before) VALUES (?, ?, ?, ?, nullif(?, 0), ?)`

// remember writes down a change of the record in this row.
func (t *transaction) remember(tenant tenantID, by keyID, row int64, ch change) error {
	t.touch(tenant, row)
	_, err := t.exec(rememberSQL, t.now, int64(tenant), ch.id, ch.action, int64(by), ch.before.json())
	return err
}

// tenantNamed gives the department of that name.
func (s *store) tenantNamed(name string) (tenant tenantID, err error) {
	err = s.read(func(c *conn) error {
		n, err := c.queryNumber(`SELECT id FROM tenants WHERE name = ?`, strings.TrimSpace(name))
		tenant = tenantID(n)
		return err
	})
	if errors.Is(err, errNotFound) {
		return 0, hinted{fmt.Errorf("there is no department %q", name), "firefighters keys list, which shows their names"}
	}
	return tenant, err
}

// pastChange is a change as it is told later.
type pastChange struct {
	At     string          `json:"at"`
	Action string          `json:"action"`
	ID     string          `json:"id"`
	Key    *int64          `json:"key"` // null: a command did it
	Label  *string         `json:"label"`
	Before json.RawMessage `json:"before"`
}

// historySQL walks through the changes of all departments: an index would cost
// each write more than this costs the few who ask.
const historySQL = `
	SELECT at, action, record_id, key_id, label, before
	  FROM changes LEFT JOIN keys ON keys.id = key_id
	 WHERE changes.tenant_id = ?1 AND at >= ?2 AND ?3 IN ('', record_id) ORDER BY changes.id`

// history gives the changes of a department, or of one record if id is not
// empty, oldest first.
func (s *store) history(tenant tenantID, id string, since time.Time, each func(pastChange)) error {
	return s.read(func(c *conn) error {
		return c.query(historySQL, values{int64(tenant), since.UnixMilli(), id}, func(row values) {
			ch := pastChange{At: showMoment(number(row[0])), Action: text(row[1]), ID: text(row[2]), Label: textOrNil(row[4])}
			if key, given := row[3].(int64); given {
				ch.Key = &key
			}
			if before := text(row[5]); before != "" {
				ch.Before = json.RawMessage(before)
			}
			each(ch)
		})
	})
}

// showMoment is a time in milliseconds to the millisecond.
func showMoment(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

const historyHelp = `Usage: firefighters history --tenant NAME [flags]

Shows who changed which record of a department when, and what it was before,
oldest first. It may run while the service does.

  firefighters history --tenant "Engine 7" --since 30d
  firefighters history --tenant "Engine 7" --id 01a1f83c-64f7-795d-bc35-4c6516093415 --json

Flags:
`

func (p *program) history(args []string) error {
	flags := p.flags("history", historyHelp)
	db := dbFlag(flags)
	tenantName := tenantFlag(flags)
	id := flags.String("id", "", "only the record with this id")
	since := flags.String("since", "", "only from then on: 30d or 12h ago, a day (UTC) as 2027-01-31, or a time as 2027-01-31T08:00:00Z")
	asJSON := flags.Bool("json", false, "a line of JSON for each change: at, action, id, key, label, before")
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	ids, idErr := recordIDs([]string{*id})
	from, sinceErr := parseSince(*since)
	switch {
	case *id != "" && idErr != nil:
		return usage(fmt.Sprintf("history: --id must be the id of a record, not %q", *id), "firefighters history --help")
	case sinceErr != nil:
		return usage(fmt.Sprintf("history: --since must be like 30d or 2027-01-31, not %q", *since), "firefighters history --help")
	case *id != "":
		*id = ids[0]
	}
	return p.withTenant(*db, *tenantName, "history", func(s *store, tenant tenantID) error {
		show, end := p.historyTable()
		if *asJSON {
			show, end = p.historyLines()
		}
		if err := s.history(tenant, *id, from(s.clock.now()), show); err != nil {
			return explain("reading", *db, err)
		}
		return end()
	})
}

// historyLines gives what adds a line of JSON and what prints them all: only
// when the reading is done, for whoever reads them slowly would keep the -wal
// from starting over.
func (p *program) historyLines() (show func(pastChange), end func() error) {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	show = func(ch pastChange) {
		if !json.Valid(ch.Before) && ch.Before != nil { // damaged; its text is all there is
			ch.Before, _ = json.Marshal(string(ch.Before))
		}
		lines.Encode(ch)
	}
	return show, func() error { _, err := text.WriteTo(p.stdout); return err }
}

// historyTable gives what adds a line to a table and what prints it.
func (p *program) historyTable() (show func(pastChange), end func() error) {
	t := newTable("AT\tACTION\tID\tKEY\tLABEL\tBEFORE")
	show = func(ch pastChange) {
		key, label := "-", "-"
		if ch.Key != nil {
			key = fmt.Sprint(*ch.Key)
		}
		if ch.Label != nil && *ch.Label != "" {
			label = *ch.Label
		}
		t.add(ch.At, ch.Action, ch.ID, key, label, summaryOf(ch.Before))
	}
	return show, func() error { return t.print(p) }
}

// summary says in a line what a record was.
func (b *before) summary() string {
	parts := []string{b.FirstName + " " + b.LastName}
	for _, part := range []string{b.PhoneNumber, b.Email, b.DateOfBirth} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if b.damaged {
		parts = append(parts, "(damaged)")
	}
	return strings.Join(parts, ", ")
}

// summaryOf is the summary of a record in JSON, a dash where there is none.
func summaryOf(text json.RawMessage) string {
	var f struct {
		record.Fields
		Damaged bool
	}
	switch {
	case text == nil:
		return "-"
	case json.Unmarshal(text, &f) != nil:
		return "(damaged)"
	}
	return (&before{record.Firefighter{Fields: f.Fields}, f.Damaged}).summary()
}

// table is printed with its heading on standard error, so that the lines on
// standard output are data alone.
type table struct {
	text strings.Builder
	w    *tabwriter.Writer
}

func newTable(heading string) *table {
	t := &table{}
	t.w = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t.w, heading)
	return t
}

func (t *table) add(cells ...string) { fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

func (t *table) print(p *program) error {
	t.w.Flush()
	heading, lines, _ := strings.Cut(t.text.String(), "\n")
	fmt.Fprintln(p.stderr, heading)
	_, err := fmt.Fprint(p.stdout, lines)
	return err
}

// parseSince reads a time ago, a day or a moment. Nothing is the beginning.
func parseSince(text string) (at func(now time.Time) time.Time, err error) {
	if text == "" {
		return func(time.Time) time.Time { return time.UnixMilli(0) }, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if moment, err := time.Parse(layout, text); err == nil {
			return func(time.Time) time.Time { return moment }, nil
		}
	}
	return parseAge(text)
}

// parseAge reads a number of years, or a duration as parseDuration does, and
// gives the time that long before another.
func parseAge(text string) (before func(now time.Time) time.Time, err error) {
	if number, isYears := strings.CutSuffix(text, "y"); isYears {
		years, err := strconv.ParseUint(number, 10, 8)
		return func(now time.Time) time.Time { return now.AddDate(-int(years), 0, 0) }, err
	}
	d, err := parseDuration(text)
	return func(now time.Time) time.Time { return now.Add(-d) }, err
}

func tenantFlag(flags *pflag.FlagSet) *string {
	return flags.String("tenant", "", "the department's name (required)")
}

// withTenant does something with a department of the database at path.
func (p *program) withTenant(path, tenantName, command string, do func(*store, tenantID) error) error {
	if strings.TrimSpace(tenantName) == "" {
		return usage(command+": --tenant is required", "firefighters "+command+" --help")
	}
	return p.withStore(path, false, func(s *store) error {
		tenant, err := s.tenantNamed(tenantName)
		if err != nil {
			return err
		}
		return do(s, tenant)
	})
}
