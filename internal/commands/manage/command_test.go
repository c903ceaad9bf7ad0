package manage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/manage"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// run runs a command that knows no database.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := manage.Commands{}
	var out, errs strings.Builder
	env := cli.Env{Context: context.Background(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = cli.PrintError(cli.Program{Commands: p.Table()}.Run(env, args), &errs)
	return code, out.String(), errs.String()
}

const id = "01a1f83c-64f7-795d-bc35-4c6516093415"

// TestUsage: what is wrong with a command line is found before anything is
// opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"backup":                                "Error: backup: say which file to save to\nTry: firefighters backup --help\n",
		"restore":                               "Error: restore: say which backup to restore\nTry: firefighters restore --help\n",
		"version stray":                         "Error: version: it takes no argument, but there is \"stray\"\nTry: firefighters version --help\n",
		"deleted":                               "Error: deleted: --tenant is required\nTry: firefighters deleted --help\n",
		"deleted --tenant \t":                   "Error: deleted: --tenant is required\nTry: firefighters deleted --help\n",
		"undelete --tenant A 7":                 "Error: undelete: \"7\" is not the id of a record\nTry: see which there are: firefighters deleted --tenant NAME --db firefighters.db\n",
		"history --id 7":                        "Error: history: --id must be the id of a record, not \"7\"\nTry: firefighters history --help\n",
		"history --since ever":                  "Error: history: --since must be like 30d or 2027-01-31, not \"ever\"\nTry: firefighters history --help\n",
		"purge --tenant A":                      "Error: purge: say which, by their ids or by --older-than\nTry: firefighters purge --help\n",
		"purge --older-than 1":                  "Error: purge: --older-than must be like 7y, 26w or 90d, not \"1\"\nTry: firefighters purge --help\n",
		"keys":                                  "Error: keys: say create, list or revoke\nTry: firefighters keys --help\n",
		"keys create --scope all":               "Error: keys create: --tenant is required\nTry: firefighters keys create --help\n",
		"keys revoke":                           "Error: keys revoke: say which key to revoke, by its id\nTry: firefighters keys revoke --help\n",
		"keys revoke first --db x.db":           "Error: keys revoke: \"first\" is not the id of a key\nTry: see their ids: firefighters keys list --db x.db\n",
		"purge 7 --db x.db":                     "Error: purge: \"7\" is not the id of a record\nTry: see which there are: firefighters deleted --tenant NAME --db x.db\n",
		"keys create --tenant A --scope Admin":  "Error: keys create: --scope must be read, write, admin, phone or calendar\nTry: firefighters keys create --help\n",
		"keys create --tenant A --birthdays":    "Error: keys create: --birthdays goes with --scope phone alone\nTry: firefighters keys create --help\n",
		"keys create --tenant A --expires soon": "Error: keys create: --expires must be like 90d or 2027-01-31, not \"soon\"\nTry: firefighters keys create --help\n",
		"purge --older-than 101y":               "Error: purge: --older-than must be like 7y, 26w or 90d, not \"101y\"\nTry: firefighters purge --help\n",
		"keys create --tenant A --label \a":     "Error: keys create: --label contains a control character\nTry: firefighters keys create --help\n",
		"restore a b.db":                        "Error: restore: it takes one argument, but there is also \"b.db\"\nTry: to name the database: firefighters restore a --db b.db\n",
		"keys create --tenant A --expires 0s":   "Error: keys create: --expires must be in the future: 0s is over\nTry: firefighters keys create --help\n",
	} {
		wantUsage(t, line, want)
	}
}

// wantUsage runs a line that is wrong usage, for which it must print this.
func wantUsage(t *testing.T, line, want string) {
	t.Helper()
	code, stdout, stderr := run(t, strings.Split(line, " ")...)
	if code != 2 || stdout != "" || stderr != want {
		t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
	}
}

// TestMeant: what was probably meant is said.
func TestMeant(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"check x.db":              "Error: check: it takes no argument, but there is \"x.db\"\nTry: to name the database: firefighters check --db x.db\n",
		"keys list Engine":        "Error: keys list: it takes no argument, but there is \"Engine\"\nTry: to name the department: firefighters keys list --tenant Engine\n",
		"keys revoke x.db":        "Error: keys revoke: \"x.db\" is not the id of a key\nTry: to name the database: firefighters keys revoke --db x.db\n",
		"departments":             "Error: departments: say list, rename or remove\nTry: firefighters departments --help\n",
		"departments rename A":    "Error: departments rename: say which department, and its new name\nTry: firefighters departments rename --help\n",
		"departments rename A \a": "Error: departments rename: the new name contains a control character\nTry: firefighters departments rename --help\n",
		"departments remove":      "Error: departments remove: say which department to remove\nTry: firefighters departments remove --help\n",
		"keys crate":              "Error: keys: there is no command \"crate\"; did you mean \"keys create\"?\nTry: firefighters keys create --help\n",
		"list":                    "Error: there is no command \"list\"; did you mean \"departments list\" or \"keys list\"?\nTry: firefighters departments list --help, or: firefighters keys list --help\n",
		"bakcup x.db":             "Error: there is no command \"bakcup\"; did you mean \"backup\"?\nTry: firefighters backup --help\n",
		"check --databse x.db":    "Error: check: unknown flag: --databse; did you mean --db?\nTry: firefighters check --help\n",
	} {
		wantUsage(t, line, want)
	}
}

// TestStoreErrors: what is wrong with the database has its hint in all
// commands that open it.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "my x.db")
	if err := os.WriteFile(db, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Error: %s is not a database of this program\nTry: give another file with --db (this one was left as it is), or, if it was one and is damaged: firefighters restore FILE --db %s\n",
		osutil.InQuotes(db), cli.Quote(db))
	for _, line := range []string{"check", "deleted --tenant A", "history --tenant A", "history --tenant A --since 30d --id " + strings.ToUpper(id),
		"keys list", "keys revoke 1", "departments list", "departments rename A B", "departments remove A", "keys create --tenant A --expires 90d", "purge --tenant A --older-than 7y", "undelete --tenant A " + id} {
		if code, stdout, stderr := run(t, append(strings.Fields(line), "--db", db)...); code != 1 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, stdout, stderr)
		}
	}
}

// TestCommands: the table is sorted, and each command explains itself with an
// example.
func TestCommands(t *testing.T) {
	t.Parallel()
	table := manage.Commands{}.Table()
	byName := func(a, b cli.Command) int { return strings.Compare(a.Name, b.Name) }
	if len(table) < 10 || !slices.IsSortedFunc(table, byName) {
		t.Errorf("%d commands: %v", len(table), cli.CommandList(table))
	}
	var lines []string
	for _, c := range table {
		lines = append(lines, c.Name)
		for _, sub := range c.Sub {
			lines = append(lines, c.Name+" "+sub.Name)
		}
	}
	if len(lines) < 16 {
		t.Errorf("%d commands: %q", len(lines), lines)
	}
	for _, line := range lines {
		code, stdout, stderr := run(t, append(strings.Fields(line), "--help")...)
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: firefighters "+line) || !strings.Contains(stdout, "\n  firefighters "+line) {
			t.Errorf("%s: code %d, stderr %q, stdout:\n%s", line, code, stderr, stdout)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, "version")
	form := regexp.MustCompile(`^firefighters \S+ \((commit .*, )?go\S+, SQLite 3\.\d+\.\d+, \w+/\w+\)\n$`)
	if code != 0 || stderr != "" || !form.MatchString(stdout) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
