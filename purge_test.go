package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"firefighters/internal/demo"
)

// TestUndelete: all of those named come back as they were, or none.
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
	for _, stranger := range []string{nobody, live} {
		refuses(t, 1, lacks(stranger), append(undelete, ids[0], stranger, ids[1])...)
	}
	if l := s.list(t, ""); l.TotalCount != 1 || len(historyOf(t, s.db, "default")) != before {
		t.Errorf("a refusal has brought something back: %+v", l)
	}
	if stdout, stderr := works(t, append(undelete, ids[0], strings.ToUpper(ids[2]), ids[2])...); stdout != "" || stderr != "Brought back: 2.\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	for i, status := range []int{200, 404, 200} {
		if a := s.do(t, "GET", collection+"/"+ids[i], "").wants(t, status); status == 200 && a.body != bodies[i] {
			t.Errorf("brought back: %s, was: %s", a.body, bodies[i])
		}
	}
	if l := s.list(t, "search=a0"); l.TotalCount != 1 || s.list(t, "").TotalCount != 3 {
		t.Errorf("%+v", l)
	}
	refuses(t, 1, lacks(ids[0]), append(undelete, ids[0])...)
	if stdout, _ := works(t, "deleted", "--db", s.db, "--tenant", "default"); !strings.HasPrefix(stdout, ids[1]) || strings.Count(stdout, "\n") != 1 {
		t.Errorf("deleted: %s", stdout)
	}
	s.do(t, "PUT", collection+"/"+ids[0], ana).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+ids[2], "").wants(t, 204)
	s.stop(t)
	works(t, "check", "--db", s.db)
}

// TestPurge: what is erased is in no answer, no list of the deleted and no
// history; that it was erased is; its number is not given again.
func TestPurge(t *testing.T) {
	t.Parallel()
	s := start(t)
	purge := []string{"purge", "--db", s.db, "--tenant", "default"}
	kept, live, gone := s.create(t, ana), s.create(t, ana), s.create(t, ana)
	for _, id := range []string{kept, gone} {
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	refuses(t, 1, lacks(live), append(purge, "--yes", gone, live)...)
	refuses(t, 1, lacks(nobody), append(purge, "--yes", gone, nobody)...)
	refuses(t, 2, "Error: there is no terminal to ask on: Erase 1 deleted records of \"default\" for good?\nTry: the same with --yes\n",
		append(purge, gone)...)
	if got := len(historyOf(t, s.db, "default")); got != 5 {
		t.Errorf("%d changes after what was refused", got)
	}
	if stdout, stderr := works(t, append(purge, "--yes", strings.ToUpper(gone), gone)...); stdout != "" || stderr != "Erased: 1.\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	refuses(t, 1, lacks(gone), append(purge, "--yes", gone)...)
	refuses(t, 1, lacks(gone), "undelete", "--db", s.db, "--tenant", "default", gone)
	s.do(t, "GET", collection+"/"+gone, "").wants(t, 404)
	tells(t, "what is left of it", historyOf(t, s.db, "default", "--id", gone), "purge | "+gone+" | a command | null")
	if l := s.list(t, ""); l.TotalCount != 1 || l.Data.Items[0].ID != live {
		t.Errorf("after the purge: %+v", l)
	}
	next := s.create(t, ana)
	var sequence int
	scanSQL(t, s.db, `SELECT row & 0xffffffff FROM firefighters WHERE id = '`+next+`'`, &sequence)
	if sequence != 4 {
		t.Errorf("the next record has the number %d", sequence)
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
		want := "Erased: 1.\n"
		if i == 0 {
			want = "There is nothing to erase.\n"
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

// TestPurgeLeavesNothing: not a byte of those who were erased is left in the
// file or its -wal, though it has held them in many places and is being served,
// and the others are whole.
func TestPurgeLeavesNothing(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 400)
	s := startOn(t, db)
	c := s.as(newKey(t, db, demo.Department(0)))
	canary := func(i int, pad string) string {
		return fmt.Sprintf(`{"firstName":"Canary%dfirst%s","lastName":"CANARY%[1]d","phoneNumber":"0998877%03[1]d","email":"canary%[1]d@mail.example"}`, i, pad)
	}
	const canaries = 60
	var ids []string
	for i := range canaries { // beside others, and longer and shorter again and again
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
	works(t, "undelete", "--db", db, "--tenant", demo.Department(0), ids[0], ids[1])
	for _, id := range ids[:2] {
		c.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	total := c.list(t, "").TotalCount
	_, stderr := works(t, append([]string{"purge", "--db", db, "--tenant", demo.Department(0), "--yes"}, ids...)...)
	if stderr != fmt.Sprintf("Erased: %d.\n", canaries) {
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

// checkTraces looks for the canaries in files.
func checkTraces(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		content, err := os.ReadFile(file)
		must(t, err)
		for _, trace := range []string{"canary", "0998877"} {
			if n := bytes.Count(bytes.ToLower(content), []byte(trace)); n > 0 {
				t.Errorf("%q stands %d times in %s", trace, n, filepath.Base(file))
			}
		}
	}
}

// TestPastWhileLocked: another program that does not let go is named, and
// nothing is changed.
func TestPastWhileLocked(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	db := openSQL(t, s.db)
	db.SetMaxOpenConns(1)
	_, err := db.Exec(`BEGIN IMMEDIATE`)
	must(t, err)
	for _, args := range [][]string{{"writing to", "undelete", id}, {"erasing from", "purge", "--yes", id}} {
		refuses(t, 1, fmt.Sprintf("Error: %s database %q: the database is locked by another program\n"+
			"Try: the same again, when that program has finished or is closed\n", args[0], s.db),
			append(args[1:], "--db", s.db, "--tenant", "default")...)
	}
	_, err = db.Exec(`ROLLBACK`)
	must(t, err)
	if got := len(historyOf(t, s.db, "default")); got != 2 {
		t.Errorf("%d changes", got)
	}
	works(t, "purge", "--yes", id, "--db", s.db, "--tenant", "default")
}
