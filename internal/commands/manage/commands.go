// Package manage has the commands for people, departments, API keys and backups of a database.
package manage

import (
	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/commands/service"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Commands has the dependencies of the commands in this package.
type Commands struct {
	Database database.Schema
	Service  service.Service
}

// All returns the commands of this package.
func (c Commands) All() []*cobra.Command {
	return []*cobra.Command{
		c.listCommand(), c.deletedCommand(), c.historyCommand(), c.undeleteCommand(), c.purgeCommand(),
		c.departmentsCommand(), c.keysCommand(),
		c.backupCommand(), c.restoreCommand(), c.checkCommand(), backupKeyCommand(),
		versionCommand(),
	}
}

func versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version of the program, its commit, and the versions of Go and SQLite.",
		Example: `  firefighters version
  firefighters version --licences`,
	}
	licences := cmd.Flags().Bool("licences", false, "print the licenses of all software in the program")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env := cli.EnvOf(cmd)
		if *licences {
			return env.Print(cli.Licences)
		}
		return env.Print(cli.ReadBuild().String(sqlite.Version) + "\n")
	}
	return cmd
}
