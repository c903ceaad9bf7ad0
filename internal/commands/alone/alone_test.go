package alone_test

import (
	"os"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/alone"
)

type tests func() int

func (run tests) Run() int { return run() }

func TestRun(t *testing.T) {
	t.Setenv("FIREFIGHTERS_DB", "people.db")
	t.Setenv("FIREFIGHTER_DB", "other.db")
	code := alone.Run(tests(func() int {
		if _, found := os.LookupEnv("FIREFIGHTERS_DB"); found || os.Getenv("FIREFIGHTER_DB") != "other.db" {
			t.Errorf("the tests see %q", os.Environ())
		}
		return 3
	}))
	if code != 3 {
		t.Errorf("code %d", code)
	}
}
