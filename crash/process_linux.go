package main

import "syscall"

// sigStop suspends a process.
const sigStop = syscall.SIGSTOP

// endWithParent makes a child process end when this process ends.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
