package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// fullRun fills the disk of a database repeatedly.
type fullRun struct {
	*check
	folder  string
	db      string
	truths  []*truth
	writers []*filler
	service *service
	full    atomic.Int64  // writes answered by 507
	starts  int           // starts on a full disk
	slowest time.Duration // longest time until a write succeeded again
}

// filler is a client that writes until the disk is full.
type filler struct {
	truth *truth
	own   []string // ids
	rand  *rand.Rand
}

// rooms are the upper limits of the free bytes on the filled disk, used in turn. They
// decide which call fails: the first write, a later write or a checkpoint.
var rooms = []int64{1, 64 << 10, 1 << 20, 24 << 20}

const (
	// smallDisk is larger than the largest -wal, so the ballast that round removes is
	// never empty.
	smallDisk = 128 << 20
	fillers   = 8
	// writableLimit is the time within which writes must succeed once there is free space.
	writableLimit = 5 * time.Second
)

// full fills the disk of a running service, in rounds. Writes must be answered by
// 507 and change nothing, reads must succeed, and once there is room writes must
// succeed again.
func full(c *check) error {
	f := &fullRun{check: c, folder: filepath.Join(c.folder, "small")}
	if os.Getuid() != 0 {
		return notRun("mounting a small tmpfs needs root")
	}
	if err := os.Mkdir(f.folder, 0o700); err != nil {
		return err
	}
	if err := shell("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", smallDisk), "tmpfs", f.folder); err != nil {
		return notRun("a small tmpfs cannot be mounted here: " + err.Error())
	}
	defer shell("umount", f.folder)
	if err := f.firstStart(); err != nil {
		return err
	}
	rounds := 20
	for n := range rounds {
		if err := f.round(n); err != nil {
			f.service.kill()
			return fmt.Errorf("round %d: %w", n, err)
		}
	}
	if err := f.service.stop(); err != nil {
		c.wrong("at the end: %v", err)
	}
	c.checkText("the log", f.service.log.String())
	c.summary = fmt.Sprintf("%d rounds: %d writes answered 507, %d records created; writable again after at most %v, without a restart; "+
		"%d starts on a full disk", rounds, f.full.Load(), f.truths[0].size()+f.truths[1].size(),
		f.slowest.Round(time.Millisecond), f.starts)
	return c.serveOnce("at the end", f.db, f.truths)
}

// firstStart checks that a database cannot be created on the full disk. Then it
// frees the disk and creates the database.
func (f *fullRun) firstStart() (err error) {
	f.db = filepath.Join(f.folder, "full.db")
	if err := f.fill(4096 * f.rand.Int64N(4)); err != nil {
		return err
	}
	if s, err := f.serve(f.db); err == nil {
		s.kill()
		f.wrong("the first start on a full disk succeeded")
	} else {
		f.checkRefusal("the first start on a full disk", err)
	}
	f.removeBallast()
	if f.truths, err = f.departments(f.db, 2); err != nil {
		return err
	}
	for i := range fillers {
		f.writers = append(f.writers, &filler{truth: f.truths[i%len(f.truths)], rand: rand.New(rand.NewPCG(f.seed, uint64(i)))})
	}
	f.service, err = f.serve(f.db)
	return err
}

// checkRefusal checks the message of a start that failed on a full disk. exitCode is in the last log
// entry of a service that ends with an error.
func (f *fullRun) checkRefusal(doing string, err error) {
	if text := err.Error(); !strings.Contains(text, `"exitCode":1`) || !strings.Contains(text, "disk is full") {
		f.wrong("%s: the service does not report a full disk: %q", doing, text)
	}
	f.checkText(doing, err.Error())
}

func (f *fullRun) ballast() string { return filepath.Join(f.folder, "ballast") }

// fill fills the disk with ballast and leaves room bytes free.
func (f *fullRun) fill(room int64) error {
	file, err := os.OpenFile(f.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	block := make([]byte, 4096)
	for err == nil {
		var n int
		n, err = file.Write(block)
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return file.Truncate(max(0, size-room))
}

func (f *fullRun) removeBallast() { os.Remove(f.ballast()) }

// round fills the disk, writes until it is full, and frees it again.
func (f *fullRun) round(n int) error {
	if err := f.fill(f.rand.Int64N(rooms[n%len(rooms)])); err != nil {
		return err
	}
	doing := fmt.Sprintf("round %d, on the full disk", n)
	failures := make([]error, len(f.writers))
	var working sync.WaitGroup
	for i, w := range f.writers {
		working.Go(func() { failures[i] = f.writeUntilFull(w) })
	}
	working.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	f.verifyAll(doing, f.service, f.truths, f.rand)
	if n%3 == 2 {
		if err := f.restart(doing); err != nil {
			return err
		}
	}
	f.removeBallast()
	return f.writable(fmt.Sprintf("round %d, with free space again", n))
}

// longestRound is the number of writes after which the disk is filled to the last
// byte.
const longestRound = 250

// writeUntilFull writes until five writes were answered by 507.
func (f *fullRun) writeUntilFull(w *filler) error {
	for refused, tries := 0, 0; refused < 5; tries++ {
		status, err := f.write(w)
		if err != nil {
			return err
		}
		if status == http.StatusInsufficientStorage {
			refused++
		}
		if tries >= longestRound {
			if err := f.fill(0); err != nil {
				return err
			}
		}
		if tries == 10*longestRound {
			return errors.New("the disk does not become full")
		}
	}
	return nil
}

// write makes a random change. Only success and 507 are right answers.
func (f *fullRun) write(w *filler) (status int, err error) {
	status, err = w.truth.change(f.service.client, &w.own, w.rand)
	switch {
	case status == http.StatusInsufficientStorage:
		f.full.Add(1)
	case err != nil || status >= 300:
		f.wrong("a write to a full disk returned %d %v", status, err)
	}
	return status, err
}

// writable waits until a write succeeds and verifies all records.
func (f *fullRun) writable(doing string) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		status, err := f.write(f.writers[0])
		took := time.Since(began)
		if err == nil && status < 300 {
			f.slowest = max(f.slowest, took)
			break
		}
		if took > f.limit(writableLimit) {
			return fmt.Errorf("%s: no write succeeds after %v: %d %w", doing, took, status, err)
		}
	}
	f.verifyAll(doing, f.service, f.truths, f.rand)
	f.runCheck(doing, f.db)
	return nil
}

// restart ends the service, in turn by SIGKILL and by SIGTERM, and starts it on a disk
// without a free byte. The service must start and serve the existing records.
func (f *fullRun) restart(doing string) (err error) {
	if f.starts%2 == 0 {
		f.service.kill()
	} else {
		f.removeBallast()
		if err := f.service.stop(); err != nil {
			f.wrong("%s, stopping: %v", doing, err)
		}
	}
	f.checkText("the log", f.service.log.String())
	if err := f.fill(0); err != nil {
		return err
	}
	f.starts++
	if f.service, err = f.serve(f.db); err != nil {
		return fmt.Errorf("%s, restarting: %w", doing, err)
	}
	f.verifyAll(doing+", after a restart", f.service, f.truths, f.rand)
	return nil
}
