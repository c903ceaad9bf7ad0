// Package exchange has the commands that take people into a department and out of
// it: import, export and compare.
package exchange

import (
	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Program is what the commands are handed.
type Program struct{ Database database.Schema }

// Commands returns the table of the commands, in the order of their names.
func (p Program) Commands() []cli.Command {
	return []cli.Command{
		{Name: "compare", Also: "diff", Summary: "compares a list of people with a department", Run: p.compare},
		{Name: "export", Also: "download", Summary: "writes the people of a department to a file", Run: p.export},
		{Name: "import", Also: "load upload", Summary: "reads people from a spreadsheet, and takes that back", Run: p.importFile, Sub: []cli.Command{
			{Name: "list", Also: "ls show", Run: p.listImports},
			{Name: "undo", Also: "revert", Run: p.undoImport},
		}},
	}
}

// requireTenant returns the name of the department, or a usage error.
func requireTenant(flags *pflag.FlagSet, name string) (string, error) {
	name, err := record.Name(name)
	if err != nil {
		return "", cli.Wrong(flags, "--tenant "+err.Error())
	}
	return name, nil
}
