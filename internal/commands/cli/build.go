package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by .ci/release from the tag. Other builds use the build information of Go.
var version string

// Licences contains the licenses of all software in the program, as BSD and MIT require.
// .ci/licences generates it.
//
//go:embed LICENCES.txt
var Licences string

// Build identifies a build of the program.
type Build struct {
	Version string // such as 1.2.0
	Commit  string // full hash; empty if built outside a repository
	Date    string // time of the commit, such as 2026-11-20T09:30:00Z; may be empty
	Changed bool   // files differed from the commit
}

// ReadBuild returns the build of the running program.
func ReadBuild() Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(cmp.Or(info, &debug.BuildInfo{}), version)
}

func buildOf(info *debug.BuildInfo, version string) Build {
	b := Build{Version: cmp.Or(version, strings.Trim(strings.TrimPrefix(info.Main.Version, "v"), "()"), "devel")}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// String returns the build in one line, with the version of SQLite.
func (b Build) String(sqlite string) string {
	parts := []string{}
	if b.Commit != "" {
		commit := "commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Changed {
			commit += " with changes"
		}
		parts = append(parts, commit, b.Date)
	}
	parts = append(parts, runtime.Version(), "SQLite "+sqlite, runtime.GOOS+"/"+runtime.GOARCH)
	return fmt.Sprintf("firefighters %s (%s)", b.Version, strings.Join(parts, ", "))
}
