package managers

import (
	"slices"
	"strings"
	"time"
)

// unitProperties are those that parseUnitState reads.
const unitProperties = "LoadState,ActiveState,SubState,Result,StatusText,ActiveEnterTimestamp,ExecStart,UnitFileState"

// parseUnitState reads what systemctl show prints of the unit, in UTC. failed reports
// whether the last run did not end well, or the last start.
func parseUnitState(properties string) (s State, failed bool) {
	values := map[string]string{}
	for line := range strings.Lines(properties) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	s.Installed = values["LoadState"] == "loaded"
	s.Running = values["ActiveState"] == "active"
	s.Manual = s.Installed && slices.Contains([]string{"disabled", "masked"}, values["UnitFileState"])
	s.Word = values["StatusText"]
	_, program, _ := strings.Cut(values["ExecStart"], "path=")
	s.Program, _, _ = strings.Cut(program, " ;")
	if at, err := time.Parse("Mon 2006-01-02 15:04:05 MST", values["ActiveEnterTimestamp"]); err == nil && s.Running {
		s.Since = at
	}
	s.Detail = values["ActiveState"]
	if sub := values["SubState"]; sub != "" && sub != s.Detail {
		s.Detail += " (" + sub + ")"
	}
	// systemd keeps the status text of a service that somebody has stopped.
	if failed = values["ActiveState"] == "activating" && strings.HasPrefix(s.Word, statusWaiting); failed {
		s.Detail = s.Word
	}
	if result := values["Result"]; result != "" && result != "success" {
		failed = true
		s.Detail += ", the last run ended with: " + result
	}
	return s, failed
}
