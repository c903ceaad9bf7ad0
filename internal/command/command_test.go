package command_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"firefighters/internal/cli"
	"firefighters/internal/command"
	"firefighters/internal/store"
)

// run runs a command with a store that cannot be opened.
func run(t *testing.T, openErr error, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := command.Program{Version: "1.2.3", OpenStore: func(cli.Env, string, bool) (*store.Store, error) {
		if openErr == nil {
			t.Errorf("%q opens the database", args)
			openErr = errors.New("it is not to be opened")
		}
		return nil, openErr
	}}
	var out, errs strings.Builder
	env := cli.Env{Context: context.Background(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = cli.Report(env.Dispatch("", "", p.Commands(), args), &errs)
	return code, out.String(), errs.String()
}

const id = "01a1f83c-64f7-795d-bc35-4c6516093415"

// TestUsage: what is wrong with a command line is found before anything is
// opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"backup":                                 "Error: backup: say which file to save to\nTry: firefighters backup --help\n",
		"restore":                                "Error: restore: say which backup to restore\nTry: firefighters restore --help\n",
		"check stray":                            "Error: check: unexpected argument \"stray\"\nTry: firefighters check --help\n",
		"version stray":                          "Error: version: unexpected argument \"stray\"\nTry: firefighters version --help\n",
		"deleted":                                "Error: deleted: --tenant is required\nTry: firefighters deleted --help\n",
		"deleted --tenant  ":                     "Error: deleted: unexpected argument \"\"\nTry: firefighters deleted --help\n",
		"deleted --tenant \t":                    "Error: deleted: --tenant is required\nTry: firefighters deleted --help\n",
		"undelete --tenant A":                    "Error: undelete: say which, by their ids\nTry: firefighters deleted --tenant NAME, which lists them\n",
		"undelete --tenant A 7":                  "Error: undelete: \"7\" is not the id of a record\nTry: firefighters undelete --help\n",
		"undelete " + id:                         "Error: undelete: --tenant is required\nTry: firefighters undelete --help\n",
		"history":                                "Error: history: --tenant is required\nTry: firefighters history --help\n",
		"history --id 7":                         "Error: history: --id must be the id of a record, not \"7\"\nTry: firefighters history --help\n",
		"history --since ever":                   "Error: history: --since must be like 30d or 2027-01-31, not \"ever\"\nTry: firefighters history --help\n",
		"purge --tenant A":                       "Error: purge: say which, by their ids or by --older-than\nTry: firefighters purge --help\n",
		"purge --older-than 1":                   "Error: purge: --older-than must be like 7y, 26w or 90d, not \"1\"\nTry: firefighters purge --help\n",
		"purge --older-than 7y":                  "Error: purge: --tenant is required\nTry: firefighters purge --help\n",
		"purge 7":                                "Error: purge: \"7\" is not the id of a record\nTry: firefighters purge --help\n",
		"keys":                                   "Error: keys: say create, list or revoke\nTry: firefighters keys --help\n",
		"keys steal":                             "Error: keys: there is no command \"steal\"\nTry: firefighters keys --help\n",
		"keys create":                            "Error: keys create: --tenant is required\nTry: firefighters keys create --help\n",
		"keys create --scope all":                "Error: keys create: there are 2 faults. The first: --tenant is required\nTry: firefighters keys create --help\n",
		"keys revoke":                            "Error: keys revoke: say which key to revoke, by its id\nTry: firefighters keys revoke --help\n",
		"keys revoke first":                      "Error: keys revoke takes the id of a key\nTry: firefighters keys list\n",
		"purge --older-than 7y --tenant A " + id: "Error: purge: say which, by their ids or by --older-than\nTry: firefighters purge --help\n",
		"keys create --tenant A --scope admin":   "Error: keys create: --scope must be read or write\nTry: firefighters keys create --help\n",
		"keys create --tenant A --expires soon":  "Error: keys create: --expires must be like 90d or 2027-01-31, not \"soon\"\nTry: firefighters keys create --help\n",
		"keys create --tenant A --expires=":      "Error: keys create: --expires must be like 90d or 2027-01-31, not \"\"\nTry: firefighters keys create --help\n",
		"keys create --tenant A --label \a":      "Error: keys create: --label contains a control character\nTry: firefighters keys create --help\n",
		"restore a b":                            "Error: restore: unexpected argument \"b\"\nTry: firefighters restore --help\n",
		"keys create --tenant A --scope x --label y": "Error: keys create: --scope must be read or write\nTry: firefighters keys create --help\n",
	} {
		code, stdout, stderr := run(t, nil, strings.Split(line, " ")...)
		if code != 2 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
		}
	}
}

// TestStoreErrors: what is wrong with the database has its hint in all
// commands that open it.
func TestStoreErrors(t *testing.T) {
	t.Parallel()
	inUse := &store.FileError{Op: "locking", Path: "my x.db", Err: store.ErrInUse}
	want := "Error: database \"my x.db\" is in use: another firefighters serves it\nTry: stop that one first, or give another file with --db\n"
	for _, line := range []string{"check", "deleted --tenant A", "history --tenant A", "history --tenant A --since 30d --id " + strings.ToUpper(id),
		"keys list", "keys revoke 1", "keys create --tenant A --expires 90d", "purge --tenant A --older-than 7y", "undelete --tenant A " + id} {
		if code, stdout, stderr := run(t, inUse, strings.Fields(line)...); code != 1 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, stdout, stderr)
		}
	}
}

// TestCommands: the table is sorted, and each command explains itself with an
// example.
func TestCommands(t *testing.T) {
	t.Parallel()
	table := command.Program{}.Commands()
	byName := func(a, b cli.Command) int { return strings.Compare(a.Name, b.Name) }
	if len(table) != 9 || !slices.IsSortedFunc(table, byName) {
		t.Errorf("%d commands: %v", len(table), cli.CommandList(table))
	}
	lines := []string{"keys create", "keys list", "keys revoke"}
	for _, c := range table {
		lines = append(lines, c.Name)
	}
	for _, line := range lines {
		code, stdout, stderr := run(t, nil, append(strings.Fields(line), "--help")...)
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: firefighters "+line) || !strings.Contains(stdout, "\n  firefighters "+line) {
			t.Errorf("%s: code %d, stderr %q, stdout:\n%s", line, code, stderr, stdout)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, nil, "version")
	form := regexp.MustCompile(`^firefighters 1\.2\.3 \(go\S+, SQLite 3\.\d+\.\d+, \w+/\w+\)\n$`)
	if code != 0 || stderr != "" || !form.MatchString(stdout) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
