//go:build unix

package invite

import (
	"os"
	"os/exec"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// elevate starts this program with the rights of root, by sudo, which asks for a
// password on the terminal. The error is errCannotAsk where it cannot.
func elevate(env cli.Env, args []string) (*elevated, error) {
	sudo, err := exec.LookPath("sudo")
	if err != nil || !cli.IsTerminal(env.Stdin) {
		return nil, errCannotAsk
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env.Notef("Opening the page needs the rights of an administrator. Asking sudo for them.")
	cmd := exec.Command(sudo, append([]string{"--", self}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, cli.Unwrap(env.Stderr), cli.Unwrap(env.Stderr)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := &elevated{ended: make(chan struct{})}
	go func() {
		cmd.Wait() // the code says how it ended
		e.code = cmd.ProcessState.ExitCode()
		close(e.ended)
	}()
	return e, nil
}

// showError does nothing: who reads it has a terminal.
func showError(error) {}
