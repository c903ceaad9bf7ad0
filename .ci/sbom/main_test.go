package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// buildProgram builds the program of this module and returns its path.
func buildProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "firefighters")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// component is what the tests read of one in the document.
type component struct {
	Version, PURL string
	Licenses      []struct{ License struct{ ID string } }
	Hashes        []any
	Components    []component
}

// TestWrite compares what is written with what Go says of the program.
func TestWrite(t *testing.T) {
	t.Chdir("../..")
	program := buildProgram(t)
	var first, second bytes.Buffer
	date := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := write(out, []string{program}, "1.2.0", date); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("the same program gave two different documents")
	}
	if strings.Contains(first.String(), filepath.Dir(program)) {
		t.Error("the document names a folder of this machine")
	}
	var b struct {
		Metadata   struct{ Component component }
		Components []component
	}
	if err := json.Unmarshal(first.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if main := b.Metadata.Component; main.Version != "1.2.0" || main.Licenses[0].License.ID != "MIT" || len(main.Components[0].Hashes) != 1 {
		t.Errorf("the program is %+v", main)
	}
	notices, err := os.ReadFile(noticesFile)
	if err != nil {
		t.Fatal(err)
	}
	checkModules(t, program, b.Components, string(notices))
}

// TestNotices: the file with the licences is the one that the modules of today give.
func TestNotices(t *testing.T) {
	t.Chdir("../..")
	var now bytes.Buffer
	if err := writeNotices(&now); err != nil {
		t.Fatal(err)
	}
	if committed, err := os.ReadFile(noticesFile); err != nil || string(committed) != now.String() {
		t.Errorf("%v: %s is not of the modules of today. Make it again: go run ./.ci/sbom --notices >%s", err, noticesFile, noticesFile)
	}
	for _, want := range []string{"Firefighter Records Service", "the library of Go, golang.org/x/sys ", "LICENSE-SQLITE\n", "SQLite Is Public Domain", "musl libc"} {
		if !strings.Contains(now.String(), want) {
			t.Errorf("it lacks %q", want)
		}
	}
}

// checkModules holds the document and the licences to go version -m.
func checkModules(t *testing.T, program string, components []component, notices string) {
	t.Helper()
	listed, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(listed)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "dep" {
			want = append(want, "pkg:golang/"+fields[1]+"@"+fields[2])
			if !strings.Contains(notices, fields[1]+" "+fields[2]+"\n") {
				t.Errorf("the licences lack %s", fields[1])
			}
		}
	}
	if len(want) == 0 || len(components) != len(want)+1 {
		t.Fatalf("%d components, but Go lists %d modules", len(components), len(want))
	}
	for i, url := range want {
		if got := components[i+1].PURL; got != url {
			t.Errorf("component %d is %s, not %s", i, got, url)
		}
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"MIT License\n\nPermission is hereby granted, free\nof charge, to any": "MIT",
		"Redistribution and use in source and binary forms, with":              "BSD-2-Clause",
		"GNU General Public License":                                           "",
	} {
		if got := identify(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
