package invite

import (
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

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
		"invite --tenant A --name \t":                          "Error: invite: --name is required" + inviteHelp,
		"invite --tenant A --name \a":                          "Error: invite: --name contains a control character" + inviteHelp,
		"invite --tenant A --name B --scope all":               "Error: invite: --scope must be read, write or admin" + inviteHelp,
		"invite --tenant A --name " + strings.Repeat("Č", 101): "Error: invite: --name may have at most 100 characters" + inviteHelp,
		"open --db=":                                           "Error: open: --db names no file" + openHelp,
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

// TestPrivateFile checks that no one else can read the file, that it leads to the link, and
// that its folder goes with it. It sets the home folder, so it cannot run in parallel.
func TestPrivateFile(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "TMPDIR", "TMP"} {
		t.Setenv(name, home)
	}
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
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
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
