package acceptance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const sound = "The database is sound.\n"

// TestCheck checks that check reports inconsistencies that another program caused, and that
// the service corrects them at startup. Package integrity tests all kinds.
func TestCheck(t *testing.T) {
	t.Parallel()
	db := invented(t, 2, 100)
	if stdout, stderr := works(t, "check", "--db", db, "--repair"); stdout != sound || stderr != "" {
		t.Errorf("before: stdout %q, stderr %q", stdout, stderr)
	}
	execSQL(t, db, `UPDATE firefighters SET last_key = 'zora' WHERE row & 0xffffffff = 1; UPDATE tenants SET live_count = 3, last_seq = 7 WHERE id = 1`)
	code, stdout, stderr := runCommand(t, "check", "--db", db)
	if code != 1 || stdout != "" || strings.Count(stderr, ": its sort and search keys do not match its fields\n") != 2 ||
		!strings.Contains(stderr, fmt.Sprintf("The department %q: it counts 3 records up to number 7, but has ", stationName(0))) ||
		!strings.HasSuffix(stderr, fmt.Sprintf("\nError: the database %q was changed by another program and has 3 inconsistencies\n"+
			"Try: the server corrects them at startup: firefighters serve --db %s\n", db, db)) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	startOn(t, db).stop(t)
	if stdout, stderr := works(t, "check", "--db", db); stdout != sound || stderr != "" {
		t.Errorf("after the repair: stdout %q, stderr %q", stdout, stderr)
	}
}

// TestRepairIndex checks that --repair rebuilds an index that lacks a row.
func TestRepairIndex(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stop(t)
	for _, text := range []string{
		`PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = sql || ' WHERE 0' WHERE name = 'replays_by_age'`,
		`INSERT INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer) VALUES (1, 'x', 1, 1e13, x'', 'x', '')`,
		`PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, ' WHERE 0', '') WHERE name = 'replays_by_age'`,
	} {
		execSQL(t, s.db, text)
	}
	if code, _, stderr := runCommand(t, "check", "--db", s.db); code != 1 || !strings.Contains(stderr, "is damaged") {
		t.Errorf("before: code %d, stderr %q", code, stderr)
	}
	if stdout, stderr := works(t, "check", "--db", s.db, "--repair"); stdout != sound || stderr != "" {
		t.Errorf("after the repair: stdout %q, stderr %q", stdout, stderr)
	}
}

// TestCheckReferences checks that check recommends a restore for faults that it cannot repair.
func TestCheckReferences(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 10)
	execSQL(t, db, `PRAGMA foreign_keys = off; UPDATE keys SET tenant_id = 99`)
	execSQL(t, db, `INSERT INTO keys (hash, tenant_id, scope, created_at) VALUES (zeroblob(32), 98, 'read', 0)`)
	code, _, stderr := runCommand(t, "check", "--db", db, "--repair")
	if code != 1 || !strings.Contains(stderr, "refers to nothing") || !strings.HasSuffix(stderr,
		fmt.Sprintf("Error: the database %q is damaged\nTry: firefighters restore FILE --db %s\n", db, db)) {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// TestLargeDamage checks that check reports damage in a large file in a few lines, and that a
// server finds it in the background while it serves requests.
func TestLargeDamage(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 10)
	execSQL(t, db, `CREATE TABLE more AS SELECT zeroblob(7000000) AS filling`)
	for page := range int64(60) { // overwrites the number of the next page
		overwrite(t, db, (1000+10*page)*4096, "\xff\xff\xff\xff")
	}
	code, _, stderr := runCommand(t, "check", "--db", db)
	if lines := strings.Count(stderr, "\n"); code != 1 || !strings.HasPrefix(stderr, "The file: ") || lines > 7 {
		t.Errorf("code %d, %d lines: %.500s", code, lines, stderr)
	}
	s := startOn(t, db)
	s.mayFail = true
	eventually(t, "the damage to be logged", func() bool {
		return strings.Contains(s.stderr.String(), "run firefighters check, and restore a backup")
	})
	s.as(newKey(t, db, "default")).list(t, "")
}

// TestDamagedRecords checks that a record that another program changed is in no answer until
// it is replaced or deleted, and that backups and restores warn about it.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.mayFail = true
	whole, hurt, gone := s.create(t, ana), s.create(t, ana), s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	execSQL(t, s.db, `UPDATE firefighters SET last_name = 'Covic' WHERE id = ?`, hurt)
	execSQL(t, s.db, `UPDATE firefighters SET deleted_at = NULL WHERE id = ?`, gone)
	for _, path := range []string{"/" + hurt, "/" + gone, "", "?search=an&sortBy=email"} {
		s.do(t, "GET", collection+path, "").wants(t, 500)
	}
	s.do(t, "GET", collection+"/"+whole, "").wants(t, 200)
	s.list(t, "pageSize=1&sortDir=asc")
	code, _, stderr := runCommand(t, "check", "--db", s.db)
	if code != 1 || !strings.Contains(stderr, "Error: 2 records of the database") || !strings.Contains(stderr, hurt) || !strings.Contains(stderr, gone) {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	s.logs(t, "is damaged", hurt)

	saved, other := filepath.Join(t.TempDir(), "saved.db"), filepath.Join(t.TempDir(), "other.db")
	warning := "Warning: the backup contains 2 damaged records\nTry: firefighters check --db "
	if _, stderr := works(t, "backup", saved, "--db", s.db); stderr != warning+s.db+"\n" {
		t.Errorf("backup: stderr %q", stderr)
	}
	if _, stderr := works(t, "restore", saved, "--db", other); !strings.Contains(stderr, warning+other+"\n") {
		t.Errorf("restore: stderr %q", stderr)
	}
	again := startOn(t, saved)
	again.mayFail = true
	again.logs(t, "a record is damaged", hurt)

	s.do(t, "PUT", collection+"/"+hurt, ana).wants(t, 200)
	s.do(t, "GET", collection+"/"+hurt, "").wants(t, 200)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	if l := s.list(t, ""); l.TotalCount != 2 {
		t.Errorf("%d records", l.TotalCount)
	}
}

// TestDamagedDelete checks that a damaged record can be deleted, whatever it contains.
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

// TestRepairBesideService checks that a running service notices that the latest time was
// corrected, and does not write the old time again.
func TestRepairWhileServing(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 1)
	ahead := time.Now().AddDate(10, 0, 0)
	execSQL(t, db, `UPDATE service SET latest_time = ?`, ahead.UnixMilli())
	s := startOn(t, db)
	writer := s.as(newKey(t, db, "default"))
	writer.create(t, ana)
	if stdout, _ := works(t, "check", "--repair", "--db", db); stdout != sound {
		t.Errorf("check --repair: %q", stdout)
	}
	expiring := s.as(newKey(t, db, "default", "--expires", "30d"))
	eventually(t, "the key to be valid", func() bool { return expiring.do(t, "GET", collection, "").status == 200 })
	id := expiring.create(t, ana)
	if stdout, _ := works(t, "history", "--tenant", "default", "--id", id, "--db", db); strings.Contains(stdout, ahead.Format("2006-")) {
		t.Errorf("history: %s", stdout)
	}
	works(t, "check", "--db", db)
	s.stop(t)
	works(t, "check", "--db", db)
}

// TestLatestTimeAhead checks that commands and the service warn about a database whose latest
// time is in the far future, and that check --repair corrects it.
func TestLatestTimeAhead(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	s.stop(t)
	db, ahead := s.db, time.Now().AddDate(10, 0, 0)
	execSQL(t, db, `UPDATE service SET latest_time = ?`, ahead.UnixMilli())
	wantWarning := func(what, stderr string) {
		t.Helper()
		lines := strings.SplitAfter(stderr, "\n")
		if len(lines) < 3 || !strings.HasPrefix(lines[0], "Warning: the clock of this computer says ") ||
			!strings.Contains(lines[0], ahead.UTC().Format(time.DateOnly)) ||
			!strings.HasPrefix(lines[1], "Try: ") || !strings.HasSuffix(lines[1], "firefighters check --repair --db "+db+"\n") {
			t.Errorf("%s: %q", what, stderr)
		}
	}
	_, stderr := works(t, "keys", "create", "--db", db, "--tenant", "default")
	if wantWarning("keys create", stderr); strings.Count(stderr, "\n") != 2 {
		t.Errorf("keys create: %q", stderr)
	}
	again := startOn(t, db)
	again.stop(t)
	wantWarning("serve", again.stderr.String())
	_, stderr = works(t, "purge", "--older-than", "1y", "--yes", "--db", db, "--tenant", "default")
	if wantWarning("purge", stderr); !strings.HasSuffix(stderr, "There is nothing to delete.\n") {
		t.Errorf("purge: %q", stderr)
	}
	code, _, stderr := runCommand(t, "check", "--db", db)
	if code != 1 || !strings.Contains(stderr, "is ahead of the clock\n") || !strings.HasSuffix(stderr,
		fmt.Sprintf("Error: the database %q has seen a time that is ahead of the clock of this computer\n"+
			"Try: set the clock, or if it is right: firefighters check --repair --db %s\n", db, db)) {
		t.Errorf("check: code %d, stderr %q", code, stderr)
	}
	if stdout, _ := works(t, "check", "--repair", "--db", db); stdout != sound {
		t.Errorf("check --repair: %q", stdout)
	}
	var latest int64
	if scanSQL(t, db, `SELECT latest_time FROM service`, &latest); latest > time.Now().UnixMilli() {
		t.Errorf("the latest time is still %v", time.UnixMilli(latest))
	}
	if stdout, stderr := works(t, "check", "--db", db); stdout != sound || stderr != "" {
		t.Errorf("after the repair: stdout %q, stderr %q", stdout, stderr)
	}
}
