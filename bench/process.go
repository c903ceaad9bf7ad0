package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a server that was started here, as Linux sees it.
type process struct {
	command *exec.Cmd
	address string
	exited  chan error

	mu   sync.Mutex
	peak int64 // the most memory that was seen: RssAnon, in bytes
}

const (
	startLimit = 5 * time.Minute // it may have a country to make first
	stopLimit  = time.Minute
)

// start runs a program until it says where it listens. It ends with ctx.
func start(ctx context.Context, program string, args ...string) (*process, error) {
	p := &process{command: exec.CommandContext(ctx, program, args...), exited: make(chan error, 1)}
	p.command.Stderr = os.Stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go func() {
		defer close(listening)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if _, address, found := strings.Cut(lines.Text(), "Listening on http://"); found {
				listening <- address
			}
		}
		p.exited <- p.command.Wait()
	}()
	select {
	case p.address = <-listening:
	case <-time.After(startLimit):
	}
	if p.address == "" {
		p.command.Process.Kill()
		return nil, fmt.Errorf("%s %s did not start to listen", program, strings.Join(args, " "))
	}
	return p, nil
}

// stop lets the process end by itself.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return nil // it has ended before
	}
	select {
	case err := <-p.exited:
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == -1 {
			return nil // by the signal
		}
		return err
	case <-time.After(stopLimit):
		p.kill()
		return fmt.Errorf("%s did not stop", p.command)
	}
}

// kill is kill -9.
func (p *process) kill() {
	p.command.Process.Kill()
	<-p.exited
}

// ticksPerSecond is the unit of /proc/PID/stat, the same on every Linux.
const ticksPerSecond = 100

// cpu is the time that the process has computed for, in steps of 10 ms.
func cpu(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, fields, _ := strings.Cut(string(stat), ") ")
	var ticks int64
	if f := strings.Fields(fields); len(f) > 12 {
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		ticks = user + system
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

func (p *process) cpu() time.Duration { return cpu(p.command.Process.Pid) }

// memory is a line of /proc/PID/status in bytes: VmRSS is all that is in
// memory, RssAnon is that without the mapped pages of files.
func (p *process) memory(name string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	_, line, _ := strings.Cut(string(status), name+":")
	var kilobytes int64
	fmt.Sscan(line, &kilobytes)
	return kilobytes << 10
}

// sample looks at the memory and remembers the most.
func (p *process) sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peak = max(p.peak, p.memory("RssAnon"))
}
