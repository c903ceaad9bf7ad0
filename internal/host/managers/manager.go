package managers

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/launchd"
	"github.com/firefighter-records/firefighters/internal/host/systemd"
	"github.com/firefighter-records/firefighters/internal/host/winservice"
)

// Manager is the service manager that has started this process, as far as it
// wants to hear from it.
type Manager struct {
	systemd.Manager
	launchd  bool
	failures string // a file with the number of starts that failed in a row; empty if nobody keeps it
}

// NewManager returns the manager that the environment names. systemd keeps the
// folder RUNTIME_DIRECTORY while it starts the service again and again, and removes
// it when somebody stops the service.
func NewManager(getenv func(string) string) Manager {
	m := Manager{Manager: systemd.NewManager(getenv), launchd: getenv("XPC_SERVICE_NAME") == launchd.Label}
	if folder, _, _ := strings.Cut(getenv("RUNTIME_DIRECTORY"), ":"); folder != "" {
		m.failures = filepath.Join(folder, "failed-starts")
	}
	return m
}

// RestartsAll reports whether the manager starts the service again after any error,
// also after one that only other settings heal.
func (m Manager) RestartsAll() bool { return m.launchd }

// FollowLog makes the output of this process go on in the file of its log when that
// was renamed, until end. Only launchd writes the log to a file.
func (m Manager) FollowLog() (end func()) {
	if !m.launchd {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go follow(ctx, 10*time.Second, launchd.LogFile, os.Stdout, os.Stderr)
	return cancel
}

// follow makes what is written to open files go to the one at path, whichever that is,
// until ctx ends.
func follow(ctx context.Context, interval time.Duration, path string, files ...*os.File) {
	for tick := time.Tick(interval); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			for _, file := range files {
				reopen(file, path) // before there is a new one, that fails
			}
		}
	}
}

// AwaitTurn waits before a start if others before it have failed in a row: longer
// each time, up to five minutes. A fault that time does not heal fills no log so.
// The start counts as failed until Ready. AwaitTurn reports false if ctx ends first.
func (m Manager) AwaitTurn(ctx context.Context) bool {
	if m.failures == "" {
		return true
	}
	text, _ := os.ReadFile(m.failures) // without it, this is the first start
	failed, _ := strconv.Atoi(string(text))
	os.WriteFile(m.failures, []byte(strconv.Itoa(failed+1)), 0o600)
	d := delay(failed)
	if d == 0 {
		return true
	}
	m.Waiting(d)
	select {
	case <-ctx.Done():
		os.Remove(m.failures) // somebody does something about it
		return false
	case <-time.After(d):
		return true
	}
}

// delay returns how long a start waits after so many that failed. The manager has
// waited for managerDelay before.
func delay(failed int) time.Duration {
	const managerDelay, longest = 5 * time.Second, 5 * time.Minute // RestartSec
	if failed == 0 {
		return 0
	}
	return min(managerDelay<<min(failed-1, 10), longest) - managerDelay
}

// Ready says that the service has begun to work, and how.
func (m Manager) Ready(how string) error {
	if m.failures != "" {
		os.Remove(m.failures)
	}
	winservice.Ready(how)
	return m.Manager.Ready(how)
}
