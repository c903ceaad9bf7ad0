// Licences prints the licences of all modules in the program, as the program must include them by their
// terms.
//
//	go run ./.ci/licences >internal/commands/cli/LICENCES.txt
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

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// targets are the targets of .ci/release.
var targets = []string{"linux/amd64", "linux/arm64", "linux/arm", "windows/amd64", "windows/arm64", "darwin/amd64", "darwin/arm64"}

// likeGo is a module with the licence of Go's standard library, because some distributions of Go lack the
// text.
const likeGo = "golang.org/x/sys"

// leftOut are texts that do not apply to the program, with the reason.
var leftOut = map[string]string{
	"modernc.org/sqlite/LICENSE-3RD-PARTY.md": "its tests, and modules that have their own texts here",
	"modernc.org/sqlite/LICENSE-SQLITE_VEC":   "a part that is not used",
	"modernc.org/memory/LICENSE-LOGO":         "a picture",
}

// ours is the name of this module in the notices.
const ours = "Firefighter Records Service"

// text is a licence or a notice in the folder of a module.
type text struct{ module, version, file, content string }

// readTexts returns the texts of this module and of all modules in the program for any target. The first
// text of a module applies to the whole module.
func readTexts() (texts []text, err error) {
	if texts, err = textsOf(ours, "", "."); err != nil {
		return nil, err
	}
	var modules []string
	for _, target := range targets {
		system, arch, _ := strings.Cut(target, "/")
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		listed, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", target, err)
		}
		modules = append(modules, strings.FieldsFunc(string(listed), func(r rune) bool { return r == '\n' || r == '\r' })...)
	}
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		words := strings.Split(module, "\t")
		of, err := textsOf(words[0], words[1], words[2])
		if err != nil {
			return nil, err
		}
		texts = append(texts, of...)
	}
	return texts, nil
}

// textsOf returns the texts in the folder of a module.
func textsOf(module, version, dir string) (texts []text, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		isText := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if !isText || e.IsDir() || filepath.Ext(name) == ".GO" || leftOut[module+"/"+e.Name()] != "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text{module, version, e.Name(), strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))})
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s has no licence", module)
	}
	return texts, nil
}

// write writes all texts. A text that several modules share is written once.
func write(out io.Writer) error {
	texts, err := readTexts()
	if err != nil {
		return err
	}
	var contents []string
	names := map[string][]string{} // by content
	for i, t := range texts {
		name := strings.TrimSpace(t.module + " " + t.version)
		if t.module == likeGo {
			name = "the library of Go, " + name
		}
		if i > 0 && texts[i-1].module == t.module { // applies to a part of the module
			name += ", " + t.file
		}
		if names[t.content] == nil {
			contents = append(contents, t.content)
		}
		names[t.content] = append(names[t.content], name)
	}
	all := "This program contains the software below. Each part has its own licence, which\n" +
		"follows. In the program they are shown by: firefighters version --licences\n"
	for _, content := range contents {
		all += "\n" + strings.Repeat("=", 79) + "\n" + strings.Join(names[content], "\n") + "\n\n" + content + "\n"
	}
	_, err = io.WriteString(out, all)
	return err
}
