package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// extraArgument returns the usage error for the first argument after the most
// that the command takes. Its hint says what to do with it.
func extraArgument(flags *pflag.FlagSet, most int) error {
	extra := flags.Arg(most)
	what := fmt.Sprintf("it takes no argument, but there is %q", extra)
	switch {
	case most == 1:
		what = fmt.Sprintf("it takes one argument, but there is also %q", extra)
	case most > 1:
		what = fmt.Sprintf("it takes %d arguments, but there is also %q", most, extra)
	}
	return WrongArgument(flags, most, what, hintOnExtra(flags, most))
}

// WrongArgument is Wrong for the argument with this number, counted from 0, and
// with another hint. If the argument seems to be the database, it hints at the
// command with --db.
func WrongArgument(flags *pflag.FlagSet, number int, what, hint string) error {
	arg := flags.Arg(number)
	if looksLikeFile(arg) {
		hint = cmp.Or(hintOnFlag(flags, number, "db", "the database", arg), hint)
	}
	return Usage(flags.Name()+": "+what, hint)
}

// hintOnExtra returns what to type for an argument that is one too many.
func hintOnExtra(flags *pflag.FlagSet, number int) string {
	arg := flags.Arg(number)
	_, err := strconv.ParseUint(arg, 10, 16)
	isNumber := err == nil
	help, hint := helpOf(flags.Name()), ""
	switch {
	case strings.TrimSpace(arg) == "" || strings.ContainsFunc(arg, unicode.IsControl) || isHelp(arg):
		return help
	case isNumber && flags.Lookup("listen") != nil && !flags.Changed("listen"):
		hint = hintOnFlag(flags, number, "listen", "the port", "127.0.0.1:"+arg)
	case flags.Changed("tenant"), number > 0 && !isNumber, flags.NArg() > number+1 && !looksLikeFile(arg):
		hint = `put a name of several words in quotes, as "Engine 7": ` + help
	case number > 0:
	case flags.Lookup("tenant") != nil:
		hint = hintOnFlag(flags, number, "tenant", "the department", arg)
	default:
		hint = hintOnFlag(flags, number, "db", "the database", arg)
	}
	return cmp.Or(hint, help)
}

// hintOnFlag returns the command as it was typed, with so many arguments, and
// with a flag that names something. It is empty if the command has no such flag,
// or if that was typed.
func hintOnFlag(flags *pflag.FlagSet, most int, flag, something, value string) string {
	if f := flags.Lookup(flag); f == nil || f.Changed {
		return ""
	}
	return fmt.Sprintf("to name %s: %s --%s %s", something, TypedLine(flags, most), flag, Quote(value))
}

// looksLikeFile reports whether an argument is more likely to name a database
// file than a department or a record.
func looksLikeFile(arg string) bool {
	return !strings.ContainsFunc(arg, unicode.IsControl) && (strings.ContainsAny(arg, `/\`) || strings.HasPrefix(filepath.Ext(arg), ".db") || strings.HasPrefix(filepath.Ext(arg), ".sqlite"))
}

// TypedLine returns the command with its flags and with so many arguments, as it
// was typed, but without the flags to leave out.
func TypedLine(flags *pflag.FlagSet, most int, without ...string) string {
	line := "firefighters " + flags.Name()
	for _, arg := range flags.Args()[:most] {
		line += " " + Quote(arg)
	}
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(without, f.Name) || f.Value.Type() == "bool" && f.Value.String() == "false" {
			return
		}
		line += " --" + f.Name
		if list, ok := f.Value.(pflag.SliceValue); ok {
			line += " " + Quote(strings.Join(list.GetSlice(), ","))
		} else if f.Value.Type() != "bool" {
			line += " " + Quote(f.Value.String())
		}
	})
	return line
}
