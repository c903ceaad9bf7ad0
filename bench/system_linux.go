package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpu returns the CPU time that a process has used.
func cpu(pid int) time.Duration {
	const clockOfProcess = 2 // CPUCLOCK_SCHED of clock_getcpuclockid(3)
	var used unix.Timespec
	unix.ClockGettime(int32(^pid<<3|clockOfProcess), &used) // stays 0 if the process has ended
	return time.Duration(used.Nano())
}
