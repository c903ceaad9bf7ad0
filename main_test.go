package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// allCommands returns the visible commands of this program.
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

// TestHelp checks that every command has a summary, and an example with existing commands and flags.
func TestHelp(t *testing.T) {
	t.Parallel()
	root, examples := newRoot(), 0
	for _, cmd := range allCommands() {
		name := cmd.CommandPath()
		if first, _ := utf8.DecodeRuneInString(cmd.Short); !unicode.IsUpper(first) || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the summary %q must be short and must not end with a full stop", name, cmd.Short)
		}
		if cmd.Parent() == root && cmd.GroupID == "" && name != "firefighters version" {
			t.Errorf("%s: missing group", name)
		}
		if cmd.RunE != nil && !strings.Contains(cmd.Example, name) {
			t.Errorf("%s: missing example", name)
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
					t.Errorf("%s: unknown flag %s: %s", name, word, line)
				}
			}
		}
	}
	if examples < 30 {
		t.Errorf("found only %d examples", examples)
	}
}

// TestManualPage checks that the manual page describes every command and flag and that mandoc accepts it.
func TestManualPage(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	env := cli.Env{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard}
	if code := cli.Execute(env, newRoot(), []string{"man"}, schema.Explain); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	page := out.String()
	plain := strings.NewReplacer(`\-`, "-").Replace(page)
	for _, cmd := range allCommands() {
		if cmd.RunE != nil && !strings.Contains(plain, "\n.SS "+cmd.CommandPath()) {
			t.Errorf("the page lacks %s", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(plain, `\fB--`+f.Name+`\fR`) {
				t.Errorf("the page lacks --%s of %s", f.Name, cmd.CommandPath())
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
