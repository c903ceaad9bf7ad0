package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// descriptions are those of all commands that do something, by their names.
func descriptions(t *testing.T) map[string]cli.Description {
	t.Helper()
	all := map[string]cli.Description{}
	for _, d := range program().Describe()[1:] {
		all[d.Name] = d
	}
	return all
}

// TestDescriptions: every command describes itself, and does nothing.
func TestDescriptions(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, d := range descriptions(t) {
		if d.Summary == "" || !strings.HasPrefix(d.Help, "Usage: firefighters ") {
			t.Errorf("%s: %+v", name, d)
		}
		if !strings.Contains(d.Help, "\n  firefighters "+name) && !strings.Contains(d.Help, "\n  sudo firefighters "+name) {
			t.Errorf("the help of %s has no example", name)
		}
		for _, f := range d.Flags {
			if f.Usage == "" || strings.ContainsFunc(f.Usage, func(r rune) bool { return r > '~' }) {
				t.Errorf("%s: --%s: %q", name, f.Name, f.Usage)
			}
		}
	}
	all, _ := works(t, "--help")
	for _, c := range commands() {
		if !strings.Contains(all, "\n  "+c.Name+" ") {
			t.Errorf("%s is not in the help:\n%s", c.Name, all)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("a command has left %v, %v", left, err)
	}
}

// TestExamplesInHelp: each example in a help, and so on the manual page, names a
// command and flags that exist.
func TestExamplesInHelp(t *testing.T) {
	t.Parallel()
	all := descriptions(t)
	page, _ := works(t, "man")
	examples := strings.NewReplacer(`\-`, "-", `\fB`, "", `\fR`, "", `\(dq`, `"`, "sudo ", "").Replace(page)
	seen, example := 0, false
	for line := range strings.Lines(examples) {
		words := strings.Fields(line)
		if line == ".EX\n" || line == ".EE\n" {
			example = line == ".EX\n"
		}
		if !example || len(words) < 2 || words[0] != "firefighters" {
			continue
		}
		d, ok := all[words[1]]
		if len(words) > 2 && d.Sub != nil {
			if sub, found := all[words[1]+" "+words[2]]; found {
				d = sub
			}
		}
		if seen++; !ok {
			if words[1] != "serves" { // of firefighters alone
				t.Errorf("there is no such command: %s", line)
			}
			continue
		}
		for _, word := range words {
			name, isFlag := strings.CutPrefix(word, "--")
			if isFlag && name != "help" && !slices.ContainsFunc(d.Flags, func(f cli.Flag) bool { return f.Name == strings.Trim(name, ")") }) {
				t.Errorf("there is no flag %s: %s", word, line)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d examples were found", seen)
	}
}

// TestManualPage: the page has every command and flag, and mandoc accepts it.
func TestManualPage(t *testing.T) {
	t.Parallel()
	page, _ := works(t, "man")
	for name, d := range descriptions(t) {
		if !strings.Contains(page, "\n.SS \"firefighters "+strings.ReplaceAll(name, "-", `\-`)+"\"\n") {
			t.Errorf("the page does not have %s", name)
		}
		for _, f := range d.Flags {
			if f.Variable != "" && !strings.Contains(page, "\n.B "+f.Variable+"\n") {
				t.Errorf("the page does not have %s", f.Variable)
			}
		}
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("there is no mandoc here")
	}
	check := exec.Command("mandoc", "-Tlint", "-Wwarning")
	check.Stdin = strings.NewReader(page)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompletionScripts checks that the shells accept the scripts of the real commands.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh"} {
		script, _ := works(t, "completion", shell)
		for name := range descriptions(t) {
			if !strings.Contains(script, name[strings.LastIndexByte(name, ' ')+1:]) {
				t.Errorf("%s: %s is missing", shell, name)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil || runtime.GOOS == "windows" {
			continue
		}
		check, home := exec.Command(path, "-n"), t.TempDir()
		check.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "LC_ALL=C")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}

// variables are the flags of all commands that may stand in the environment, and those
// of the examples in docs/api.md.
const variables = "backup-dir backup-encrypt-to backup-every backup-keep birthdays cors-origin dates db departments encoding expires format id identity json key label listen local " +
	"map name no-office no-phones output people rate-limit report scope sheet since tenant tls-cert tls-key tls-self-signed url"

// TestVariables holds the variables against the flags of all commands, as their help
// has them. It cannot run beside others.
func TestVariables(t *testing.T) {
	known, typed := map[string]bool{"key": true, "url": true}, map[string]bool{}
	var look func(prefix string, commands []cli.Command)
	look = func(prefix string, commands []cli.Command) {
		for _, c := range commands {
			line := strings.Fields(prefix + " " + c.Name)
			help, _ := works(t, append(line, "--help")...)
			for _, flag := range regexp.MustCompile(`(?m)^ +--(\S+)`).FindAllStringSubmatch(help, -1) {
				if strings.Contains(help, " FIREFIGHTERS_"+strings.ToUpper(strings.ReplaceAll(flag[1], "-", "_"))+"\n") {
					known[flag[1]] = true
				} else {
					typed[flag[1]] = true
				}
			}
			look(strings.Join(line, " "), c.Sub)
		}
	}
	look("", commands())
	if got := strings.Join(slices.Sorted(maps.Keys(known)), " "); got != variables {
		t.Errorf("the flags of all commands are\n%s\nnot\n%s", got, variables)
	}
	if got := strings.Join(slices.Sorted(maps.Keys(typed)), " "); got != "apply backup-dir compare force keep-erased leave-out-bad-fields licences new older-than phone repair skip-bad update yes" {
		t.Errorf("not read from the environment: %s", got)
	}
	var set []string
	for name := range known {
		set = append(set, "FIREFIGHTERS_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"=1")
	}
	warnings := func(environ ...string) string {
		var stderr strings.Builder
		must(t, program().Run(cli.Env{Context: t.Context(), Stdout: io.Discard, Stderr: &stderr, Environ: environ}, []string{"version"}))
		return stderr.String()
	}
	if stderr := warnings(set...); stderr != "" {
		t.Errorf("known variables: stderr %q", stderr)
	}
	if stderr := warnings(append(set, "FIREFIGHTERS_LISTN=1")...); stderr != "Warning: FIREFIGHTERS_LISTN does nothing: there is no flag --listn; did you mean FIREFIGHTERS_LISTEN?\n" {
		t.Errorf("stderr %q", stderr)
	}
}

// TestStopped: a command that is told to stop says what it has done.
func TestStopped(t *testing.T) {
	t.Parallel()
	db, saved := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "saved.db")
	newKey(t, db, "A")
	works(t, "backup", saved, "--db", db)
	newKey(t, db, "B")
	contents := func() (all string) {
		for _, file := range []string{db, saved} {
			text, err := os.ReadFile(file)
			must(t, err)
			all += string(text)
		}
		found, err := filepath.Glob(filepath.Join(filepath.Dir(db), "*"))
		must(t, err)
		return all + fmt.Sprint(slices.DeleteFunc(found, func(path string) bool { return strings.HasSuffix(path, "-lock") }))
	}
	before := contents()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for want, args := range map[string][]string{
		"stopped before the backup was made":    {"backup", saved, "--force"},
		"stopped; nothing was changed":          {"restore", saved},
		"stopped before everything was checked": {"check"},
	} {
		err := run(ctx, append(args, "--db", db), strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		}
	}
	if contents() != before {
		t.Error("the database, its folder or the backup has changed")
	}
}
