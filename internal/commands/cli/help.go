package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

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
	visitVariables(flags, func(f *pflag.Flag) { fmt.Fprintf(&lines, "      --%-12s %s\n", f.Name, variable(f.Name)) })
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
