package site

import "testing"

// TestStart: further flags are a command for the service of the PC, and an addition to the
// line of a program that somebody has started.
func TestStart(t *testing.T) {
	t.Parallel()
	for installed, want := range map[bool][2]string{true: {"backups.admin", "firefighters service install --x"}, false: {"backups.start", "--x"}} {
		v := &Visit{Site: &Site{Service: Service{Installed: installed}}}
		if how, command := v.Start("--x"); how != want[0] || command != want[1] {
			t.Errorf("%t: %s %q", installed, how, command)
		}
	}
}
