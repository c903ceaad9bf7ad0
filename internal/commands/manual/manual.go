// Package manual prints what the commands say of themselves in other forms: the
// manual page, and scripts by which shells complete a command line. It knows no
// command and no flag by name.
package manual

import "github.com/firefighter-records/firefighters/internal/commands/cli"

// Commands are the commands of this package, and the program that they are about and
// a part of.
type Commands struct{ Program func() cli.Program }

// Table returns the table of the commands.
func (c Commands) Table() []cli.Command {
	return []cli.Command{
		{Name: "completion", Also: "complete bash zsh fish powershell", Summary: "prints a script that completes commands in a shell", Run: c.completion},
		{Name: "man", Also: "manual", Summary: "prints the manual page", Run: c.man},
	}
}
