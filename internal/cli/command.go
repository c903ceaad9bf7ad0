package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Command is an entry in a table of commands.
type Command struct {
	Name    string
	Summary string // a few words for CommandList
	Run     func(env Env, args []string) error
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

// Dispatch runs the command that the first argument names, with the arguments
// after it. It prints help if that is asked for. Any other first argument, or
// none, is a usage error. The name is that of the command whose subcommands
// these are; it is empty for the program itself.
func (env Env) Dispatch(name, help string, commands []Command, args []string) error {
	prefix := ""
	if name != "" {
		prefix = name + ": "
	}
	if len(args) == 0 {
		return Usage(prefix+"say "+choice(commands), helpOf(name))
	}
	if IsHelp(args[0]) {
		return env.Help(help)
	}
	for _, c := range commands {
		if c.Name == args[0] {
			return c.Run(env, args[1:])
		}
	}
	return Usage(fmt.Sprintf("%sthere is no command %q", prefix, args[0]), helpOf(name))
}

// choice is "create, list or revoke".
func choice(commands []Command) string {
	var list strings.Builder
	for i, c := range commands {
		switch {
		case i == 0:
		case i == len(commands)-1:
			list.WriteString(" or ")
		default:
			list.WriteString(", ")
		}
		list.WriteString(c.Name)
	}
	return list.String()
}

// IsHelp reports whether an argument in the place of a command asks for help.
func IsHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == "help" }

// ErrHelp says that help was asked for and printed. It is not a failure.
var ErrHelp = pflag.ErrHelp

// Help prints text and returns ErrHelp.
func (env Env) Help(text string) error {
	io.WriteString(env.Stdout, text)
	return ErrHelp
}

// helpOf is what to type for the help of a command.
func helpOf(command string) string {
	return strings.TrimSpace("firefighters "+command) + " --help"
}
