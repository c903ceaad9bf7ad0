package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// licence is what somebody allows.
type licence struct {
	of string // the module, or "std" for Go's own library
	id string // of SPDX
}

// licences returns the licence of the main module, and those of Go's library
// and of the modules, in this order.
func (r release) licences() (ours licence, theirs []licence, err error) {
	if ours, err = readLicence(r.main, "."); err != nil {
		return ours, nil, err
	}
	dirs, err := moduleDirs(r)
	if err != nil {
		return ours, nil, err
	}
	theirs = make([]licence, 1)
	for i, dir := range dirs {
		l, err := readLicence(r.modules[i].Path, dir)
		if err != nil {
			return ours, nil, err
		}
		if l.of == likeGo {
			theirs[0] = licence{"std", l.id}
		}
		theirs = append(theirs, l)
	}
	if theirs[0].of == "" {
		return ours, nil, fmt.Errorf("no module has the licence of Go: %s is not there", likeGo)
	}
	return ours, theirs, nil
}

// likeGo is a module with the licence of Go's own library. Not every Go comes
// with the text.
const likeGo = "golang.org/x/sys"

// moduleDirs returns the folders of the modules.
func moduleDirs(r release) ([]string, error) {
	args := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range r.modules {
		args = append(args, m.Path)
	}
	dirs, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	found := strings.FieldsFunc(string(dirs), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(found) != len(r.modules) {
		return nil, fmt.Errorf("not all modules are downloaded: go mod download")
	}
	return found, nil
}

func readLicence(of, dir string) (licence, error) {
	files, err := licenceFiles(usedModule{path: of, dir: dir})
	if err != nil {
		return licence{}, err
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return licence{}, err
	}
	id := identify(string(text))
	if id == "" {
		return licence{}, fmt.Errorf("the licence of %s is unknown: %.80q", of, text)
	}
	return licence{of, id}, nil
}

// identify returns the SPDX identifier of the text of a licence, empty if it is
// none of those that the modules here have.
func identify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(words string) bool { return strings.Contains(text, words) }
	switch {
	case has("apache license") && has("version 2.0"):
		return "Apache-2.0"
	case has("permission is hereby granted, free of charge"):
		return "MIT"
	case has("redistribution and use in source and binary forms") && has("neither the name"):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	return ""
}
