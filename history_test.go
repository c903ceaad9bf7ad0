package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// wireChange is a line of history --json.
type wireChange struct {
	At     string          `json:"at"`
	Action string          `json:"action"`
	ID     string          `json:"id"`
	Key    *int64          `json:"key"`
	Label  *string         `json:"label"`
	Before json.RawMessage `json:"before"`
}

// told is what a line says but for its time: action, id, key and label, before.
func (c wireChange) told() string {
	by := "a command"
	if c.Key != nil {
		by = fmt.Sprintf("key %d", *c.Key)
	}
	if c.Label != nil {
		by += " " + *c.Label
	}
	return strings.Join([]string{c.Action, c.ID, by, string(c.Before)}, " | ")
}

// works runs a command that must succeed.
func works(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := command(t, args...)
	if code != 0 {
		t.Fatalf("%q: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// historyOf gives the changes of a department that history --json tells.
func historyOf(t *testing.T, db, tenant string, flags ...string) (all []wireChange) {
	t.Helper()
	stdout, stderr := works(t, append([]string{"history", "--db", db, "--tenant", tenant, "--json"}, flags...)...)
	if stderr != "" {
		t.Errorf("stderr: %s", stderr)
	}
	form := regexp.MustCompile(`^\{"at":"[^"]*","action":"[a-z]*","id":"[^"]*","key":[^,]*,"label":.*,"before":.*\}\n$`)
	for line := range strings.Lines(stdout) {
		var c wireChange
		if decode(t, line, &c); !form.MatchString(line) {
			t.Errorf("the line %q", line)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", c.At); err != nil {
			t.Errorf("at: %v", err)
		}
		all = append(all, c)
	}
	return all
}

// tells fails unless the changes are these.
func tells(t *testing.T, about string, changes []wireChange, want ...string) {
	t.Helper()
	var got []string
	for _, c := range changes {
		got = append(got, c.told())
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", about, g, w)
	}
}

// TestHistory: each action, by whom, and the record as GET gave it before,
// told while a server serves the file.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := s.as(newKey(t, s.db, "default", "--label", `front "desk" <2>`))
	plain := s.as(newKey(t, s.db, "default"))
	get := func(id string) string { return s.do(t, "GET", collection+"/"+id, "").wants(t, 200).body }

	began := time.Now().Add(-time.Minute)
	id := s.create(t, `{"firstName":"Ana \"<&>\u2028","lastName":"Čović\\","email":"ana@example.com","dateOfBirth":"1990-05-15"}`)
	first := get(id)
	desk.do(t, "PUT", collection+"/"+strings.ToUpper(id), ana).wants(t, 200)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent', user_id = ?`, nobody)
	second := get(id)
	plain.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	works(t, "undelete", "--db", s.db, "--tenant", "default", id)
	if got := get(id); got != second {
		t.Errorf("brought back as %s, was %s", got, second)
	}
	desk.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	other := plain.create(t, `{"firstName":"B","lastName":"C"}`)
	want := []string{
		"create | " + id + " | key 1 first key | null",
		"replace | " + id + ` | key 2 front "desk" <2> | ` + first,
		"delete | " + id + " | key 3  | " + second,
		"undelete | " + id + " | a command | null",
		"delete | " + id + ` | key 2 front "desk" <2> | ` + second,
		"create | " + other + " | key 3  | null",
	}
	all := historyOf(t, s.db, "default")
	tells(t, "all", all, want...)
	for _, c := range all {
		if at, _ := time.Parse(time.RFC3339, c.At); at.Before(began) || at.After(time.Now().Add(time.Minute)) {
			t.Errorf("at %s", c.At)
		}
	}
	for _, spelling := range []string{id, strings.ToUpper(id)} {
		tells(t, "of one", historyOf(t, s.db, " default ", "--id", spelling), want[:5]...)
	}
	tells(t, "of nobody", historyOf(t, s.db, "default", "--id", nobody))
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	tells(t, "after the purge", historyOf(t, s.db, "default"), want[5], "purge | "+id+" | a command | null")
	execSQL(t, s.db, `DELETE FROM keys WHERE id = 3`)
	tells(t, "without the key", historyOf(t, s.db, "default", "--id", other), "create | "+other+" | key 3 | null")
}

// TestHistoryTable: a line each, for people; the heading is no result.
func TestHistoryTable(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"A","lastName":"B"}`).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	stdout, stderr := works(t, "history", "--db", s.db, "--tenant", "default")
	if strings.Join(strings.Fields(stderr), " ") != "AT ACTION ID KEY LABEL BEFORE" {
		t.Errorf("the heading: %q", stderr)
	}
	lines := strings.Split(stdout, "\n")
	for i, want := range []string{
		`create   ` + id + `  1  first key  -`,
		`replace  ` + id + `  1  first key  Ana Čović, 091 234 5678, ana@example.com, 1990-05-15T00:00:00Z`,
		`delete   ` + id + `  1  first key  A B`,
		``,
	} {
		got := regexp.MustCompile(`^\S+Z +`).ReplaceAllString(lines[i], "")
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("line %d: %q, not %q", i, got, want)
		}
	}
	if stdout, stderr := works(t, "history", "--db", s.db, "--tenant", "default", "--since", "2999-01-31"); stdout != "" || stderr == "" {
		t.Errorf("of no change: stdout %q, stderr %q", stdout, stderr)
	}
	execSQL(t, s.db, `UPDATE changes SET before = '{"id' WHERE action = 'delete'`) // as a damaged disk would
	if stdout, _ := works(t, "history", "--db", s.db, "--tenant", "default"); !strings.HasSuffix(stdout, "  (damaged)\n") {
		t.Errorf("of a damaged line: %s", stdout)
	}
	if got := historyOf(t, s.db, "default"); len(got) != 3 || string(got[2].Before) != `"{\"id"` {
		t.Errorf("of a damaged line: %v", got)
	}
	stdout, stderr = works(t, "deleted", "--db", s.db, "--tenant", "default")
	if form := regexp.MustCompile(`^` + id + ` +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +A B\n$`); !form.MatchString(stdout) || !strings.HasPrefix(stderr, "ID ") {
		t.Errorf("deleted: stdout %q, stderr %q", stdout, stderr)
	}
}

func TestHistorySince(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := time.Now()
	for _, at := range []time.Time{time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC).AddDate(-20, 0, 0), now.AddDate(-3, 0, 0),
		now.Add(-40 * 24 * time.Hour), now.Add(-20 * time.Hour), now} {
		id := s.create(t, ana)
		execSQL(t, s.db, `UPDATE changes SET at = ? WHERE record_id = ?`, at.UnixMilli(), id)
	}
	for since, want := range map[string]int{
		"": 5, "2006-01-31": 5, "2006-02-01": 4, "1900-01-01": 5, "2006-01-31T08:00:00Z": 5, "2006-01-31T08:00:01Z": 4,
		"2006-01-31T08:00:00.001Z": 4, "2006-01-31T10:00:00+02:00": 5, "2006-01-31T09:00:00+00:30": 4, "30y": 5, "5y": 4, "2y": 3,
		"100w": 3, "30d": 2, "12h": 1, "1200m": 1, "0s": 0, "2999-12-31": 0,
	} {
		if got := historyOf(t, s.db, "default", "--since", since); len(got) != want && (since != "0s" || len(got) > 1) {
			t.Errorf("--since %q: %d changes, not %d", since, len(got), want)
		}
	}
}

// TestHistoryOfOthers: no command for one department tells of another's
// records, or changes them.
func TestHistoryOfOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	mine, theirs, gone := s.create(t, ana), other.create(t, ana), other.create(t, ana)
	other.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	tells(t, "all", historyOf(t, s.db, "default"), "create | "+mine+" | key 1 first key | null")
	for _, id := range []string{theirs, gone} {
		tells(t, "theirs", historyOf(t, s.db, "default", "--id", id))
		refuses(t, 1, lacks(id), "undelete", "--db", s.db, "--tenant", "default", id)
		refuses(t, 1, lacks(id), "purge", "--yes", "--db", s.db, "--tenant", "default", id)
	}
	if stdout, _ := works(t, "deleted", "--db", s.db, "--tenant", "default"); stdout != "" {
		t.Errorf("deleted: %s", stdout)
	}
	if _, stderr := works(t, "purge", "--db", s.db, "--tenant", "default", "--older-than", "0s"); stderr != "There is nothing to erase.\n" {
		t.Errorf("purge: %s", stderr)
	}
	if got := historyOf(t, s.db, "other"); len(got) != 3 {
		t.Errorf("the other's history: %v", got)
	}
	works(t, "undelete", "--db", s.db, "--tenant", "other", gone)
	other.do(t, "GET", collection+"/"+gone, "").wants(t, 200)
	s.do(t, "GET", collection+"/"+gone, "").wants(t, 404)
}

// lacks is what undelete and purge answer where there is no such record.
func lacks(id string) string {
	return "Error: the department has no deleted record " + id + "; nothing was changed\n" +
		"Try: firefighters deleted --tenant NAME, which lists them\n"
}

// refuses runs a command that must fail, with this code and just these words.
func refuses(t *testing.T, code int, words string, args ...string) {
	t.Helper()
	if got, stdout, stderr := command(t, args...); got != code || stdout != "" || stderr != words {
		t.Errorf("%q: code %d, stdout %q, stderr:\n%swant %d and:\n%s", args, got, stdout, stderr, code, words)
	}
}

// TestPastUsage pins what wrong command lines of history, deleted, undelete
// and purge are answered with.
func TestPastUsage(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "A")
	absent := filepath.Join(t.TempDir(), "absent.db")
	for _, name := range []string{"history", "deleted", "undelete", "purge"} {
		help := "\nTry: firefighters " + name + " --help\n"
		with := func(args ...string) []string { return append([]string{name, "--db", db}, args...) }
		var ids []string
		if name == "undelete" || name == "purge" {
			ids = []string{nobody}
		}
		unknown := "Error: there is no department \"B\"\nTry: firefighters keys list, which shows their names\n"
		refuses(t, 2, "Error: "+name+": --tenant is required"+help, with(ids...)...)
		refuses(t, 2, "Error: "+name+": --tenant is required"+help, append(with(ids...), "--tenant", " ")...)
		refuses(t, 1, unknown, append(with(ids...), "--tenant", "B")...)
		refuses(t, 2, "Error: "+name+": unknown flag: --nope"+help, with("--nope")...)
		refuses(t, 1, fmt.Sprintf("Error: there is no database at %q\nTry: name the right file with --db, or bring back a backup: firefighters restore FILE --db %s\n", absent, absent),
			append([]string{name, "--tenant", "A", "--db", absent}, ids...)...)
		if code, stdout, _ := command(t, name, "--help"); code != 0 || !strings.Contains(stdout, "\n  firefighters "+name+" --tenant ") {
			t.Errorf("%s --help: code %d, stdout %q", name, code, stdout)
		}
	}
	tests := []struct{ args, want string }{
		{"history --id ana", "history: --id must be the id of a record, not \"ana\"\nTry: firefighters history --help"},
		{"history --id x" + nobody + "x", "history: --id must be the id of a record, not \"x" + nobody + "x\"\nTry: firefighters history --help"},
		{"history --since soon", "history: --since must be like 30d or 2027-01-31, not \"soon\"\nTry: firefighters history --help"},
		{"history --since 2027-02-30", "history: --since must be like 30d or 2027-01-31, not \"2027-02-30\"\nTry: firefighters history --help"},
		{"history --since -30d", "history: --since must be like 30d or 2027-01-31, not \"-30d\"\nTry: firefighters history --help"},
		{"history --since 999y", "history: --since must be like 30d or 2027-01-31, not \"999y\"\nTry: firefighters history --help"},
		{"history stray", "history: 1 arguments beside the flags, where it takes 0\nTry: firefighters history --help"},
		{"deleted stray", "deleted: 1 arguments beside the flags, where it takes 0\nTry: firefighters deleted --help"},
		{"undelete", "undelete: say which, by their ids\nTry: firefighters deleted --tenant NAME, which lists them"},
		{"undelete ana", "undelete: \"ana\" is not the id of a record\nTry: firefighters undelete --help"},
		{"purge", "purge: say which, by their ids or by --older-than\nTry: firefighters purge --help"},
		{"purge ana", "purge: \"ana\" is not the id of a record\nTry: firefighters purge --help"},
		{"purge --older-than 7y " + nobody, "purge: say which, by their ids or by --older-than\nTry: firefighters purge --help"},
		{"purge --older-than 7", "purge: --older-than must be like 7y, 26w or 90d, not \"7\"\nTry: firefighters purge --help"},
		{"purge --older-than 2027-01-31", "purge: --older-than must be like 7y, 26w or 90d, not \"2027-01-31\"\nTry: firefighters purge --help"},
	}
	for _, tt := range tests {
		refuses(t, 2, "Error: "+tt.want+"\n", append(strings.Fields(tt.args), "--tenant", "A", "--db", db)...)
	}
}

// TestFailuresLeaveNoChange: what was refused is not in the history.
func TestFailuresLeaveNoChange(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	c := s.as(storeKey(t, s.server.store, time.Time{}))
	var reader string
	must(t, s.server.store.createKey("A", "", scopeRead, time.Time{}, func(key string) error { reader = key; return nil }))
	limit := func(pages int) { // as if the disk had room for no more
		_, err := s.server.store.writer.conn.queryNumber(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
		must(t, err)
	}
	id, gone := c.create(t, ana), c.create(t, ana)
	c.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	made := 3
	for _, method := range []string{"PUT", "DELETE"} {
		for _, missing := range []string{gone, nobody} {
			c.do(t, method, collection+"/"+missing, ana).wants(t, 404)
		}
		c.do(t, method, collection+"/x", ana).wants(t, 400)
		c.as(reader).do(t, method, collection+"/"+id, ana).wants(t, 403)
	}
	c.do(t, "PUT", collection+"/"+id, `{"firstName":"A"}`).wants(t, 400)
	c.do(t, "POST", collection, `{"firstName":"A"}`).wants(t, 400)
	c.as(reader).do(t, "POST", collection, ana).wants(t, 403)
	limit(1)
	for full := 0; full < 3; {
		if a := c.do(t, "POST", collection, ana); a.status == http.StatusInsufficientStorage {
			full++
		} else {
			a.wants(t, 201)
			made++
		}
	}
	limit(1 << 30)
	if got := len(historyOf(t, s.path(t), "A")); got != made {
		t.Errorf("%d changes, not %d", got, made)
	}
}

// path is the file that the server serves.
func (s *testServer) path(t *testing.T) (path string) {
	t.Helper()
	must(t, s.server.store.read(func(c *conn) error {
		return c.queryRow(`SELECT file FROM pragma_database_list`, nil, func(row values) { path = text(row[0]) })
	}))
	return path
}
