package site

import (
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/managers"
)

// TestStart checks that a service of the computer gets a complete command, and a manually started
// program only the flags.
func TestStart(t *testing.T) {
	t.Parallel()
	command := managers.AdminCommand("service", "install", "--x")
	for installed, want := range map[bool][2]string{true: {"backups.admin", command}, false: {"backups.start", "--x"}} {
		v := &Visit{Site: &Site{Service: Service{Installed: installed}}}
		if got := v.Start("--x"); got != (Advice{How: want[0], Command: want[1]}) {
			t.Errorf("%t: %+v", installed, got)
		}
	}
}
