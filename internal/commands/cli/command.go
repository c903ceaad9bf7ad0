package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Command is an entry in a table of commands. It has Run or, if it has
// subcommands, Help and Sub. With Run and Sub, Run is for a line that names no
// subcommand.
type Command struct {
	Name    string
	Also    string // other words that people type for it, as "ls show", for suggestions
	Summary string // a few words for CommandList
	Run     func(env Env, args []string) error
	Help    string
	Sub     []Command

	// Logs is set for a server. All that it says on Stderr is its log: lines of JSON,
	// unless that is a terminal.
	Logs bool
}

// Program is a table of commands, and what the program says of itself.
type Program struct {
	Help      string
	Commands  []Command
	Default   string   // the command that runs if the line names none
	Variables []string // of the environment that are no flags, as "key" for FIREFIGHTERS_KEY
}

// Run runs the command that args name. A line that begins with a flag or with the
// name of a file, as after a file was dropped on the program, is one of the default
// command. What a command prints changes no terminal. A result that could not be
// written is an error, also if the command overlooks it.
func (p Program) Run(env Env, args []string) error {
	env.commands = p.Commands
	result := &stream{to: env.Stdout}
	env.Stdout, env.Stderr = result, &stream{to: env.Stderr}
	switch {
	case len(args) > 0 && (args[0] == "--version" || args[0] == "-v"):
		args = append([]string{"version"}, args[1:]...)
	case p.Default == "":
	case len(args) == 0 || strings.HasPrefix(args[0], "-") && !isHelp(args[0]) || looksLikeFile(args[0]):
		args = append([]string{p.Default}, args...)
	}
	env.logs = logs(p.Commands, args) && !IsTerminal(env.Stderr)
	p.warnOfVariables(env)
	err := env.dispatch("", Command{Help: p.Help, Sub: p.Commands}, args)
	if result.failed != nil {
		err = fmt.Errorf("writing the result: %w", result.failed)
	}
	return env.asLogged(err)
}

// dispatch runs the subcommand of parent that the first argument names, with the
// arguments after it. It prints help if that is asked for, as in "help keys create".
// Any other first argument, or none, is a usage error. The name is that of parent in
// full; it is empty for the program itself.
func (env Env) dispatch(name string, parent Command, args []string) error {
	if len(args) == 0 {
		return Usage(inCommand(name)+"say "+either(namesOf(parent.Sub)), helpOf(name))
	}
	if len(args) > 1 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if isHelp(args[0]) {
		io.WriteString(env.Stdout, parent.Help)
		return ErrHelp
	}
	for _, c := range parent.Sub {
		switch {
		case c.Name == args[0] && c.Sub != nil && (c.Run == nil || len(args) > 1 && isCommand(c.Sub, args[1])):
			return env.dispatch(subcommand(name, c.Name), c, args[1:])
		case c.Name == args[0]:
			return c.Run(env, args[1:])
		}
	}
	if strings.HasPrefix(args[0], "-") {
		if at := slices.IndexFunc(args, func(arg string) bool { return isCommand(parent.Sub, arg) }); at > 0 {
			return commandFirst(name, args[at], append([]string{args[at]}, slices.Delete(slices.Clone(args), at, at+1)...))
		}
	}
	return noCommand(name, parent.Sub, args[0])
}

func isCommand(commands []Command, word string) bool {
	return slices.ContainsFunc(commands, func(c Command) bool { return c.Name == word })
}

// commandFirst returns the usage error for a word that is a command, but does not
// stand where a command must. Its hint is the line in the right order.
func commandFirst(name, word string, line []string) error {
	hint := subcommand("firefighters", name)
	for _, arg := range line {
		hint += " " + Quote(arg)
	}
	return Usage(fmt.Sprintf("%s%q is a command, which must come first", inCommand(name), word), hint)
}

// noCommand returns the usage error for a word that is no command. It names
// those that may be meant.
func noCommand(name string, commands []Command, typed string) error {
	what := fmt.Sprintf("%sthere is no command %q", inCommand(name), typed)
	nearest := meant(typed, commandWords(name, commands))
	if len(nearest) == 0 {
		return Usage(what, helpOf(name))
	}
	var quoted, hints []string
	for _, command := range nearest {
		quoted, hints = append(quoted, strconv.Quote(command)), append(hints, helpOf(command))
	}
	return Usage(what+didYouMean(quoted), strings.Join(hints, ", or: "))
}

// commandWords returns all commands below the one with this name, for suggestions.
// For a subcommand of another the right spelling is its full name.
func commandWords(name string, commands []Command) (words []word) {
	for _, c := range commands {
		full := subcommand(name, c.Name)
		words = append(words, word{full, append([]string{c.Name}, strings.Fields(c.Also)...)})
		for _, below := range commandWords(full, c.Sub) {
			words = append(words, word{below.text, append([]string{below.text}, below.like...)})
		}
	}
	return words
}

func namesOf(commands []Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

// subcommand is the full name of a command below another.
func subcommand(name, sub string) string { return strings.TrimSpace(name + " " + sub) }

// inCommand is what an error about a subcommand begins with.
func inCommand(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

// isHelp reports whether an argument in the place of a command asks for help.
func isHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == "help" }

// ErrHelp says that help was asked for and printed. It is not a failure.
var ErrHelp = pflag.ErrHelp

// helpOf is what to type for the help of a command.
func helpOf(command string) string {
	return strings.TrimSpace("firefighters "+command) + " --help"
}

// CommandList returns a line for each command, its name and its summary, as
// they stand in help.
func CommandList(commands []Command) string {
	width := 0
	for _, c := range commands {
		width = max(width, len(c.Name))
	}
	var list strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&list, "  %-*s  %s\n", width, c.Name, c.Summary)
	}
	return list.String()
}

// flagsHelp is the end of the help of a command: its flags, and the variables of those
// that may stand in the environment.
func flagsHelp(flags *pflag.FlagSet) string {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			f.Value = bareSwitch{f.Value}
		}
	})
	var lines strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if name := variableOf(f); name != "" {
			fmt.Fprintf(&lines, "      --%-12s %s\n", f.Name, name)
		}
	})
	if lines.Len() == 0 {
		return flags.FlagUsages()
	}
	return flags.FlagUsages() + "\nThese flags may also stand in the environment:\n" + lines.String()
}

// bareSwitch is a flag that the help shows as --yes, without the values that it
// also takes: pflag adds "[=true|false]" to the type "bool".
type bareSwitch struct{ pflag.Value }

func (bareSwitch) Type() string     { return "boolfunc" }
func (bareSwitch) IsBoolFlag() bool { return true }
