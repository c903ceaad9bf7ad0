package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestWrite checks that the committed file matches the current modules.
func TestWrite(t *testing.T) {
	const file = "internal/commands/cli/LICENCES.txt"
	t.Chdir("../..")
	var now bytes.Buffer
	if err := write(&now); err != nil {
		t.Fatal(err)
	}
	if committed, err := os.ReadFile(file); err != nil || string(committed) != now.String() {
		t.Errorf("%v: %s does not match the current modules. Run: go run ./.ci/licences >%s", err, file, file)
	}
	for _, want := range []string{"Firefighter Records Service", "the library of Go, golang.org/x/sys ", "LICENSE-SQLITE\n", "SQLite Is Public Domain", "musl libc"} {
		if !strings.Contains(now.String(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
}
