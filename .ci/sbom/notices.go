package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// noticesFile is what writeNotices writes, in the repository.
const noticesFile = "internal/commands/cli/LICENCES.txt"

// targets are the systems of .ci/release.
var targets = []string{"linux/amd64", "linux/arm64", "linux/arm", "windows/amd64", "windows/arm64", "darwin/amd64", "darwin/arm64"}

// leftOut are texts of modules that are about nothing in the program.
var leftOut = map[string]string{
	"modernc.org/sqlite/LICENSE-3RD-PARTY.md": "its tests, and modules that have their own texts here",
	"modernc.org/sqlite/LICENSE-SQLITE_VEC":   "a part that is not used",
	"modernc.org/memory/LICENSE-LOGO":         "a picture",
}

const noticesHead = `This program contains the software below. Each part has its own licence, which
follows. In the program they are shown by: firefighters version --licences
`

// writeNotices writes the licences of this module, of Go's own library, and of all
// modules in the program for any target. A text that several have in common stands once.
func writeNotices(out io.Writer) error {
	modules, err := modulesOfTargets()
	if err != nil {
		return err
	}
	var texts []string
	names := map[string][]string{} // by text
	add := func(name, file string) error {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
		if names[text] == nil {
			texts = append(texts, text)
		}
		names[text] = append(names[text], name)
		return nil
	}
	if err := add("Firefighter Records Service", "LICENSE"); err != nil {
		return err
	}
	for _, m := range modules {
		files, err := licenceFiles(m)
		if err != nil {
			return err
		}
		for i, file := range files {
			name := m.path + " " + m.version
			if i > 0 { // it is about a part of the module
				name += ", " + filepath.Base(file)
			}
			if m.path == likeGo {
				name = "the library of Go, " + name
			}
			if err := add(name, file); err != nil {
				return err
			}
		}
	}
	all := noticesHead
	for _, text := range texts {
		all += "\n" + strings.Repeat("=", 79) + "\n" + strings.Join(names[text], "\n") + "\n\n" + text + "\n"
	}
	_, err = io.WriteString(out, all)
	return err
}

// usedModule is a module in the program.
type usedModule struct{ path, version, dir string }

// modulesOfTargets returns the modules that the program has inside, for any target.
func modulesOfTargets() (all []usedModule, err error) {
	for _, target := range targets {
		system, arch, _ := strings.Cut(target, "/")
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		listed, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", target, err)
		}
		for line := range strings.Lines(string(listed)) {
			words := strings.Split(strings.TrimSpace(line), "\t")
			if len(words) == 3 && !slices.Contains(all, usedModule{words[0], words[1], words[2]}) {
				all = append(all, usedModule{words[0], words[1], words[2]})
			}
		}
	}
	slices.SortFunc(all, func(a, b usedModule) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// licenceFiles returns the files of a module with licences and notices. The first is
// that of the module as a whole.
func licenceFiles(m usedModule) (files []string, err error) {
	entries, err := os.ReadDir(m.dir) // in the order of their names
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		isText := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if isText && !e.IsDir() && filepath.Ext(name) != ".GO" && leftOut[m.path+"/"+e.Name()] == "" {
			files = append(files, filepath.Join(m.dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no licence", m.path)
	}
	return files, nil
}
