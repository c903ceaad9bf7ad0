// Package build says which build of the program this is.
package build

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
// .ci/sbom --notices, because BSD and MIT ask for it.
//
//go:embed LICENCES.txt
var Licences string

// Info says which build of the program this is.
type Info struct {
	Version string // as 1.2.0, without a v
	Commit  string // in full; empty if Go did not see the repository
	Date    string // of the commit, as 2026-11-20T09:30:00Z; empty as above
	Changed bool   // files differed from the commit
}

// Read returns what the running program knows of its build.
func Read() Info {
	known, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: cmp.Or(version, "devel")}
	}
	return read(known, version)
}

func read(known *debug.BuildInfo, version string) Info {
	setting := func(key string) string {
		for _, s := range known.Settings {
			if s.Key == key {
				return s.Value
			}
		}
		return ""
	}
	return Info{
		Version: cmp.Or(version, strings.Trim(strings.TrimPrefix(known.Main.Version, "v"), "()"), "devel"),
		Commit:  setting("vcs.revision"),
		Date:    setting("vcs.time"),
		Changed: setting("vcs.modified") == "true",
	}
}

// String returns the build in one line, with the version of SQLite.
func (i Info) String(sqlite string) string {
	parts := []string{}
	if i.Commit != "" {
		commit := "commit " + i.Commit[:min(12, len(i.Commit))]
		if i.Changed {
			commit += " with changes"
		}
		parts = append(parts, commit, i.Date)
	}
	parts = append(parts, runtime.Version(), "SQLite "+sqlite, runtime.GOOS+"/"+runtime.GOARCH)
	return fmt.Sprintf("firefighters %s (%s)", i.Version, strings.Join(parts, ", "))
}
