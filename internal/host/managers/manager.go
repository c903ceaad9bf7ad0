package managers

import (
	"net"
	"os"
	"strconv"
	"time"
)

// Manager sends notifications to the service manager that started this process. The zero
// Manager sends none to systemd.
type Manager struct {
	socket   string        // the sd_notify socket; empty without systemd
	watchdog time.Duration // systemd ends the process if no Alive arrives for this long; 0 for never
}

// NewManager returns the manager described by the environment variables of sd_notify(3).
func NewManager(getenv func(string) string) Manager {
	m := Manager{socket: getenv("NOTIFY_SOCKET")}
	limit, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	if err == nil && limit > 0 && m.socket != "" && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.watchdog = time.Duration(limit) * time.Microsecond
	}
	return m
}

// readiness passes the status of Ready to the Windows service handler.
var readiness = make(chan string, 1)

// Ready reports that the service answers requests, with a status line for people.
func (m Manager) Ready(status string) error {
	select {
	case readiness <- status:
	default: // no Windows service handler
	}
	return m.notify("READY=1\nSTATUS=" + status)
}

// Interval returns how often the caller must call Alive, 0 for never.
func (m Manager) Interval() time.Duration { return m.watchdog / 3 }

// Alive resets the watchdog of systemd.
func (m Manager) Alive() error { return m.notify("WATCHDOG=1") }

// Stopping reports that the service is shutting down.
func (m Manager) Stopping() error { return m.notify("STOPPING=1\nSTATUS=Stopping") }

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
