package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// UsageErrorf returns a UsageError whose hint is the help of the command.
func UsageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return Usage(fmt.Sprintf(format, args...), helpOf(cmd))
}

func helpOf(cmd *cobra.Command) string { return cmd.CommandPath() + " --help" }

// asUsageError returns a parsing error of cobra as a UsageError.
func asUsageError(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[*UsageError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*hinted](err); ok {
		return err
	}
	return UsageErrorf(cmd, "%s", oneLine(err.Error()))
}

func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return UsageErrorf(cmd, "--%s cannot be %q", invalid.GetFlag().Name, invalid.GetValue())
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return UsageErrorf(cmd, "%s", oneLine(err.Error()))
	}
	typed := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	similar := Nearest(typed, append(names, "version", "tenant"))
	for _, name := range strings.Fields(otherNames[typed]) {
		if slices.Contains(names, name) {
			similar = name
		}
	}
	return UsageErrorf(cmd, "%s%s", oneLine(err.Error()), didYouMean("--", similar))
}

// otherNames maps names that people type to flags.
var otherNames = map[string]string{"port": "listen", "host": "listen", "address": "listen", "database": "db", "file": "db output"}

// didYouMean returns the end of an error about an unknown word, or "" without a similar word.
func didYouMean(prefix, similar string) string {
	if similar == "" {
		return ""
	}
	return "; did you mean " + prefix + similar + "?"
}

// unknownCommand rejects every argument, for a command that only has subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		var names []string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return UsageErrorf(cmd, "missing command: one of %s", strings.Join(names, ", "))
	}
	what := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	similar := similarCommands(cmd, args[0])
	switch {
	case len(similar) > 0:
		return Usage(what+didYouMean("", strings.Join(similar, " or ")), cmd.CommandPath()+" "+similar[0]+" --help")
	case !cmd.HasParent() && slices.Contains([]string{".csv", ".xlsx", ".vcf"}, strings.ToLower(filepath.Ext(args[0]))):
		return Usage(what, "firefighters import "+Quote(args[0]))
	case !cmd.HasParent() && looksLikeFile(args[0]):
		return Usage(what, "firefighters serve --db "+Quote(args[0]))
	}
	return UsageErrorf(cmd, "%s", what)
}

// similarCommands returns the subcommands of cmd that are similar to a word, the most similar first, or
// else the deeper commands that have it as a name or in SuggestFor.
func similarCommands(cmd *cobra.Command, word string) (paths []string) {
	cmd.SuggestionsMinimumDistance = 2
	if direct := cmd.SuggestionsFor(word); len(direct) > 0 {
		rank := func(name string) int {
			if sub, _, _ := cmd.Find([]string{name}); slices.Contains(sub.SuggestFor, word) {
				return 0
			}
			return distance(word, name)
		}
		slices.SortStableFunc(direct, func(a, b string) int { return rank(a) - rank(b) })
		return slices.Compact(direct) // a name may also be in SuggestFor
	}
	forEach(cmd, func(sub *cobra.Command) {
		if !sub.Hidden && slices.Contains(append(sub.SuggestFor, sub.Name()), word) {
			paths = append(paths, strings.TrimPrefix(sub.CommandPath(), cmd.CommandPath()+" "))
		}
	})
	return paths
}

// matchUse checks the number of arguments against the usage line of the command: FILE is required,
// [FILE] is optional, and FILE... can be repeated.
func matchUse(cmd *cobra.Command, args []string) error {
	var required []string
	most := 0
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if !strings.HasPrefix(word, "[") {
			required = append(required, strings.TrimSuffix(word, "..."))
		}
		if most++; strings.Contains(word, "...") {
			most = len(args)
		}
	}
	for i, name := range required {
		if len(args) <= i || strings.TrimSpace(args[i]) == "" {
			return UsageErrorf(cmd, "missing argument %s", name)
		}
	}
	if len(args) > most {
		return unexpected(cmd, args[most])
	}
	return nil
}

func unexpected(cmd *cobra.Command, arg string) error {
	what, hint := fmt.Sprintf("unexpected argument %q", arg), ""
	_, err := strconv.ParseUint(arg, 10, 16)
	for _, parent := range []*cobra.Command{cmd.Parent(), cmd.Root()} {
		if parent != nil && slices.ContainsFunc(parent.Commands(), func(c *cobra.Command) bool { return c.Name() == arg }) {
			return Usage(what+": a command comes first", parent.CommandPath()+" "+arg+" --help")
		}
	}
	switch {
	case strings.ContainsFunc(arg, unicode.IsControl):
	case looksLikeFile(arg):
		hint = withFlag(cmd, "db", arg)
	case err == nil:
		hint = withFlag(cmd, "listen", "127.0.0.1:"+arg)
	default:
		hint = cmp.Or(withFlag(cmd, "name", arg), withFlag(cmd, "search", arg), withFlag(cmd, "id", arg),
			withFlag(cmd, "output", arg), withFlag(cmd, "department", arg))
	}
	return Usage(what, cmp.Or(hint, helpOf(cmd)))
}

// withFlag returns the typed command line without its arguments and with one more flag. It is empty
// if the command lacks the flag or the flag is already set.
func withFlag(cmd *cobra.Command, name, value string) string {
	if f := cmd.Flags().Lookup(name); f == nil || f.Changed || cmd.Flags().NArg() != 1 {
		return ""
	}
	return commandLine(cmd, nil, nil) + " --" + name + " " + Quote(value)
}

// looksLikeFile reports whether an argument is probably the path of a database.
func looksLikeFile(arg string) bool {
	ext := filepath.Ext(arg)
	named := strings.ContainsAny(arg, `/\`) || strings.HasPrefix(ext, ".db") || strings.HasPrefix(ext, ".sqlite")
	return named && !strings.ContainsFunc(arg, unicode.IsControl)
}

// CommandLine returns the typed command line without the named flags.
func CommandLine(cmd *cobra.Command, without ...string) string {
	return commandLine(cmd, cmd.Flags().Args(), without)
}

func commandLine(cmd *cobra.Command, args, without []string) string {
	line := cmd.CommandPath()
	for _, arg := range args {
		line += " " + Quote(arg)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(without, f.Name) || f.Value.Type() == "bool" && f.Value.String() == "false" {
			return
		}
		line += " --" + f.Name
		if list, ok := f.Value.(pflag.SliceValue); ok {
			line += " " + Quote(strings.Join(list.GetSlice(), ","))
		} else if value := f.Value.String(); f.NoOptDefVal == "" {
			line += " " + Quote(value)
		} else if value != f.NoOptDefVal {
			line += "=" + Quote(value)
		}
	})
	return line
}

// Typed returns the command that starts the running program: its name if the shell finds it, and
// otherwise its path.
func Typed() string {
	own, err := os.Executable()
	if err != nil {
		return programName
	}
	return TypedAs(own)
}

// TypedAs is Typed for the program at a path.
func TypedAs(program string) string {
	if found, err := exec.LookPath(programName); err == nil && osutil.SameFile(found, program) {
		return programName
	}
	return Quote(program)
}

const programName = "firefighters"

// AsAdministrator returns instructions to run command lines with administrator rights.
func AsAdministrator(lines ...string) string {
	if runtime.GOOS == "windows" {
		return strings.Join(lines, andThen) + `, in a terminal that was opened with "Run as administrator"`
	}
	prefix := "sudo "
	if _, err := exec.LookPath("sudo"); err != nil {
		prefix = "as root: "
	}
	return prefix + strings.Join(lines, andThen+prefix)
}

const andThen = ", and then: "
