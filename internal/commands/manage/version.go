package manage

import (
	"io"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

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
