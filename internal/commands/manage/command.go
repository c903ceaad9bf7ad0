// Package manage has the commands of the program but serve and demo, a file
// for each. advice.go says what to type when something went wrong.
package manage

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// Program is what the commands are handed.
type Program struct {
	Content backup.Content // what backups must know of the content of a database

	// OpenStore opens the database at path. It makes a missing one if create
	// is set, upgrades an old one, and warns of a clock that is behind.
	OpenStore func(env cli.Env, path string, create bool) (*store.Store, error)
}

// Commands returns the table of the commands, in the order of their names.
func (p Program) Commands() []cli.Command {
	return []cli.Command{
		{Name: "backup", Also: "save dump", Summary: "saves the database, also while it is served", Run: p.backup},
		{Name: "check", Also: "verify fsck", Summary: "checks a database, and repairs what can be repaired", Run: p.check},
		{Name: "deleted", Summary: "lists the deleted records of a department", Run: p.deleted},
		{Name: "departments", Also: "department tenants", Summary: "lists, renames and removes departments", Help: departmentsHelp, Sub: p.departments()},
		{Name: "history", Also: "log", Summary: "shows who changed what when", Run: p.history},
		{Name: "keys", Also: "users tokens", Summary: "makes, lists and revokes API keys", Help: keysHelp, Sub: p.keys()},
		{Name: "purge", Also: "erase", Summary: "erases deleted records for good", Run: p.purge},
		{Name: "restore", Also: "recover", Summary: "replaces the database by a backup", Run: p.restore},
		{Name: "undelete", Also: "undo", Summary: "brings deleted records back", Run: p.undelete},
		{Name: "version", Summary: "prints the version", Run: p.version},
	}
}

// WithStore opens the database at path for do. Its errors have advice.
func (p Program) WithStore(env cli.Env, path string, create bool, do func(*store.Store) error) error {
	s, err := p.OpenStore(env, path, create)
	if err == nil {
		err = cmp.Or(do(s), s.Close())
	}
	return p.Advise(env.Context, err, path, "")
}

func tenantFlag(flags *pflag.FlagSet) *string {
	return flags.String("tenant", "", "the department's name (required)")
}

// requireTenant returns a usage error if no department is named.
func requireTenant(flags *pflag.FlagSet) error {
	if name, _ := flags.GetString("tenant"); strings.TrimSpace(name) == "" {
		return cli.Wrong(flags, "--tenant is required")
	}
	return nil
}
