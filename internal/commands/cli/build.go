package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by .ci/release, from the tag. Other builds take it from Go,
// which knows the module's version or the commit.
var version string

// Licences are those of all software in the program. The text is made by
// .ci/licences, because BSD and MIT ask for it.
//
//go:embed LICENCES.txt
var Licences string

// Build says which build of the program this is.
type Build struct {
	Version string // as 1.2.0, without a v
	Commit  string // in full; empty if Go did not see the repository
	Date    string // of the commit, as 2026-11-20T09:30:00Z; empty as above
	Changed bool   // files differed from the commit
}

// ReadBuild returns what the running program knows of its build.
func ReadBuild() Build {
	known, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: cmp.Or(version, "devel")}
	}
	return buildOf(known, version)
}

func buildOf(known *debug.BuildInfo, version string) Build {
	setting := func(key string) string {
		for _, s := range known.Settings {
			if s.Key == key {
				return s.Value
			}
		}
		return ""
	}
	return Build{
		Version: cmp.Or(version, strings.Trim(strings.TrimPrefix(known.Main.Version, "v"), "()"), "devel"),
		Commit:  setting("vcs.revision"),
		Date:    setting("vcs.time"),
		Changed: setting("vcs.modified") == "true",
	}
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
