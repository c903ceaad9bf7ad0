package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// disk is a small file system in an image, mounted through a loop device. The
// image lacks everything that the file system has not written to the device.
type disk struct {
	image, folder string
}

const (
	imageSize = 64 << 20
	// mountOptions let the file system write to its device only for a sync.
	mountOptions = "loop,commit=600"
)

func (c *check) makeDisk() (*disk, error) {
	d := &disk{filepath.Join(c.folder, "disk.img"), filepath.Join(c.folder, "disk")}
	if os.Getuid() != 0 {
		return nil, notRun("mounting an image needs root")
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		return nil, notRun("mkfs.ext4 is missing (apt-get install e2fsprogs)")
	}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		return nil, err
	}
	if err := os.Truncate(d.image, imageSize); err != nil {
		return nil, err
	}
	if err := shell("mkfs.ext4", "-q", "-F", d.image); err != nil {
		return nil, err
	}
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		return nil, err
	}
	if err := d.mount(); err != nil {
		return nil, notRun("an image cannot be mounted here: " + err.Error())
	}
	return d, nil
}

func (d *disk) mount() error   { return shell("mount", "-o", mountOptions, d.image, d.folder) }
func (d *disk) unmount() error { return shell("umount", d.folder) }

// snapshot copies the image. It reads the image until two copies are equal.
func (d *disk) snapshot(to string) error {
	for {
		content, err := os.ReadFile(d.image)
		if err != nil {
			return err
		}
		again, err := os.ReadFile(d.image)
		if err != nil {
			return err
		}
		if bytes.Equal(content, again) {
			return os.WriteFile(to, content, 0o600)
		}
	}
}

// powerRun cuts the power of one database repeatedly.
type powerRun struct {
	*check
	*disk
	db              string
	truths          []*truth
	own             [][]string
	writes, unknown int64
	lost            int // power cuts that lost the canary file
}

// power cuts the power under load. It suspends the process, copies the image, and continues
// with the copy. In each round it also writes a canary file without a sync. A lost canary
// proves that a cut loses unsynced data.
func power(c *check) error {
	d, err := c.makeDisk()
	if err != nil {
		return err
	}
	defer d.unmount()
	p := &powerRun{check: c, disk: d, db: filepath.Join(d.folder, "power.db"), own: make([][]string, clients)}
	if p.truths, err = c.departments(p.db, departmentCount); err != nil {
		return err
	}
	cuts := c.choose(8, 100)
	for n := range cuts {
		if err := p.round(n); err != nil || c.ctx.Err() != nil {
			return err
		}
	}
	if err := c.serveOnce("after the last power cut", p.db, p.truths); err != nil {
		return err
	}
	if p.lost == 0 {
		return notRun("an unsynced file survived all power cuts here, so they prove nothing")
	}
	c.summary = fmt.Sprintf("%d power cuts under %d clients, by copying a mounted ext4 image: %d writes acknowledged, "+
		"%d unanswered; %d of the cuts lost an unsynced file", cuts, clients, p.writes, p.unknown, p.lost)
	return nil
}

// round starts the service, verifies all records, and cuts the power under load.
func (p *powerRun) round(n int) error {
	s, err := p.serve(p.db)
	if err != nil {
		return err
	}
	p.verifyAll(fmt.Sprintf("after power cut %d", n), s, p.truths, p.rand)
	prune(p.truths, p.own)
	canary := filepath.Join(p.disk.folder, fmt.Sprintf("canary%d", n))
	l := p.startLoad(s, p.truths, p.own)
	p.pause(50*time.Millisecond, 400*time.Millisecond)
	err = os.WriteFile(canary, make([]byte, 100_000), 0o600)
	p.pause(0, 20*time.Millisecond)
	l.end(func() { err = cmp.Or(err, p.cutPower(p.disk, s)) })
	if err != nil {
		return err
	}
	p.writes, p.unknown = p.writes+l.writes.Load(), p.unknown+l.unknown.Load()
	if info, err := os.Stat(canary); err != nil || info.Size() == 0 {
		p.lost++
	}
	os.Remove(canary)
	p.checkText("the log", s.log.String())
	if n%2 == 0 { // after odd rounds the service opens the database first
		p.runCheck(fmt.Sprintf("after power cut %d", n+1), p.db)
	}
	return nil
}

// cutPower kills the service and replaces the image by a copy of its current state.
func (c *check) cutPower(d *disk, s *service) error {
	s.command.Process.Signal(sigStop)
	copied := d.image + ".cut"
	err := d.snapshot(copied)
	s.kill()
	if err != nil {
		return err
	}
	if err := d.unmount(); err != nil {
		return err
	}
	if err := os.Rename(copied, d.image); err != nil {
		return err
	}
	return d.mount()
}

func (c *check) serveOnce(doing, db string, truths []*truth) error {
	s, err := c.serve(db)
	if err != nil {
		c.wrong("%s: %v", doing, err)
		return nil
	}
	if _, err := s.ready(truths[0].key); err != nil {
		s.kill()
		return err
	}
	c.verifyAll(doing, s, truths, c.rand)
	c.end(doing, s, db)
	return nil
}
