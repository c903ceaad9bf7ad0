package managers

import (
	"net"
	"os"
	"strconv"
	"time"
)

// Manager is systemd, if it has started this process. The zero Manager receives nothing.
// What installs and starts the service is a Host.
type Manager struct {
	socket   string        // where systemd listens (sd_notify); empty if it does not
	watchdog time.Duration // without a sign of life for so long systemd ends the process; 0 for never
}

// NewManager returns the manager that the environment names.
func NewManager(getenv func(string) string) Manager {
	m := Manager{socket: getenv("NOTIFY_SOCKET")}
	limit, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	if err == nil && limit > 0 && m.socket != "" && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.watchdog = time.Duration(limit) * time.Microsecond
	}
	return m
}

// readiness has what the service reports to the service manager of Windows once it answers
// requests.
var readiness = make(chan string, 1)

// Ready reports that the service has begun to work, and how.
func (m Manager) Ready(how string) error {
	select {
	case readiness <- how:
	default: // there is no service manager of Windows
	}
	return m.notify("READY=1\nSTATUS=" + how)
}

// Interval is the time between two signs of life, 0 if none are wanted.
func (m Manager) Interval() time.Duration { return m.watchdog / 3 }

// Alive is a sign of life.
func (m Manager) Alive() error { return m.notify("WATCHDOG=1") }

// Stopping reports that the service ends.
func (m Manager) Stopping() error { return m.notify("STOPPING=1\nSTATUS=Stopping") }

// notify sends a message to systemd. A socket whose name begins with @ is one of Linux
// without a file; package net supports that too.
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
