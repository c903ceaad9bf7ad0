package acceptance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// departmentLine is a line of departments list --json.
type departmentLine struct {
	Name, Country                string
	Records, Deleted, ActiveKeys int
	CreatedAt                    time.Time
}

// departments returns the lines of departments list without the time of creation.
func departments(t *testing.T, db string) (all []string) {
	t.Helper()
	stdout, stderr := works(t, "departments", "list", "--json", "--db", db)
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	for line := range strings.Lines(stdout) {
		var d departmentLine
		decode(t, line, &d)
		if age := time.Since(d.CreatedAt); age < 0 || age > patience {
			t.Errorf("created %v ago: %s", age, line)
		}
		all = append(all, fmt.Sprintf("%s: %d, %d, %d", d.Name, d.Records, d.Deleted, d.ActiveKeys))
	}
	return all
}

func wantDepartments(t *testing.T, db string, want ...string) {
	t.Helper()
	if got := departments(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the departments are %q, want %q", got, want)
	}
}

// TestDepartmentCommands checks that a department can be renamed, emptied and removed while a
// service is running.
func TestDepartmentCommands(t *testing.T) {
	t.Parallel()
	s := start(t)
	ladder := s.as(newKey(t, s.db, "Ladder 1"))
	newKey(t, s.db, "Ladder 1", "--scope", "read")
	works(t, "keys", "revoke", "3", "--db", s.db)
	s.create(t, ana)
	record := ladder.create(t, ana)
	ladder.do(t, "DELETE", collection+"/"+ladder.create(t, ana), "").wants(t, 204)
	wantDepartments(t, s.db, "default: 1, 0, 1", "Ladder 1: 1, 1, 1")
	stdout, stderr := works(t, "departments", "list", "--db", s.db)
	if form := regexp.MustCompile(`^default +- +1 +0 +1 +20\S+Z\nLadder 1 +- +1 +1 +1 +20\S+Z\n$`); !form.MatchString(stdout) ||
		!strings.HasPrefix(stderr, "NAME      COUNTRY  RECORDS  DELETED  ACTIVE KEYS  CREATED") {
		t.Errorf("stderr:\n%sstdout:\n%s", stderr, stdout)
	}

	prints := func(want string, args ...string) {
		t.Helper()
		if stdout, stderr := works(t, append(args, "--db", s.db)...); stdout != "" || stderr != want {
			t.Errorf("%q: stdout %q, stderr %q", args, stdout, stderr)
		}
	}
	prints("Renamed the department \"Ladder 1\" to \"Rescue 3\".\n", "departments", "rename", "Ladder 1", " Rescue 3 ")
	ladder.do(t, "GET", collection+"/"+record, "").wants(t, 200)
	if a := ladder.do(t, "GET", "/api/v1/whoami", "").wants(t, 200); !strings.Contains(a.body, `"Rescue 3"`) {
		t.Errorf("after the rename: %s", a.body)
	}
	full := func(records, deleted int, hint string) string {
		return fmt.Sprintf("Error: the department \"Rescue 3\" is not empty: records: %d, deleted records: %d\n"+
			"Try: %sfirefighters purge --older-than 0s --department %s --db %s\n", records, deleted, hint, cli.Quote("Rescue 3"), s.db)
	}
	remove := []string{"departments", "remove", "Rescue 3", "--db", s.db}
	refuses(t, 1, full(1, 1, "delete its records on the office page, then: "), append(remove, "--yes")...)
	ladder.do(t, "DELETE", collection+"/"+record, "").wants(t, 204)
	refuses(t, 1, full(0, 2, ""), remove...)
	prints("Permanently deleted 2 records.\n", "purge", "--tenant", "Rescue 3", "--older-than", "0s", "--yes")
	refuses(t, 2, "Error: there is no terminal to ask: Remove the department \"Rescue 3\" with its 1 active key or session?\n"+
		"Try: add --yes\n", remove...)
	wantDepartments(t, s.db, "default: 1, 0, 1", "Rescue 3: 0, 0, 1")
	ladder.list(t, "")
	prints("Removed the department \"Rescue 3\" and 2 keys.\n", "departments", "remove", "Rescue 3", "--yes")
	ladder.refused(t, "unknown")
	s.list(t, "")
	wantDepartments(t, s.db, "default: 1, 0, 1")
	works(t, "check", "--db", s.db)
	refuses(t, 1, "Error: there is no department \"Rescue 3\"\nTry: firefighters departments list --db "+s.db+"\n", remove...)
}

// TestSessionsListed checks that keys list shows a session in a separate line, with the time
// at which it expires if it is not used, and that a session ends with its key and does not
// count as a key of its department.
func TestSessionsListed(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	openSession(t, db, newKey(t, db, "A", "--label", "desk", "--scope", "admin"))
	openSession(t, db, newKey(t, db, "A", "--expires", "12h"))
	execSQL(t, db, `UPDATE keys SET created_at = created_at / 1000 * 1000, last_used_at = iif(id = 2, created_at / 1000 * 1000 + 600000, NULL)`)
	var created, expires int64
	scanSQL(t, db, `SELECT created_at FROM keys WHERE id = 2`, &created)
	scanSQL(t, db, `SELECT created_at + 3600000 FROM keys WHERE id = 4`, &expires)
	moment := func(milliseconds int64) string { return time.UnixMilli(milliseconds).UTC().Format(time.RFC3339) }
	stdout, _ := works(t, "keys", "list", "--db", db)
	for i, form := range []string{`^1 +active +admin .* - +- +A +desk$`,
		`^2 +active +admin +` + moment(created) + ` +` + moment(created+4200000) + ` +` + moment(created+600000) + ` +A +desk$`,
		`^3 +active +write .* A *$`, `^4 +active +write .* ` + moment(expires) + ` +- +A +key 3$`} {
		if line := strings.Split(stdout, "\n")[i]; !regexp.MustCompile(form).MatchString(line) {
			t.Errorf("%q does not match %s", line, form)
		}
	}
	works(t, "keys", "revoke", "1", "--db", db)
	works(t, "keys", "revoke", "4", "--db", db)
	stdout, _ = works(t, "keys", "list", "--json", "--db", db)
	if states := fmt.Sprint(regexp.MustCompile(`"state":"\w+"`).FindAllString(stdout, -1)); states !=
		`["state":"revoked" "state":"revoked" "state":"active" "state":"revoked"]` {
		t.Errorf("states: %s", states)
	}
	openSession(t, db, newKey(t, db, "A"))
	wantDepartments(t, db, "A: 0, 0, 2")
	refuses(t, 2, "Error: there is no terminal to ask: Remove the department \"A\" with its 3 active keys and sessions?\n"+
		"Try: add --yes\n", "departments", "remove", "A", "--db", db)
	works(t, "keys", "revoke", "3", "--db", db)
	works(t, "keys", "revoke", "5", "--db", db)
	wantDepartments(t, db, "A: 0, 0, 0")
	if _, stderr := works(t, "departments", "remove", "A", "--db", db); stderr != "Removed the department \"A\" and 3 keys.\n" {
		t.Errorf("stderr %q", stderr)
	}
}
