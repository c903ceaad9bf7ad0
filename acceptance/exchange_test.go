package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

const (
	germanList = "Vorname;Nachname;Handy;E-Mail;Geburtsdatum;Spind\r\n" +
		"Ana;Čović;+385 91 234 5678;ana@example.com;26.06.1990;I\r\n" +
		"Ivan;Horvat;091/111;;1.2.1985;II\r\n"
	badList = "firstName,lastName,email\nAna,Horvat,ana@example.com\nIvan,,\nMia,Babić,not an address\nEva,Novak,\n"
)

// list writes a file of a list, and returns its path.
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

// everything returns everything of a database that an import could change.
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

// into are the arguments of a command about a file and the department
// "Engine 7".
func into(command, path, db string, flags ...string) []string {
	return append([]string{command, path, "--tenant", "Engine 7", "--db", db}, flags...)
}

// says runs a command, and compares its exit code and what it prints.
func says(t *testing.T, code int, stdout, stderr string, args ...string) {
	t.Helper()
	gotCode, out, errs := runCommand(t, args...)
	if gotCode != code || out != stdout || errs != stderr {
		t.Errorf("%q: code %d, stdout:\n%sstderr:\n%swant %d and:\n%s%s", args, gotCode, out, errs, code, stdout, stderr)
	}
}

// exported returns the people of the department "Engine 7", a line of JSON each.
func exported(t *testing.T, db string, flags ...string) (lines []string) {
	t.Helper()
	stdout, stderr := works(t, append([]string{"export", "--tenant", "Engine 7", "--format", "jsonl", "--db", db}, flags...)...)
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	return strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
}

// names returns the names of the people of the department "Engine 7", in the
// order of creation.
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

// TestLeftOut: columns that are left out are named where the import is done, too.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	cards := list(t, "people.vcf", "BEGIN:VCARD\nVERSION:3.0\nN:Horvat;Ivan\nTEL;CELL:+385 91 1\nTEL;HOME:+385 1 2\nADR:;;Ilica 1;Zagreb\nEND:VCARD\n")
	table := list(t, "people.csv", "firstName,lastName,Locker,\nAna,Čović,Captain\n")
	for _, tt := range []struct{ path, want string }{
		{cards, "Left out: TEL 2, ADR\nImport 1: 1 person added.\n"},
		{table, "Left out: Locker\nImport 1: 1 person added.\n"},
	} {
		if stdout, _ := works(t, into("import", tt.path, newEngine7(t), "--apply")...); !strings.HasPrefix(stdout, tt.want) {
			t.Errorf("%s: it says\n%swant\n%s", filepath.Base(tt.path), stdout, tt.want)
		}
	}
}

// TestOneNUL: a control character in a cell refuses its row, and not the file.
func TestOneNUL(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	people := list(t, "people.csv", "firstName,lastName\nAna,\"Čo\x00vić\"\nIvan,Horvat\n")
	code, stdout, stderr := runCommand(t, into("import", people, db, "--apply", "--skip-bad")...)
	if code != 1 || !strings.Contains(stdout, "row 2  Ana  lastName contains a control character.\n\nImport 1: 1 person added, 1 row refused.\n") {
		t.Errorf("code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	}
	if got := names(t, db); got != "Ivan Horvat" {
		t.Errorf("there is %s", got)
	}
}

// TestFoldedCard: a vCard may be folded within a character, with --encoding and
// without.
func TestFoldedCard(t *testing.T) {
	t.Parallel()
	card := list(t, "ana.vcf", "BEGIN:VCARD\r\nVERSION:4.0\r\nN:\xc4\r\n \x8cović;Ana\r\nEND:VCARD\r\n")
	for _, flags := range [][]string{nil, {"--encoding", "utf-8"}} {
		db := newEngine7(t)
		works(t, into("import", card, db, append(flags, "--apply")...)...)
		if got := names(t, db); got != "Ana Čović" {
			t.Errorf("%q: there is %s", flags, got)
		}
	}
}

// TestImportCommand goes the whole way: a look, the import, the same file again, and
// back.
func TestImportCommand(t *testing.T) {
	t.Parallel()
	db, people := newEngine7(t), list(t, "people.csv", germanList)
	before := everything(t, db)
	described := `people.csv is read as CSV in utf-8, with ; between the cells.
Its dates are read as day, month, year (dmy).

Its columns:
  Vorname       firstName
  Nachname      lastName
  Handy         phoneNumber
  E-Mail        email
  Geburtsdatum  dateOfBirth
Left out: Spind

`
	said := described + "To add: 2. To change: 0. To leave as they are: 0. Refused: 0.\nNothing was changed. To import it: " +
		fmt.Sprintf("firefighters import %s --db %s --tenant 'Engine 7' --apply\n", people, db)
	says(t, 0, said, "", into("import", people, db)...)
	if after := everything(t, db); after != before {
		t.Errorf("without --apply:\n%s\nbecame\n%s", before, after)
	}
	takeBack := "Take it back with: firefighters import undo 1 --tenant 'Engine 7' --db " + db + "\n"
	says(t, 0, "Left out: Spind\nImport 1: 2 people added.\n"+takeBack, "", into("import", people, db, "--apply")...)
	if got := names(t, db); got != "Ana Čović, Ivan Horvat" {
		t.Errorf("there is %s", got)
	}
	if ana := exported(t, db)[0]; !strings.HasSuffix(ana, withLater(`"firstName":"Ana","lastName":"Čović","phoneNumber":"+385 91 234 5678","email":"ana@example.com",`+
		`"dateOfBirth":"1990-06-26T00:00:00Z","invitationStatus":null,"userId":null}`)) {
		t.Errorf("Ana is %s", ana)
	}
	stdout, _ := works(t, into("import", people, db, "--apply")...)
	if !strings.HasPrefix(stdout, "Note: This file was imported before: import 1 on ") || !strings.HasSuffix(stdout, "\nThere was nothing to change: 2 people left as they are.\n") {
		t.Errorf("the same again:\n%s", stdout)
	}
	undo := []string{"import", "undo", "1", "--tenant", "Engine 7", "--db", db}
	says(t, 0, "Took back import 1: 2 people deleted, 0 as before the import.\n", "", undo...)
	if got := names(t, db); got != "" {
		t.Errorf("after the undo: %s", got)
	}
	code, stdout, stderr := runCommand(t, undo...)
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "Error: import 1 was taken back before, at ") {
		t.Errorf("undo again: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	see := "Try: see their numbers: firefighters import list --tenant 'Engine 7' --db " + db + "\n"
	refuses(t, 1, "Error: the department \"Engine 7\" has no import 2\n"+see, "import", "undo", "2", "--tenant", "Engine 7", "--db", db)
	works(t, "check", "--db", db)
}

// importLine is what import list --json prints of an import.
type importLine struct {
	Number, Added, Changed int
	At, File               string
	TakenBackAt, Label     *string
	Key                    *int
}

// TestImportListCommand: the newest import comes first.
func TestImportListCommand(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	flags := []string{"--tenant", "Engine 7", "--db", db}
	says(t, 0, "", "NUMBER  AT  ADDED  CHANGED  TAKEN BACK  BY  FILE\n", append([]string{"import", "list"}, flags...)...)
	works(t, into("import", list(t, "one.csv", germanList), db, "--apply")...)
	works(t, into("import", list(t, "two.csv", "firstName,lastName,phone\nAna,Čović,1\nEva,Novak,2\n"), db, "--apply", "--update")...)
	works(t, append([]string{"import", "undo", "1"}, flags...)...)
	stdout, _ := works(t, append([]string{"import", "list", "--json"}, flags...)...)
	var lines []importLine
	for line := range strings.Lines(stdout) {
		var i importLine
		decode(t, line, &i)
		lines = append(lines, i)
	}
	if len(lines) != 2 || lines[0].Number != 2 || lines[0].Added != 1 || lines[0].Changed != 1 || lines[0].File != "two.csv" || lines[0].TakenBackAt != nil || lines[0].Key != nil ||
		lines[1].Number != 1 || lines[1].Added != 2 || lines[1].TakenBackAt == nil {
		t.Errorf("the imports are:\n%s", stdout)
	}
	stdout, _ = works(t, append([]string{"import", "list"}, flags...)...)
	if fields := strings.Fields(stdout); len(fields) != 14 || fields[0] != "2" || fields[6] != "two.csv" || fields[4] != "-" || fields[11] == "-" {
		t.Errorf("import list prints:\n%s", stdout)
	}
}

// TestImportIntoNothing: a database and a department come to be with the first
// import, and not before.
func TestImportIntoNothing(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	people, bad := list(t, "people.csv", germanList), list(t, "bad.csv", badList)
	nothing := func(what string) {
		t.Helper()
		if names, err := os.ReadDir(filepath.Dir(db)); err != nil || len(names) > 0 {
			t.Errorf("%s: there is %v, %v", what, names, err)
		}
	}
	stdout, stderr := works(t, into("import", people, db)...)
	if want := fmt.Sprintf("There is no database %q yet: --apply makes it, with the department.\nTo add: 2.", db); stderr != "" || !strings.Contains(stdout, want) {
		t.Errorf("stderr %q, stdout:\n%s", stderr, stdout)
	}
	nothing("without --apply")
	if code, stdout, _ := runCommand(t, into("import", bad, db, "--apply")...); code != 1 || !strings.Contains(stdout, "Nothing was changed.") || strings.Contains(stdout, "--apply makes it") {
		t.Errorf("refused: code %d, stdout:\n%s", code, stdout)
	}
	nothing("refused")
	if code, _, _ := runCommand(t, into("import", list(t, "worse.csv", "firstName,lastName\nAna,\n"), db, "--apply", "--skip-bad")...); code != 1 {
		t.Errorf("all refused: code %d", code)
	}
	nothing("all refused")
	_, stderr = works(t, into("import", people, db, "--apply")...)
	if want := fmt.Sprintf("Made the database %s.\nMade the department \"Engine 7\".\n", db); stderr != want {
		t.Errorf("stderr %q, not %q", stderr, want)
	}
	if got := names(t, db); got != "Ana Čović, Ivan Horvat" {
		t.Errorf("there is %s", got)
	}
	alike := []string{"import", people, "--tenant", "engine 7", "--db", db}
	taken := "Error: there is a department \"Engine 7\" already, and \"engine 7\" differs from it only in case, accents or spaces; nothing was changed\n" +
		"Try: --tenant 'Engine 7', or the same with --new to have both\n"
	refuses(t, 1, taken, alike...)
	refuses(t, 1, taken, append(alike, "--apply")...)
	ladder := []string{"import", bad, "--tenant", "Ladder 1", "--db", db}
	if code, stdout, _ := runCommand(t, ladder...); code != 1 || !strings.Contains(stdout, "There is no department \"Ladder 1\" yet: --apply makes it.\n") {
		t.Errorf("a new department: code %d, stdout:\n%s", code, stdout)
	}
	if code, stdout, stderr := runCommand(t, append(ladder, "--apply")...); code != 1 || strings.Contains(stderr, "Made") || strings.Contains(stdout, "--apply makes it") {
		t.Errorf("a new department: code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	}
	wantDepartments(t, db, "Engine 7: 2, 0, 0")
	works(t, append(alike, "--new", "--apply")...)
	wantDepartments(t, db, "Engine 7: 2, 0, 0", "engine 7: 2, 0, 0")
}

// TestRefusedRows: one bad row keeps all others out, unless they may go in
// without it.
func TestRefusedRows(t *testing.T) {
	t.Parallel()
	db, bad := newEngine7(t), list(t, "bad.csv", badList)
	before := everything(t, db)
	typed := func(flags string) string {
		return fmt.Sprintf("firefighters import %s --db %s %s", bad, db, flags)
	}
	const refused = `
Refused:
  row 3  Ivan       lastName is required.
  row 4  Mia Babić  email must be one bare e-mail address, like name@example.org.
`
	dry := `bad.csv is read as CSV in utf-8, with , between the cells.

Its columns:
  firstName  firstName
  lastName   lastName
  email      email
` + refused
	for _, flags := range [][]string{nil, {"--apply"}} {
		code, stdout, stderr := runCommand(t, into("import", bad, db, flags...)...)
		if code != 1 || !strings.Contains(stdout, "\n  row 3  ") || !strings.Contains(stdout, "Nothing was changed.") || strings.HasPrefix(stdout, dry) != (len(flags) == 0) {
			t.Errorf("%q: code %d, stdout:\n%s", flags, code, stdout)
		}
		if want := "Error: 2 of 4 rows refused; nothing was changed\nTry: correct these rows, or import the others: " + typed("--tenant 'Engine 7' --skip-bad --apply\n"); stderr != want {
			t.Errorf("%q: stderr %q, not %q", flags, stderr, want)
		}
	}
	if after := everything(t, db); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
	code, stdout, stderr := runCommand(t, into("import", bad, db, "--apply", "--skip-bad")...)
	if code != 1 || !strings.Contains(stdout, "\nImport 1: 2 people added, 2 rows refused.\nTake it back with: ") ||
		!strings.HasPrefix(stderr, "Error: 2 of 4 rows refused; the others were imported\nTry: ") {
		t.Errorf("code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	}
	if got := names(t, db); got != "Ana Horvat, Eva Novak" {
		t.Errorf("there is %s", got)
	}
	if _, _, stderr := runCommand(t, into("import", bad, db, "--apply", "--skip-bad")...); !strings.HasPrefix(stderr, "Error: 2 of 4 rows refused; of the others there was nothing to change\nTry: ") {
		t.Errorf("once more: stderr %q", stderr)
	}
	many := "firstName,lastName\n" + strings.Repeat(",x\n", 12)
	if _, stdout, _ := runCommand(t, into("import", list(t, "many.csv", many), db)...); strings.Count(stdout, "\n  row ") != 10 ||
		!strings.Contains(stdout, "\n  and 2 more: --report FILE shows all\n") {
		t.Errorf("of many it shows:\n%s", stdout)
	}
}

// TestImportUpdate: people who are there are changed only with --update, and an
// undo leaves alone who has changed since.
func TestImportUpdate(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	works(t, into("import", list(t, "people.csv", germanList), db, "--apply")...)
	more := list(t, "more.csv", "firstName,lastName,email,phone\nANA,Covic,ana@example.com,1\nIvan,Horvat,,\nEva,Novak,,2\n")
	stdout, _ := works(t, into("import", more, db)...)
	if !strings.Contains(stdout, "\nTo add: 1. To change: 0. To leave as they are: 2. Refused: 0.\n") {
		t.Errorf("without --update:\n%s", stdout)
	}
	stdout, _ = works(t, into("import", more, db, "--update")...)
	if !strings.Contains(stdout, "\nTo add: 1. To change: 1. To leave as they are: 1. Refused: 0.\n") ||
		!strings.Contains(stdout, "\nChanged:\n  row 2  ANA Covic  firstName: Ana becomes ANA, lastName: Čović becomes Covic, phoneNumber: +385 91 234 5678 becomes 1\n") {
		t.Errorf("with --update:\n%s", stdout)
	}
	before := exported(t, db)
	works(t, into("import", more, db, "--update", "--apply")...)
	if got := names(t, db); got != "ANA Covic, Ivan Horvat, Eva Novak" {
		t.Errorf("there is %s", got)
	}
	works(t, into("import", list(t, "later.csv", "firstName,lastName,phone\nEva,Novak,3\n"), db, "--update", "--apply")...)
	stdout, _ = works(t, "import", "undo", "2", "--tenant", "Engine 7", "--db", db)
	if !strings.HasPrefix(stdout, "Took back import 2: 0 people deleted, 1 as before the import.\n\nLeft as they are, because they have changed since: 1\n  ") ||
		!strings.HasSuffix(stdout, "  Eva Novak  changed since\n") {
		t.Errorf("the undo says:\n%s", stdout)
	}
	if after := exported(t, db); len(after) != 3 || after[0] != before[0] || after[1] != before[1] {
		t.Errorf("%q\nbecame\n%q", before, after)
	}
}

// TestImportJSON: nothing else goes to standard output, whatever becomes of the
// import.
func TestImportJSON(t *testing.T) {
	t.Parallel()
	db, bad := newEngine7(t), list(t, "bad.csv", badList)
	for flags, want := range map[string]string{
		"":                   `{"number":null,"applied":false,"added":2,"changed":0,"left":0,"refused":2,`,
		"--apply":            `{"number":null,"applied":false,"added":2,"changed":0,"left":0,"refused":2,`,
		"--apply --skip-bad": `{"number":1,"applied":true,"added":2,"changed":0,"left":0,"refused":2,`,
	} {
		code, stdout, _ := runCommand(t, into("import", bad, savedCopy(t, db), append(strings.Fields(flags), "--json")...)...)
		want += `"file":{"format":"csv","encoding":"utf-8","delimiter":",","sheet":null},"dates":null,` +
			`"columns":[{"header":"firstName","field":"firstName"},{"header":"lastName","field":"lastName"},{"header":"email","field":"email"}],"rows":[{"row":3,`
		if code != 1 || !strings.HasPrefix(stdout, want) || strings.Count(stdout, "\n") != 1 || !json.Valid([]byte(stdout)) {
			t.Errorf("%s: code %d, stdout:\n%s", flags, code, stdout)
		}
	}
}

// savedCopy returns a copy of a database.
func savedCopy(t *testing.T, db string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	works(t, "backup", path, "--db", db)
	return path
}

// TestImportAsks: what the file does not say is asked for, and what is typed then
// works.
func TestImportAsks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, what, flag, value string }{
		{"columns", "Vorname,Nachname,Handy,Telefon\nAna,Horvat,1,2\n", `several columns could be phoneNumber: "Handy" and "Telefon"`, "--map", "Handy=phoneNumber"},
		{"dates", "Vorname,Nachname,Geburtsdatum\nAna,Horvat,1.2.1990\n", `the dates in the column "Geburtsdatum", such as "1.2.1990", could be day first or month first`, "--dates", "dmy"},
		{"encoding", "Vorname,Nachname\nAna,Juri\xe6\n", `the encoding is not certain: row 2 is "Ana Juriæ" in windows-1252, and "Ana Jurić" in windows-1250`, "--encoding", "windows-1250"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, people := newEngine7(t), list(t, "people.csv", tt.content)
			before := everything(t, db)
			code, stdout, stderr := runCommand(t, into("import", people, db, "--apply")...)
			if want := fmt.Sprintf("Error: %q: %s\nTry: firefighters import %s --apply --db %s --tenant 'Engine 7' %s ", people, tt.what, people, db, tt.flag); code != 1 || stdout != "" || !strings.HasPrefix(stderr, want) {
				t.Errorf("code %d, stdout %q, stderr %q, not %q", code, stdout, stderr, want)
			}
			if after := everything(t, db); after != before {
				t.Errorf("%s\nbecame\n%s", before, after)
			}
			works(t, into("import", people, db, "--apply", tt.flag, tt.value)...)
			if got := names(t, db); got != "Ana Horvat" && got != "Ana Jurić" {
				t.Errorf("there is %s", got)
			}
		})
	}
	db, people := newEngine7(t), list(t, "people.csv", "Vorname,Nachname\nAna,Juri\xe6\n")
	stdout, _ := works(t, into("import", people, db)...)
	if !strings.Contains(stdout, "Note: The encoding is not certain: row 2 is ") || !strings.Contains(stdout, "say which encoding is right: firefighters import ") {
		t.Errorf("without --apply:\n%s", stdout)
	}
}

// TestImportReport: the whole original comes back, with what became of each row,
// for a look and for an import.
func TestImportReport(t *testing.T) {
	t.Parallel()
	db, bad := newEngine7(t), list(t, "bad.csv", badList)
	report := filepath.Join(t.TempDir(), "checked.csv")
	for _, flags := range [][]string{nil, {"--apply", "--skip-bad", "--force"}} {
		code, _, stderr := runCommand(t, into("import", bad, db, append(flags, "--report", report)...)...)
		if code != 1 || !strings.HasPrefix(stderr, "Wrote "+report+".\n") {
			t.Errorf("code %d, stderr %q", code, stderr)
		}
		content, err := os.ReadFile(report)
		must(t, err)
		got := strings.TrimPrefix(string(content), "\ufeff")
		if lines := strings.Split(got, "\r\n"); len(lines) != 6 || lines[0] != "firstName,lastName,email,result,reason" || lines[1] != "Ana,Horvat,ana@example.com,added," ||
			lines[2] != "Ivan,,,refused,lastName is required." {
			t.Errorf("the report is:\n%s", got)
		}
		if info, err := os.Stat(report); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	refuses(t, 1, fmt.Sprintf("Error: %q is there already\nTry: another name, or --force to replace it\n", report), into("import", bad, db, "--report", report)...)
	corrected, err := os.ReadFile(report)
	must(t, err)
	again := strings.Replace(strings.Replace(string(corrected), "Ivan,,", "Ivan,Horvat,", 1), "not an address", "mia@example.com", 1)
	stdout, _ := works(t, into("import", list(t, "again.csv", again), db, "--apply")...)
	if !strings.HasPrefix(stdout, "Left out: result, reason\nImport 2: 2 people added, 2 people left as they are.\n") {
		t.Errorf("corrected:\n%s", stdout)
	}
	book := filepath.Join(t.TempDir(), "checked.xlsx")
	runCommand(t, into("import", bad, db, "--report", book)...)
	if code, stdout, _ := runCommand(t, into("import", book, db)...); code != 1 || !strings.Contains(stdout, "\nLeft out: result, reason\n") {
		t.Errorf("the workbook is read as:\n%s", stdout)
	}
}

// TestImportFromInput: a list may come through a pipe.
func TestImportFromInput(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	code, stdout, stderr := runWith(t, germanList, into("import", "-", db, "--apply")...)
	if code != 0 || names(t, db) != "Ana Čović, Ivan Horvat" {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestImportBesideService: a running service finds new people at once, and
// answers for the department of an import.
func TestImportBesideService(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	works(t, "import", list(t, "people.csv", strings.Replace(germanList, "Ana;", "Anna;", 1)), "--tenant", "default", "--apply", "--db", s.db)
	for search, want := range map[string]int64{"": 3, "search=cov": 2, "search=anna": 1, "search=091%2F111": 1} {
		if page := s.list(t, search); page.Data.TotalCount != want {
			t.Errorf("%q finds %d, not %d", search, page.Data.TotalCount, want)
		}
	}
	works(t, "import", list(t, "people.csv", germanList), "--tenant", "Engine 7", "--apply", "--db", s.db)
	if page := s.as(newKey(t, s.db, "Engine 7")).list(t, ""); page.Data.TotalCount != 2 {
		t.Errorf("the new department has %d", page.Data.TotalCount)
	}
	works(t, "import", "undo", "1", "--tenant", "default", "--db", s.db)
	if page := s.list(t, ""); page.Data.TotalCount != 1 {
		t.Errorf("after the undo there are %d", page.Data.TotalCount)
	}
}

// TestExportCommand: everybody goes out in every format, and comes back as they were.
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
		says(t, 1, "", fmt.Sprintf("Error: %q is there already\nTry: another name, or --force to replace it\n", file), "export", "--tenant", "Engine 7", "-o", file, "--db", db)
		works(t, "export", "--tenant", "Engine 7", "-o", file, "--force", "--db", db)
		if stdout, _ := works(t, into("import", file, db, "--update", "--apply")...); !strings.HasSuffix(stdout, "There was nothing to change: 4 people left as they are.\n") {
			t.Errorf("%s comes back as:\n%s", format, stdout)
		}
		works(t, "import", file, "--tenant", format, "--map", "id=-", "--apply", "--db", db)
	}
	if after := exported(t, db); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%q\nbecame\n%q", before, after)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 4 {
		t.Errorf("there is %v, %v", names, err)
	}
}

// TestExportSome: the search and the order are those of the API.
func TestExportSome(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	works(t, into("import", list(t, "people.csv", "firstName,lastName\nIvan,Horvat\nAna,Čović\nEva,Horvat\n"), db, "--apply")...)
	for flags, want := range map[string]string{
		"":                                    "Ivan Horvat, Ana Čović, Eva Horvat",
		"--desc":                              "Eva Horvat, Ana Čović, Ivan Horvat",
		"--sort lastName":                     "Ana Čović, Eva Horvat, Ivan Horvat",
		"--sort lastName --desc":              "Ivan Horvat, Eva Horvat, Ana Čović",
		"--search horv --sort firstName":      "Eva Horvat, Ivan Horvat",
		"--search nobody":                     "",
		"--search HORV --sort=firstName -o -": "Eva Horvat, Ivan Horvat",
	} {
		if got := names(t, db, strings.Fields(flags)...); got != want {
			t.Errorf("%s: %s, not %s", flags, got, want)
		}
	}
	stdout, _ := works(t, "export", "--tenant", "Engine 7", "--search", "nobody", "--db", db)
	if stdout != "\ufeffid,"+strings.Join(record.FieldNames(), ",")+",invitationStatus,userId\r\n" {
		t.Errorf("nobody is %q", stdout)
	}
	refuses(t, 1, "Error: there is no department \"A\"\nTry: see their names: firefighters departments list --db "+db+"\n", "export", "--tenant", "A", "--db", db)
	absent := filepath.Join(t.TempDir(), "absent.db")
	refuses(t, 1, noDatabase(absent), "export", "--tenant", "A", "--db", absent)
	cmd, said := process(t, "export", "--tenant", "Engine 7", "--db", db)
	cmd.Stdout = brokenPipe(t)
	if code := exitCode(t, cmd.Run()); code != 1 || !regexp.MustCompile(`^Error: writing the result: .*pipe\b.*\n$`).MatchString(said.String()) {
		t.Errorf("a closed pipe: code %d, stderr %q", code, said)
	}
}

// TestExportDamaged: a record that the disk has changed is named, and no file
// stays.
func TestExportDamaged(t *testing.T) {
	t.Parallel()
	db, dir := newEngine7(t), t.TempDir()
	works(t, into("import", list(t, "people.csv", germanList), db, "--apply")...)
	execSQL(t, db, `UPDATE firefighters SET last_name = 'Damaged' WHERE first_name = 'Ivan'`)
	var id string
	scanSQL(t, db, `SELECT id FROM firefighters WHERE first_name = 'Ivan'`, &id)
	damaged := fmt.Sprintf("Error: the record %q is damaged: its fields do not have their checksum\nTry: see which are: firefighters check --db %s\n", id, db)
	refuses(t, 1, damaged, "export", "--tenant", "Engine 7", "-o", filepath.Join(dir, "x.csv"), "--db", db)
	refuses(t, 1, damaged, into("import", list(t, "more.csv", badList), db, "--apply", "--skip-bad")...)
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("there is %v, %v", names, err)
	}
}

// TestCompare: somebody's list beside ours.
func TestCompare(t *testing.T) {
	t.Parallel()
	db := newEngine7(t)
	works(t, into("import", list(t, "people.csv", germanList+"Eva;Novak;;;;\r\nMia;Babić;;;;\r\n"), db, "--apply")...)
	before := everything(t, db)
	theirs := list(t, "insurer.csv", "First name,Last name,Phone,E-mail\nAna,Čović,091,ana@example.com\nIvan,Horvat,,\nLuka,Jurić,092,\nMia,Babić,,x\n")
	report := filepath.Join(t.TempDir(), "differences.csv")
	says(t, 1, `insurer.csv is read as CSV in utf-8, with , between the cells.

Its columns:
  First name  firstName
  Last name   lastName
  Phone       phoneNumber
  E-mail      email

Only theirs: 1
  row 4  Luka Jurić  092

Only ours: 1
  Eva Novak

Different: 1
  row 2  Ana Čović  phoneNumber  ours +385 91 234 5678  theirs 091

Refused: 1
  row 5  Mia Babić  email must be one bare e-mail address, like name@example.org.

Only theirs: 1. Only ours: 1. Different: 1. The same: 1. Refused: 1.
Of ours only refused rows could mean, so they are in none of these lists: 1.
`, "Wrote "+report+".\nError: 1 of 4 rows could not be compared\nTry: correct these rows, and compare again\n", into("compare", theirs, db, "--report", report)...)
	content, err := os.ReadFile(report)
	must(t, err)
	lines := strings.Split(strings.TrimPrefix(string(content), "\ufeff"), "\r\n")
	if len(lines) != 6 || lines[0] != "finding,row,id,name,field,ours,theirs,reason" || lines[1] != "only theirs,4,,Luka Jurić,,,092," || !strings.HasSuffix(lines[3], ",Ana Čović,phoneNumber,'+385 91 234 5678,091,") {
		t.Errorf("the report is:\n%s", content)
	}
	var found struct{ OnlyTheirs, OnlyOurs, Differ, Refused []map[string]any }
	_, stdout, _ := runCommand(t, into("compare", theirs, db, "--json")...)
	must(t, json.Unmarshal([]byte(stdout), &found))
	if len(found.OnlyTheirs) != 1 || found.OnlyTheirs[0]["row"] != 4.0 || len(found.OnlyOurs) != 1 || found.OnlyOurs[0]["firstName"] != "Eva" ||
		len(found.Differ) != 1 || found.Differ[0]["name"] != "Ana Čović" || len(found.Refused) != 1 || strings.Count(stdout, "\n") != 1 {
		t.Errorf("as JSON: %s", stdout)
	}
	works(t, into("compare", list(t, "same.csv", germanList), db)...)
	if after := everything(t, db); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
	refuses(t, 1, "Error: there is no department \"A\"\nTry: see their names: firefighters departments list --db "+db+"\n", "compare", theirs, "--tenant", "A", "--db", db)
}
