package invitation

import (
	"html"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/firefighter-records/firefighters/internal/osutil"
)

// privateFile is a page that leads a browser on to a link. The browser is opened
// with its path and not with the link, which has a code: every user of a machine
// sees the arguments of programs.
type privateFile struct{ folder, path string }

const (
	folderPrefix = "firefighters-open-"
	// leftFor is how old a file is that a killed program has left behind. Its code
	// is not valid any more.
	leftFor = 15 * time.Minute
)

// newPrivateFile makes a file that only this user can read, in a folder that
// only this user can open.
func newPrivateFile(link string) (f privateFile, err error) {
	parent := browserFolder()
	removeLeftovers(parent)
	if f.folder, err = os.MkdirTemp(parent, folderPrefix); err != nil {
		return f, err
	}
	f.path = filepath.Join(f.folder, "open.html")
	if err = os.WriteFile(f.path, redirect(link), 0o600); err != nil {
		f.remove()
	}
	return f, err
}

func (f privateFile) remove() { os.RemoveAll(f.folder) }

// browserFolder returns a folder in which a browser can read a file. On Linux that
// is the home folder: a browser from a snap sees neither hidden folders, such as
// that for caches, nor /tmp, nor XDG_RUNTIME_DIR. One from Flatpak is handed the
// file by the desktop. On other systems each user has temporary files of their own.
func browserFolder() string {
	home, err := os.UserHomeDir()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || err != nil || !osutil.Writable(home) {
		return os.TempDir()
	}
	return home
}

func removeLeftovers(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*")) // a strange name of the folder: none
	for _, folder := range found {
		if info, err := os.Lstat(folder); err == nil && time.Since(info.ModTime()) > leftFor {
			os.RemoveAll(folder)
		}
	}
}

// redirect returns a page that leads to a link at once, without a script.
func redirect(link string) []byte {
	link = html.EscapeString(link)
	return []byte(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=` + link + `">
<title>Firefighters</title>
<p><a href="` + link + `">Open the page</a></p>
`)
}
