package acceptance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The tests in this file enforce "The rules of the house" in CONTRIBUTING.md.

// districts are the folders below internal/ from the top down. A package may import its own
// district and those below it. people and host may not import each other.
var districts = []string{"commands", "web", "lists", "data", "people", "host", "text"}

// vagueNames are package names that do not describe the package.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers"}

const modulePath = "github.com/firefighter-records/firefighters"

// sourcePackage is a package of this module with its files for all systems.
type sourcePackage struct {
	path  string // relative to the module; empty for the root
	files []sourceFile
}

type sourceFile struct {
	path   string // relative to the module
	test   bool
	syntax *ast.File
}

// districtOf returns the district of a path relative to the module, or "" outside internal/.
func districtOf(path string) string {
	below, inside := strings.CutPrefix(path, "internal/")
	if !inside {
		return ""
	}
	district, _, _ := strings.Cut(below, "/")
	return district
}

func (p sourcePackage) internal() bool { return strings.HasPrefix(p.path, "internal/") }

// readPackages parses all packages of the module. It reads the files directly, not with
// go list, so that it includes the files for other systems.
var readPackages = sync.OnceValues(func() (packages []sourcePackage, err error) {
	err = filepath.WalkDir("..", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); name == "testdata" || name != ".." && strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		path := strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(folder), ".."), "/")
		files, err := parseFiles(path, folder)
		if len(files) > 0 {
			packages = append(packages, sourcePackage{path, files})
		}
		return err
	})
	return packages, err
})

func parseFiles(packagePath, folder string) (files []sourceFile, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	for _, name := range names {
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		path := filepath.ToSlash(filepath.Join(packagePath, filepath.Base(name)))
		files = append(files, sourceFile{path, strings.HasSuffix(path, "_test.go"), syntax})
	}
	return files, err
}

func allPackages(t *testing.T) []sourcePackage {
	t.Helper()
	packages, err := readPackages()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// breaksRule fails the test and names the package and the broken rule.
func breaksRule(t *testing.T, where, rule string, args ...any) {
	t.Helper()
	t.Errorf("%s %s\n\tThe rule is in CONTRIBUTING.md, \"The rules of the house\".", where, fmt.Sprintf(rule, args...))
}

// TestImportsRunDown checks that no district imports one above it.
func TestImportsRunDown(t *testing.T) {
	t.Parallel()
	for _, p := range allPackages(t) {
		from := slices.Index(districts, districtOf(p.path))
		if from < 0 && p.internal() {
			breaksRule(t, p.path, "is in no district")
		}
		for _, file := range p.files {
			for _, spec := range file.syntax.Imports {
				imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath+"/")
				to := slices.Index(districts, districtOf(imported))
				if ours && (to < from || p.path != "" && to < 0 || independent(from, to)) {
					breaksRule(t, file.path, "imports %s, which is not below it", imported)
				}
			}
		}
	}
}

// independent reports whether two districts are people and host, which may not import each
// other.
func independent(from, to int) bool {
	pair := []int{slices.Index(districts, "people"), slices.Index(districts, "host")}
	return from != to && slices.Contains(pair, from) && slices.Contains(pair, to)
}

func TestInternalPackages(t *testing.T) {
	t.Parallel()
	for _, p := range allPackages(t) {
		if !p.internal() {
			continue
		}
		name := p.path[strings.LastIndexByte(p.path, '/')+1:]
		if slices.Contains(vagueNames, name) {
			breaksRule(t, p.path, "has a name that does not describe the package")
		}
		if !slices.ContainsFunc(p.files, func(f sourceFile) bool { return f.test }) {
			breaksRule(t, p.path, "has no tests")
		}
		comment := "Package " + name + " "
		if !slices.ContainsFunc(p.files, func(f sourceFile) bool { return !f.test && strings.HasPrefix(f.syntax.Doc.Text(), comment) }) {
			breaksRule(t, p.path, "has no package comment that begins with %q", comment)
		}
	}
}
