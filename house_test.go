package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The tests in this file enforce "The rules of the house" in CONTRIBUTING.md.

// mayImport maps each package to the packages of this module that it and its tests may import.
var mayImport = map[string]string{
	"office":     "transfer web access history store record httpapi lang calendar code ical fold",
	"access":     "web session store record httpapi",
	"transfer":   "imports mapping sheet transit web store record httpapi",
	"web":        "transit session store httpapi lang",
	"command":    "build store backup integrity osutil cli alone",
	"caution":    "backup cli guard integrity osutil sqlite",
	"setup":      "service authority guard backup build sqlite osutil cli alone",
	"service":    "systemd launchd winservice entrust osutil",
	"systemd":    "",
	"launchd":    "",
	"winservice": "",
	"entrust":    "osutil",
	"authority":  "osutil",
	"manual":     "build cli",
	"build":      "",
	"invitation": "session store sqlite record osutil cli web alone",
	"exchange":   "imports sheet mapping store record osutil cli alone",
	"store":      "index sqlite record apikey fold",
	"transit":    "sheet store record httpapi osutil",
	"imports":    "mapping sheet sqlite store record fold",
	"mapping":    "sheet record fold lang",
	"session":    "store sqlite record apikey code",
	"history":    "store sqlite record",
	"content":    "sqlite store session record apikey",
	"backup":     "sqlite retention osutil",
	"retention":  "",
	"integrity":  "sqlite record",
	"guard":      "backup sqlite osutil",
	"index":      "record fold",
	"demo":       "record fold",
	"httpserver": "httpapi osutil",
	"sqlite":     "osutil",
	"record":     "fold",
	"httpapi":    "",
	"osutil":     "",
	"logqueue":   "",
	"cli":        "alone",
	"alone":      "",
	"lang":       "fold",
	"calendar":   "",
	"fold":       "",
	"sheet":      "xlsx vcard record fold",
	"xlsx":       "",
	"vcard":      "",
	"ical":       "calendar",
	"apikey":     "",
	"code":       "",
	"bench":      "demo fold record apikey",
	"crash":      "demo fold record apikey",
}

// rootMayImport maps each file of the root package to the packages of this
// module that it may import. Its tests may import all of them.
var rootMayImport = map[string]string{
	"main.go":     "cli command exchange invitation manual service setup winservice",
	"serve.go":    "authority backup caution cli guard httpapi httpserver logqueue office osutil service setup sqlite store web",
	"work.go":     "authority backup cli guard integrity osutil service sqlite store",
	"demo.go":     "cli demo guard invitation osutil record sqlite store",
	"handlers.go": "httpapi record store web",
	"exchange.go": "history httpapi imports mapping record sheet store transit",
	"auth.go":     "apikey httpapi record session store",
	"problems.go": "httpapi record store",
	"db.go":       "backup caution cli content guard integrity osutil record sqlite store",
}

// vagueNames are package names that say nothing about the package.
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

// shortName returns the name of an import path in mayImport. ours reports whether
// the path belongs to this module.
func shortName(importPath string) (name string, ours bool) {
	path, ours := strings.CutPrefix(importPath+"/", modulePath+"/")
	return strings.TrimPrefix(strings.TrimSuffix(path, "/"), "internal/"), ours
}

func (p sourcePackage) internal() bool { return strings.HasPrefix(p.path, "internal/") }

// readPackages parses all packages of the module. It finds their files itself, not by
// go list, so that it sees the files for other systems too.
var readPackages = sync.OnceValues(func() (packages []sourcePackage, err error) {
	out, err := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}}\t{{.Dir}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		importPath, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		path := strings.TrimPrefix(strings.TrimPrefix(importPath, modulePath), "/")
		files, err := parseFiles(path, folder)
		if err != nil {
			return nil, fmt.Errorf("reading package %q: %w", importPath, err)
		}
		packages = append(packages, sourcePackage{path, files})
	}
	return packages, nil
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

// breaksRule fails the test and says what breaks which rule.
func breaksRule(t *testing.T, where, rule string, args ...any) {
	t.Helper()
	t.Errorf("%s %s\n\tThe rule is in CONTRIBUTING.md, \"The rules of the house\".", where, fmt.Sprintf(rule, args...))
}

func TestImportsRunDown(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(mayImport)
	for _, p := range allPackages(t) {
		name, _ := shortName(modulePath + "/" + p.path)
		allowed, listed := mayImport[name]
		delete(unused, name)
		switch {
		case p.path == "":
			checkRoot(t, p)
		case !listed:
			breaksRule(t, p.path, "is not in the table mayImport of house_test.go")
		default:
			for _, file := range p.files {
				checkImports(t, file, name, allowed)
			}
		}
	}
	for name := range unused {
		breaksRule(t, name, "is in the table mayImport of house_test.go, but there is no such package")
	}
}

// checkRoot holds each file of the root to its own imports.
func checkRoot(t *testing.T, root sourcePackage) {
	t.Helper()
	unused := maps.Clone(rootMayImport)
	for _, file := range root.files {
		allowed, listed := rootMayImport[file.path]
		delete(unused, file.path)
		switch {
		case file.test:
		case !listed:
			breaksRule(t, file.path, "is not in the table rootMayImport of house_test.go")
		default:
			checkImports(t, file, file.path, allowed)
		}
	}
	for name := range unused {
		breaksRule(t, name, "is in the table rootMayImport of house_test.go, but there is no such file")
	}
}

func checkImports(t *testing.T, file sourceFile, importer, allowed string) {
	t.Helper()
	for _, spec := range file.syntax.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name, ours := shortName(imported)
		if ours && name != importer && !slices.Contains(strings.Fields(allowed), name) {
			breaksRule(t, file.path, "imports %s, but of this module %s may import only [%s]", imported, importer, allowed)
		}
	}
}

func TestInternalPackages(t *testing.T) {
	t.Parallel()
	for _, p := range allPackages(t) {
		if !p.internal() {
			continue
		}
		name := p.path[strings.LastIndexByte(p.path, '/')+1:]
		if slices.Contains(vagueNames, name) {
			breaksRule(t, p.path, "has a name that says nothing about the package")
		}
		if !slices.ContainsFunc(p.files, func(f sourceFile) bool { return f.test }) {
			breaksRule(t, p.path, "has no tests of its own")
		}
		comment := "Package " + name + " "
		if !slices.ContainsFunc(p.files, func(f sourceFile) bool { return !f.test && strings.HasPrefix(f.syntax.Doc.Text(), comment) }) {
			breaksRule(t, p.path, "has no package comment that begins with %q", comment)
		}
	}
}

// steps are functions that change something which must stay as it is after an error.
var steps = []string{"Rename", "Remove", "RemoveAll", "WriteFile", "Mkdir", "MkdirAll", "CreatePrivate", "Redirect", "redirectToImported"}

// TestStepsAfterErrors: cmp.Or and errors.Join call all their arguments, also after the
// first error. So no step stands behind another argument.
func TestStepsAfterErrors(t *testing.T) {
	t.Parallel()
	for _, p := range allPackages(t) {
		for _, file := range p.files {
			if file.test {
				continue
			}
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !slices.Contains([]string{"cmp.Or", "errors.Join"}, types.ExprString(call.Fun)) {
					return true
				}
				for _, arg := range call.Args[min(1, len(call.Args)):] {
					if step, ok := arg.(*ast.CallExpr); ok && slices.Contains(steps, calledName(step)) {
						breaksRule(t, file.path, "calls %s also after an error", types.ExprString(call))
					}
				}
				return true
			})
		}
	}
}

// calledName returns the last name of what is called.
func calledName(call *ast.CallExpr) string {
	name := types.ExprString(call.Fun)
	return name[strings.LastIndexByte(name, '.')+1:]
}
