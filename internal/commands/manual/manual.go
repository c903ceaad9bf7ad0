// Package manual prints what the commands say of themselves in other forms: the
// manual page, and scripts by which shells complete a command line. It knows no
// command and no flag by name.
package manual

import "github.com/firefighter-records/firefighters/internal/commands/cli"

// manual has the commands of this package, which are about a program.
type manual struct{ program func() cli.Program }

// Commands returns the table of the commands of this package. They are about a
// program of which they are a part.
func Commands(program func() cli.Program) []cli.Command {
	p := manual{program}
	return []cli.Command{
		{Name: "completion", Also: "complete bash zsh fish powershell", Summary: "prints a script that completes commands in a shell", Run: p.completion},
		{Name: "man", Also: "manual", Summary: "prints the manual page", Run: p.man},
	}
}
