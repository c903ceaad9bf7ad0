package invite

import (
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command. service is the database of the service, which may be empty.
func run(t *testing.T, c Commands, service string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, ServiceDB: func() string { return service }}
	root := &cobra.Command{Use: "firefighters"}
	root.AddGroup(cli.Groups...)
	root.AddCommand(c.All()...)
	code = cli.Execute(env, root, args, nil)
	return code, out.String(), errs.String()
}

// TestUsage checks usage errors, which are found before a database is opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	const help = "\nTry: firefighters invite --help\n"
	for line, want := range map[string]string{
		"invite":                                    "--name is required" + help,
		"invite Ana":                                "unexpected argument \"Ana\"\nTry: firefighters invite --name Ana\n",
		"invite --name \t":                          "--name is required" + help,
		"invite --name \a":                          "--name contains a control character" + help,
		"invite --name B --scope all":               "--scope must be read, write or admin\n",
		"invite --name B --phone --scope read":      "--scope cannot be used with --phone: a device can only read the list" + help,
		"invite --name B --birthdays":               "--birthdays and --output require --phone" + help,
		"invite --name " + strings.Repeat("Č", 101): "--name may have at most 100 characters" + help,
		"open --db=":                                "--db is empty\nTry: firefighters open --help\n",
		"browser":                                   "unknown command \"browser\" for \"firefighters\"; did you mean open?\nTry: firefighters open --help\n",
	} {
		if code, stdout, stderr := run(t, Commands{}, "", strings.Split(line, " ")...); code != 2 || stdout != "" || stderr != "Error: "+want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", line, code, stdout, stderr, want)
		}
	}
}

// TestExistingOutput checks that an existing file is not a usage error, as for export and backup.
func TestExistingOutput(t *testing.T) {
	t.Parallel()
	const want = "Error: \"invitation_test.go\" already exists\n"
	if code, stdout, stderr := run(t, Commands{}, "", "invite", "--name", "B", "--phone", "-o", "invitation_test.go"); code != 1 || stdout != "" || stderr != want {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestShowError checks that a window shows an error, and not the help. It replaces showError, so it
// cannot be parallel.
func TestShowError(t *testing.T) {
	defer func(before func(error)) { showError = before }(showError)
	for line, want := range map[string]string{"open --help": "", "open --db x": "there is no database"} {
		shown := ""
		showError = func(err error) { shown += err.Error() }
		if code, _, _ := run(t, Commands{}, "", strings.Fields(line)...); !strings.HasPrefix(shown, want) || (shown != "") != (want != "") || (code != 0) != (want != "") {
			t.Errorf("%s: %q was shown, code %d", line, shown, code)
		}
	}
}

// TestPrivateFile checks that only the user can read the file, that it redirects to the link, and that
// it is removed with its folder. It sets the home folder, so it cannot be parallel.
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
		t.Errorf("the file is %s", path)
	}
	for path, want := range map[string]fs.FileMode{path: 0o600, folder: 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	page, err := os.ReadFile(path)
	must(t, err)
	links := regexp.MustCompile(`(?s)<meta http-equiv="refresh" content="0; url=([^"]*)">.*<a href="([^"]*)">`).FindSubmatch(page)
	if links == nil || html.UnescapeString(string(links[1])) != link || html.UnescapeString(string(links[2])) != link {
		t.Errorf("the page is %s", page)
	}
	removePrivateFile(path)
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the folder contains %v, %v", left, err)
	}
}

// TestPerson checks that a session always has a valid name.
func TestPerson(t *testing.T) {
	t.Setenv("SUDO_USER", "")
	name := person()
	if _, err := record.NormalizeName(name); err != nil {
		t.Errorf("%q: %v", name, err)
	}
	t.Setenv("SUDO_USER", "missing-user")
	if got := person(); got != name {
		t.Errorf("got %q, want %q", got, name)
	}
}
