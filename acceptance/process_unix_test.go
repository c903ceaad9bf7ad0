//go:build unix

package acceptance

import (
	"os"
	"syscall"
)

// processGroup returns the attributes of a process that interrupt can stop.
func processGroup() *syscall.SysProcAttr { return nil }

// interrupt sends SIGTERM to a process.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
