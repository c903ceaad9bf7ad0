package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"firefighters/internal/demo"
)

// TestCheck: whatever another program leaves behind is found, named and, if it
// can be, mended.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, damage, says string }{
		{"nothing", ``, ""},
		{"a name's key", `UPDATE firefighters SET last_key = 'zora' WHERE row & 7 = 0`, "sorted or searched by something else"},
		{"a phone number", `UPDATE firefighters SET phone_digits = '1'`, "sorted or searched by something else"},
		{"a date", `UPDATE firefighters SET born_at = born_at + 1 WHERE born_at IS NOT NULL`, "sorted or searched by something else"},
		{"a count", `UPDATE tenants SET live_count = 3`, "it counts 3 records"},
		{"a sequence", `UPDATE tenants SET last_seq = 7`, "up to number 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := invented(t, 2, 100)
			if tt.damage != "" {
				execSQL(t, db, tt.damage)
			}
			wantCode, wantRepair := 1, "Repaired: "
			if tt.says == "" {
				wantCode, wantRepair = 0, "The database is sound.\n"
			}
			code, stdout, stderr := command(t, "check", "--db", db)
			if code != wantCode || !strings.Contains(stderr, tt.says) || code == 1 && !strings.Contains(stderr, "--repair") {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			if code, stdout, stderr := command(t, "check", "--db", db, "--repair"); code != 0 || !strings.HasPrefix(stdout, wantRepair) {
				t.Errorf("repairing: code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			if code, stdout, stderr := command(t, "check", "--db", db); code != 0 || stdout != "The database is sound.\n" || stderr != "" {
				t.Errorf("after it: code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

// TestDamagedRecords: a record that is not what the service wrote is in no
// answer, until it is replaced or deleted.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		`first_name = 'Anb'`, `last_name = 'Covic'`, `phone_number = NULL, phone_key = NULL`, `email = 'Ana@example.com'`,
		`date_of_birth = '1990-05-15T00:00:00+00:00'`, `checksum = checksum + 1`, `deleted_at = NULL`,
		`first_name = char(10) || 'na'`,
	} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.mayFail = true
			whole, hurt := s.create(t, ana), s.create(t, ana)
			if damage == `deleted_at = NULL` {
				s.do(t, "DELETE", collection+"/"+hurt, "").wants(t, 204)
			}
			execSQL(t, s.db, `UPDATE firefighters SET `+damage+` WHERE id = ?`, hurt)
			s.do(t, "GET", collection+"/"+hurt, "").wants(t, 500)
			s.do(t, "GET", collection, "").wants(t, 500)
			s.do(t, "GET", collection+"?search=an&sortBy=email", "").wants(t, 500)
			s.list(t, "pageSize=1&sortDir=asc")
			s.do(t, "GET", collection+"/"+whole, "").wants(t, 200)
			code, _, stderr := command(t, "check", "--db", s.db)
			if code != 1 || !strings.Contains(stderr, "Error: 1 records of the database") || !strings.Contains(stderr, hurt) {
				t.Errorf("code %d, stderr %q", code, stderr)
			}
			if log := s.stderr.String(); !strings.Contains(log, "is damaged") || !strings.Contains(log, hurt) {
				t.Errorf("the log: %s", log)
			}
			saved := filepath.Join(t.TempDir(), "saved.db")
			warning := "Warning: records in it that are damaged: 1. See which: firefighters check --db "
			if code, _, stderr := command(t, "backup", saved, "--db", s.db); code != 0 || stderr != warning+quoteArg(s.db)+"\n" {
				t.Fatalf("code %d, stderr %q", code, stderr)
			}
			other := filepath.Join(t.TempDir(), "other.db")
			if code, _, stderr := command(t, "restore", saved, "--db", other); code != 0 || !strings.Contains(stderr, warning+quoteArg(other)+"\n") {
				t.Fatalf("code %d, stderr %q", code, stderr)
			}
			again := startOn(t, saved)
			again.mayFail = true
			eventually(t, "the damage to be logged at the start", func() bool {
				log := again.stderr.String()
				return strings.Contains(log, "a record is damaged") && strings.Contains(log, hurt)
			})
			if damage == `deleted_at = NULL` { // which the checksum tells
				again.as(s.key).do(t, "GET", collection+"/"+hurt, "").wants(t, 404)
			}
			s.do(t, "PUT", collection+"/"+hurt, ana).wants(t, 200)
			s.do(t, "GET", collection+"/"+hurt, "").wants(t, 200)
			if l := s.list(t, ""); l.TotalCount != 2 {
				t.Errorf("%d records", l.TotalCount)
			}
		})
	}
}

// TestDamagedDelete: a record that is damaged can be deleted, whatever stands in it.
func TestDamagedDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	for _, damage := range []string{`char(10) || 'na'`, `'An' || char(10)`, `char(10, 10, 10, 10, 10, 10, 10, 10)`, `'Anb'`} {
		id := s.create(t, ana)
		execSQL(t, s.db, `UPDATE firefighters SET first_name = `+damage+` WHERE id = ?`, id)
		s.do(t, "GET", collection+"/"+id, "").wants(t, 500)
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
		s.do(t, "GET", collection+"/"+id, "").wants(t, 404)
	}
	if l := s.list(t, ""); l.TotalCount != 0 {
		t.Errorf("%d records", l.TotalCount)
	}
}

// TestScrub: what is made from sound fields is made anew at the start.
func TestScrub(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		`UPDATE firefighters SET last_key = 'zzz'`, `UPDATE firefighters SET search_text = 'x'`, `UPDATE firefighters SET phone_digits = ''`,
		`UPDATE tenants SET live_count = 7`, `UPDATE tenants SET last_seq = 0`, `UPDATE firefighters SET deleted_at = 7 WHERE row & 1`,
	} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			for _, last := range []string{"Babić", "Čović", "Anić"} {
				s.create(t, strings.Replace(ana, "Čović", last, 1))
			}
			query := "sortBy=lastName&sortDir=asc&search=ć+0912345678"
			want := s.list(t, query)
			s.stop(t)
			execSQL(t, s.db, damage)
			served := startOn(t, s.db)
			served.mayFail = true
			again := served.as(s.key)
			if got := again.list(t, query); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if l := again.list(t, ""); l.TotalCount != 3 {
				t.Errorf("%d records", l.TotalCount)
			}
			again.create(t, ana)
			if code, stdout, stderr := command(t, "check", "--db", s.db); code != 0 {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

// TestLatestTimeAhead: who works with a database that has seen the far future
// is told, and a person may take that back.
func TestLatestTimeAhead(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	s.stop(t)
	db := s.db
	ahead := time.Now().AddDate(10, 0, 0)
	execSQL(t, db, `UPDATE service SET latest_time = ?`, ahead.UnixMilli())
	warned := func(what, stderr string) {
		t.Helper()
		lines := strings.SplitAfter(stderr, "\n")
		if len(lines) < 3 || !strings.HasPrefix(lines[0], "Warning: the clock of this machine says ") ||
			!strings.Contains(lines[0], ahead.UTC().Format(time.DateOnly)) ||
			!strings.HasPrefix(lines[1], "Try: ") || !strings.HasSuffix(lines[1], "firefighters check --repair --db "+db+"\n") {
			t.Errorf("%s: %q", what, stderr)
		}
	}
	_, stderr := works(t, "keys", "create", "--db", db, "--tenant", "default")
	if warned("keys create", stderr); strings.Count(stderr, "\n") != 2 {
		t.Errorf("keys create: %q", stderr)
	}
	again := startOn(t, db)
	again.stop(t)
	warned("serve", again.stderr.String())
	_, stderr = works(t, "purge", "--older-than", "1y", "--yes", "--db", db, "--tenant", "default")
	if warned("purge", stderr); !strings.HasSuffix(stderr, "There is nothing to erase.\n") {
		t.Errorf("purge: %q", stderr)
	}
	code, _, stderr := command(t, "check", "--db", db)
	if code != 1 || !strings.Contains(stderr, "is ahead of the clock\n") || !strings.Contains(stderr, "check --repair") {
		t.Errorf("check: code %d, stderr %q", code, stderr)
	}
	if stdout, _ := works(t, "check", "--repair", "--db", db); stdout != "Repaired: 1. The database is sound.\n" {
		t.Errorf("check --repair: %q", stdout)
	}
	var latest int64
	if scanSQL(t, db, `SELECT latest_time FROM service`, &latest); latest > time.Now().UnixMilli() {
		t.Errorf("the latest time is still %v", time.UnixMilli(latest))
	}
	if stdout, stderr := works(t, "check", "--db", db); stdout != "The database is sound.\n" || stderr != "" {
		t.Errorf("after it: stdout %q, stderr %q", stdout, stderr)
	}
}

func TestCheckDamage(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 10)
	execSQL(t, db, `PRAGMA foreign_keys = off; UPDATE keys SET tenant_id = 99`)
	execSQL(t, db, `INSERT INTO keys (hash, tenant_id, scope, created_at) VALUES (zeroblob(32), 98, 'read', 0)`)
	code, _, stderr := command(t, "check", "--db", db, "--repair")
	if code != 1 || !strings.Contains(stderr, "refers to nothing") || !strings.Contains(stderr, "put a backup in its place") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// TestCheckStructure: a large file that is damaged throughout is said to be in
// a few lines.
func TestCheckStructure(t *testing.T) {
	t.Parallel()
	db := large(t, 3000)
	execSQL(t, db, `CREATE TABLE more AS SELECT zeroblob(12000000) AS filling`)
	file, err := os.OpenFile(db, os.O_RDWR, 0)
	must(t, err)
	for page := range int64(60) {
		_, err = file.WriteAt([]byte(strings.Repeat("damage", 100)), (60+page)*4096)
		must(t, err)
	}
	must(t, file.Close())
	code, _, stderr := command(t, "check", "--db", db)
	if lines := strings.Count(stderr, "\n"); code != 1 || !strings.HasPrefix(stderr, "The file: ") || lines > 6 {
		t.Errorf("code %d, %d lines: %.500s", code, lines, stderr)
	}
}

// invented is a database of invented people, without a key.
func invented(t *testing.T, departments, number int) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	s, _, err := openStore(db, true, time.Now)
	must(t, err)
	must(t, s.invent(t.Context(), demo.Sizes(departments, number), func(int) {}))
	storeKey(t, s, time.Time{})
	must(t, s.close())
	return db
}

func TestDemo(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "kept.db")
	s := startWith(t, db, "demo", "--db", db, "--departments", "3", "--people", "500")
	l := s.list(t, "sortBy=lastName&sortDir=asc&page=2&pageSize=100")
	if l.TotalCount < 160 || len(l.Data.Items) < 60 {
		t.Errorf("%d people, %d of them on the second page", l.TotalCount, len(l.Data.Items))
	}
	s.stop(t)
	if code, stdout, stderr := command(t, "check", "--db", db); code != 0 {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, _, stderr := command(t, "demo", "--db", db, "--listen", "127.0.0.1:0")
	if want := fmt.Sprintf("Error: demo makes a new file, and %q is there already\nTry: firefighters serve --db %s\n", db, db); code != 1 || stderr != want {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	for _, flags := range [][]string{{"--people", "-1"}, {"--departments", "0"}, {"--departments", "x"}} {
		if code, _, stderr := command(t, append([]string{"demo"}, flags...)...); code != 2 {
			t.Errorf("%v: code %d, stderr %q", flags, code, stderr)
		}
	}
}

// TestDemoIsThrownAway cannot run beside others: it sets TMPDIR.
func TestDemoIsThrownAway(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := startWith(t, "", "demo")
	if l := s.list(t, "pageSize=100"); l.TotalCount != 40 || len(l.Data.Items) != 40 {
		t.Errorf("%d people, %d on the page", l.TotalCount, len(l.Data.Items))
	}
	s.stop(t)
	if entries, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// TestDemoIsTheSame: the same flags invent the same people.
func TestDemoIsTheSame(t *testing.T) {
	t.Parallel()
	var sums [2]string
	for i := range sums {
		scanSQL(t, invented(t, 5, 300), `SELECT group_concat(tenant_id || search_text || ifnull(date_of_birth, ''), char(10))
			FROM (SELECT * FROM firefighters ORDER BY row)`, &sums[i])
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") < 300 {
		t.Errorf("they differ: %.300s and %.300s", sums[0], sums[1])
	}
}

const smallOrRoll = "a small department is sorted quicker than it is written by an index, and a large one has a roll"

// plans that are no search by an index, and why that is right.
var slowPlans = []struct{ query, plan, why string }{
	{"FROM service", "SCAN service", "the table has one row"},
	{"UPDATE service", "SCAN service", "the table has one row"},
	{"keys_version FROM service", "SCAN service", "the table has one row"},
	{", hash FROM keys k", "SCAN k", "all keys are wanted"},
	{"FROM keys k JOIN tenants", "SCAN k", "all keys are wanted, and few departments have many"},
	{"EXISTS (SELECT 1 FROM tenants)", "SCAN tenants", "it ends at the first"},
	{"json_each", "SCAN wanted VIRTUAL TABLE INDEX 1:", "the rows of one page"},
	{"FROM sqlite_schema", "SCAN sqlite_schema", "it has a few rows, and is read once"},
	{"json_each", "SCAN json_each VIRTUAL TABLE INDEX 1:", "the records that have changed"},
	{"ORDER BY first_key", "USE TEMP B-TREE FOR ORDER BY", smallOrRoll},
	{"ORDER BY last_key", "USE TEMP B-TREE FOR ORDER BY", smallOrRoll},
	{"ORDER BY email_key", "USE TEMP B-TREE FOR ORDER BY", smallOrRoll},
	{"ORDER BY phone_key", "USE TEMP B-TREE FOR ORDER BY", smallOrRoll},
	{"ORDER BY born_at", "USE TEMP B-TREE FOR ORDER BY", smallOrRoll},
}

// TestQueryPlans: no query that the store has prepared walks through a table
// or sorts, but for those of slowPlans.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	s := openServer(t, invented(t, 2, 600), time.Now)
	key := storeKey(t, s.server.store, time.Time{})
	c := s.as(key)
	big := s.as(keyOfTenant(t, s.server.store, demo.Department(0)))
	id := c.create(t, ana)
	c.do(t, "PUT", collection+"/"+id, ana).wants(t, 200)
	for _, f := range sortFields {
		for _, direction := range []string{"asc", "desc"} {
			order := "sortBy=" + f.name + "&sortDir=" + direction
			c.list(t, order)
			c.list(t, order+"&search=an+091")
			big.list(t, order+"&page=15")
			big.list(t, order+"&search=an")
		}
	}
	c.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	must(t, s.server.auth.writeUses())
	_, err := s.server.store.revokeKey(1)
	must(t, err)
	must(t, s.server.store.listKeys("", func(storedKey, string) {}))
	queries := preparedBy(s.server.store)
	if len(queries) < 30 {
		t.Errorf("only %d queries", len(queries))
	}
	for _, query := range queries {
		checkPlan(t, s.server.store.writer.conn, query)
	}
}

// preparedBy gives the queries that a store at rest has prepared.
func preparedBy(s *store) (queries []string) {
	queries = slices.Collect(maps.Keys(s.writer.conn.statements))
	for range cap(s.readers) {
		c := <-s.readers
		queries = slices.AppendSeq(queries, maps.Keys(c.statements))
		s.readers <- c
	}
	return queries
}

func keyOfTenant(t *testing.T, s *store, tenantName string) (key string) {
	t.Helper()
	must(t, s.createKey(tenantName, "", scopeRead, time.Time{}, func(made string) error { key = made; return nil }))
	return key
}

func checkPlan(t *testing.T, c *conn, query string) {
	t.Helper()
	if strings.HasPrefix(query, "PRAGMA") || strings.HasPrefix(query, "BEGIN") || query == "COMMIT" || query == "ROLLBACK" {
		return
	}
	args := make(values, 200) // more than any query has; those too many are ignored
	must(t, c.query("EXPLAIN QUERY PLAN "+query, args, func(row values) {
		plan := text(row[3])
		if !strings.HasPrefix(plan, "SCAN") && !strings.Contains(plan, "TEMP B-TREE") || strings.HasPrefix(plan, "SCAN CONSTANT ROW") {
			return
		}
		for _, slow := range slowPlans {
			if strings.Contains(query, slow.query) && plan == slow.plan {
				return
			}
		}
		t.Errorf("%s\n%s", plan, query)
	}))
}

// TestScrubStructure: of a large file the structure is looked at as well,
// beside the requests.
func TestScrubStructure(t *testing.T) {
	t.Parallel()
	db := large(t, 10)
	execSQL(t, db, `CREATE TABLE more AS SELECT zeroblob(12000000) AS filling`)
	file, err := os.OpenFile(db, os.O_RDWR, 0)
	must(t, err)
	_, err = file.WriteAt([]byte{255, 255, 255, 255}, 5000*4096) // where the next page is
	must(t, errors.Join(err, file.Close()))
	s := startOn(t, db)
	s.mayFail = true
	eventually(t, "the damage to be logged", func() bool {
		log := s.stderr.String()
		return strings.Contains(log, "see firefighters check, and put a backup in its place") && strings.Contains(log, `"table":"more"`)
	})
	s.as(newKey(t, db, "default")).list(t, "")
}
