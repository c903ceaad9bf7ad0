package managers

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// managerIn returns the manager of an environment.
func managerIn(environment map[string]string) Manager {
	return NewManager(func(name string) string { return environment[name] })
}

// TestDelay: with the five seconds of the manager the tries are 5, 10, 20, 40, … and at
// most 300 seconds apart.
func TestDelay(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]time.Duration{0: 0, 1: 0, 2: 5, 3: 15, 4: 35, 6: 155, 7: 295, 8: 295, 1 << 40: 295} {
		if got := delay(failed); got != want*time.Second {
			t.Errorf("after %d failures: %v", failed, got)
		}
	}
}

// TestAwaitTurn: starts count until one is ready, and only what failed before makes one
// wait.
func TestAwaitTurn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" { // whose manager counts by itself
		return
	}
	folder := t.TempDir()
	count := filepath.Join(folder, "failed-starts")
	m := managerIn(map[string]string{"RUNTIME_DIRECTORY": folder + ":/nowhere"})
	counted := func(want string) {
		t.Helper()
		if text, _ := os.ReadFile(count); string(text) != want {
			t.Errorf("it has counted %q, not %q", text, want)
		}
	}
	for _, want := range []string{"1", "2"} {
		if !m.AwaitTurn(t.Context()) {
			t.Error("it may not start")
		}
		counted(want)
	}
	must(t, m.Ready("Listening"))
	counted("")
	must(t, os.WriteFile(count, []byte("5"), 0o600))
	stopped, stop := context.WithCancel(t.Context())
	waited := make(chan bool)
	go func() { waited <- m.AwaitTurn(stopped) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if text, _ := os.ReadFile(count); string(text) == "6" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a start that waits is not counted")
		}
	}
	stop()
	if <-waited {
		t.Error("it starts, and it was told to stop")
	}
	counted("")
	if m := managerIn(nil); !m.AwaitTurn(stopped) || m.Ready("") != nil || m.RestartsAll() {
		t.Error("without a manager it does not start")
	}
	if !managerIn(map[string]string{"XPC_SERVICE_NAME": "org.firefighter-records.firefighters"}).RestartsAll() {
		t.Error("launchd is not known")
	}
}
