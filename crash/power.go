package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// disk is a small file system in an image, mounted through the loop device.
// What the file system has not given to the device is not in the image.
type disk struct {
	image, folder string
}

const (
	imageSize = 64 << 20
	// mountOptions keep the file system from giving anything to its device
	// that nobody asks for.
	mountOptions = "loop,commit=600"
)

func (c *check) makeDisk() (*disk, error) {
	d := &disk{filepath.Join(c.folder, "disk.img"), filepath.Join(c.folder, "disk")}
	if os.Getuid() != 0 {
		return nil, notRun("mounting an image takes root")
	}
	if !tool("mkfs.ext4", "-V") {
		return nil, notRun("there is no mkfs.ext4 (apt-get install e2fsprogs)")
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

// snapshot copies the image as it is at one moment: until nothing was written
// to it meanwhile.
func (d *disk) snapshot(to string) error {
	for {
		if err := copyFile(d.image, to); err != nil {
			return err
		}
		now, err := sum(d.image)
		if err != nil {
			return err
		}
		if copied, err := sum(to); err != nil || copied == now {
			return err
		}
	}
}

func sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	_, err = io.Copy(h, file)
	return string(h.Sum(nil)), err
}

// powerless is a database that lives through many power cuts.
type powerless struct {
	*check
	*disk
	db              string
	truths          []*truth
	own             [][]string
	writes, unknown int64
	lost            int // cuts that a file which was not synced did not survive
}

// power cuts the power under load: the service stands still, the image is
// copied, and only the copy goes on. A file that was written and not synced
// shows that what is unsynced is lost.
func power(c *check) error {
	d, err := c.makeDisk()
	if err != nil {
		return err
	}
	defer d.unmount()
	p := &powerless{check: c, disk: d, db: filepath.Join(d.folder, "power.db"), own: make([][]string, clients)}
	if p.truths, err = c.departments(p.db, departmentCount); err != nil {
		return err
	}
	cuts := c.choose(8, 100)
	for n := range cuts {
		if err := p.round(n); err != nil || c.ctx.Err() != nil {
			return err
		}
	}
	if err := c.lookOnce("after the last power cut", p.db, p.truths); err != nil {
		return err
	}
	if p.lost == 0 {
		return notRun("a file that was not synced survived all power cuts here, so they prove nothing")
	}
	c.found = fmt.Sprintf("%d power cuts under %d clients, by copying a mounted ext4 image: %d writes acknowledged, "+
		"%d unknown; a file that was not synced was lost in %d of them", cuts, clients, p.writes, p.unknown, p.lost)
	return nil
}

// round starts the service, looks at everything, and cuts the power under load.
func (p *powerless) round(n int) error {
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
	p.judge("the log", s.log.String())
	if n%2 == 0 { // else the service is the next to open it
		p.sound(fmt.Sprintf("after power cut %d", n+1), p.db)
	}
	return nil
}

// cutPower goes on with what the device has got.
func (c *check) cutPower(d *disk, s *service) error {
	s.command.Process.Signal(standStill)
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

// lookOnce serves a database, to compare all of it with the truth, and checks
// it.
func (c *check) lookOnce(doing, db string, truths []*truth) error {
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
	if err := s.stop(); err != nil {
		c.wrong("%s: %v", doing, err)
	}
	c.judge(doing, s.log.String())
	c.sound(doing, db)
	return nil
}
