// Sbom says what the programs of a release are made of. It reads that from the
// programs themselves, and the licences from the modules that they were built with.
//
//	go run ./.ci/sbom --version 1.2.0 --date 1795340000 PROGRAM…    CycloneDX, as JSON
//	go run ./.ci/sbom --notices                                    the licences, as the program carries them
//
// It fails at a licence that it does not know, so that nobody ships one unseen.
package main

import (
	"cmp"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"
)

func main() {
	version := flag.String("version", "", "the version of the release")
	date := flag.Int64("date", 0, "the date of its commit, in seconds since 1970")
	notices := flag.Bool("notices", false, "write the licences of what every release has inside, not CycloneDX")
	flag.Parse()
	do := func() error { return write(os.Stdout, flag.Args(), *version, time.Unix(*date, 0).UTC()) }
	if *notices {
		do = func() error { return writeNotices(os.Stdout) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func write(out io.Writer, paths []string, version string, date time.Time) error {
	r, err := readPrograms(paths)
	if err != nil {
		return err
	}
	ours, theirs, err := r.licences()
	if err != nil {
		return err
	}
	return writeCycloneDX(out, r, version, date, ours, theirs)
}

// release is what the programs of a release say of themselves.
type release struct {
	main     string // the path of the module
	compiler string // as go1.26.8
	modules  []debug.Module
	programs []program
}

type program struct {
	path, system string // the system as linux/amd64
}

// readPrograms returns the modules of all programs: some are for one system only.
func readPrograms(paths []string) (r release, err error) {
	if len(paths) == 0 {
		return r, fmt.Errorf("name the programs")
	}
	for _, path := range paths {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return r, err
		}
		r.main, r.compiler = info.Main.Path, info.GoVersion
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		r.programs = append(r.programs, program{path, settings["GOOS"] + "/" + settings["GOARCH"]})
		for _, m := range info.Deps {
			if m.Replace != nil {
				return r, fmt.Errorf("%s: the module %s is replaced", path, m.Path)
			}
			if !slices.Contains(r.modules, *m) {
				r.modules = append(r.modules, *m)
			}
		}
	}
	slices.SortFunc(r.modules, func(a, b debug.Module) int { return cmp.Compare(a.Path, b.Path) })
	return r, nil
}
