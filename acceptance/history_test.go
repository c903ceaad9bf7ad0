package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
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

// text returns a line without its time: action, id, key and label, before.
func (c wireChange) text() string {
	by := "a command"
	if c.Key != nil {
		by = fmt.Sprintf("key %d", *c.Key)
	}
	if c.Label != nil {
		by += " " + *c.Label
	}
	return strings.Join([]string{c.Action, c.ID, by, string(c.Before)}, " | ")
}

// historyOf returns the changes of a department from history --json.
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
			t.Errorf("invalid line %q", line)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", c.At); err != nil {
			t.Errorf("at: %v", err)
		}
		all = append(all, c)
	}
	return all
}

// tells checks the texts of changes.
func tells(t *testing.T, about string, changes []wireChange, want ...string) {
	t.Helper()
	var got []string
	for _, c := range changes {
		got = append(got, c.text())
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", about, g, w)
	}
}

// TestHistory checks the action, the key and the previous record of each change while a
// server uses the file.
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
		t.Errorf("restored as %s, want %s", got, second)
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
			t.Errorf("unexpected time %s", c.At)
		}
	}
	for _, spelling := range []string{id, strings.ToUpper(id)} {
		tells(t, "of one record", historyOf(t, s.db, " default ", "--id", spelling), want[:5]...)
	}
	tells(t, "of an unknown id", historyOf(t, s.db, "default", "--id", nobody))
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	tells(t, "after the purge", historyOf(t, s.db, "default"), want[5], "purge | "+id+" | a command | null")
	execSQL(t, s.db, `DELETE FROM keys WHERE id = 3`)
	tells(t, "without the key", historyOf(t, s.db, "default", "--id", other), "create | "+other+" | key 3 | null")
}

// TestHistoryTable checks the table of the command. Its header row goes to standard error.
func TestHistoryTable(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"A","lastName":"B"}`).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	stdout, stderr := works(t, "history", "--db", s.db, "--tenant", "default")
	if strings.Join(strings.Fields(stderr), " ") != "AT ACTION ID KEY LABEL BEFORE" {
		t.Errorf("header row %q", stderr)
	}
	lines := strings.Split(stdout, "\n")
	for i, want := range []string{
		`create   ` + id + `  1  first key  -`,
		`replace  ` + id + `  1  first key  Ana Čović, 091 234 5678, ana@example.com, 1990-05-15`,
		`delete   ` + id + `  1  first key  A B`,
		``,
	} {
		got := regexp.MustCompile(`^\S+Z +`).ReplaceAllString(lines[i], "")
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("line %d: got %q, want %q", i, got, want)
		}
	}
	if stdout, stderr := works(t, "history", "--db", s.db, "--tenant", "default", "--since", "2999-01-31"); stdout != "" || stderr == "" {
		t.Errorf("without changes: stdout %q, stderr %q", stdout, stderr)
	}
	execSQL(t, s.db, `UPDATE changes SET before = '{"id' WHERE action = 'delete'`) // like a damaged disk
	if stdout, _ := works(t, "history", "--db", s.db, "--tenant", "default"); !strings.HasSuffix(stdout, "  (damaged)\n") {
		t.Errorf("with a damaged line: %s", stdout)
	}
	if got := historyOf(t, s.db, "default"); len(got) != 3 || string(got[2].Before) != `"{\"id"` {
		t.Errorf("with a damaged line: %v", got)
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
			t.Errorf("--since %q: %d changes, want %d", since, len(got), want)
		}
	}
}

// TestHistoryOfOthers checks that no command for a department shows or changes records of
// another department.
func TestHistoryOfOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	own, foreign, gone := s.create(t, ana), other.create(t, ana), other.create(t, ana)
	other.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	tells(t, "all", historyOf(t, s.db, "default"), "create | "+own+" | key 1 first key | null")
	for _, id := range []string{foreign, gone} {
		tells(t, "another department", historyOf(t, s.db, "default", "--id", id))
		refuses(t, 1, lacks(s.db, id), "undelete", "--db", s.db, "--tenant", "default", id)
		refuses(t, 1, lacks(s.db, id), "purge", "--yes", "--db", s.db, "--tenant", "default", id)
	}
	if stdout, _ := works(t, "deleted", "--db", s.db, "--tenant", "default"); stdout != "" {
		t.Errorf("deleted: %s", stdout)
	}
	if _, stderr := works(t, "purge", "--db", s.db, "--tenant", "default", "--older-than", "0s"); stderr != "There is nothing to delete.\n" {
		t.Errorf("purge: %s", stderr)
	}
	if got := historyOf(t, s.db, "other"); len(got) != 3 {
		t.Errorf("history of the other department: %v", got)
	}
	works(t, "undelete", "--db", s.db, "--tenant", "other", gone)
	other.do(t, "GET", collection+"/"+gone, "").wants(t, 200)
	s.do(t, "GET", collection+"/"+gone, "").wants(t, 404)
}

// lacks returns the error of undelete and purge for a record that is not deleted.
func lacks(db, id string) string {
	return "Error: the department has no deleted record " + id + "; nothing was changed\n" +
		"Try: firefighters list --deleted --db " + db + "\n"
}

// TestFailuresLeaveNoChange checks that a rejected request is not in the history.
func TestFailuresLeaveNoChange(t *testing.T) {
	t.Parallel()
	s := start(t)
	reader := s.as(newKey(t, s.db, "default", "--scope", "read"))
	id, gone := s.create(t, ana), s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	for _, method := range []string{"PUT", "DELETE"} {
		for _, missing := range []string{gone, nobody} {
			s.do(t, method, collection+"/"+missing, ana).wants(t, 404)
		}
		s.do(t, method, collection+"/x", ana).wants(t, 400)
		reader.do(t, method, collection+"/"+id, ana).wants(t, 403)
	}
	s.do(t, "PUT", collection+"/"+id, `{"firstName":"A"}`).wants(t, 400)
	s.do(t, "POST", collection, `{"firstName":"A"}`).wants(t, 400)
	reader.do(t, "POST", collection, ana).wants(t, 403)
	if got := historyOf(t, s.db, "default"); len(got) != 3 {
		t.Errorf("%d changes: %v", len(got), got)
	}
}

// TestUndelete checks that undelete restores all named records unchanged, or none.
func TestUndelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	var ids, bodies []string
	for i := range 3 {
		id := s.create(t, fmt.Sprintf(`{"firstName":"A%d","lastName":"B","email":"a%d@x.hr"}`, i, i))
		bodies = append(bodies, s.do(t, "GET", collection+"/"+id, "").body)
		ids = append(ids, id)
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	live := s.create(t, ana)
	undelete := []string{"undelete", "--db", s.db, "--tenant", "default"}
	before := len(historyOf(t, s.db, "default"))
	for _, wrong := range []string{nobody, live} {
		refuses(t, 1, lacks(s.db, wrong), append(undelete, ids[0], wrong, ids[1])...)
	}
	if l := s.list(t, ""); l.TotalCount != 1 || len(historyOf(t, s.db, "default")) != before {
		t.Errorf("a rejected command restored a record: %+v", l)
	}
	if stdout, stderr := works(t, append(undelete, ids[0], strings.ToUpper(ids[2]), ids[2])...); stdout != "" || stderr != "Restored 2 records.\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	for i, status := range []int{200, 404, 200} {
		if a := s.do(t, "GET", collection+"/"+ids[i], "").wants(t, status); status == 200 && a.body != bodies[i] {
			t.Errorf("restored as %s, want %s", a.body, bodies[i])
		}
	}
	if l := s.list(t, "search=a0"); l.TotalCount != 1 || s.list(t, "").TotalCount != 3 {
		t.Errorf("%+v", l)
	}
	refuses(t, 1, lacks(s.db, ids[0]), append(undelete, ids[0])...)
	if stdout, _ := works(t, "deleted", "--db", s.db, "--tenant", "default"); !strings.HasPrefix(stdout, ids[1]) || strings.Count(stdout, "\n") != 1 {
		t.Errorf("deleted: %s", stdout)
	}
	s.do(t, "PUT", collection+"/"+ids[0], ana).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+ids[2], "").wants(t, 204)
	s.stop(t)
	works(t, "check", "--db", s.db)
}

// TestPurge checks that a purged record is in no answer and in no list of deleted records, that
// the history keeps only the purge, and that the number of the record is not used again.
func TestPurge(t *testing.T) {
	t.Parallel()
	s := start(t)
	purge := []string{"purge", "--db", s.db, "--tenant", "default"}
	kept, live, gone := s.create(t, ana), s.create(t, ana), s.create(t, ana)
	for _, id := range []string{kept, gone} {
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	refuses(t, 1, lacks(s.db, live), append(purge, "--yes", gone, live)...)
	refuses(t, 1, lacks(s.db, nobody), append(purge, "--yes", gone, nobody)...)
	refuses(t, 2, "Error: there is no terminal to ask: Permanently delete 1 record of \"default\"?\nTry: add --yes\n",
		append(purge, gone)...)
	if got := len(historyOf(t, s.db, "default")); got != 5 {
		t.Errorf("%d changes after rejected commands", got)
	}
	if stdout, stderr := works(t, append(purge, "--yes", strings.ToUpper(gone), gone)...); stdout != "" || stderr != "Permanently deleted 1 record.\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	refuses(t, 1, lacks(s.db, gone), append(purge, "--yes", gone)...)
	refuses(t, 1, lacks(s.db, gone), "undelete", "--db", s.db, "--tenant", "default", gone)
	s.do(t, "GET", collection+"/"+gone, "").wants(t, 404)
	tells(t, "what is left of it", historyOf(t, s.db, "default", "--id", gone), "purge | "+gone+" | a command | null")
	if l := s.list(t, ""); l.TotalCount != 1 || l.Data.Items[0].ID != live {
		t.Errorf("after the purge: %+v", l)
	}
	next := s.create(t, ana)
	var sequence int
	scanSQL(t, s.db, `SELECT row & 0xffffffff FROM firefighters WHERE id = '`+next+`'`, &sequence)
	if sequence != 4 {
		t.Errorf("the next record has the number %d, want 4", sequence)
	}
	works(t, "undelete", "--db", s.db, "--tenant", "default", kept)
	if total := s.list(t, "").TotalCount; total != 3 {
		t.Errorf("%d records", total)
	}
	s.stop(t)
	works(t, "check", "--db", s.db)
}

func TestPurgeOlderThan(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startOn(t, db)
	live := s.create(t, ana)
	ids := map[string]string{}
	now := time.Now()
	for name, deleted := range map[string]time.Time{"8y": now.AddDate(-8, 0, 0), "30w": now.AddDate(0, 0, -210),
		"10d": now.AddDate(0, 0, -10), "5h": now.Add(-5 * time.Hour), "0h": now} {
		ids[name] = s.create(t, ana)
		s.do(t, "DELETE", collection+"/"+ids[name], "").wants(t, 204)
		execSQL(t, db, `UPDATE firefighters SET deleted_at = ? WHERE id = ?`, deleted.UnixMilli(), ids[name])
	}
	left := []string{"8y", "30w", "10d", "5h", "0h"}
	for i, age := range []string{"9y", "7y", "26w", "9d", "4h"} {
		want := "Permanently deleted 1 record.\n"
		if i == 0 {
			want = "There is nothing to delete.\n"
		} else {
			left = left[1:]
		}
		if _, stderr := works(t, "purge", "--db", db, "--tenant", "default", "--yes", "--older-than", age); stderr != want {
			t.Errorf("--older-than %s: %s", age, stderr)
		}
		stdout, _ := works(t, "deleted", "--db", db, "--tenant", "default")
		for j, line := range strings.Split(strings.TrimSpace(stdout), "\n") { // those deleted first at the top
			if len(left) != strings.Count(stdout, "\n") || !strings.HasPrefix(line, ids[left[j]]) {
				t.Fatalf("after --older-than %s:\n%s", age, stdout)
			}
		}
	}
	s.do(t, "GET", collection+"/"+live, "").wants(t, 200)
}

// TestPurgeAgain checks that a purge that could not rewrite the file prints a command for that,
// and that the command works. The reading connection stays open, so only the rewriting can
// remove the traces.
func TestPurgeAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, `{"firstName":"Canaryfirst","lastName":"CANARY"}`)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	s.stop(t)
	reader := openSQL(t, s.db)
	defer reader.Close()
	tx, err := reader.Begin()
	must(t, err)
	var count int
	must(t, tx.QueryRow(`SELECT count(*) FROM firefighters`).Scan(&count))
	refuses(t, 1, fmt.Sprintf("Error: permanently deleted 1 record, but traces may be left in the file: rewriting database %q: the database is locked by another program\n"+
		"Try: a running server rewrites the file soon; otherwise: firefighters check --repair --db %s\n", s.db, s.db), "purge", "--db", s.db, "--tenant", "default", "--yes", id)
	must(t, tx.Rollback())
	if len(traces(t, s.db)) == 0 {
		t.Error("the file has no traces to remove")
	}
	if stdout, stderr := works(t, "check", "--repair", "--db", s.db); stdout != "The database is sound.\n" || stderr != "" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	checkTraces(t, s.db, s.db+"-wal")
}

// TestPurgeLeavesNothing checks that a purge leaves no trace of the records in the file or its
// -wal, although many pages contained them while both were in use, and that the other records
// are complete.
func TestPurgeLeavesNothing(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 400)
	s := startOn(t, db)
	c := s.as(newKey(t, db, stationName(0)))
	canary := func(i int, pad string) string {
		return fmt.Sprintf(`{"firstName":"Canary%dfirst%s","lastName":"CANARY%[1]d","phoneNumber":"0998877%03[1]d","email":"canary%[1]d@mail.example"}`, i, pad)
	}
	const canaries = 40
	var ids []string
	for i := range canaries { // mixed with other records, and with changing lengths
		ids = append(ids, c.create(t, canary(i, "")))
		c.create(t, ana)
	}
	for i, id := range ids {
		c.do(t, "PUT", collection+"/"+id, canary(i, strings.Repeat("x", i%70))).wants(t, 200)
		c.do(t, "PUT", collection+"/"+id, canary(i, strings.Repeat("é", 70-i%70))).wants(t, 200)
	}
	for i, id := range ids {
		if i%2 == 0 {
			c.do(t, "PUT", collection+"/"+id, `{"firstName":"A","lastName":"B"}`).wants(t, 200)
		}
		c.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	works(t, "undelete", "--db", db, "--tenant", stationName(0), ids[0], ids[1])
	for _, id := range ids[:2] {
		c.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	total := c.list(t, "").TotalCount
	_, stderr := works(t, append([]string{"purge", "--db", db, "--tenant", stationName(0), "--yes"}, ids...)...)
	if stderr != fmt.Sprintf("Permanently deleted %d records.\n", canaries) {
		t.Error(stderr)
	}
	if after, found := c.list(t, "").TotalCount, c.list(t, "search=canary").TotalCount; after != total || found != 0 {
		t.Errorf("%d records, was %d; a search finds %d", after, total, found)
	}
	checkTraces(t, db, db+"-wal")
	s.stop(t)
	checkTraces(t, db)
	works(t, "check", "--db", db)
}

// checkTraces checks that files contain no canary.
func checkTraces(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		for _, found := range traces(t, file) {
			t.Error(found)
		}
	}
}

// traces reports which canaries a file contains and how often.
func traces(t *testing.T, file string) (found []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	for _, trace := range []string{"canary", "0998877"} {
		if n := bytes.Count(bytes.ToLower(content), []byte(trace)); n > 0 {
			found = append(found, fmt.Sprintf("%q appears %d times in %s", trace, n, filepath.Base(file)))
		}
	}
	return found
}
