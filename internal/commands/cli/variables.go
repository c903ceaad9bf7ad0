package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// variablePrefix is what the environment variables of flags begin with.
const variablePrefix = "FIREFIGHTERS_"

// typedOnly are the flags that count only when they are typed. Most of them confirm or
// choose what is changed or erased: a variable that was forgotten in the environment
// must not answer for a person. --licences changes what version prints, which programs
// read.
var typedOnly = []string{"apply", "finish", "force", "licences", "new", "older-than", "repair", "skip-bad", "update", "write-to", "yes"}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// visitVariables calls each for the flags that may stand in the environment.
func visitVariables(flags *pflag.FlagSet, each func(*pflag.Flag)) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(typedOnly, f.Name) {
			each(f)
		}
	})
}

// setFromEnvironment sets the flags that args did not set. An empty variable
// counts as absent.
func setFromEnvironment(flags *pflag.FlagSet) (err error) {
	visitVariables(flags, func(f *pflag.Flag) {
		value := os.Getenv(variable(f.Name))
		if err != nil || f.Changed || value == "" {
			return
		}
		if flags.Set(f.Name, value) != nil {
			err = Wrong(flags, fmt.Sprintf("%s may not be %q", variable(f.Name), value))
		}
	})
	return err
}

// warnOfVariables warns of variables in the environment that look like those of
// flags and do nothing.
func (p Program) warnOfVariables(env Env) {
	var set []string
	for _, setting := range os.Environ() {
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
		case slices.Contains(known, flag) && os.Getenv(variable(flag)) != "":
		case slices.Contains(typedOnly, flag):
			env.Notef("Warning: %s does nothing: --%s counts only when it is typed", name, flag)
		default:
			env.Notef("Warning: %s does nothing: there is no flag --%s%s", name, flag, didYouMean(meant(flag, words)))
		}
	}
}

// variables returns the flags of all commands that may stand in the environment, and
// the other variables of the program, in the order of their names.
func (p Program) variables() []string {
	known := slices.Clone(p.Variables)
	var add func([]Description)
	add = func(all []Description) {
		for _, d := range all {
			for _, f := range d.Flags {
				if f.Variable != "" {
					known = append(known, f.Name)
				}
			}
			add(d.Sub)
		}
	}
	add(Describe(p.Commands))
	slices.Sort(known)
	return slices.Compact(known)
}
