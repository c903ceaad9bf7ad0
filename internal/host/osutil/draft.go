package osutil

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
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

// DraftPattern matches the names of drafts. A crash may leave one behind.
const DraftPattern = ".firefighters-*"

// WriteFile writes a file as a whole. Who reads it finds what was there before, or all
// of content, also after a crash or a power failure; and after an error what was there
// before. It replaces a file of this name only if that is wanted. Otherwise the error
// is fs.ErrExist. A link of this name counts as a file: it is not followed. Only the
// owner can read the file. It belongs to the owner of the folder, if root makes it.
func WriteFile(path string, content []byte, replace bool) error {
	d, err := newDraft(path, false)
	if err != nil {
		return err
	}
	defer d.Discard()
	if _, err := d.Write(content); err != nil {
		return err
	}
	return d.Publish(replace)
}

// Draft is a file that is written little by little in the folder of its name, and gets
// the name when it is complete. Otherwise it is as WriteFile makes it.
type Draft struct {
	*os.File
	folder  *os.Root // nil where nobody else can change the folder, or this is not root
	draft   string   // the name in the folder, or the path without one
	path    string   // that the draft gets
	renamed bool
}

// NewDraft creates a draft for the file at path, which may be a link: it then replaces
// the file that the link leads to. The caller calls Discard.
func NewDraft(path string) (*Draft, error) { return newDraft(path, true) }

func newDraft(path string, followLast bool) (*Draft, error) {
	path, folder, err := follow(path, followLast)
	if err != nil {
		return nil, err
	}
	d := &Draft{folder: folder, path: path}
	if folder == nil {
		if d.File, err = os.CreateTemp(filepath.Dir(path), DraftPattern); err == nil {
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
	link, rename, stat, name := os.Link, os.Rename, os.Lstat, d.path
	if d.folder != nil {
		link, rename, stat, name = d.folder.Link, d.folder.Rename, d.folder.Lstat, filepath.Base(d.path)
	}
	if !replace {
		err := link(d.draft, name)
		if err == nil {
			return SyncFolder(filepath.Dir(d.path))
		}
		if _, statErr := stat(name); statErr == nil {
			return err
		}
	} // on a disk without links, too
	err := rename(d.draft, name)
	for deadline := time.Now().Add(time.Second); err != nil && runtime.GOOS == "windows" && time.Now().Before(deadline); err = rename(d.draft, name) {
		time.Sleep(50 * time.Millisecond) // Windows refuses it while a program reads the file that is replaced
	}
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
