package osutil

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLink is the error for a path through a link that somebody else can change,
// in a process of root: it could lead to any file.
var ErrLink = errors.New("it leads through a link that another user can change")

// RefuseLink returns ErrLink where Follow does.
func RefuseLink(path string) error {
	_, folder, err := Follow(path)
	if folder != nil {
		folder.Close()
	}
	if errors.Is(err, ErrLink) {
		return ErrLink
	}
	return nil
}

// ErrShared is the error for a folder of temporary files in which another user could
// put something else in the place of what root makes.
var ErrShared = errors.New("another user can change it")

// Draft is a file that is written in the folder of its name, and gets the name
// when it is complete. Only its owner can read it. It belongs to the owner of the
// folder, if root makes it.
type Draft struct {
	*os.File
	folder  *os.Root // nil where nobody else can change the folder, or this is not root
	draft   string   // the name in the folder, or the path without one
	path    string   // to be had
	renamed bool
}

// NewDraft creates a draft for the file at path, which may be a link. The caller
// calls Discard.
func NewDraft(path string) (*Draft, error) {
	path, folder, err := Follow(path)
	if err != nil {
		return nil, err
	}
	d := &Draft{folder: folder, path: path}
	if folder == nil {
		if d.File, err = os.CreateTemp(filepath.Dir(path), ".firefighters-"); err == nil {
			d.draft = d.Name()
			GiveToFolder(d.File)
		}
		return d, err
	}
	d.draft = ".firefighters-" + rand.Text()
	var info fs.FileInfo
	if d.File, err = folder.OpenFile(d.draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		info, err = folder.Stat(".")
	}
	if err != nil {
		d.Discard()
		return nil, err
	}
	give(d.File, info)
	return d, nil
}

// Publish makes the draft durable and gives it the name. It replaces a file of
// this name only if that is wanted. Otherwise the error is fs.ErrExist.
func (d *Draft) Publish(replace bool) error {
	if err := cmp.Or(d.Sync(), d.Close()); err != nil {
		return err
	}
	link, rename, exists, name := os.Link, os.Rename, Exists, d.path
	if d.folder != nil {
		link, rename, name = d.folder.Link, d.folder.Rename, filepath.Base(d.path)
		exists = func(name string) bool { _, err := d.folder.Lstat(name); return err == nil }
	}
	if !replace {
		err := link(d.draft, name)
		if err == nil || exists(name) {
			return cmp.Or(err, SyncFolder(filepath.Dir(d.path)))
		}
	} // on a disk without links, too
	err := rename(d.draft, name)
	d.renamed = err == nil
	return cmp.Or(err, SyncFolder(filepath.Dir(d.path)))
}

// Discard removes what Publish has not named.
func (d *Draft) Discard() {
	if d.File != nil {
		d.Close() // which Publish may have done
	}
	if d.File != nil && !d.renamed {
		if d.folder == nil {
			os.Remove(d.draft)
		} else {
			d.folder.Remove(d.draft)
		}
	}
	if d.folder != nil {
		d.folder.Close()
	}
}
