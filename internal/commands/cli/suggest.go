package cli

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// word is something that can be typed: a command, a flag or a variable.
type word struct {
	text string   // as it must be typed
	like []string // in lower case: its right spelling, and what else people type who mean it
}

// meant returns the words that somebody who typed this may have meant: the nearest
// ones, if they are near enough. At the same distance a right spelling comes before
// what else people type.
func meant(typed string, words []word) (nearest []string) {
	typed = strings.ToLower(typed)
	best := 0
	for _, w := range words {
		for i, like := range w.like {
			far := distance(typed, like)
			rank := 2*far + min(i, 1)
			if far > max(0, tolerated(like)-min(i, 1)) || len(nearest) > 0 && rank > best || slices.Contains(nearest, w.text) && rank == best {
				continue
			}
			if rank < best {
				nearest = nil
			}
			nearest, best = append(nearest, w.text), rank
		}
	}
	return nearest
}

// tolerated is the number of typing errors in a word that still show it.
func tolerated(like string) int {
	switch {
	case len(like) < 3:
		return 0
	case len(like) < 5:
		return 1
	}
	return 2
}

// distance returns the number of letters to add, drop, replace or swap with the
// next that lead from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replaced := d[i-1][j-1]
			if x[i-1] != y[j-1] {
				replaced++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replaced)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// didYouMean is what is said after a word that does not exist, empty without a
// nearest one.
func didYouMean(nearest []string) string {
	if len(nearest) == 0 {
		return ""
	}
	return "; did you mean " + either(nearest) + "?"
}

// either is "create, list or revoke".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

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
		} else if value := f.Value.String(); f.NoOptDefVal == "" {
			line += " " + Quote(value)
		} else if value != f.NoOptDefVal { // a switch takes no further word as its value
			line += "=" + Quote(value)
		}
	})
	return line
}

// AsAdministrator returns what to type for a line to have the rights of an
// administrator.
func AsAdministrator(line string) string {
	if runtime.GOOS == "windows" {
		return line + `, in a terminal that was opened with "Run as administrator"`
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		return "as root: " + line
	}
	return "sudo " + line
}
