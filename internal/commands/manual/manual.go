// Package manual prints what the commands say of themselves in other forms: the
// manual page, and scripts by which shells complete a command line. It knows no
// command and no flag by name.
package manual

import "github.com/firefighter-records/firefighters/internal/commands/cli"

// Program is what the commands are handed.
type Program struct {
	All     func() []cli.Command // all commands of the program
	Help    func() string        // the help of the program
	Default string               // the command that runs if none is named
}

// Commands returns the table of the commands.
func (p Program) Commands() []cli.Command {
	return []cli.Command{
		{Name: "completion", Also: "complete bash zsh fish powershell", Summary: "prints a script that completes commands in a shell", Run: p.completion},
		{Name: "man", Also: "manual", Summary: "prints the manual page", Run: p.man},
	}
}
