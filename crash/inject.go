package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// fault is a failure of the disk, as strace injects it.
type fault struct {
	calls string
	error string
	when  int  // which call of a thread fails, from 1
	on    bool // and all that come after it, until the disk is mended
	start bool // counted from the start of the program, else from when it serves
}

func (f fault) String() string {
	what := f.calls + " fails by " + f.error + " at call " + f.expression()
	if f.start {
		return what + " from its start"
	}
	return what
}

func (f fault) expression() string {
	if f.on {
		return fmt.Sprintf("%d+", f.when)
	}
	return fmt.Sprint(f.when)
}

// arguments are strace's.
func (f fault) arguments(log string) []string {
	return []string{"strace", "-I", "2", "-f", "-o", log, "-e", "trace=" + f.calls,
		"-e", fmt.Sprintf("inject=%s:error=%s:when=%s", f.calls, f.error, f.expression())}
}

// firstCalls is how many calls fail, each in a run of its own.
const firstCalls = 60

// faults are all there are.
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

// injecting counts what comes of the faults.
type injecting struct {
	*check
	template                          string
	truths                            []*truth
	hit, refused, ended, served, fail atomic.Int64
}

// inject lets the disk fail at each of the first calls. No answer may be
// taken back, nothing may hang, and the service goes on, or ends and says why.
func inject(c *check) error {
	if !tool("strace", "-f", "-e", "inject=fsync:error=EIO:when=1", "true") {
		return notRun("there is no strace that may trace and inject (apt-get install strace)")
	}
	h, err := c.makeHistory(10)
	if err != nil {
		return err
	}
	k := &injecting{check: c, template: h.db, truths: h.states[len(h.states)-1]}
	all := faults()
	c.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), c.choose(100, len(all)))]
	err = parallel(len(all), func(i int) error { return k.run(i, all[i]) })
	c.found = fmt.Sprintf("%d faults of pwrite64, fsync, pread64, ftruncate and openat, of which %d were met; %d writes failed by them; "+
		"%d times it went on, %d times it did not start, %d times it ended", len(all), k.hit.Load(),
		k.fail.Load(), k.served.Load(), k.refused.Load(), k.ended.Load())
	return err
}

// run works with a service that meets a fault, kills it, and looks at what is
// there.
func (k *injecting) run(i int, f fault) error {
	db := filepath.Join(k.folder, fmt.Sprintf("inject%d.db", i))
	defer removeDatabase(db)
	if err := copyDatabase(k.template, db); err != nil {
		return err
	}
	truths := make([]*truth, len(k.truths))
	for i, t := range k.truths {
		truths[i] = t.copy()
	}
	s, err := k.meet(f, db)
	switch {
	case err == nil:
		k.work(f, s, truths)
		s.kill()
		k.judge(f.String(), s.log.String())
	case errors.As(err, new(refusal)):
		k.refused.Add(1)
		k.check.refused(f.String(), err)
	default:
		k.wrong("%v: %v", f, err)
	}
	if log, _ := os.ReadFile(db + "-strace"); strings.Contains(string(log), "(INJECTED)") {
		k.hit.Add(1)
	}
	r := rand.New(rand.NewPCG(k.seed, uint64(i)))
	if i%2 == 0 {
		k.sound(f.String(), db)
	}
	if s, err = k.serve(db); err != nil {
		k.wrong("%v, and then started anew: %v", f, err)
		return nil
	}
	k.verifyAll(f.String()+", and then started anew", s, truths, r)
	if err := s.stop(); err != nil {
		k.wrong("%v, and then stopped: %v", f, err)
	}
	k.sound(f.String()+", and then started and stopped", db)
	return nil
}

// meet starts a service that will meet the fault.
func (k *injecting) meet(f fault, db string) (*service, error) {
	arguments := f.arguments(db + "-strace")
	if f.start {
		return k.serve(db, append(arguments, "-D")...)
	}
	s, err := k.serve(db)
	if err != nil {
		return nil, err
	}
	arguments = append(arguments, "-p", fmt.Sprint(s.command.Process.Pid))
	tracer := k.tracer(arguments)
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

// traced tells whether all threads of the service are traced.
func traced(s *service) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", s.command.Process.Pid))
	return len(threads) > 0 && !slices.ContainsFunc(threads, func(thread string) bool { return tracerOf(thread) == 0 })
}

// tracerOf gives the process that traces one, by its folder in /proc, 0 for
// none.
func tracerOf(process string) int {
	status, _ := os.ReadFile(process + "/status")
	_, rest, _ := strings.Cut(string(status), "TracerPid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	return pid
}

// mend lets no more calls fail.
func mend(s *service) {
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
	steps = 40 // that a client takes while the disk fails
	// mendedLimit is how soon a service works again that goes on.
	mendedLimit = 10 * time.Second
)

// work has a client for each department write and read, and then expects that
// writing works again once the disk does.
func (k *injecting) work(f fault, s *service, truths []*truth) {
	parallelBy(len(truths), len(truths), func(i int) error {
		r := rand.New(rand.NewPCG(k.seed, uint64(i)))
		var own []string
		for range steps {
			k.step(f, s, truths[i], &own, r)
		}
		return nil
	})
	if f.on {
		mend(s)
	}
	for limit := time.Now().Add(mendedLimit); !s.ended(10 * time.Millisecond); {
		if _, status, err := truths[0].create(s.client, somebody(rand.New(rand.NewPCG(0, 0)), number.Add(1))); err == nil && status < 300 {
			k.served.Add(1)
			return
		}
		if time.Now().After(limit) {
			k.wrong("%v: after %v it does not write again: %s", f, mendedLimit, s.log)
			return
		}
	}
	k.ended.Add(1)
	if s.err == nil || !strings.Contains(s.log.String(), "Error: ") {
		k.wrong("%v: it ended without a clear message: %v %s", f, s.err, s.log)
	}
}

// step is one request. It may fail, by an error that says so, and soon.
func (k *injecting) step(f fault, s *service, t *truth, own *[]string, r *rand.Rand) {
	var status int
	var err error
	p := somebody(r, number.Add(1))
	began := time.Now()
	switch choice := r.IntN(8); {
	case len(*own) < 2 || choice < 2:
		var id string
		if id, status, err = t.create(s.client, p); id != "" {
			*own = append(*own, id)
		}
	case choice < 4:
		status, err = t.replace(s.client, (*own)[r.IntN(len(*own))], &p)
	case choice < 5:
		id := (*own)[0]
		*own = (*own)[1:]
		status, err = t.replace(s.client, id, nil)
	case choice < 7:
		id := (*own)[r.IntN(len(*own))]
		if status, p, err = s.client.get(t.key, id); status == http.StatusOK && !t.allows(id, p) {
			k.wrong("%v: %s is answered by %q, not by %s", f, id, p, describe(t.possible[id]...))
		}
	default:
		var u unanswered
		if _, err = s.client.list(t.key, orders[r.IntN(len(orders))], 1); errors.As(err, &u) {
			status, err = u.status, nil
		}
	}
	if status >= 300 && status < 500 || err != nil && !s.ended(time.Second) {
		k.wrong("%v: a request is answered by %d %v after %v: %s", f, status, err, time.Since(began), s.log)
	}
	if status >= 500 {
		k.fail.Add(1)
	}
}
