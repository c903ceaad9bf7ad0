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
	"sync/atomic"
	"syscall"
	"time"
)

// filling is a database on a disk that is filled again and again.
type filling struct {
	*check
	folder  string
	db      string
	truths  []*truth
	writers []*filler
	service *service
	full    atomic.Int64 // writes answered by 507
	starts  int          // on a full disk
	served  int          // of those
	slowest time.Duration
}

// filler is a client that writes to a disk until it is full.
type filler struct {
	truth *truth
	own   []string // ids
	rand  *rand.Rand
}

// rooms is what is left at most when a disk is filled, in turn, so that what
// fails is now a first write, now a later one, now the folding of the -wal.
var rooms = []int64{1, 64 << 10, 1 << 20, 24 << 20}

const (
	// smallDisk holds the -wal at its largest and more, so that there is always
	// something else to remove.
	smallDisk = 128 << 20
	fillers   = 8
	// writableLimit is how soon writing works again once there is room.
	writableLimit = 5 * time.Second
)

// full fills the disk under a service, in rounds: writes are answered 507 and
// change nothing, reading goes on, and once there is room writing does too.
func full(c *check) error {
	f := &filling{check: c, folder: filepath.Join(c.folder, "small")}
	if os.Getuid() != 0 {
		return notRun("mounting a small tmpfs takes root")
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
	c.judge("the log", f.service.log.String())
	c.found = fmt.Sprintf("%d rounds: %d writes answered 507, %d records made; writable again after %v at most, by itself; "+
		"%d starts on a full disk, of which %d could serve", rounds, f.full.Load(), f.truths[0].size()+f.truths[1].size(),
		f.slowest.Round(time.Millisecond), f.starts, f.served)
	return c.lookOnce("at the end", f.db, f.truths)
}

// firstStart tries to make a database where there is no room for it, and makes
// it when there is.
func (f *filling) firstStart() (err error) {
	f.db = filepath.Join(f.folder, "full.db")
	if err := f.fill(4096 * f.rand.Int64N(4)); err != nil {
		return err
	}
	if s, err := f.serve(f.db); err == nil {
		s.kill()
		f.wrong("the first start on a full disk succeeded")
	} else {
		f.refusedForRoom("the first start on a full disk", err)
	}
	f.empty()
	if f.truths, err = f.departments(f.db, 2); err != nil {
		return err
	}
	for i := range fillers {
		f.writers = append(f.writers, &filler{truth: f.truths[i%len(f.truths)], rand: rand.New(rand.NewPCG(f.seed, uint64(i)))})
	}
	f.service, err = f.serve(f.db)
	return err
}

func (f *filling) refusedForRoom(doing string, err error) {
	f.refused(doing, err)
	if !strings.Contains(err.Error(), "disk is full") {
		f.wrong("%s: it does not say that the disk is full: %v", doing, err)
	}
}

func (f *filling) ballast() string { return filepath.Join(f.folder, "ballast") }

// fill leaves so much room on the disk.
func (f *filling) fill(room int64) error {
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

func (f *filling) empty() { os.Remove(f.ballast()) }

func (f *filling) round(n int) error {
	if err := f.fill(f.rand.Int64N(rooms[n%len(rooms)])); err != nil {
		return err
	}
	doing := fmt.Sprintf("round %d, on the full disk", n)
	if err := parallelBy(fillers, fillers, func(i int) error { return f.writeUntilFull(f.writers[i]) }); err != nil {
		return err
	}
	f.verifyAll(doing, f.service, f.truths, f.rand)
	if n%3 == 2 {
		if err := f.restart(doing); err != nil {
			return err
		}
	}
	f.empty()
	return f.writable(fmt.Sprintf("round %d, with room again", n))
}

// longestRound is the number of writes after which a disk that the service
// gets along on is filled to the last byte.
const longestRound = 250

// writeUntilFull writes until the disk is full, and a little longer.
func (f *filling) writeUntilFull(w *filler) error {
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
			return errors.New("the disk does not get full")
		}
	}
	return nil
}

// write changes something. Success and 507 are the only right answers.
func (f *filling) write(w *filler) (status int, err error) {
	p := somebody(w.rand, number.Add(1))
	choice := w.rand.IntN(10)
	switch {
	case len(w.own) < 5 || choice < 7:
		var id string
		if id, status, err = w.truth.create(f.service.client, p); id != "" {
			w.own = append(w.own, id)
		}
	case choice < 9:
		status, err = w.truth.replace(f.service.client, w.own[w.rand.IntN(len(w.own))], &p)
	default:
		if status, err = w.truth.replace(f.service.client, w.own[0], nil); status < 300 {
			w.own = w.own[1:]
		}
	}
	switch {
	case status == http.StatusInsufficientStorage:
		f.full.Add(1)
	case err != nil || status >= 300:
		f.wrong("a write to a full disk is answered by %d %v", status, err)
	}
	return status, err
}

// writable waits until writing works again, and looks at everything.
func (f *filling) writable(doing string) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		status, err := f.write(f.writers[0])
		took := time.Since(began)
		if err == nil && status < 300 {
			f.slowest = max(f.slowest, took)
			break
		}
		if took > writableLimit {
			return fmt.Errorf("%s: writing does not work after %v: %d %w", doing, took, status, err)
		}
	}
	f.verifyAll(doing, f.service, f.truths, f.rand)
	f.sound(doing, f.db)
	return nil
}

// restart ends the service, with its -wal and -shm left behind or without, and
// starts it on a disk that is full to the last byte. It serves, or says why
// not; and then there is room.
func (f *filling) restart(doing string) (err error) {
	if f.starts%2 == 0 {
		f.service.kill()
	} else {
		f.empty()
		if err := f.service.stop(); err != nil {
			f.wrong("%s, and stopped: %v", doing, err)
		}
	}
	f.judge("the log", f.service.log.String())
	if err := f.fill(0); err != nil {
		return err
	}
	f.starts++
	if f.service, err = f.serve(f.db); err == nil {
		f.served++
		f.verifyAll(doing+" and started anew", f.service, f.truths, f.rand)
		return nil
	}
	f.refusedForRoom(doing+", a start", err)
	f.empty()
	f.service, err = f.serve(f.db)
	return err
}
