package managers

import "testing"

func TestParseUnitState(t *testing.T) {
	t.Parallel()
	running := "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nStatusText=Listening on http://127.0.0.1:8080\n" +
		"ActiveEnterTimestamp=Sun 2026-11-22 10:32:06 UTC\nExecStart={ path=/usr/bin/firefighters ; argv[]=/usr/bin/firefighters service run ; ignore_errors=no }\n"
	s, failed := parseUnitState(running)
	if !s.Installed || !s.Running || s.Program != "/usr/bin/firefighters" || s.Since.Unix() != 1795343526 || s.Detail != "active (running)" || failed ||
		s.Word != "Listening on http://127.0.0.1:8080" {
		t.Errorf("%+v", s)
	}
	disabled, _ := parseUnitState("LoadState=loaded\nUnitFileState=disabled\n")
	if s.Manual || !disabled.Manual {
		t.Error("whether it starts with the system is not known")
	}
	s, failed = parseUnitState("LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nActiveEnterTimestamp=\n")
	if !s.Installed || s.Running || !failed || !s.Since.IsZero() || s.Detail != "activating (auto-restart), the last run ended with: exit-code" {
		t.Errorf("%+v", s)
	}
	s, failed = parseUnitState("LoadState=loaded\nActiveState=activating\nSubState=start\nResult=success\nStatusText=waiting 35s, because the last start failed\n")
	if s.Running || !failed || s.Detail != "waiting 35s, because the last start failed" {
		t.Errorf("it waits: %+v", s)
	}
	s, failed = parseUnitState("LoadState=loaded\nActiveState=inactive\nSubState=dead\nResult=success\nStatusText=waiting 35s, because the last start failed\n")
	if s.Running || failed || s.Detail != "inactive (dead)" {
		t.Errorf("it was stopped while it waited: %+v", s)
	}
	if s, _ = parseUnitState("LoadState=not-found\nActiveState=inactive\nSubState=dead\n"); s.Installed || s.Running {
		t.Errorf("%+v", s)
	}
}
