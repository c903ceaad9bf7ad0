package invite

import (
	"html"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// privateFolder has the files that lead a browser on to a link. The browser is
// opened with the path of a file and not with the link, which has a code: every
// user of a machine sees the arguments of programs.
type privateFolder string

const (
	folderPrefix = "firefighters-open-"
	// leftFor is how old a folder is that a killed program has left behind. Its code
	// is not valid any more.
	leftFor = 15 * time.Minute
)

// newPrivateFolder makes a folder that only this user can open.
func newPrivateFolder() (privateFolder, error) {
	parent := browserFolder()
	removeLeftovers(parent)
	path, err := os.MkdirTemp(parent, folderPrefix)
	return privateFolder(path), err
}

// add makes a file that only this user can read, and returns its path.
func (f privateFolder) add(name string, content []byte) (path string, err error) {
	path = filepath.Join(string(f), name)
	return path, os.WriteFile(path, content, 0o600)
}

func (f privateFolder) remove() { os.RemoveAll(string(f)) }

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
