package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	importing     = "Rescue 1" // the department of the imports
	importSize    = 1000       // people in a list
	longestImport = 600 * time.Millisecond
)

// importRun imports a list into a department and undoes that import, in turn. It kills
// both commands at random moments while a service is under load.
type importRun struct {
	*check
	db, file     string
	key          string
	imports      int       // completed imports
	people       int       // in the department: all of a list or no one
	running      *exec.Cmd // nil if no command was started since the last verify
	output       lines     // of the running command
	acknowledged bool      // the running command succeeded before it was killed
	kills        int
	done         int // commands that completed before the kill
}

// arguments returns the arguments of the next command: an import of new people, or the
// undoing of the last import.
func (r *importRun) arguments() ([]string, error) {
	if r.people > 0 {
		return []string{"import", "undo", strconv.Itoa(r.imports), "--tenant", importing, "--db", r.db}, nil
	}
	var list strings.Builder
	list.WriteString("First name,Last name\n")
	for range importSize {
		n := number.Add(1)
		fmt.Fprintf(&list, "Ana %d,Horvat %d\n", n, n)
	}
	err := os.WriteFile(r.file, []byte(list.String()), 0o600)
	return []string{"import", r.file, "--apply", "--tenant", importing, "--db", r.db}, err
}

// start starts the next command and kills it at a random moment.
func (r *importRun) start() error {
	args, err := r.arguments()
	if err != nil {
		return err
	}
	r.output = lines{}
	r.running = exec.CommandContext(r.ctx, r.program, args...)
	r.running.Stdout, r.running.Stderr = &r.output, &r.output
	r.running.SysProcAttr = endWithParent()
	if err := r.running.Start(); err != nil {
		return err
	}
	process := r.running.Process
	time.AfterFunc(20*time.Millisecond+time.Duration(r.rand.Int64N(int64(longestImport))), func() { process.Kill() })
	return nil
}

func (r *importRun) wait() {
	if r.running == nil {
		return
	}
	err := r.running.Wait()
	r.acknowledged = err == nil
	r.checkText("a killed command", r.output.String())
	if r.running.ProcessState.ExitCode() > 0 {
		r.wrong("%v: %v: %s", r.running.Args[1:], err, r.output.String())
	}
}

// verify checks that the command changed everything or nothing, and everything if it was
// acknowledged.
func (r *importRun) verify(s *service) error {
	if r.running == nil {
		return nil
	}
	r.running = nil
	p, err := s.client.list(r.key, orders[0], 1)
	if err != nil {
		return err
	}
	r.kills++
	before, after := r.people, importSize-r.people
	switch p.TotalCount {
	case after:
		r.done++
		r.people = after
		if after > 0 {
			r.imports++
		}
	case before:
		if r.acknowledged {
			r.wrong("an import or its undoing was acknowledged, but there are still %d people", before)
		}
	default:
		return fmt.Errorf("a killed command left %d people of an import of %d", p.TotalCount, importSize)
	}
	return nil
}
