package command

import (
	"github.com/firefighter-records/firefighters/internal/build"
	"github.com/firefighter-records/firefighters/internal/cli"
	"github.com/firefighter-records/firefighters/internal/store"
)

const versionHelp = `Usage: firefighters version

Prints the version of the program, its commit and the date of that, and the
versions of Go and of SQLite.

  firefighters version
`

func (p Program) version(env cli.Env, args []string) error {
	flags := env.Flags("version", versionHelp)
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	return env.Println(build.Read().String(store.SQLiteVersion))
}
