package main

import "syscall"

// standStill stops a process that may go on later.
const standStill = syscall.SIGSTOP

// dieWithUs makes a process end with this one, however that ends.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
