package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// fault is a failing system call, injected by strace.
type fault struct {
	calls string
	error string
	when  int  // number of the call of a thread that fails, from 1
	on    bool // all later calls fail too, until stopFaults
	start bool // count calls from the start of the program; otherwise from when it serves
}

func (f fault) String() string {
	what := f.calls + " fails with " + f.error + " at call " + f.expression()
	if f.start {
		return what + " after the start"
	}
	return what
}

// expression returns the value of strace's when=.
func (f fault) expression() string {
	if f.on {
		return fmt.Sprintf("%d+", f.when)
	}
	return fmt.Sprint(f.when)
}

// arguments returns the command line of strace.
func (f fault) arguments(log string) []string {
	return []string{"strace", "-I", "2", "-f", "-o", log, "-e", "trace=" + f.calls,
		"-e", fmt.Sprintf("inject=%s:error=%s:when=%s", f.calls, f.error, f.expression())}
}

// firstCalls is the number of calls that fail, each in a run of its own.
const firstCalls = 60

// faults returns all faults.
func faults() (all []fault) {
	kinds := []fault{{calls: "pwrite64", error: "EIO"}, {calls: "fsync,fdatasync", error: "EIO"},
		{calls: "pread64", error: "EIO"}, {calls: "ftruncate", error: "EIO"}, {calls: "pwrite64", error: "ENOSPC"},
		{calls: "openat", error: "EIO"}}
	for _, f := range kinds {
		for _, f.start = range []bool{false, true} {
			for f.when = 1; f.when <= firstCalls; f.when++ {
				f.on = false
				all = append(all, f)
				if f.when&(f.when-1) == 0 { // 1, 2, 4, 8, …
					f.on = true
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// injectRun injects faults and counts the outcomes.
type injectRun struct {
	*check
	template string // the database that is copied for each fault
	truths   []*truth
	met      atomic.Int64 // faults that strace injected
	refused  atomic.Int64 // services that did not start
	ended    atomic.Int64 // services that ended by themselves
	served   atomic.Int64 // services that recovered
	failed   atomic.Int64 // requests answered by 5xx
}

// inject makes each of the first calls fail. Acknowledged writes must stay, no
// request may hang, and the service must recover or end with a clear message.
func inject(c *check) error {
	if !tool("strace", "-f", "-e", "inject=fsync:error=EIO:when=1", "true") {
		return notRun("strace is missing or may not trace and inject (apt-get install strace)")
	}
	h, err := c.makeHistory(10)
	if err != nil {
		return err
	}
	k := &injectRun{check: c, template: h.db, truths: h.states[len(h.states)-1]}
	all := faults()
	c.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), c.choose(40, len(all)))]
	err = parallel(len(all), func(i int) error { return k.run(i, all[i]) })
	c.summary = fmt.Sprintf("%d faults of pwrite64, fsync, pread64, ftruncate and openat, of which %d were met; %d requests failed by them; "+
		"the service recovered %d times, did not start %d times, ended %d times", len(all), k.met.Load(),
		k.failed.Load(), k.served.Load(), k.refused.Load(), k.ended.Load())
	return err
}

// run runs a service that meets a fault, kills it, and verifies the database.
func (k *injectRun) run(i int, f fault) error {
	db := filepath.Join(k.folder, fmt.Sprintf("inject%d.db", i))
	defer removeDatabase(db)
	if err := copyDatabase(k.template, db); err != nil {
		return err
	}
	truths := make([]*truth, len(k.truths))
	for i, t := range k.truths {
		truths[i] = t.copy()
	}
	s, err := k.serveWithFault(f, db)
	switch {
	case err == nil:
		k.work(f, s, truths)
		s.kill()
		k.checkText(f.String(), s.log.String())
	case errors.As(err, new(refusal)):
		k.refused.Add(1)
		k.check.checkRefusal(f.String(), err)
	default:
		k.wrong("%v: %v", f, err)
	}
	if log, _ := os.ReadFile(db + "-strace"); strings.Contains(string(log), "(INJECTED)") {
		k.met.Add(1)
	}
	r := rand.New(rand.NewPCG(k.seed, uint64(i)))
	if i%2 == 0 {
		k.runCheck(f.String(), db)
	}
	if s, err = k.serve(db); err != nil {
		k.wrong("%v, restarting: %v", f, err)
		return nil
	}
	k.verifyAll(f.String()+", after a restart", s, truths, r)
	k.end(f.String()+", after a restart and a stop", s, db)
	return nil
}

// serveWithFault starts a service and a tracer that injects the fault.
func (k *injectRun) serveWithFault(f fault, db string) (*service, error) {
	arguments := f.arguments(db + "-strace")
	if f.start {
		return k.serve(db, append(arguments, "-D")...)
	}
	s, err := k.serve(db)
	if err != nil {
		return nil, err
	}
	arguments = append(arguments, "-p", fmt.Sprint(s.command.Process.Pid))
	tracer := exec.CommandContext(k.ctx, arguments[0], arguments[1:]...)
	tracer.SysProcAttr = endWithParent()
	if err := tracer.Start(); err != nil {
		return nil, err
	}
	go tracer.Wait()
	for limit := time.Now().Add(startLimit); !traced(s); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			s.kill()
			return nil, errors.New("strace does not attach")
		}
	}
	return s, nil
}

// traced reports whether all threads of the service are traced.
func traced(s *service) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", s.command.Process.Pid))
	return len(threads) > 0 && !slices.ContainsFunc(threads, func(thread string) bool { return tracerOf(thread) == 0 })
}

// tracerOf returns the id of the process that traces another one, or 0. The
// argument is the traced process's folder in /proc.
func tracerOf(process string) int {
	status, _ := os.ReadFile(process + "/status")
	_, rest, _ := strings.Cut(string(status), "TracerPid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	return pid
}

// stopFaults ends the tracer and thus the faults.
func stopFaults(s *service) {
	if s.ended(0) {
		return
	}
	process := fmt.Sprintf("/proc/%d", s.command.Process.Pid)
	if tracer, err := os.FindProcess(tracerOf(process)); err == nil {
		tracer.Signal(syscall.SIGTERM)
	}
	for limit := time.Now().Add(startLimit); tracerOf(process) > 0 && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
}

const (
	steps = 40 // requests of each client while calls fail
	// recoveryLimit is the time within which writes must succeed after the faults.
	recoveryLimit = 10 * time.Second
)

// work lets one client for each department write and read, stops lasting faults,
// and waits until a write succeeds or the service has ended.
func (k *injectRun) work(f fault, s *service, truths []*truth) {
	parallelBy(len(truths), len(truths), func(i int) error {
		r := rand.New(rand.NewPCG(k.seed, uint64(i)))
		var own []string
		for range steps {
			k.step(f, s, truths[i], &own, r)
		}
		return nil
	})
	if f.on {
		stopFaults(s)
	}
	for limit := time.Now().Add(k.limit(recoveryLimit)); !s.ended(10 * time.Millisecond); {
		if _, status, err := truths[0].create(s.client, randomPerson(rand.New(rand.NewPCG(0, 0)), number.Add(1))); err == nil && status < 300 {
			k.served.Add(1)
			return
		}
		if time.Now().After(limit) {
			k.wrong("%v: no write succeeds after %v: %s", f, k.limit(recoveryLimit), s.log)
			return
		}
	}
	k.ended.Add(1)
	if s.err == nil || !strings.Contains(s.log.String(), saidWhy) {
		k.wrong("%v: it ended without a clear message: %v %s", f, s.err, s.log)
	}
}

// step sends one request. It may fail with 5xx, but not with 4xx and not without
// an answer.
func (k *injectRun) step(f fault, s *service, t *truth, own *[]string, r *rand.Rand) {
	var status int
	var err error
	began := time.Now()
	switch choice := r.IntN(8); {
	case len(*own) < 2 || choice < 5:
		_, _, status, err = t.change(s.client, own, r)
	case choice < 7:
		id := (*own)[r.IntN(len(*own))]
		var p person
		if status, p, err = s.client.get(t.key, id); status == http.StatusOK && !t.allows(id, p) {
			k.wrong("%v: %s was answered by %q, not by %s", f, id, p, describe(t.possible[id]...))
		}
	default:
		var answer errorAnswer
		if _, err = s.client.list(t.key, orders[r.IntN(len(orders))], 1); errors.As(err, &answer) {
			status, err = answer.status, nil
		}
	}
	if status >= 300 && status < 500 || err != nil && !s.ended(time.Second) {
		k.wrong("%v: a request was answered by %d %v after %v: %s", f, status, err, time.Since(began), s.log)
	}
	if status >= 500 {
		k.failed.Add(1)
	}
}
