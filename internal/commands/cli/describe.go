package cli

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Description is what a command says of itself.
type Description struct {
	Name      string // in full, as "keys create"; empty for the program
	Summary   string // of the command or, without one, the first words of its help
	Help      string // without its flags
	Flags     []Flag // in the order of their names, without hidden ones
	Arguments []Value
	Sub       []Description
}

// Flag is a flag of a command.
type Flag struct {
	Name, Short string // without dashes
	Usage       string
	Default     string // empty if that is nothing, no or none
	Variable    string // of the environment; empty if the flag must be typed
	Repeats     bool
	Value       Value // has no name if the flag takes no value
}

// Value is the value of a flag, or an argument.
type Value struct {
	Name    string   // as help has it, in lower case: "file" and "folder" name one on this machine
	Choices []string // if only these may be typed
}

// description is what Flags notes of a command that runs for Describe.
type description struct {
	help  string
	flags *pflag.FlagSet
}

// Describe returns what the program and all its commands say of themselves, each before
// its subcommands. The first is the program. It runs each command with --help, so each
// must begin with Env.Flags, add all its flags, and call Env.Parse before it does
// anything.
func (p Program) Describe() []Description {
	return describe("", Command{Help: p.Help, Sub: p.Commands})
}

func describe(name string, c Command) []Description {
	d := Description{Name: name, Summary: c.Summary, Help: c.Help}
	if c.Run != nil {
		d.ask(c.Run)
	}
	d.Summary = cmp.Or(d.Summary, beginning(d.Help))
	var below []Description
	for _, sub := range c.Sub {
		described := describe(subcommand(name, sub.Name), sub)
		d.Sub, below = append(d.Sub, described[0]), append(below, described...)
	}
	return append([]Description{d}, below...)
}

// ask runs the command for its help and its flags.
func (d *Description) ask(run func(env Env, args []string) error) {
	var noted description
	run(Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, describing: &noted}, []string{"--help"})
	if noted.flags == nil {
		return
	}
	d.Help, d.Arguments = strings.TrimSuffix(noted.help, "\nFlags:\n"), arguments(noted.help, d.Name)
	noted.flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		flag := Flag{Name: f.Name, Short: f.Shorthand, Usage: usage, Variable: variableOf(f), Value: Value{Name: name, Choices: choices(usage)}}
		if f.NoOptDefVal != "" { // a switch
			flag.Value = Value{}
		}
		if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
			flag.Default = f.DefValue
		}
		_, flag.Repeats = f.Value.(pflag.SliceValue)
		d.Flags = append(d.Flags, flag)
	})
}

// beginning returns the first words of a help after its usage, as a summary is
// written.
func beginning(help string) string {
	_, text, _ := strings.Cut(help, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if end := strings.IndexAny(text, ".,:"); end > 0 {
		text = text[:end]
	}
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// choiceForm is the usage of a flag that takes one of a few words: "read, write or
// admin", also after a colon and before a bracket.
var choiceForm = regexp.MustCompile(`^(?:[^:(]*: )?([\w-]+(?:, [\w-]+)*(?:,| or) [\w-]+)(?: \(.*\))?$`)

// choices returns the words that a usage lists, if it lists all.
func choices(usage string) []string {
	found := choiceForm.FindStringSubmatch(usage)
	if found == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(found[1], " or ", ", "), ", ")
}

// arguments returns the arguments that the first line of help has for a command:
// FILE, or words as bash|zsh.
func arguments(help, name string) (all []Value) {
	line, _, _ := strings.Cut(help, "\n")
	_, rest, _ := strings.Cut(line+" ", "firefighters "+name+" ")
	for _, word := range strings.Fields(rest) {
		word = strings.TrimSuffix(word, "...")
		switch {
		case strings.HasPrefix(word, "-") || strings.ContainsAny(word, "[("):
			return all
		case strings.Contains(word, "|"):
			all = append(all, Value{Choices: strings.Split(word, "|")})
		default:
			all = append(all, Value{Name: strings.ToLower(word)})
		}
	}
	return all
}
