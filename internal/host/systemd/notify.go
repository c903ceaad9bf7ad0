package systemd

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// Manager is the service manager that has started this process, if it wants to
// hear from it, as systemd does (sd_notify). The zero Manager does not.
type Manager struct {
	socket string        // of unixgram; empty if nobody listens
	limit  time.Duration // without a sign of life the manager ends the process; 0 for never
}

// NewManager reads what the manager has put into the environment.
func NewManager(getenv func(string) string) Manager {
	m := Manager{socket: getenv("NOTIFY_SOCKET")}
	limit, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	if err == nil && limit > 0 && m.socket != "" && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.limit = time.Duration(limit) * time.Microsecond
	}
	return m
}

// Interval is the time between two signs of life, 0 if none are wanted.
func (m Manager) Interval() time.Duration { return m.limit / 3 }

// Ready says that the service has begun to work, and how.
func (m Manager) Ready(how string) error {
	return m.notify("READY=1\nSTATUS=" + how)
}

// waiting is what the status begins with while the service waits before a start.
const waiting = "waiting "

// Waiting says that starts have failed, and that the next one begins after a time.
func (m Manager) Waiting(d time.Duration) error {
	return m.notify(fmt.Sprintf("STATUS=%s%v, because the last start failed", waiting, d))
}

// Alive is a sign of life.
func (m Manager) Alive() error { return m.notify("WATCHDOG=1") }

// Stopping says that the service ends.
func (m Manager) Stopping() error { return m.notify("STOPPING=1\nSTATUS=Stopping") }

// notify sends a message to the manager. A name that begins with @ is one of
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
