//go:build unix

package acceptance

import (
	"os"
	"syscall"
)

// processGroup returns the attributes of a process that interrupt can end.
func processGroup() *syscall.SysProcAttr { return nil }

// interrupt asks a process to end.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
