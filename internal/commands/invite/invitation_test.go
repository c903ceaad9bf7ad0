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

// run runs a command that knows no database, or the one of a service.
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

// TestUsage: what is wrong with a command line is found before anything is opened.
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

// TestExistingOutput: an existing file is no usage error, as for export and backup.
func TestExistingOutput(t *testing.T) {
	t.Parallel()
	const want = "Error: \"invitation_test.go\" already exists\n"
	if code, stdout, stderr := run(t, Commands{}, "", "invite", "--name", "B", "--phone", "-o", "invitation_test.go"); code != 1 || stdout != "" || stderr != want {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestShowError: a window shows an error, and no help. It cannot run in parallel: it sets
// what shows the error.
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
