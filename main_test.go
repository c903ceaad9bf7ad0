package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allCommands returns the commands that people see, without those that cobra adds.
func allCommands() (all []*cobra.Command) {
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		if !cmd.Hidden {
			all = append(all, cmd)
		}
		for _, sub := range cmd.Commands() {
			add(sub)
		}
	}
	add(newRoot())
	return all
}

// TestHelp: every command has a summary, and an example with commands and flags that exist.
func TestHelp(t *testing.T) {
	t.Parallel()
	root, examples := newRoot(), 0
	for _, cmd := range allCommands() {
		name := cmd.CommandPath()
		if first, _ := utf8.DecodeRuneInString(cmd.Short); !unicode.IsUpper(first) || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the summary %q is no short sentence without a full stop", name, cmd.Short)
		}
		if cmd.Parent() == root && cmd.GroupID == "" && name != "firefighters version" {
			t.Errorf("%s has no group", name)
		}
		if cmd.RunE != nil && !strings.Contains(cmd.Example, name) {
			t.Errorf("%s has no example", name)
		}
		for line := range strings.Lines(cmd.Example) {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "sudo "))
			if len(words) < 2 {
				continue
			}
			used, _, err := root.Find(words[1:])
			if err != nil || words[0] != "firefighters" {
				t.Errorf("%s: %s: %v", name, line, err)
				continue
			}
			examples++
			for _, word := range words {
				if flag, ok := strings.CutPrefix(word, "--"); ok && used.Flags().Lookup(flag) == nil {
					t.Errorf("%s: there is no flag %s: %s", name, word, line)
				}
			}
		}
	}
	if examples < 30 {
		t.Errorf("only %d examples were found", examples)
	}
}

// TestManualPage: the page has every command and flag, and mandoc accepts it.
func TestManualPage(t *testing.T) {
	t.Parallel()
	page, _ := works(t, "man")
	plain := strings.NewReplacer(`\-`, "-").Replace(page)
	for _, cmd := range allCommands() {
		if cmd.RunE != nil && !strings.Contains(plain, "\n.SS "+cmd.CommandPath()) {
			t.Errorf("the page does not have %s", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(plain, `\fB--`+f.Name+`\fR`) {
				t.Errorf("the page does not have --%s of %s", f.Name, cmd.CommandPath())
			}
		})
	}
	if _, err := exec.LookPath("mandoc"); err == nil {
		check := exec.Command("mandoc", "-Tlint", "-Wwarning")
		check.Stdin = strings.NewReader(page)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// TestCompletion: the shells that are installed accept the scripts, which ask the program.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, _ := works(t, "completion", shell)
		path, err := exec.LookPath(shell)
		if err != nil || shell == "powershell" {
			continue
		}
		check := exec.Command(path, "-n")
		check.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	for line, want := range map[string]string{"keys re": "revoke\t", "keys create --sc": "--scope\t", "keys create --scope a": "read\nwrite\nadmin\n"} {
		if stdout, _ := works(t, append([]string{"__complete"}, strings.Fields(line)...)...); !strings.HasPrefix(stdout, want) {
			t.Errorf("%s completes to %q", line, stdout)
		}
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
		"exit code 1: Stopped. No backup was written.\n":      {"backup", saved, "--force"},
		"exit code 1: Stopped. Nothing was changed.\n":        {"restore", saved},
		"exit code 1: Stopped. Not everything was checked.\n": {"check"},
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
