// Package alone keeps tests of commands apart from the settings of the person who runs
// them.
package alone

import (
	"os"
	"strings"
)

// Run is for TestMain. It runs the tests without the settings of the program in the
// environment, and returns the exit code.
func Run(tests interface{ Run() int }) int {
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "FIREFIGHTERS_") {
			os.Unsetenv(name)
		}
	}
	return tests.Run()
}
