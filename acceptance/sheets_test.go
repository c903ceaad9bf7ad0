package acceptance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sheetRun is an expected result of the import of a file in testdata/sheets. FILE.want.json has a list
// of them. The department has the people of knownPeople.
type sheetRun struct {
	Flags   []string        `json:"flags"`
	Error   string          `json:"error"`   // end of a line on standard error if --apply rejects the file
	Report  json.RawMessage `json:"report"`  // of the dry run, with --json; each id is "an id", and zero rareCounts and questions are omitted
	Asks    string          `json:"asks"`    // the questions of the dry run
	Applied string          `json:"applied"` // end of a line on standard error of --apply
	People  []string        `json:"people"`  // in the department after --apply --skip-bad, without unchanged ones
}

// knownPeople are the people of the department before the import.
const knownPeople = "First name,Last name,Phone,Email,Birthday\n" +
	"Ana,Čavić,091 555 5678,ana.cavic@example.com,1990-05-15\n" +
	"Ivan,Horvat,,,\n" +
	"Maeve,O'Brien,555 0101,maeve.obrien@example.com,\n"

var rareCounts = regexp.MustCompile(`"(perhaps|differ|spellingOnly|leftOut)":0,|,"questions":\[.*\],"skipped":0`)

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func TestSheets(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("testdata/sheets/*")
	must(t, err)
	known := newDepartment(t, knownPeople)
	for _, path := range all {
		if strings.HasSuffix(path, ".want.json") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path + ".want.json")
			must(t, err)
			var runs []sheetRun
			decode(t, string(text), &runs)
			if len(runs) == 0 {
				t.Error("no expected results")
			}
			for _, run := range runs {
				run.check(t, path, known)
			}
		})
	}
}

// check imports the file into a copy of the database known.
func (want sheetRun) check(t *testing.T, path, known string) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	copyOf(t, known, db)
	before := peopleOf(t, db)
	args := append([]string{"import", path, "--tenant", "Engine 7", "--db", db}, want.Flags...)
	args = append(args, "--json")
	if want.Error != "" {
		code, stdout, stderr := runCommand(t, append(args, "--apply")...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, want.Error+"\n") {
			t.Errorf("%v: exit %d, %q, %q; want %q", want.Flags, code, stdout, stderr, want.Error)
		}
		return
	}
	_, stdout, stderr := runCommand(t, args...)
	var asked wireReport
	decode(t, stdout, &asked)
	if asked.questions() != want.Asks {
		t.Errorf("%v asks %q, want %q", want.Flags, asked.questions(), want.Asks)
	}
	if got, report := rareCounts.ReplaceAllString(anyID.ReplaceAllString(compacted(t, stdout), "an id"), ""), compacted(t, string(want.Report)); got != report {
		t.Errorf("%v reports\n%s\nwant\n%s\nstderr %q", want.Flags, got, report, stderr)
	}
	if after := peopleOf(t, db); !slices.Equal(before, after) {
		t.Errorf("%v: people after the dry run: %q", want.Flags, after)
	}
	_, _, stderr = runCommand(t, append(args[:len(args)-1], "--apply", "--skip-bad")...)
	if want.Applied != "" && !strings.Contains(stderr, want.Applied+"\n") {
		t.Errorf("%v: --apply prints %q, want %q", want.Flags, stderr, want.Applied)
	}
	got := slices.DeleteFunc(peopleOf(t, db), func(person string) bool { return slices.Contains(before, person) })
	if !slices.Equal(got, want.People) {
		t.Errorf("%v: people\n%s\nwant\n%s", want.Flags, strings.Join(got, "\n"), strings.Join(want.People, "\n"))
	}
}

// newDepartment creates a database with the department "Engine 7" by an import.
func newDepartment(t *testing.T, list string) (db string) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "known.csv")
	must(t, os.WriteFile(path, []byte(list), 0o600))
	db = filepath.Join(folder, "x.db")
	works(t, "import", path, "--tenant", "Engine 7", "--db", db, "--apply")
	return db
}

// peopleOf returns the fields of all people in a database in order of creation.
func peopleOf(t *testing.T, db string) (people []string) {
	t.Helper()
	rows, err := openSQL(t, db).Query(`SELECT concat_ws(' | ', first_name, last_name, ifnull(phone_number, '-'), ifnull(email, '-'), ifnull(date_of_birth, '-'))
		FROM firefighters WHERE deleted_at IS NULL ORDER BY row`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var person string
		must(t, rows.Scan(&person))
		people = append(people, person)
	}
	must(t, rows.Err())
	return people
}

// compacted returns JSON without white space between its values.
func compacted(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Errorf("%q is not JSON: %v", text, err)
	}
	return b.String()
}
