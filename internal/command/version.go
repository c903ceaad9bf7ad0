package command

import (
	"fmt"
	"runtime"

	"github.com/firefighter-records/firefighters/internal/cli"
	"github.com/firefighter-records/firefighters/internal/store"
)

const versionHelp = `Usage: firefighters version

Prints the version of the program, of Go and of SQLite.

  firefighters version
`

func (p Program) version(env cli.Env, args []string) error {
	flags := env.Flags("version", versionHelp)
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	return env.Println(fmt.Sprintf("firefighters %s (%s, SQLite %s, %s/%s)", p.Version, runtime.Version(), store.SQLiteVersion, runtime.GOOS, runtime.GOARCH))
}
