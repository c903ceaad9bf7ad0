package acceptance

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// processGroup returns the attributes of a process that interrupt can stop.
func processGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt sends Ctrl-Break to a process.
func interrupt(p *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}
