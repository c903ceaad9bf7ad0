package site

import "testing"

// TestStart checks that a service of the computer gets a complete command, and a manually started
// program only the flags.
func TestStart(t *testing.T) {
	t.Parallel()
	for installed, want := range map[bool][2]string{true: {"backups.admin", "firefighters service install --x"}, false: {"backups.start", "--x"}} {
		v := &Visit{Site: &Site{Service: Service{Installed: installed}}}
		if got := v.Start("--x"); got != (Advice{How: want[0], Command: want[1]}) {
			t.Errorf("%t: %+v", installed, got)
		}
	}
}
