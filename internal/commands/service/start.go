package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func (s Service) startCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "start",
		Short:      "Start the service and wait until it is ready",
		SuggestFor: []string{"resume"},
		Example:    "  sudo firefighters service start",
	}
	isNew := cmd.Flags().Bool("new", false, "continue without a lost database: with the existing file, or with a new, empty file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.start(cli.EnvOf(cmd), *isNew) }
	return cmd
}

func (s Service) start(env cli.Env, isNew bool) error {
	state, err := s.changeable()
	if err != nil {
		return err
	}
	if state.Running && isNew {
		return cli.WithHint(errors.New("the service is already running; nothing was changed"), cli.AsAdministrator(cli.Typed()+" service stop"))
	}
	if state.Running {
		return env.Println("The service is already running. To open its page: " + asReader("firefighters open"))
	}
	o, err := s.readOptions()
	switch {
	case err == nil && isNew:
		err = forgetLoss(osutil.Resolve(o.DB))
	case err == nil:
		err = cmp.Or(refuseLoss(o.DB), s.refuseBegin(env.Context, o, "firefighters", startLine, false))
	case !isNew:
		err = nil // the started service reports invalid settings
	}
	if err != nil {
		return err
	}
	if err := s.startHost(); err != nil {
		return err
	}
	return env.Println("The service is running. To open its page: " + asReader("firefighters open"))
}

// forgetLoss lets the service start without the lost database, and with an empty one.
func forgetLoss(db string) error {
	if err := guard.Refuse(db); errors.Is(err, sqlite.ErrLost) {
		return fmt.Errorf("another firefighters serves the lost database %s", osutil.InQuotes(db))
	}
	if err := guard.Forget(db); err != nil {
		return err
	}
	return backup.WriteNote(db, backup.NoteNew, true)
}

// startHost starts the service. Its error has the hint from the log of the service.
func (s Service) startHost() error {
	err := s.Host.Start()
	if errors.Is(err, managers.ErrNotReady) {
		state, _ := s.Host.Current() // after an error, the hint is the log command
		return cli.WithHint(err, hintOf(state))
	}
	return err
}

func (s Service) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "stop",
		Short:      "Stop the service until the PC starts again",
		SuggestFor: []string{"halt", "kill"},
		Example:    "  sudo firefighters service stop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			wasRunning, err := s.stop()
			if err != nil {
				return err
			}
			result := "The service has stopped."
			if !wasRunning {
				result = "The service was not running."
			}
			return cli.EnvOf(cmd).Println(result + " It starts with this PC, or with: " + cli.AsAdministrator("firefighters service start"))
		},
	}
}

// stop stops the service, even if it is still starting.
func (s Service) stop() (wasRunning bool, err error) {
	state, err := s.changeable()
	if err != nil {
		return false, err
	}
	if err := s.Host.Stop(); err != nil {
		return false, err
	}
	return state.Running, s.endOf(state)
}

func (s Service) restartCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "restart",
		Short:      "Stop the service and start it again",
		SuggestFor: []string{"reload"},
		Example:    "  sudo firefighters service restart",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := s.stop(); err != nil {
				return err
			}
			return s.start(cli.EnvOf(cmd), false)
		},
	}
}

func (s Service) logCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "log",
		Short:      "Show the last lines of the service's log",
		SuggestFor: []string{"logs", "journal", "events"},
		Example:    "  sudo firefighters service log",
	}
	follow := new(bool)
	if runtime.GOOS != "windows" { // the event log of Windows cannot be followed
		follow = cmd.Flags().BoolP("follow", "f", false, "keep printing new lines until Ctrl-C")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := s.changeable(); err != nil && (runtime.GOOS != "windows" || !errors.Is(err, managers.ErrNotPermitted)) {
			return err
		}
		return printLog(cli.EnvOf(cmd), managers.LogCommand(*follow))
	}
	return cmd
}

// printLog runs a system command that prints the log, until Ctrl-C.
func printLog(env cli.Env, line []string) error {
	ctx, stop := context.WithCancel(env.Context)
	defer stop()
	child := exec.CommandContext(ctx, line[0], line[1:]...)
	out := &closable{to: cli.Unwrap(env.Stdout), stop: stop}
	child.Stdout, child.Stderr = out, cli.Unwrap(env.Stderr)
	err := child.Run()
	switch {
	case errors.Is(out.failed, syscall.EPIPE), env.Context.Err() != nil:
		return nil
	case out.failed != nil:
		return fmt.Errorf("writing the log: %w", out.failed)
	case err != nil:
		return fmt.Errorf("%s: %w", line[0], err)
	}
	return nil
}

// closable is the output of a command. When the reader, such as head, closes the pipe, it stops the
// command without a write error, which the command would print.
type closable struct {
	to     io.Writer
	stop   func()
	failed error
}

func (c *closable) Write(b []byte) (int, error) {
	if c.failed == nil {
		if _, c.failed = c.to.Write(b); c.failed != nil {
			c.stop()
		}
	}
	return len(b), nil
}

func (s Service) uninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "uninstall",
		Short:      "Remove the service and keep its data",
		SuggestFor: []string{"remove", "disable", "delete"},
		Long: `Stop the service and remove it from the system. The data, the settings, the
backups and the program are kept.`,
		Example: "  sudo firefighters service uninstall",
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.uninstall(cli.EnvOf(cmd)) },
	}
}

func (s Service) uninstall(env cli.Env) error {
	state, err := s.changeable()
	if err != nil {
		return err
	}
	settings, _ := managers.ReadSettings(s.data()) // for the list below
	steps, err := s.Host.Uninstall(state.Program)
	if err := cmp.Or(err, printAll(env, steps)); err != nil {
		return err
	}
	left := []string{"", "No data was deleted. These remain:"}
	for _, of := range []struct{ what, path string }{
		{"the data", s.data()}, {"the database", settings.Get("db")},
		{"the backups", settings.Get("backup-dir")}, {"the program", state.Program},
	} {
		if of.path != "" && osutil.Exists(of.path) {
			left = append(left, fmt.Sprintf("  %-12s  %s", of.what, of.path))
		}
	}
	if command := s.Host.Packaged(state.Program); command != "" {
		left = append(left, "To remove the package as well: "+command)
	}
	return printAll(env, left)
}
