// Package exchange has the commands import and export.
package exchange

import (
	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
)

// Commands has the dependencies of the commands in this package.
type Commands struct{ Database database.Schema }

// All returns the commands of this package.
func (c Commands) All() []*cobra.Command {
	imports := c.importCommand()
	imports.AddCommand(c.importListCommand(), c.importUndoCommand())
	return []*cobra.Command{imports, c.exportCommand()}
}

// related returns the line of another command for the same department and database.
func related(cmd *cobra.Command, command string) string {
	line := "firefighters " + command
	for _, name := range []string{"department", "db"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			line += " --" + name + " " + cli.Quote(f.Value.String())
		}
	}
	return line
}
