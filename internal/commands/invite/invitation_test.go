package invite

import (
	"errors"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command that knows no database.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := Commands{}
	var out, errs strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	code = cli.PrintError(cli.Program{Commands: p.Table()}.Run(env, args), &errs)
	return code, out.String(), errs.String()
}

// TestUsage: what is wrong with a command line is found before anything is
// opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	const inviteHelp, openHelp = "\nTry: firefighters invite --help\n", "\nTry: firefighters open --help\n"
	for line, want := range map[string]string{
		"invite":                                               "Error: invite: --tenant is required" + inviteHelp,
		"invite --tenant A":                                    "Error: invite: --name is required" + inviteHelp,
		"invite --tenant A --name \t":                          "Error: invite: --name is required" + inviteHelp,
		"invite --tenant A --name \a":                          "Error: invite: --name contains a control character" + inviteHelp,
		"invite --tenant A --name B --scope all":               "Error: invite: --scope must be read, write or admin" + inviteHelp,
		"invite --tenant A --name B --scope Admin":             "Error: invite: --scope must be read, write or admin" + inviteHelp,
		"invite --tenant A --name " + strings.Repeat("Č", 101): "Error: invite: --name may have at most 100 characters" + inviteHelp,
		"invite --tenant A --name Ana Čović":                   "Error: invite: it takes no argument, but there is \"Čović\"\nTry: put a name of several words in quotes, as \"Engine 7\": firefighters invite --help\n",
		"open x.db":                                            "Error: open: it takes no argument, but there is \"x.db\"\nTry: to name the database: firefighters open --db x.db\n",
		"open Engine":                                          "Error: open: it takes no argument, but there is \"Engine\"\nTry: to name the department: firefighters open --tenant Engine\n",
		"open --db=":                                           "Error: open: --db names no file" + openHelp,
		"open --name A":                                        "Error: open: unknown flag: --name" + openHelp,
		"login":                                                "Error: there is no command \"login\"; did you mean \"invite\"?" + inviteHelp,
		"browser":                                              "Error: there is no command \"browser\"; did you mean \"open\"?" + openHelp,
	} {
		if code, stdout, stderr := run(t, strings.Split(line, " ")...); code != 2 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
		}
	}
}

// TestShowError: who has clicked sees what is wrong, and no help. It cannot run beside
// others: it sets what shows the error.
func TestShowError(t *testing.T) {
	defer func(before func(error)) { showError = before }(showError)
	for line, want := range map[string]string{"--help": "", "--db x --tenant A": `there is no database at "x"`, "--nonsense": "open: unknown flag: --nonsense"} {
		shown := ""
		showError = func(err error) { shown += err.Error() }
		err := Commands{}.open(cli.Env{Context: t.Context(), Stdout: io.Discard, Stderr: io.Discard}, strings.Fields(line))
		if shown != want || err == nil {
			t.Errorf("%s: %q was shown, %v", line, shown, err)
		}
	}
}

// TestCommands: the table is sorted, and each command explains itself with an
// example.
func TestCommands(t *testing.T) {
	t.Parallel()
	table := Commands{}.Table()
	if !slices.IsSortedFunc(table, func(a, b cli.Command) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not sorted:\n%s", cli.CommandList(table))
	}
	for _, c := range table {
		code, stdout, stderr := run(t, c.Name, "--help")
		if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: firefighters "+c.Name+" ") || !strings.Contains(stdout, "\n  firefighters "+c.Name) {
			t.Errorf("%s: code %d, stderr %q, stdout:\n%s", c.Name, code, stderr, stdout)
		}
	}
}

// TestPrivateFile: nobody else can read it, it leads to the link, and it goes
// with its folder. It cannot run beside others: it sets the home folder.
func TestPrivateFile(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "TMPDIR", "TMP"} {
		t.Setenv(name, home)
	}
	old, recent := filepath.Join(home, folderPrefix+"1"), filepath.Join(home, folderPrefix+"2")
	must(t, errors.Join(os.Mkdir(old, 0o700), os.Mkdir(recent, 0o700), os.WriteFile(filepath.Join(old, "open.html"), nil, 0o600)))
	must(t, os.Chtimes(old, time.Time{}, time.Now().Add(-leftFor-time.Second)))
	const link = `http://127.0.0.1:1/office/sign-in#code=A"><b>&`
	path, err := newPrivateFile("open.html", redirect(link))
	must(t, err)
	folder := filepath.Dir(path)
	if filepath.Dir(folder) != home {
		t.Errorf("it is at %s", path)
	}
	for path, want := range map[string]fs.FileMode{path: 0o600, folder: 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	page, err := os.ReadFile(path)
	must(t, err)
	leads := regexp.MustCompile(`(?s)<meta http-equiv="refresh" content="0; url=([^"]*)">.*<a href="([^"]*)">`).FindSubmatch(page)
	if leads == nil || html.UnescapeString(string(leads[1])) != link || html.UnescapeString(string(leads[2])) != link {
		t.Errorf("the page is %s", page)
	}
	removePrivateFile(path)
	if left, err := os.ReadDir(home); err != nil || len(left) != 1 || left[0].Name() != filepath.Base(recent) {
		t.Errorf("there is %v, %v", left, err)
	}
}

// TestPerson: a session is named after somebody, whatever the system knows.
func TestPerson(t *testing.T) {
	t.Setenv("SUDO_USER", "")
	name := person()
	if _, err := record.NormalizeName(name); err != nil {
		t.Errorf("%q: %v", name, err)
	}
	t.Setenv("SUDO_USER", "nobody-has-this-name")
	if got := person(); got != name {
		t.Errorf("%q, not %q", got, name)
	}
}
