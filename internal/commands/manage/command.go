// Package manage has the commands that look after a database, a file for each subject.
package manage

import (
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/commands/service"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Commands are the commands of this package, and what they are handed.
type Commands struct {
	Database database.Schema
	Service  service.Service // of this PC
}

// Table returns the table of the commands, in the order of their names.
func (c Commands) Table() []cli.Command {
	return []cli.Command{
		{Name: "backup", Also: "save dump", Summary: "saves the database, also while it is served", Run: c.backup},
		{Name: "backup-key", Summary: "makes a pair of keys for encrypted backups", Run: c.backupKey},
		{Name: "check", Also: "verify fsck drill", Summary: "checks a database, or its newest backup", Run: c.check},
		{Name: "deleted", Summary: "lists the deleted records of a department", Run: c.deleted},
		{Name: "departments", Also: "department tenants", Summary: "lists, renames and removes departments", Help: departmentsHelp, Sub: c.departments()},
		{Name: "history", Also: "log", Summary: "shows who changed what when", Run: c.history},
		{Name: "keys", Also: "users tokens", Summary: "makes, lists and revokes API keys", Help: keysHelp, Sub: c.keys()},
		{Name: "purge", Also: "erase", Summary: "erases deleted records for good", Run: c.purge},
		{Name: "restore", Also: "recover", Summary: "replaces the database by a backup", Run: c.restore},
		{Name: "undelete", Also: "undo", Summary: "brings deleted records back", Run: c.undelete},
		{Name: "version", Summary: "prints the version", Run: c.version},
	}
}

// requireTenant returns a usage error if no department is named.
func requireTenant(flags *pflag.FlagSet) error {
	if name, _ := flags.GetString("tenant"); strings.TrimSpace(name) == "" {
		return cli.Wrong(flags, "--tenant is required")
	}
	return nil
}

const versionHelp = `Usage: firefighters version [flags]

Prints the version of the program, its commit and the date of that, and the
versions of Go and of SQLite.

  firefighters version
  firefighters version --licences

Flags:
`

func (c Commands) version(env cli.Env, args []string) error {
	flags := env.Flags("version", versionHelp)
	licences := flags.Bool("licences", false, "print the licences of all software in the program")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if *licences {
		_, err := io.WriteString(env.Stdout, cli.Licences)
		return err
	}
	return env.Println(cli.ReadBuild().String(sqlite.Version))
}
