package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Explain converts the error of a command to text for people, with a hint.
type Explain func(cmd *cobra.Command, err error) error

// Execute runs the command in args and prints its error. It returns the exit code: 0 for success, 1
// for a failure, 2 for a usage error.
//
// The output of commands is escaped for terminals. If writing a result fails, the exit code is 1
// even if the command ignores the error. A closed pipe, such as to head, is not a failure of a
// command that only prints.
func Execute(env Env, root *cobra.Command, args []string, explain Explain) int {
	result := &stream{to: env.Stdout}
	env.Stdout, env.Stderr, args = result, &stream{to: env.Stderr}, withDefault(args)
	started := false
	prepare(root, func() { started = true })
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		forEach(root, func(cmd *cobra.Command) { // completions would show the backquotes of pflag
			cmd.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
		})
	}

	cmd, err := root.ExecuteContextC(context.WithValue(env.Context, envKey{}, env))
	switch {
	case errors.Is(result.failed, syscall.EPIPE) && (err == nil || errors.As(err, new(*closedPipe))):
		return 0
	case result.failed != nil && err == nil:
		err = fmt.Errorf("writing the result: %w", result.failed)
	case err != nil && !started:
		err = asUsageError(cmd, err)
	case err != nil && explain != nil:
		err = explain(cmd, err)
	}
	env.logs = logs(env, cmd)
	if errors.Is(err, context.Canceled) && env.Context.Err() != nil {
		err = Unfinished("Stopped.", "")
	}
	return env.PrintError(err)
}

// The groups of commands in the help.
const (
	GroupServer = "server"
	GroupPeople = "people"
	GroupAccess = "access"
	GroupBackup = "backup"
)

// Groups are the groups in the order of the help.
var Groups = []*cobra.Group{
	{ID: GroupServer, Title: "Server:"},
	{ID: GroupPeople, Title: "People:"},
	{ID: GroupAccess, Title: "Access:"},
	{ID: GroupBackup, Title: "Backups:"},
}

func init() {
	cobra.MousetrapHelpText = "" // a double click on Windows starts the server
}

// prepare completes a tree of commands. It calls started before a command runs.
func prepare(root *cobra.Command, started func()) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "tenant" {
			name = "department"
		}
		return pflag.NormalizedName(name)
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return EnvOf(cmd).complete(cmd) }
	root.SetHelpCommand(helpCommand())
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if not .Annotations."+group+"}}", 1))
	root.InitDefaultVersionFlag()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	forEach(root, func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			switch {
			case f.Value.Type() == "bool":
				f.Value = plainBool{f.Value}
			case value != "file" && value != "folder":
				cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // fails if the flag has a function
			}
		})
		switch {
		case cmd.HasSubCommands() && cmd.RunE == nil:
			cmd.Args = unknownCommand // cobra calls it only if RunE is set
			cmd.RunE = func(*cobra.Command, []string) error { return nil }
			cmd.Annotations = map[string]string{group: "true"}
		case cmd.Args == nil:
			cmd.Args = matchUse
		}
		if cmd.ValidArgsFunction == nil && !strings.Contains(cmd.Use, "FILE") {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			started()
			return run(cmd, args)
		}
	})
}

// group is the annotation of a command that only has subcommands.
const group = "group"

// plainBool hides the type of a flag, so that pflag does not add "[=true|false]" to the help.
type plainBool struct{ pflag.Value }

// forEach calls do for a command and all commands below it.
func forEach(cmd *cobra.Command, do func(cmd *cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		forEach(sub, do)
	}
}

// withDefault prepends serve to args that have no command.
func withDefault(args []string) []string {
	if len(args) == 0 {
		return []string{"serve"}
	}
	switch first := args[0]; {
	case first == "-h", first == "--help", first == "-v", first == "--version":
	case strings.HasPrefix(first, "-"):
		return append([]string{"serve"}, args...)
	}
	return args
}

type envKey struct{}

// EnvOf returns the environment of a running command.
func EnvOf(cmd *cobra.Command) Env {
	env := cmd.Context().Value(envKey{}).(Env)
	env.logs = logs(env, cmd)
	return env
}

// logs reports whether Stderr is the log of a server.
func logs(env Env, cmd *cobra.Command) bool {
	_, isServer := cmd.Annotations[Server]
	return isServer && !IsTerminal(env.Stderr)
}

// Server is the annotation of a command whose Stderr is a log: lines of JSON, unless it is a
// terminal.
const Server = "server"

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show help for a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 && found.HasSubCommands() {
				err = unknownCommand(found, rest)
			}
			if err != nil {
				return err
			}
			return found.Help()
		},
	}
}
