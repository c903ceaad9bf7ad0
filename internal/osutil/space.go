// Package osutil knows what there is to know about the place of a file.
package osutil

import (
	"path/filepath"
	"strings"
)

// Space is the room on the disk of a folder, in bytes. Free is what this
// user may still fill.
type Space struct{ Free, Total int64 }

// syncPrograms own folders by these names, alone or with more after a space,
// "-" or "_", as "OneDrive - Fire Department".
var syncPrograms = []struct{ folder, program string }{
	{"onedrive", "OneDrive"},
	{"dropbox", "Dropbox"},
	{"google drive", "Google Drive"},
	{"googledrive", "Google Drive"},
	{"my drive", "Google Drive"},
	{"icloud drive", "iCloud"},
	{"iclouddrive", "iCloud"},
	{"mobile documents", "iCloud"},
	{"nextcloud", "Nextcloud"},
	{"owncloud", "ownCloud"},
	{"pcloud drive", "pCloud"},
	{"cloudstorage", "a sync program"}, // of macOS, for any of them
}

// SyncProgram gives the program that copies the folder to other machines
// behind our back, as the names in the path tell; none is empty.
func SyncProgram(folder string) string {
	general := ""
	for _, name := range strings.FieldsFunc(filepath.ToSlash(folder), func(r rune) bool { return r == '/' || r == '\\' }) {
		for _, known := range syncPrograms {
			rest, found := strings.CutPrefix(strings.ToLower(name), known.folder)
			if !found || rest != "" && !strings.ContainsRune(" -_", rune(rest[0])) {
				continue
			}
			if known.folder != "cloudstorage" {
				return known.program
			}
			general = known.program
		}
	}
	return general
}
