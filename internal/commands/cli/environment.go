package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const variablePrefix = "FIREFIGHTERS_"

// scriptVariables are variables that examples in the documentation use.
var scriptVariables = []string{variablePrefix + "KEY", variablePrefix + "URL"}

// variable is the flag annotation with the name of an environment variable.
const variable = "variable"

// FromEnvironment lets environment variables set flags of a command. The variable of a flag is
// FIREFIGHTERS_ and its name. A flag on the command line takes precedence.
func FromEnvironment(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		value := variablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		f.Usage += " [$" + value + "]"
		cmd.Flags().SetAnnotation(name, variable, []string{value})
	}
}

// DefaultDB is the default of --db.
const DefaultDB = "firefighters.db"

// ofService is the annotation of a flag --db that defaults to the database of the service.
const ofService = "service"

// ErrBarred is the error for a user without access to the database of the service.
var ErrBarred = errors.New("only an administrator may use the database of the service")

// AddDB adds the flag --db and returns its value. If the flag is not set and the current folder has
// no database, the value is the database of the installed service.
func AddDB(cmd *cobra.Command) *string {
	db := cmd.Flags().String("db", DefaultDB, "database `file`")
	cmd.Flags().SetAnnotation("db", ofService, nil)
	FromEnvironment(cmd, "db")
	return db
}

// AddDepartment adds the flag --department and returns its value. It is optional if the database has
// one department.
func AddDepartment(cmd *cobra.Command) *string {
	return cmd.Flags().String("department", "", "`name` of the department; optional if there is only one")
}

// complete checks the flags of a command and sets missing flags from the environment.
func (env Env) complete(cmd *cobra.Command) (err error) {
	flags := cmd.Flags()
	exclusive := map[string][]string{}
	flags.Visit(func(f *pflag.Flag) {
		if next, dashed := strings.CutPrefix(f.Value.String(), "--"); dashed && flags.Lookup(next) != nil {
			err = UsageErrorf(cmd, "--%s needs a value", f.Name)
		}
		for _, group := range f.Annotations["cobra_annotation_mutually_exclusive"] {
			exclusive[group] = append(exclusive[group], "--"+f.Name)
		}
	})
	for _, names := range exclusive { // the message of cobra is hard to read
		if len(names) > 1 {
			return UsageErrorf(cmd, "%s cannot be combined", strings.Join(names, " and "))
		}
	}
	if name, err := flags.GetString("department"); err == nil && flags.Changed("new") && strings.TrimSpace(name) == "" {
		return UsageErrorf(cmd, "--new needs a name: add --department")
	}
	flags.VisitAll(func(f *pflag.Flag) {
		names := f.Annotations[variable]
		if err != nil || f.Changed || len(names) == 0 {
			return
		}
		if value := env.value(names[0]); value != "" && flags.Set(f.Name, value) != nil {
			err = UsageErrorf(cmd, "%s cannot be %q", names[0], value)
		}
	})
	if err != nil {
		return err
	}
	env.warnOfUnknownVariables(cmd.Root())
	if db := flags.Lookup("db"); db != nil {
		if db.Value.String() == "" {
			return UsageErrorf(cmd, "--db is empty")
		}
		return env.useServiceDatabase(cmd, db)
	}
	return nil
}

// useServiceDatabase sets the default of a flag of AddDB to the database of the installed service.
func (env Env) useServiceDatabase(cmd *cobra.Command, f *pflag.Flag) error {
	if _, ok := f.Annotations[ofService]; !ok || f.Changed || env.ServiceDB == nil {
		return nil
	}
	if _, err := os.Stat(f.DefValue); err == nil {
		return nil
	}
	db := env.ServiceDB()
	if db == "" || f.Value.Set(db) != nil {
		return nil
	}
	if isBarred(db) {
		return WithHint(ErrBarred, AsAdministrator(CommandLine(cmd)))
	}
	env.Notef("Using the database of the service: %s", Quote(db))
	return nil
}

// warnOfUnknownVariables warns of variables with the prefix of the program that no flag uses.
func (env Env) warnOfUnknownVariables(root *cobra.Command) {
	known := slices.Clone(scriptVariables)
	forEach(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Annotations[variable]...) })
	})
	for _, setting := range env.Environ {
		name, value, _ := strings.Cut(setting, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if strings.HasPrefix(name, variablePrefix) && value != "" && !slices.Contains(known, name) {
			env.Warn(fmt.Sprintf("the environment variable %s has no effect", name), "")
		}
	}
}

// value returns the value of an environment variable. On Windows names are case-insensitive.
func (env Env) value(variable string) string {
	for _, setting := range env.Environ {
		if name, value, _ := strings.Cut(setting, "="); name == variable || runtime.GOOS == "windows" && strings.EqualFold(name, variable) {
			return value
		}
	}
	return ""
}

// isBarred reports whether permissions keep the current user from reading and writing a file. Closing
// the file drops the locks of this process on it, so the caller must not have it open as a database.
func isBarred(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		file.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}
