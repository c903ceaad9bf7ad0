package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// service is a running firefighters serve.
type service struct {
	command *exec.Cmd
	address string
	log     *lines
	began   time.Time
	exited  chan struct{} // closed when the process has ended and err is set
	err     error
	client  *client
}

const (
	startLimit = 30 * time.Second
	stopLimit  = 30 * time.Second
)

// lines is the output of a process. It can be read while the process writes.
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

// serve starts the program on a database and waits until it listens.
func (c *check) serve(db string) (*service, error) {
	s, err := c.launch(db)
	if err != nil {
		return nil, err
	}
	return s, s.listen()
}

// launch starts the program without waiting.
func (c *check) launch(db string) (*service, error) {
	s := &service{command: exec.CommandContext(c.ctx, c.program, "serve", "--db", db, "--listen", "127.0.0.1:0"), log: &lines{},
		began: time.Now(), exited: make(chan struct{})}
	s.command.Stdout, s.command.Stderr = s.log, s.log
	s.command.SysProcAttr = endWithParent()
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.err = s.command.Wait()
		close(s.exited)
	}()
	return s, nil
}

// listen waits until the service prints its address.
func (s *service) listen() error {
	for limit := time.After(startLimit); ; {
		if _, rest, found := strings.Cut(s.log.String(), "Listening on http://"); found && strings.Contains(rest, "\n") {
			s.address, _, _ = strings.Cut(rest, "\n")
			s.client = &client{http.Client{Timeout: answerLimit, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, s.address}
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("the service ended: %s", s.log)
		case <-limit:
			s.kill()
			return fmt.Errorf("the service does not listen after %v: %s", startLimit, s.log)
		case <-time.After(time.Millisecond):
		}
	}
}

// ready waits until /readyz and a list request with the key succeed. It returns
// the time since the start of the process.
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
			return 0, fmt.Errorf("the service is not ready after %v: %d %v %s", startLimit, status, err, s.log)
		}
	}
}

func (s *service) kill() {
	s.command.Process.Kill()
	<-s.exited
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// stop sends SIGTERM to the service and waits for it. It returns an error if the service
// fails or does not end.
func (s *service) stop() error {
	s.client.CloseIdleConnections()
	s.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
		if s.err != nil {
			return fmt.Errorf("the service stopped with %w: %s", s.err, s.log)
		}
		return nil
	case <-time.After(stopLimit):
		s.kill()
		return errors.New("the service did not stop")
	}
}

// end stops a service, which must succeed, and checks its log and its database.
func (c *check) end(doing string, s *service, db string) {
	if err := s.stop(); err != nil {
		c.wrong("%s: %v", doing, err)
	}
	c.checkText(doing, s.log.String())
	c.runCheck(doing, db)
}

// crashMarks are parts of panics and stack traces. They must not appear in a log or a
// message.
var crashMarks = []string{"goroutine ", "panic", "fatal error", "runtime error", "SIGSEGV", "SIGBUS", ".go:"}

// findCrashMark returns a crash mark with the text around it, or "".
func findCrashMark(text string) string {
	for _, mark := range crashMarks {
		if at := strings.Index(text, mark); at >= 0 {
			return text[max(0, at-100):min(len(text), at+200)]
		}
	}
	return ""
}

// checkText records a fault if the output of a process has a crash mark.
func (c *check) checkText(doing, text string) {
	if found := findCrashMark(text); found != "" {
		c.wrong("%s: %q", doing, found)
	}
}

const commandLimit = 2 * time.Minute

func (c *check) command(args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, commandLimit)
	defer cancel()
	var out, text bytes.Buffer
	command := exec.CommandContext(ctx, c.program, args...)
	command.Stdout, command.Stderr = &out, &text
	command.SysProcAttr = endWithParent()
	err = command.Run()
	return out.String(), text.String(), err
}

func (c *check) runCheck(doing, db string) {
	if out, text, err := c.command("check", "--db", db); err != nil {
		c.wrong("%s: firefighters check: %v: %.500s", doing, err, out+text)
	}
}

func (c *check) key(db, department string) (string, error) {
	out, text, err := c.command("keys", "create", "--new", "--tenant", department, "--db", db)
	if err != nil {
		return "", fmt.Errorf("creating a key: %w: %s", err, text)
	}
	return strings.TrimSpace(out), nil
}

func shell(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
