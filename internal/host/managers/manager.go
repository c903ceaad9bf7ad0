package managers

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Manager is the service manager that has started this process, as far as the manager
// wants to hear from the process. The zero Manager hears nothing. What installs and
// starts the service is a Host.
type Manager struct {
	socket   string        // where systemd listens (sd_notify); empty if it does not
	watchdog time.Duration // without a sign of life for so long systemd ends the process; 0 for never
	failures string        // a file with the number of starts that failed in a row; empty if nobody keeps it
	launchd  bool
}

// launchdLabel is the name of the service to launchd.
const launchdLabel = "org.firefighter-records.firefighters"

// launchdLog is where launchd writes what the service says.
const launchdLog = "/Library/Logs/firefighters.log"

// NewManager returns the manager that the environment names. systemd keeps the
// folder RUNTIME_DIRECTORY while it starts the service again and again, and removes
// it when somebody stops the service.
func NewManager(getenv func(string) string) Manager {
	m := Manager{socket: getenv("NOTIFY_SOCKET"), launchd: getenv("XPC_SERVICE_NAME") == launchdLabel}
	limit, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	if err == nil && limit > 0 && m.socket != "" && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.watchdog = time.Duration(limit) * time.Microsecond
	}
	if folder, _, _ := strings.Cut(getenv("RUNTIME_DIRECTORY"), ":"); folder != "" {
		m.failures = filepath.Join(folder, "failed-starts")
	}
	return m
}

// RestartsAll reports whether the manager starts the service again after any error,
// also after one that lasts until somebody changes the settings.
func (m Manager) RestartsAll() bool { return m.launchd }

// FollowLog makes the output of this process go on in the new file of its log when
// the old one was renamed, until end. Only launchd writes the log to a file.
func (m Manager) FollowLog() (end func()) {
	if !m.launchd {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go follow(ctx, 10*time.Second, launchdLog, os.Stdout, os.Stderr)
	return cancel
}

// follow makes what is written to open files go to the file that path names at the
// time, until ctx ends.
func follow(ctx context.Context, interval time.Duration, path string, files ...*os.File) {
	for tick := time.Tick(interval); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			for _, file := range files {
				reopen(file, path) // an error until there is a new file
			}
		}
	}
}

// AwaitTurn waits before a start if others before it have failed in a row: longer
// each time, up to five minutes. So a fault that lasts does not fill the log. The
// start counts as failed until Ready. AwaitTurn reports false if ctx ends first.
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
	m.notify(fmt.Sprintf("STATUS=%s%v, because the last start failed", statusWaiting, d))
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
	const managerDelay, longest = 5 * time.Second, 5 * time.Minute // RestartSec of the unit
	if failed == 0 {
		return 0
	}
	return min(managerDelay<<min(failed-1, 10), longest) - managerDelay
}

// readiness has what the service says to the service manager of Windows once it answers
// requests.
var readiness = make(chan string, 1)

// Ready says that the service has begun to work, and how.
func (m Manager) Ready(how string) error {
	if m.failures != "" {
		os.Remove(m.failures)
	}
	select {
	case readiness <- how:
	default: // no service manager of Windows waits for it, or it was told already
	}
	return m.notify("READY=1\nSTATUS=" + how)
}

// Interval is the time between two signs of life, 0 if none are wanted.
func (m Manager) Interval() time.Duration { return m.watchdog / 3 }

// Alive is a sign of life.
func (m Manager) Alive() error { return m.notify("WATCHDOG=1") }

// Stopping says that the service ends.
func (m Manager) Stopping() error { return m.notify("STOPPING=1\nSTATUS=Stopping") }

// statusWaiting is what the status begins with while the service waits before a start.
const statusWaiting = "waiting "

// notify sends a message to systemd. A name of a socket that begins with @ is one of
// Linux without a file; package net knows that too.
func (m Manager) notify(message string) error {
	if m.socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(message))
	return err
}
