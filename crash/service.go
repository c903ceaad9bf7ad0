package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// service is the program, serving.
type service struct {
	command *exec.Cmd
	address string
	log     *lines
	began   time.Time
	exited  chan struct{} // closed when it has ended, with err
	err     error
	client  *client
}

const (
	startLimit = 30 * time.Second
	stopLimit  = 30 * time.Second
)

// lines is what a process writes, for anybody to read meanwhile.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// refusal is the text with which the program ended instead of serving.
type refusal string

func (r refusal) Error() string { return "it ended: " + string(r) }

// serve starts the program on a database, by a tracer if one is given, and
// waits until it listens. The error is a refusal if it ends before that.
func (c *check) serve(db string, tracer ...string) (*service, error) {
	s, err := c.launch(db, tracer...)
	if err != nil {
		return nil, err
	}
	return s, s.listen()
}

// launch starts the program and does not wait.
func (c *check) launch(db string, tracer ...string) (*service, error) {
	args := append(tracer, c.program, "serve", "--db", db, "--listen", "127.0.0.1:0")
	s := &service{command: exec.CommandContext(c.ctx, args[0], args[1:]...), log: &lines{}, began: time.Now(),
		exited: make(chan struct{})}
	s.command.Stdout, s.command.Stderr = s.log, s.log
	s.command.WaitDelay = stopLimit // a tracer may keep the pipe
	s.command.SysProcAttr = dieWithUs()
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.err = s.command.Wait()
		close(s.exited)
	}()
	return s, nil
}

// listen waits until the service says where it listens.
func (s *service) listen() error {
	for limit := time.After(startLimit); ; {
		if _, rest, found := strings.Cut(s.log.String(), "Listening on http://"); found && strings.Contains(rest, "\n") {
			s.address, _, _ = strings.Cut(rest, "\n")
			s.client = newClient(s.address)
			return nil
		}
		select {
		case <-s.exited:
			return refusal(s.log.String())
		case <-limit:
			s.kill()
			return fmt.Errorf("it did not listen within %v: %s", startLimit, s.log)
		case <-time.After(time.Millisecond):
		}
	}
}

// ready waits until the service answers and somebody with a key gets in, and
// gives the time since it was started.
func (s *service) ready(key string) (time.Duration, error) {
	for limit := time.Now().Add(startLimit); ; time.Sleep(time.Millisecond) {
		status, _, err := s.client.do("GET", "/readyz", "", nil)
		if err == nil && status == 200 {
			status, _, err = s.client.do("GET", records, key, nil)
		}
		if err == nil && status == 200 {
			return time.Since(s.began), nil
		}
		if time.Now().After(limit) {
			return 0, fmt.Errorf("it is not ready within %v: %d %v %s", startLimit, status, err, s.log)
		}
	}
}

// kill is kill -9.
func (s *service) kill() {
	s.command.Process.Kill()
	<-s.exited
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// stop lets the service end by itself. A failure of its is the error.
func (s *service) stop() error {
	s.client.CloseIdleConnections()
	s.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
		if s.err != nil {
			return fmt.Errorf("it stopped by %w: %s", s.err, s.log)
		}
		return nil
	case <-time.After(stopLimit):
		s.kill()
		return errors.New("it did not stop")
	}
}

// ended tells whether the service has ended by itself within a time.
func (s *service) ended(within time.Duration) bool {
	select {
	case <-s.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// disgraces are what nobody may ever read, in a log or in an answer.
var disgraces = []string{"goroutine ", "panic", "fatal error", "runtime error", "SIGSEGV", "SIGBUS", ".go:"}

// disgrace finds the first of them.
func disgrace(text string) string {
	for _, one := range disgraces {
		if at := strings.Index(text, one); at >= 0 {
			return text[max(0, at-100):min(len(text), at+200)]
		}
	}
	return ""
}

// judge notes what the text of a process has that it must not have.
func (c *check) judge(doing, text string) {
	if found := disgrace(text); found != "" {
		c.wrong("%s: %q", doing, found)
	}
}

// refused judges the error of a start. One that is not a clear refusal, a
// line that says what is wrong, is wrong.
func (c *check) refused(doing string, err error) {
	var text refusal
	switch {
	case !errors.As(err, &text):
		c.wrong("%s: %v", doing, err)
	case !strings.Contains(string(text), "Error: "):
		c.wrong("%s: it ended without a clear message: %q", doing, string(text))
	}
	c.judge(doing, err.Error())
}

const commandLimit = 2 * time.Minute

// command runs another command of the program.
func (c *check) command(args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, commandLimit)
	defer cancel()
	var out, text bytes.Buffer
	command := exec.CommandContext(ctx, c.program, args...)
	command.Stdout, command.Stderr = &out, &text
	command.SysProcAttr = dieWithUs()
	err = command.Run()
	return out.String(), text.String(), err
}

// sound has the program look a database through, and notes what it finds.
func (c *check) sound(doing, db string) {
	if out, text, err := c.command("check", "--db", db); err != nil {
		c.wrong("%s: firefighters check: %v: %.500s", doing, err, out+text)
	}
}

// key has the program make a key.
func (c *check) key(db, department string) (string, error) {
	out, text, err := c.command("keys", "create", "--tenant", department, "--db", db)
	if err != nil {
		return "", fmt.Errorf("making a key: %w: %s", err, text)
	}
	return strings.TrimSpace(out), nil
}

// tracer is a process beside the service.
func (c *check) tracer(args []string) *exec.Cmd {
	command := exec.CommandContext(c.ctx, args[0], args[1:]...)
	command.SysProcAttr = dieWithUs()
	return command
}

// tool tells whether there is one, and rights to run it.
func tool(name string, args ...string) bool {
	command := exec.Command(name, args...)
	command.Stdout, command.Stderr = io.Discard, io.Discard
	return command.Run() == nil
}

// shell runs a system's command.
func shell(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// besides are the files of a database.
var besides = []string{"", "-wal", "-shm"}

// copyDatabase copies the files of a database that nobody has open. The -shm
// is made anew from the others.
func copyDatabase(from, to string) error {
	for _, suffix := range besides[:2] {
		if err := copyFile(from+suffix, to+suffix); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = bufio.NewReaderSize(source, 1<<20).WriteTo(target)
	return errors.Join(err, target.Close())
}

// removeDatabase removes all files of a database.
func removeDatabase(db string) {
	files, _ := filepath.Glob(db + "*")
	for _, file := range files {
		os.Remove(file)
	}
}
