package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Flags returns an empty set of flags for a command. Its help is the text with
// the flags and their environment variables after it.
func (env Env) Flags(command, help string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {
		io.WriteString(env.Stdout, help+flags.FlagUsages())
		io.WriteString(env.Stdout, "\nEach flag may also stand in the environment:\n")
		flags.VisitAll(func(f *pflag.Flag) { fmt.Fprintf(env.Stdout, "      --%-12s %s\n", f.Name, variable(f)) })
	}
	return flags
}

// variable is the environment variable of a flag.
func variable(f *pflag.Flag) string {
	return "FIREFIGHTERS_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// DBFlag adds the flag --db, which must not be empty, and returns its value.
func DBFlag(flags *pflag.FlagSet) *string {
	return flags.String("db", "firefighters.db", "the database file")
}

// AnyNumber is the number of arguments of a command that checks them itself.
const AnyNumber = -1

// Parse reads args, and then from the environment each flag that is not among
// them. The command takes at most so many arguments beside the flags. Every
// error is a UsageError, but for ErrHelp, which says that Parse printed the help.
func (env Env) Parse(flags *pflag.FlagSet, args []string, most int) error {
	err := flags.Parse(args)
	if errors.Is(err, ErrHelp) {
		return ErrHelp
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Wrong(flags, fmt.Sprintf("--%s may not be %q", bad.GetFlag().Name, bad.GetValue()))
	}
	if err != nil {
		return Wrong(flags, err.Error())
	}
	if most != AnyNumber && flags.NArg() > most {
		return Wrong(flags, fmt.Sprintf("unexpected argument %q", flags.Arg(most)))
	}
	if err := setFromEnvironment(flags); err != nil {
		return err
	}
	if db := flags.Lookup("db"); db != nil && db.Value.String() == "" {
		return Wrong(flags, "--db names no file")
	}
	return nil
}

// Wrong returns a UsageError that begins with the command and hints at its help.
func Wrong(flags *pflag.FlagSet, what string) error {
	return Usage(flags.Name()+": "+what, helpOf(flags.Name()))
}

// ParseOne is Parse for a command that takes one argument, which it returns. If
// there is none, missing says what to name.
func (env Env) ParseOne(flags *pflag.FlagSet, args []string, missing string) (string, error) {
	if err := env.Parse(flags, args, 1); err != nil {
		return "", err
	}
	if flags.NArg() == 0 {
		return "", Wrong(flags, missing)
	}
	return flags.Arg(0), nil
}

// setFromEnvironment sets the flags that args did not set. An empty variable
// counts as absent.
func setFromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		value := os.Getenv(variable(f))
		if err != nil || f.Changed || value == "" {
			return
		}
		if flags.Set(f.Name, value) != nil {
			err = Wrong(flags, fmt.Sprintf("%s may not be %q", variable(f), value))
		}
	})
	return err
}
