// Package exchange has the commands that take people into a department and out of
// it: import and export.
package exchange

import (
	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Commands are the commands of this package, and what they are handed.
type Commands struct{ Database database.Schema }

// Table returns the table of the commands, in the order of their names.
func (c Commands) Table() []cli.Command {
	return []cli.Command{
		{Name: "export", Also: "download", Summary: "writes the people of a department to a file", Run: c.export},
		{Name: "import", Also: "load upload compare diff", Summary: "reads people from a spreadsheet, compares them, and takes that back", Run: c.importFile, Sub: []cli.Command{
			{Name: "list", Also: "ls show", Run: c.listImports},
			{Name: "undo", Also: "revert", Run: c.undoImport},
		}},
	}
}

// requireTenant returns the name of the department, or a usage error.
func requireTenant(flags *pflag.FlagSet, name string) (string, error) {
	name, err := record.NormalizeName(name)
	if err != nil {
		return "", cli.Wrong(flags, "--tenant "+err.Error())
	}
	return name, nil
}
