package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Flags returns an empty set of flags for a command. Its help is the text with
// the flags and their environment variables after it.
func (env Env) Flags(command, help string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() { io.WriteString(env.Stdout, help+flags.FlagUsages()+variablesHelp(flags)) }
	return flags
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
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return Wrong(flags, err.Error()+didYouMean(meantFlags(flags, unknown)))
	}
	if err != nil {
		return Wrong(flags, err.Error())
	}
	if most != AnyNumber && flags.NArg() > most {
		return extraArgument(flags, most)
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

// flagWords are what people type for some flags.
var flagWords = map[string]string{"db": "database file", "tenant": "department", "listen": "port address host"}

// flagSpellings returns the name of a flag, and what people type for it.
func flagSpellings(flag string) []string {
	return append([]string{flag}, strings.Fields(flagWords[flag])...)
}

// meantFlags returns the flags that may be meant by one that does not exist. A
// long one with a single dash is a group of short ones to pflag.
func meantFlags(flags *pflag.FlagSet, unknown *pflag.NotExistError) []string {
	var words []word
	flags.VisitAll(func(f *pflag.Flag) {
		words = append(words, word{"--" + f.Name, flagSpellings(f.Name)})
	})
	return meant(cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()), words)
}
