package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a server process that this program has started.
type process struct {
	command *exec.Cmd
	address string
	exited  chan error
}

const (
	startLimit = 5 * time.Minute // demo creates the country before it listens
	stopLimit  = time.Minute

	inventedLanguage = "hr" // Croatia has phone numbers for everyone
)

// start starts a program, which logs to log, and waits until it prints its address. The process is
// killed when ctx is done.
func start(ctx context.Context, log io.Writer, program string, args ...string) (*process, error) {
	p := &process{command: exec.CommandContext(ctx, program, args...), exited: make(chan error, 1)}
	p.command.Stderr = log
	p.command.Env = append(os.Environ(), "LC_ALL="+inventedLanguage) // for demo: an older program has no --language
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
		return nil, fmt.Errorf("%s %s does not listen", program, strings.Join(args, " "))
	}
	return p, nil
}

// stop asks the process to end and waits for it.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return nil // it has already ended
	}
	select {
	case err := <-p.exited:
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == -1 {
			return nil // ended by the signal
		}
		return err
	case <-time.After(stopLimit):
		p.kill()
		return fmt.Errorf("%s did not stop", p.command)
	}
}

func (p *process) kill() {
	p.command.Process.Kill()
	<-p.exited
}

func (p *process) cpu() time.Duration { return cpu(p.command.Process.Pid) }

// memory returns a value of the process in /proc, such as VmHWM, the peak resident memory,
// in bytes.
func (p *process) memory(name string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	_, line, _ := strings.Cut(string(status), name+":")
	var kilobytes int64
	fmt.Sscan(line, &kilobytes)
	return kilobytes << 10
}
