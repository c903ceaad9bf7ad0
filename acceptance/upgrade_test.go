package acceptance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// goldenKeys are of the department of testdata/v1.json in testdata/v1.db, which
// the first version of the program made, and so on.
var goldenKeys = map[int]string{
	1: "ff_0pcnBAOXPk2EukKg6UHJdheQifzKcYMn2FbHWOG8m5m4bjcAr",
	2: "ff_GUmac7yVJ40x90ZqUdRPPhSMwNL8UV77haop4mZMlmg28vG3f",
	3: "ff_5w5UO78yIYV1C1XC3iaI1oYkwZqRtmkcRqiS6lQkNlD0weimP",
	4: "ff_H6wl7LbXOr570JDDZcte59mzNk0Y9xjxIDF2H18D1A947XPRK",
	5: "ff_IONS3KRFWJITX7aIlPA8jhaz079EsWDPKAkfvaQegNj2aU5O0",
	6: "ff_kTTAypAcSfvT5GrcxQQyrmRcmARXfbpt9g2rRBSxNzP2XdsEk",
}

// golden returns a copy of the database of schema version 1.
func golden(t *testing.T) (db string) { t.Helper(); return goldenOf(t, 1) }

// goldenOf returns a copy of the database of a schema version. The responses in it that
// are stored for a day are those of today.
func goldenOf(t *testing.T, version int) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	copyOf(t, filepath.Join("testdata", fmt.Sprintf("v%d.db", version)), db)
	if version > 1 { // before, there were none
		execSQL(t, db, `UPDATE replays SET created_at = ?`, time.Now().UnixMilli())
	}
	return db
}

// dump returns all rows of the answers to queries, a line each.
func dump(t *testing.T, path string, queries ...string) string {
	t.Helper()
	db := openSQL(t, path)
	defer db.Close()
	var b strings.Builder
	for _, query := range queries {
		rows, err := db.Query(query)
		must(t, err)
		names, err := rows.Columns()
		must(t, err)
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		for rows.Next() {
			must(t, rows.Scan(into...))
			fmt.Fprintf(&b, "%v\n", row)
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
	return b.String()
}

// upgradeKeeps are queries for what an upgrade from version 1 leaves as it is.
var upgradeKeeps = []string{
	`SELECT id, name, created_at, last_seq, live_count FROM tenants ORDER BY id`,
	`SELECT id, hash, tenant_id, label, scope, created_at, expires_at, revoked_at FROM keys ORDER BY id`,
	`SELECT row, id, tenant_id, created_at, updated_at, deleted_at, first_name, last_name, phone_number, email, date_of_birth,
		invitation_status, user_id, first_key, last_key, email_key, phone_key, born_at, search_text, phone_digits
		FROM firefighters ORDER BY row`,
}

// upgradeKeeps2 are queries for what an upgrade from version 2 leaves as it is, too.
var upgradeKeeps2 = []string{
	`SELECT row, checksum FROM firefighters ORDER BY row`,
	`SELECT version FROM tenants ORDER BY id`,
	`SELECT id & 0xffffffff AS number, at, tenant_id, record_id, action, key_id, before FROM changes ORDER BY number`,
	`SELECT * FROM replays ORDER BY id`,
}

// schemaOf returns the whole schema of a database: the texts, without their
// comments and spaces, and what SQLite makes of them.
func schemaOf(t *testing.T, path string) string {
	t.Helper()
	texts := dump(t, path, `SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name`)
	texts = regexp.MustCompile(`--[^\n]*|\s+`).ReplaceAllString(texts, "")
	return strings.ReplaceAll(texts, "[", "\n[") + dump(t, path,
		`SELECT m.name, c.* FROM sqlite_schema m, pragma_table_xinfo(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`,
		`SELECT m.name, i.name, i."unique", i.origin, i.partial, c.* FROM sqlite_schema m, pragma_index_list(m.name) i,
			pragma_index_xinfo(i.name) c WHERE m.type = 'table' ORDER BY m.name, i.name, c.seqno`,
		`SELECT m.name, f.* FROM sqlite_schema m, pragma_foreign_key_list(m.name) f ORDER BY m.name, f.id`,
		`SELECT * FROM pragma_application_id, pragma_user_version`)
}

// TestUpgrade: the first command that opens an old database upgrades it. All in
// it is as it was, and it can be served.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	newKey(t, fresh, "A")
	for _, first := range []string{"serve", "keys list", "check", "history --tenant Elmwood"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			db := golden(t)
			before := dump(t, db, upgradeKeeps...)
			if first == "serve" {
				startOn(t, db).stop(t)
			} else {
				works(t, append(strings.Fields(first), "--db", db)...)
			}
			if after := dump(t, db, upgradeKeeps...); after != before {
				t.Errorf("was:\n%s\nis:\n%s", before, after)
			}
			if got, want := schemaOf(t, db), schemaOf(t, fresh); got != want {
				t.Errorf("the schema is:\n%s\nof a new database:\n%s", got, want)
			}
			if got, want := dump(t, db, changesSQL), dump(t, db, creationsSQL); got != want {
				t.Errorf("the changes are:\n%s\nthe creations were:\n%s", got, want)
			}
			isSound(t, db)
			checkModes(t, filepath.Dir(db))
			if first == "keys list" {
				goldenServes(t, db)
			}
		})
	}
}

// TestUpgradeOfEach: a database of each old version gets the schema of a new one, and
// answers as the program of its version did.
func TestUpgradeOfEach(t *testing.T) {
	t.Parallel()
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	newKey(t, fresh, "A")
	for version := 1; version < schemaVersion; version++ {
		db := goldenOf(t, version)
		works(t, "check", "--db", db)
		if got, want := schemaOf(t, db), schemaOf(t, fresh); got != want {
			t.Errorf("from %d: the schema is:\n%s\nof a new database:\n%s", version, got, want)
		}
		goldenAnswers(t, db, version)
		isSound(t, db)
	}
}

// isSound fails unless check finds nothing.
func isSound(t *testing.T, db string) {
	t.Helper()
	if stdout, stderr := works(t, "check", "--db", db); stdout != "The database is sound.\n" || stderr != "" {
		t.Errorf("check: %s%s", stdout, stderr)
	}
}

// TestUpgradeFrom2: the history, stored responses and revoked keys are as they
// were, and changes say their version from then on.
func TestUpgradeFrom2(t *testing.T) {
	t.Parallel()
	db := goldenOf(t, 2)
	keeps := append(slices.Clone(upgradeKeeps), upgradeKeeps2...)
	before := dump(t, db, keeps...)
	s := startOn(t, db)
	if after := dump(t, db, keeps...); after != before {
		t.Errorf("was:\n%s\nis:\n%s", before, after)
	}
	s.as(goldenKeys[2]).create(t, ana)
	s.stop(t)
	if got := dump(t, db, `SELECT version FROM changes WHERE tenant_id = 1 ORDER BY id DESC LIMIT 2`, `SELECT version FROM tenants ORDER BY id LIMIT 1`); got != "[21]\n[0]\n[21]\n" {
		t.Errorf("the versions are:\n%s", got)
	}
	if stdout, _ := works(t, "keys", "list", "--db", db); !regexp.MustCompile(`(?m)^1 +active +write .* first key$`).MatchString(stdout) ||
		!regexp.MustCompile(`(?m)^2 +revoked +read .* reader$`).MatchString(stdout) {
		t.Errorf("keys list:\n%s", stdout)
	}
	isSound(t, db)
}

// changesSQL reads the history, and creationsSQL what an upgrade adds for records
// of which it does not know.
const (
	changesSQL   = `SELECT id & 0xffffffff AS number, at, tenant_id, record_id, action, key_id, before, version FROM changes ORDER BY number`
	creationsSQL = `SELECT row_number() OVER (ORDER BY created_at, row), created_at, tenant_id, id, 'create', NULL, NULL, 0
		FROM firefighters WHERE deleted_at IS NULL ORDER BY 1`
)

// invitationsSQL reads what invitations had in version 3.
const invitationsSQL = `SELECT id, hash, tenant_id, name, scope, created_at, expires_at, invited_by FROM invitations`

// TestUpgradeFrom3: everything is as it was. Only records of which the history did
// not know have an entry, before all others.
func TestUpgradeFrom3(t *testing.T) {
	t.Parallel()
	db := goldenOf(t, 3)
	keeps := append(slices.Clone(upgradeKeeps), upgradeKeeps2[0], upgradeKeeps2[1], upgradeKeeps2[3], changesSQL,
		`SELECT * FROM service`, invitationsSQL, `SELECT id, session_lifetime, opened_by FROM keys ORDER BY id`)
	before := dump(t, db, keeps...)
	works(t, "check", "--db", db)
	if after := dump(t, db, keeps...); after != before {
		t.Errorf("was:\n%s\nis:\n%s", before, after)
	}

	db = goldenOf(t, 3)
	execSQL(t, db, `DELETE FROM changes WHERE record_id IN (SELECT id FROM firefighters WHERE row & 0xffffffff IN (3, 5, 9) AND deleted_at IS NULL)`)
	known := dump(t, db, `SELECT at, tenant_id, record_id, action, key_id, before, version FROM changes ORDER BY id & 0xffffffff`)
	unknown := dump(t, db, strings.Replace(creationsSQL, "WHERE", "WHERE id NOT IN (SELECT record_id FROM changes) AND", 1))
	works(t, "check", "--db", db)
	if n := strings.Count(unknown, "\n"); n < 5 || dump(t, db, fmt.Sprintf(`SELECT * FROM (%s) LIMIT %d`, changesSQL, n)) != unknown {
		t.Errorf("the changes are:\n%s\nof these records nothing was known:\n%s", dump(t, db, changesSQL), unknown)
	} else if got := dump(t, db, fmt.Sprintf(`SELECT at, tenant_id, record_id, action, key_id, before, version FROM changes WHERE id & 0xffffffff > %d ORDER BY id & 0xffffffff`, n)); got != known {
		t.Errorf("the changes are:\n%s\nwere:\n%s", got, known)
	}
}

// TestUpgradeFrom4: the history is in order of department then, positions that
// clients hold stay good, and an import can still be taken back.
func TestUpgradeFrom4(t *testing.T) {
	t.Parallel()
	db := goldenOf(t, 4)
	keeps := append(slices.Clone(upgradeKeeps), upgradeKeeps2[0], upgradeKeeps2[1], upgradeKeeps2[3], changesSQL,
		`SELECT * FROM service`, invitationsSQL, `SELECT * FROM imports`)
	before := dump(t, db, keeps...)
	works(t, "check", "--db", db)
	if after := dump(t, db, keeps...); after != before {
		t.Errorf("was:\n%s\nis:\n%s", before, after)
	}

	s := startOn(t, db)
	c := s.as(goldenKeys[4])
	told := func(position string) (all []string) {
		for _, item := range c.changes(t, position, 100).Items {
			all = append(all, item.Action)
		}
		return all
	}
	const middle, end = "AAAAAAAAACT__________97qsEoW00F1", "AAAAAAAAACgAAAAAAAAAFtSzHtnKSTyL" // version 4 gave them
	if got := told(middle); !slices.Equal(got, []string{"replace", "delete", "create", "create"}) {
		t.Errorf("after the middle: %q", got)
	}
	works(t, "import", "undo", "1", "--tenant", "Oakfield Fire Department", "--db", db)
	if got := told(end); !slices.Equal(got, []string{"delete", "delete"}) {
		t.Errorf("after the end: %q", got)
	}
	c.create(t, ana)
	if got := told(end); !slices.Equal(got, []string{"delete", "delete", "create"}) {
		t.Errorf("after the end: %q", got)
	}
	s.stop(t)
	isSound(t, db)

	db = goldenOf(t, 4) // rows of no department, which a removal by hand has left
	execSQL(t, db, `UPDATE changes SET tenant_id = 1 << 40 WHERE id = 3; UPDATE changes SET tenant_id = 0 WHERE id = 4`)
	works(t, "check", "--db", db)
	if got := dump(t, db, `SELECT count(*) FROM changes`); got != "[38]\n" {
		t.Errorf("%s changes", got)
	}
}

// TestUpgradeFrom5: everything is as it was. No session says its device or a login name
// then, and no department has hidden its first steps.
func TestUpgradeFrom5(t *testing.T) {
	t.Parallel()
	db := goldenOf(t, 5)
	keeps := append(slices.Clone(upgradeKeeps), upgradeKeeps2[0], upgradeKeeps2[1], upgradeKeeps2[3], changesSQL,
		`SELECT * FROM service`, invitationsSQL, `SELECT * FROM imports`, `SELECT id, last_used_at, session_lifetime, opened_by FROM keys ORDER BY id`)
	before := dump(t, db, keeps...)
	works(t, "check", "--db", db)
	if after := dump(t, db, keeps...); after != before {
		t.Errorf("was:\n%s\nis:\n%s", before, after)
	}
	if got := dump(t, db, `SELECT device, login FROM keys`, `SELECT login FROM invitations`, `SELECT steps_hidden FROM tenants`); got != "[ ]\n[ ]\n[]\n[0]\n[0]\n" {
		t.Errorf("it has:\n%s", got)
	}
}

// TestUpgradeFrom6: everything is as it was: sessions, the open invitation, and positions
// that clients hold. Nobody has the dates of birth of a phone.
func TestUpgradeFrom6(t *testing.T) {
	t.Parallel()
	db := goldenOf(t, 6)
	const keys = `id, hash, tenant_id, label, scope, created_at, expires_at, revoked_at, last_used_at, session_lifetime, opened_by, device, login`
	keeps := append(slices.Clone(upgradeKeeps), upgradeKeeps2[0], upgradeKeeps2[1], upgradeKeeps2[3], changesSQL,
		`SELECT * FROM service`, `SELECT * FROM imports`, `SELECT steps_hidden FROM tenants`, `SELECT `+keys+` FROM keys ORDER BY id`,
		`SELECT id, hash, tenant_id, name, scope, created_at, expires_at, invited_by, login FROM invitations`)
	before := dump(t, db, keeps...)
	works(t, "check", "--db", db)
	if after := dump(t, db, keeps...); after != before {
		t.Errorf("was:\n%s\nis:\n%s", before, after)
	}
	if got := dump(t, db, `SELECT count(*), sum(birthdays) FROM keys`, `SELECT count(*), sum(birthdays) FROM invitations`); got != "[4 0]\n[1 0]\n" {
		t.Errorf("it has:\n%s", got)
	}
	s := startOn(t, db)
	const end = "AAAAAAAAABP__________zYDpyzDevzc" // version 6 gave it
	if items := s.as(goldenKeys[6]).changes(t, end, 100).Items; len(items) != 0 {
		t.Errorf("after the end: %+v", items)
	}
	stdout, _ := works(t, "keys", "create", "--tenant", "Oakfield Fire Department", "--scope", "phone", "--birthdays", "--db", db)
	if status, _ := look(t, s.url, strings.TrimSpace(stdout)); status != 207 {
		t.Errorf("a new phone is answered with %d", status)
	}
	s.stop(t)
	isSound(t, db)
}

// goldenAnswers makes sure that an upgraded database answers as the program of its
// version did.
func goldenAnswers(t *testing.T, db string, version int) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.json", version)))
	must(t, err)
	s := startOn(t, db)
	defer s.stop(t)
	if a := s.as(goldenKeys[version]).do(t, "GET", collection+"?pageSize=100&sortBy=lastName&sortDir=asc", "").wants(t, 200); a.body != withLater(string(want)) {
		t.Errorf("answers:\n%s\nnot:\n%s", a.body, want)
	}
}

// TestHistoryNumber: no two databases have the same, also after an upgrade.
func TestHistoryNumber(t *testing.T) {
	t.Parallel()
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	newKey(t, fresh, "A")
	seen := map[string]bool{"[0]\n": true}
	for _, db := range []string{fresh, golden(t), goldenOf(t, 2), goldenOf(t, 2), goldenOf(t, 3), goldenOf(t, 4), goldenOf(t, 5), goldenOf(t, 6)} {
		works(t, "keys", "list", "--db", db)
		number := dump(t, db, `SELECT history FROM service`)
		if seen[number] {
			t.Errorf("%s has the number %s", db, number)
		}
		seen[number] = true
	}
}

// TestUpgradeDamagedKey: a key of no department does not stop an upgrade. It
// stays as it is, and check finds it.
func TestUpgradeDamagedKey(t *testing.T) {
	t.Parallel()
	db := goldenOf(t, 2)
	execSQL(t, db, `PRAGMA foreign_keys = off; UPDATE keys SET tenant_id = 99 WHERE id = 2`)
	before := dump(t, db, upgradeKeeps[1])
	startOn(t, db).as(goldenKeys[2]).list(t, "")
	if after := dump(t, db, upgradeKeeps[1]); after != before {
		t.Errorf("was:\n%s\nis:\n%s", before, after)
	}
	if code, stdout, stderr := runCommand(t, "check", "--db", db); code != 1 || !strings.HasPrefix(stderr, "The file: row 2 of keys refers to nothing\n") {
		t.Errorf("check: code %d, %s%s", code, stdout, stderr)
	}
}

// goldenServes makes sure that one can work with the upgraded database of version 1.
func goldenServes(t *testing.T, db string) {
	t.Helper()
	stdout, _ := works(t, "keys", "list", "--db", db)
	for i, form := range []string{`^1 +active +write .*Oakfield Fire Department +first key$`, `^2 +revoked +read .*Oakfield Fire Department +reader$`,
		`^3 .* write .* 2027-01-01T00:00:00Z .*Elmwood +clerk$`} {
		if line := strings.Split(stdout, "\n")[i]; !regexp.MustCompile(form).MatchString(line) {
			t.Errorf("keys list: %q", line)
		}
	}
	s := startOn(t, db)
	c := s.as(goldenKeys[1])
	for _, order := range []string{"createdAt", "firstName", "email", "phoneNumber", "dateOfBirth"} {
		if l := c.list(t, "sortBy="+order); l.TotalCount != 30 || len(l.Data.Items) != 20 {
			t.Errorf("by %s: %+v", order, l)
		}
	}
	deleted, _ := works(t, "deleted", "--db", db, "--tenant", "Oakfield Fire Department")
	id, _, _ := strings.Cut(deleted, " ")
	if strings.Count(deleted, "\n") != 2 || strings.Contains(deleted, "damaged") {
		t.Errorf("deleted: %s", deleted)
	}
	works(t, "undelete", "--db", db, "--tenant", "Oakfield Fire Department", id)
	c.do(t, "PUT", collection+"/"+id, ana).wants(t, 200)
	c.create(t, ana)
	if total := c.list(t, "").TotalCount; total != 32 {
		t.Errorf("%d records", total)
	}
	s.stop(t)
	works(t, "check", "--db", db)
}

// largeGolden multiplies the records of the database of schema version 1.
func largeGolden(t *testing.T, times int) (db string) {
	t.Helper()
	db = golden(t)
	execSQL(t, db, `
		WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?)
		INSERT INTO firefighters SELECT row + k * 32, printf('01a1f8d7-%04x-7000-8000-%012x', k, row), tenant_id, created_at, updated_at,
			deleted_at, first_name, last_name, phone_number, email, date_of_birth, invitation_status, user_id,
			first_key, last_key, email_key, phone_key, born_at, search_text, phone_digits
		  FROM firefighters, n WHERE row & 0xffffffff <= 32 ORDER BY 1`, times)
	return db
}

// TestUpgradeKilled: at whatever moment the process is killed, the database is
// the old one or the new one, and the next command makes it the new one.
func TestUpgradeKilled(t *testing.T) {
	t.Parallel()
	const upgradeTimes, upgradeMoments = 12, 6 // how many times the records, and how often it is killed
	large := largeGolden(t, upgradeTimes)
	content := dump(t, large, upgradeKeeps...)
	schemas := map[string]string{schemaOf(t, large): "old"}
	whole := filepath.Join(t.TempDir(), "whole.db")
	copyOf(t, large, whole)
	began := time.Now()
	cmd, output := process(t, "keys", "list", "--db", whole)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	took := time.Since(began)
	schemas[schemaOf(t, whole)] = "new"
	found := map[string]int{}
	for moment := range upgradeMoments {
		db := filepath.Join(t.TempDir(), "x.db")
		copyOf(t, large, db)
		cmd, _ := process(t, "keys", "list", "--db", db)
		must(t, cmd.Start())
		time.Sleep(took * time.Duration(moment) / upgradeMoments * 5 / 4)
		cmd.Process.Kill()
		cmd.Wait()
		left := filepath.Join(t.TempDir(), "left.db") // a copy, because SQLite tidies up what it reads
		copyOf(t, db, left)
		if exists(db + "-wal") {
			copyOf(t, db+"-wal", left+"-wal")
		}
		is := schemas[schemaOf(t, left)]
		if found[is]++; is == "" || dump(t, left, upgradeKeeps...) != content {
			t.Errorf("killed at moment %d it is neither old nor new", moment)
		}
		works(t, "keys", "list", "--db", db)
		if schemas[schemaOf(t, db)] != "new" || dump(t, db, upgradeKeeps...) != content {
			t.Errorf("killed at moment %d it was not finished", moment)
		}
		works(t, "check", "--db", db)
	}
	t.Logf("found: %v", found)
}

// killedInCopy returns a database whose upgrade was killed in the middle of its
// copy, and that copy.
func killedInCopy(t *testing.T) (db, partial string) {
	t.Helper()
	large := largeGolden(t, 200)
	for range 20 {
		db = filepath.Join(t.TempDir(), "x.db")
		copyOf(t, large, db)
		cmd, _ := process(t, "keys", "list", "--db", db)
		must(t, cmd.Start())
		eventually(t, "the copy to be under way, or made", func() bool {
			if found, _ := filepath.Glob(filepath.Join(filepath.Dir(db), ".x.db-*.partial")); len(found) == 1 {
				partial = found[0]
			}
			return partial != "" || len(upgradeCopies(t, db)) > 0
		})
		must(t, cmd.Process.Kill())
		cmd.Wait()
		if partial != "" && exists(partial) && exists(db+"-backup-lock") && len(upgradeCopies(t, db)) == 0 {
			return db, partial
		}
		partial = ""
	}
	t.Fatal("it was never killed in the middle")
	return "", ""
}

// TestUpgradeLeftovers: what a killed upgrade has left behind goes at the next
// start, but not while a backup is being made.
func TestUpgradeLeftovers(t *testing.T) {
	t.Parallel()
	db, partial := killedInCopy(t)
	dir := filepath.Dir(db)
	// Killed a little later, it has given the copy its name, and would not make another.
	kept := db + ".before-upgrade-20260101T000000Z"
	must(t, os.Remove(partial))
	works(t, "backup", kept, "--db", db)
	must(t, errors.Join(os.Link(kept, partial), os.WriteFile(partial+"-journal", nil, 0o600), os.WriteFile(db+"-backup-lock", nil, 0o600)))

	unlock, err := sqlite.LockFile(db + "-backup-lock") // as one who makes a backup has it
	must(t, err)
	startOn(t, db).stop(t)
	if !exists(partial) {
		t.Error("a copy is gone that is being made")
	}
	must(t, unlock())
	startOn(t, db).stop(t)
	if got, want := namesIn(t, dir), []string{".x.db-progress", "x.db", "x.db-lock", filepath.Base(kept)}; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("there is %q", got)
	}
	works(t, "check", "--db", db)
}

// TestUpgradesAtOnce: of several processes that find an old database one
// upgrades it, and all can use it.
func TestUpgradesAtOnce(t *testing.T) {
	t.Parallel()
	db := largeGolden(t, 12)
	content := dump(t, db, upgradeKeeps...)
	var processes sync.WaitGroup
	for _, args := range [][]string{{"keys", "list"}, {"deleted", "--tenant", "Elmwood"}, {"keys", "list"}} {
		cmd, output := process(t, append(args, "--db", db)...)
		processes.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("%q: %v: %s", args, err, output)
			}
		})
	}
	s := startOn(t, db)
	s.as(goldenKeys[1]).list(t, "")
	processes.Wait()
	s.stop(t)
	if dump(t, db, upgradeKeeps...) != content {
		t.Error("the records are not what they were")
	}
	works(t, "check", "--db", db)
}

// TestUpgradeBackup: before an old database is touched a copy of it is kept
// beside it, which leads back.
func TestUpgradeBackup(t *testing.T) {
	t.Parallel()
	db := golden(t)
	stdout, stderr := works(t, "check", "--db", db)
	kept := upgradeCopies(t, db)
	if len(kept) != 1 || stderr != fmt.Sprintf("Upgrading the database %s; as it is now it will stay in %s.\n", db, kept[0]) {
		t.Fatalf("stdout %q, stderr %q, kept %q", stdout, stderr, kept)
	}
	if before, after := format.HeaderVersion(kept[0]), format.HeaderVersion(db); before != 1 || after != schemaVersion {
		t.Errorf("from %d to %d", before, after)
	}
	works(t, "restore", kept[0], "--db", db)
	if version := format.HeaderVersion(db); version != 1 {
		t.Errorf("the way back leads to version %d", version)
	}
	works(t, "check", "--db", db)
}

// upgradeCopies returns the copies that upgrades have kept.
func upgradeCopies(t *testing.T, db string) []string {
	t.Helper()
	copies, err := filepath.Glob(db + ".before-upgrade-*")
	must(t, err)
	return copies
}

// TestUpgradeCutOff: however often an upgrade fails, in its first step or a later
// one, or is cut off, there is at most one copy, and it is of the database as it is.
func TestUpgradeCutOff(t *testing.T) {
	t.Parallel()
	for _, obstacle := range []string{`DROP TRIGGER firefighter_made`, `CREATE TABLE invitations (id INTEGER PRIMARY KEY)`} {
		failing := golden(t)
		execSQL(t, failing, obstacle)
		for range 2 {
			code, _, stderr := runCommand(t, "check", "--db", failing)
			if code != 1 || len(upgradeCopies(t, failing)) > 0 || format.HeaderVersion(failing) != 1 {
				t.Errorf("code %d, stderr %q, kept %q", code, stderr, upgradeCopies(t, failing))
			}
		}
	}
	for name, change := range map[string]string{"as it was": ``, "changed since": `UPDATE tenants SET version = version + 1`} {
		db := golden(t)
		first := db + ".before-upgrade-20260101T000000Z"
		works(t, "backup", first, "--db", db)
		execSQL(t, db, change)
		_, stderr := works(t, "check", "--db", db)
		copies := upgradeCopies(t, db)
		last := copies[len(copies)-1]
		if (len(copies) == 2) != (change != "") || !slices.Contains(copies, first) || !strings.HasSuffix(stderr, " will stay in "+last+".\n") {
			t.Errorf("%s: kept %q, stderr %q", name, copies, stderr)
		}
	}
}
