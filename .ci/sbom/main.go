// Sbom says what the programs of a release are made of. It reads that from the
// programs themselves, and the licences from the modules that they were built with.
//
//	go run ./.ci/sbom --version 1.2.0 --date 1795340000 PROGRAM…    CycloneDX 1.6, as JSON
//	go run ./.ci/sbom --notices                                    the licences, as the program carries them
//
// It fails at a licence that it does not know, so that nobody ships one unseen.
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

func main() {
	version := flag.String("version", "", "the version of the release")
	date := flag.Int64("date", 0, "the date of its commit, in seconds since 1970")
	notices := flag.Bool("notices", false, "write the licences of what every release has inside, not CycloneDX")
	flag.Parse()
	var err error
	if *notices {
		err = writeNotices(os.Stdout)
	} else {
		err = write(os.Stdout, flag.Args(), *version, time.Unix(*date, 0).UTC())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// object is a JSON object.
type object = map[string]any

// write writes the modules of the programs. The same programs always give the same bytes.
func write(out io.Writer, programs []string, version string, date time.Time) error {
	r, err := readPrograms(programs)
	if err != nil {
		return err
	}
	licences, err := readLicences()
	if err != nil {
		return err
	}
	library := func(path, version, licence string) object {
		url := "pkg:golang/" + path + "@" + version
		return object{"bom-ref": url, "type": "library", "name": path, "version": version, "purl": url,
			"licenses": []object{{"license": object{"id": licence}}}}
	}
	main := library(r.main, "v"+version, licences[ours])
	main["type"], main["version"], main["components"] = "application", version, r.programs
	parts := []object{library("std", strings.TrimPrefix(r.compiler, "go"), licences["std"])}
	for _, m := range r.modules {
		if licences[m.Path] == "" {
			return fmt.Errorf("%s is in a program, and not in this module", m.Path)
		}
		part := library(m.Path, m.Version, licences[m.Path])
		part["properties"] = []object{{"name": "go:sum", "value": m.Sum}}
		parts = append(parts, part)
	}
	var refs []any
	for _, part := range parts {
		refs = append(refs, part["bom-ref"])
	}
	document := object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     object{"timestamp": date.Format(time.RFC3339), "component": main},
		"components":   parts,
		"dependencies": []object{{"ref": main["bom-ref"], "dependsOn": refs}},
	}
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	document["serialNumber"] = uuid.NewSHA1(uuid.Nil, text).URN()
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// release is what the programs of a release say of themselves.
type release struct {
	main     string // the path of the module
	compiler string // as go1.26.8
	modules  []debug.Module
	programs []object // with their checksums
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
		content, err := os.ReadFile(path)
		if err != nil {
			return r, err
		}
		r.main, r.compiler = info.Main.Path, info.GoVersion
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		name := "firefighters for " + settings["GOOS"] + "/" + settings["GOARCH"]
		r.programs = append(r.programs, object{"bom-ref": name, "type": "file", "name": name,
			"hashes": []object{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sha256.Sum256(content))}}})
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
