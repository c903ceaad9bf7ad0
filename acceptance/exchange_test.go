package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const germanList = "Vorname;Nachname;Handy;E-Mail;Geburtsdatum;Spind\r\n" +
	"Ana;Čović;+385 91 234 5678;ana@example.com;26.06.1990;I\r\n" +
	"Ivan;Horvat;091/111;;1.2.1985;II\r\n"

// list writes a file and returns its path.
func list(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// newEngine7 returns a database with an empty department "Engine 7".
func newEngine7(t *testing.T) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	newKey(t, db, "Engine 7")
	return db
}

// everything returns all data that an import could change.
func everything(t *testing.T, db string) string {
	t.Helper()
	var all string
	scanSQL(t, db, `SELECT json_array(
		(SELECT json_group_array(json_array(id, name, live_count)) FROM tenants),
		(SELECT json_group_array(json_array(row, id, first_name, last_name, phone_number, email, date_of_birth, deleted_at, checksum)) FROM firefighters),
		(SELECT json_group_array(json_array(id, record_id, action, before)) FROM changes),
		(SELECT json_group_array(json_array(tenant_id, number, file, added, changed, taken_back_at)) FROM imports))`, &all)
	return all
}

// into returns the arguments of a command for a file and the department "Engine 7".
func into(command, path, db string, flags ...string) []string {
	return append([]string{command, path, "--tenant", "Engine 7", "--db", db}, flags...)
}

// says runs a command and checks its exit code and its output.
func says(t *testing.T, code int, stdout, stderr string, args ...string) {
	t.Helper()
	gotCode, out, errs := runCommand(t, args...)
	if gotCode != code || out != stdout || errs != stderr {
		t.Errorf("%q: code %d, stdout:\n%sstderr:\n%swant %d and:\n%s%s", args, gotCode, out, errs, code, stdout, stderr)
	}
}

// exported returns the records of the department "Engine 7", each as a line of JSON.
func exported(t *testing.T, db string, flags ...string) (lines []string) {
	t.Helper()
	stdout, stderr := works(t, append([]string{"export", "--tenant", "Engine 7", "--format", "jsonl", "--db", db}, flags...)...)
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	return strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
}

// names returns the names of the people in the department "Engine 7" in order of creation.
func names(t *testing.T, db string, flags ...string) string {
	t.Helper()
	var all []string
	for _, line := range exported(t, db, flags...) {
		if line == "" {
			continue
		}
		var f map[string]any
		decode(t, line, &f)
		all = append(all, fmt.Sprint(f["firstName"], " ", f["lastName"]))
	}
	return strings.Join(all, ", ")
}

// TestOneNUL checks that an import refuses only the row of a cell with a control character.
func TestOneNUL(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	people := list(t, "people.csv", "firstName,lastName\nAna,\"Čo\x00vić\"\nIvan,Horvat\n")
	code, stdout, stderr := runCommand(t, into("import", people, db, "--apply", "--skip-bad")...)
	if code != 1 || !strings.Contains(stdout, "row 2  Ana  lastName contains a control character.\n\nImport 1: 1 person added, 1 row refused.\n") {
		t.Errorf("code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	}
	if got := names(t, db); got != "Ivan Horvat" {
		t.Errorf("names %s", got)
	}
}

// TestFoldedCard checks that a vCard may be folded within a character, with and without
// --encoding.
func TestFoldedCard(t *testing.T) {
	t.Parallel()
	card := list(t, "ana.vcf", "BEGIN:VCARD\r\nVERSION:4.0\r\nN:\xc4\r\n \x8cović;Ana\r\nEND:VCARD\r\n")
	for _, flags := range [][]string{nil, {"--encoding", "utf-8"}} {
		db := newEngine7(t)
		works(t, into("import", card, db, append(flags, "--apply")...)...)
		if got := names(t, db); got != "Ana Čović" {
			t.Errorf("%q: names %s", flags, got)
		}
	}
}

// TestImportWhileServing checks that a running service finds imported people at once, also in
// a department that the import created.
func TestImportWhileServing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	works(t, "import", list(t, "people.csv", strings.Replace(germanList, "Ana;", "Anna;", 1)), "--tenant", "default", "--apply", "--db", s.db)
	for search, want := range map[string]int64{"": 3, "search=cov": 2, "search=anna": 1, "search=091%2F111": 1} {
		if page := s.list(t, search); page.Data.TotalCount != want {
			t.Errorf("%q finds %d, want %d", search, page.Data.TotalCount, want)
		}
	}
	works(t, "import", list(t, "people.csv", germanList), "--tenant", "Engine 7", "--new", "--apply", "--db", s.db)
	if page := s.as(newKey(t, s.db, "Engine 7")).list(t, ""); page.Data.TotalCount != 2 {
		t.Errorf("the new department has %d people", page.Data.TotalCount)
	}
	works(t, "import", "undo", "1", "--tenant", "default", "--db", s.db)
	if page := s.list(t, ""); page.Data.TotalCount != 1 {
		t.Errorf("%d people after the undo", page.Data.TotalCount)
	}
}

// TestExportCommand checks that an export in each format contains everyone unchanged.
func TestExportCommand(t *testing.T) {
	t.Parallel()
	db, dir := newEngine7(t), t.TempDir()
	people := "firstName,lastName,phoneNumber,email,dateOfBirth\n'=Ana,''t Čović,'+1,a@example.com,1990-05-15T00:00:00+02:00\n" +
		"Ïvan  Žan,\"Horvat; \"\"X\"\"\",''+1,,1985-01-01\n李,🚒 王,0044,,\nعلي,\u200fحسن,\u2019+5,,2001-02-03T04:05:06.7Z\n"
	works(t, into("import", list(t, "people.csv", people), db, "--apply")...)
	before := exported(t, db)
	for _, format := range []string{"csv", "xlsx", "vcf", "jsonl"} {
		file := filepath.Join(dir, "x."+format)
		says(t, 0, "Wrote 4 people to "+file+".\n", "", "export", "--tenant", "Engine 7", "-o", file, "--db", db)
		says(t, 1, "", fmt.Sprintf("Error: %q already exists\nTry: to replace it, add --force\n", file), "export", "--tenant", "Engine 7", "-o", file, "--db", db)
		works(t, "export", "--tenant", "Engine 7", "-o", file, "--force", "--db", db)
		if stdout, _ := works(t, into("import", file, db, "--update", "--apply")...); !strings.HasSuffix(stdout, "Nothing to change: 4 people unchanged.\n") {
			t.Errorf("import of the %s:\n%s", format, stdout)
		}
		works(t, "import", file, "--tenant", format, "--new", "--map", "id=-", "--apply", "--db", db)
	}
	if after := exported(t, db); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%q\nbecame\n%q", before, after)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 4 {
		t.Errorf("files %v, %v", names, err)
	}
}
