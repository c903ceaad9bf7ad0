package osutil

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// ErrRedirect is the error for a path that another user can redirect while root uses it.
var ErrRedirect = errors.New("it leads through a link or a folder that another user can change")

// DraftPattern matches the names of drafts. A crash may leave one behind.
const DraftPattern = ".firefighters-*"

// WriteFile writes a file as a whole. A reader finds the previous file or all of content,
// even after a crash or a power failure. After an error the previous file is unchanged.
// WriteFile replaces a file only if replace is set; otherwise it returns fs.ErrExist. A link
// at path counts as a file and is not followed. Only the owner can read the file. A file
// that root writes belongs to the owner of the folder.
func WriteFile(path string, content []byte, replace bool) error {
	d, err := newDraft(path)
	if err != nil {
		return err
	}
	defer d.Discard()
	if _, err := d.Write(content); err != nil {
		return err
	}
	return d.Publish(replace)
}

// Draft is a file that is written under a temporary name. Publish gives it its final name, with the
// guarantees of WriteFile.
type Draft struct {
	*os.File
	path    string // the final name
	renamed bool
}

// NewDraft creates a draft for the file at path. If path is a link, the draft replaces the
// file that the link leads to. The caller calls Discard.
func NewDraft(path string) (*Draft, error) { return newDraft(Resolve(path)) }

func newDraft(path string) (*Draft, error) {
	file, err := os.CreateTemp(filepath.Dir(path), DraftPattern)
	if err != nil {
		return nil, err
	}
	GiveToFolder(file)
	return &Draft{File: file, path: path}, nil
}

// Publish syncs the draft to disk and gives it its name. It replaces a file only if replace
// is set; otherwise it returns fs.ErrExist.
func (d *Draft) Publish(replace bool) error {
	if err := cmp.Or(d.Sync(), d.Close()); err != nil {
		return err
	}
	folder := filepath.Dir(d.path)
	if !replace {
		err := os.Link(d.Name(), d.path)
		if err == nil {
			return SyncFolder(folder)
		}
		if _, statErr := os.Lstat(d.path); statErr == nil {
			return err
		}
	} // on a file system without hard links, such as FAT, fall back to renaming
	err, deadline := os.Rename(d.Name(), d.path), time.Now().Add(time.Second)
	for err != nil && runtime.GOOS == "windows" && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond) // Windows cannot replace a file while a program reads it
		err = os.Rename(d.Name(), d.path)
	}
	if err != nil {
		return err
	}
	d.renamed = true
	return SyncFolder(folder)
}

// Discard removes the temporary file.
func (d *Draft) Discard() {
	d.Close() // fails if Publish has closed the file
	if !d.renamed {
		os.Remove(d.Name())
	}
}
