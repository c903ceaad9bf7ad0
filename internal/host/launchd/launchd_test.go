package launchd

import (
	"strings"
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	text := Plist("/usr/local/bin/firefighters", "/Library/R&D", "_firefighters")
	for _, want := range []string{"<string>/usr/local/bin/firefighters</string>\n\t\t<string>service</string>\n\t\t<string>run</string>", "<string>/Library/R&amp;D</string>", "<string>_firefighters</string>", "<key>ThrottleInterval</key>\n\t<integer>60</integer>", "<string>/Library/Logs/firefighters.log</string>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there", want)
		}
	}
	s := ParseState("system/x = {\n\tactive count = 1\n\tstate = running\n\tprogram = /usr/local/bin/firefighters\n\tpid = 7\n\tendpoints = {\n\t\tstate = waiting\n\t}\n}\n")
	if !s.Running || s.PID != "7" || s.Program != "/usr/local/bin/firefighters" || s.Detail != "running" {
		t.Errorf("%+v", s)
	}
	if s = ParseState("\tstate = not running\n\tlast exit code = 1\n"); s.Running || s.Detail != "not running, the last run ended with: 1" {
		t.Errorf("%+v", s)
	}
	if got := FreeID("daemon 1\n_a 400\n_b   401\n_c 403\n"); got != "402" {
		t.Errorf("the free number is %s", got)
	}
	for text, want := range map[string]time.Duration{"05:07": 307 * time.Second, " 1-02:03:04\n": 93784 * time.Second, "02:00:00": 2 * time.Hour, "": 0} {
		if got := ParseElapsed(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
