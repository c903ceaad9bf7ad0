package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flags returns an empty set of flags for a command. Its help is the text with
// the flags and their environment variables after it.
func (env Env) Flags(command, help string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() { io.WriteString(env.Stdout, help+flagsHelp(flags)) }
	if env.describing != nil {
		*env.describing = description{help, flags}
	}
	return flags
}

// DBFlag adds the flag --db, which must not be empty, and returns its value. If
// nothing names a database, and there is none in the current folder, Parse takes
// that of the installed service.
func DBFlag(flags *pflag.FlagSet) *string {
	db := flags.String("db", DefaultDB, "the database `file`")
	flags.SetAnnotation("db", ofService, nil)
	return db
}

// DefaultDB is the database of a command if nothing names one.
const DefaultDB = "firefighters.db"

// TenantFlag adds the flag --tenant and returns its value. when says when it must be
// given, as "(required)".
func TenantFlag(flags *pflag.FlagSet, when string) *string {
	return flags.String("tenant", "", "the department's name "+when)
}

// ofService is the annotation of a flag --db that Parse may set to the database of the service.
const ofService = "service"

// ErrBarred is the error of Parse for a user without the rights for the database of the
// service.
var ErrBarred = errors.New("only an administrator may use the database of the service")

// useServiceDB sets --db to the database of the installed service, as DBFlag promises.
// Without the rights for that, the error says how to get them.
func (env Env) useServiceDB(flags *pflag.FlagSet) error {
	f := flags.Lookup("db")
	if f == nil || f.Changed || env.ServiceDB == nil {
		return nil
	}
	_, may := f.Annotations[ofService]
	if _, err := os.Stat(f.DefValue); !may || err == nil {
		return nil
	}
	db := env.ServiceDB()
	if db == "" || f.Value.Set(db) != nil {
		return nil
	}
	if isBarred(db) {
		return WithHint(ErrBarred, AsAdministrator(TypedLine(flags, flags.NArg())))
	}
	env.Notef("This is about the database of the service: %s", Quote(db))
	return nil
}

// AnyNumber is the number of arguments of a command that checks them itself.
const AnyNumber = -1

// Parse reads args, and then from the environment each flag that is not among
// them. The command takes at most so many arguments beside the flags. Every
// error is a UsageError, but for ErrHelp, which says that Parse printed the help,
// and for ErrBarred.
func (env Env) Parse(flags *pflag.FlagSet, args []string, most int) error {
	err := flags.Parse(args)
	if errors.Is(err, ErrHelp) {
		return ErrHelp
	}
	if most == 0 && flags.NArg() > 0 && isCommand(env.commands, flags.Arg(0)) {
		return misplaced(flags, err)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Wrong(flags, fmt.Sprintf("--%s may not be %q", bad.GetFlag().Name, bad.GetValue()))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(flags, unknown)
	}
	if err != nil {
		return Wrong(flags, oneLine(err.Error()))
	}
	if f := withoutValue(flags, most); f != nil {
		return Wrong(flags, fmt.Sprintf("--%s needs a value, and %q looks like a flag", f.Name, f.Value.String()))
	}
	if most != AnyNumber && flags.NArg() > most {
		return extraArgument(flags, most)
	}
	if err := env.setFromEnvironment(flags); err != nil {
		return err
	}
	if db := flags.Lookup("db"); db != nil && db.Value.String() == "" {
		return Wrong(flags, "--db names no file")
	}
	return env.useServiceDB(flags)
}

// misplaced returns the usage error for a command that stands after flags. Only
// --db is a flag of nearly every command, so with others the hint is its help.
func misplaced(flags *pflag.FlagSet, err error) error {
	word, others := flags.Arg(0), err != nil
	flags.Visit(func(f *pflag.Flag) { others = others || f.Name != "db" })
	line := []string{word, "--help"}
	if !others && flags.NFlag() > 0 {
		line = append(slices.Clone(flags.Args()), "--db", flags.Lookup("db").Value.String())
	}
	return commandFirst("", word, line)
}

// unknownFlag returns the usage error for a flag that does not exist.
func unknownFlag(flags *pflag.FlagSet, unknown *pflag.NotExistError) error {
	typed := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	if typed := strings.ToLower(typed); typed == "v" || typed == "version" {
		return Usage(flags.Name()+": "+oneLine(unknown.Error())+"; did you mean the version?", "firefighters --version")
	}
	return Wrong(flags, oneLine(unknown.Error())+didYouMean(meantFlags(flags, typed)))
}

// withoutValue returns a flag whose value was forgotten, so that it took the next flag
// for it, as --db in --db --yes. It is nil if there is none. A value may begin with
// dashes if it is no flag of the command, and if no argument is left over.
func withoutValue(flags *pflag.FlagSet, most int) (found *pflag.Flag) {
	flags.Visit(func(f *pflag.Flag) {
		next, dashed := strings.CutPrefix(f.Value.String(), "--")
		next, _, _ = strings.Cut(next, "=")
		if dashed && (next == "help" || flags.Lookup(next) != nil || most != AnyNumber && flags.NArg() > most) {
			found = f
		}
	})
	return found
}

// Wrong returns a UsageError that begins with the command and hints at its help.
func Wrong(flags *pflag.FlagSet, what string) error {
	return Usage(flags.Name()+": "+what, helpOf(flags.Name()))
}

// ParseOne is Parse for a command that takes one argument, which it returns. If
// there is none, or an empty one, missing says what to name.
func (env Env) ParseOne(flags *pflag.FlagSet, args []string, missing string) (string, error) {
	if err := env.Parse(flags, args, 1); err != nil {
		return "", err
	}
	if flags.Arg(0) == "" {
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
func meantFlags(flags *pflag.FlagSet, typed string) []string {
	var words []word
	flags.VisitAll(func(f *pflag.Flag) {
		words = append(words, word{"--" + f.Name, flagSpellings(f.Name)})
	})
	return meant(typed, words)
}

// TypedOnly is the annotation of a flag of one command that counts only when it is typed,
// although other commands have it in the environment.
const TypedOnly = "typed"

// variablePrefix is what the environment variables of flags begin with.
const variablePrefix = "FIREFIGHTERS_"

// typedOnly are the flags that count only when they are typed. Most of them confirm or
// choose what is changed or erased: a variable that was forgotten in the environment
// must not answer for a person. --licences changes what version prints, which programs
// read.
var typedOnly = []string{"apply", "compare", "force", "keep-erased", "leave-out-bad-fields", "licences", "new", "older-than", "phone", "repair", "skip-bad", "update", "yes"}

// variableOf returns the environment variable of a flag of a command, empty if that must be
// typed.
func variableOf(f *pflag.Flag) string {
	if _, typed := f.Annotations[TypedOnly]; typed {
		return ""
	}
	return variable(f.Name)
}

// variable returns the environment variable of a flag, empty if that must be typed in all
// commands.
func variable(flag string) string {
	if slices.Contains(typedOnly, flag) {
		return ""
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// value returns the value of an environment variable. Windows knows no case in names.
func (env Env) value(variable string) string {
	for _, setting := range env.Environ {
		if name, value, _ := strings.Cut(setting, "="); name == variable || runtime.GOOS == "windows" && strings.EqualFold(name, variable) {
			return value
		}
	}
	return ""
}

// setFromEnvironment sets the flags that args did not set. An empty variable
// counts as absent.
func (env Env) setFromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := variableOf(f)
		if err != nil || f.Changed || name == "" || env.value(name) == "" {
			return
		}
		if flags.Set(f.Name, env.value(name)) != nil {
			err = Wrong(flags, fmt.Sprintf("%s may not be %q", name, env.value(name)))
		}
	})
	return err
}

// warnOfVariables warns of variables in the environment that look like those of
// flags and do nothing.
func (p Program) warnOfVariables(env Env) {
	var set []string
	for _, setting := range env.Environ {
		if name, value, _ := strings.Cut(setting, "="); strings.HasPrefix(name, variablePrefix) && value != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return
	}
	known := p.variables()
	var words []word
	for _, flag := range known {
		words = append(words, word{variable(flag), flagSpellings(flag)})
	}
	for _, name := range set {
		flag := strings.ReplaceAll(strings.ToLower(name[len(variablePrefix):]), "_", "-")
		switch {
		case slices.Contains(known, flag) && env.value(variable(flag)) != "":
		case slices.Contains(typedOnly, flag):
			env.Warn(fmt.Sprintf("%s does nothing: --%s counts only when it is typed", name, flag), "")
		default:
			env.Warn(fmt.Sprintf("%s does nothing: there is no flag --%s%s", name, flag, didYouMean(meant(flag, words))), "")
		}
	}
}

// variables returns the flags of all commands that may stand in the environment, and
// the other variables of the program, in the order of their names.
func (p Program) variables() []string {
	known := slices.Clone(p.Variables)
	for _, d := range p.Describe() {
		for _, f := range d.Flags {
			if f.Variable != "" {
				known = append(known, f.Name)
			}
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// isBarred reports whether the permissions of a file, or of its folder, keep the
// current user from reading and writing it. It opens and closes the file, which drops
// the locks of this process on it: it must not have it open as a database.
func isBarred(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		file.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}
