package daemon

import (
	"path/filepath"
	"strings"
)

// syncPrograms are programs by the names of their folders in lower case. More
// may follow the name after a space, "-" or "_": "OneDrive - Fire Department".
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
	{"cloudstorage", anySyncProgram}, // on macOS the folder of them all
}

const anySyncProgram = "a sync program"

// syncProgram returns the program that synchronises a folder with other
// machines, as far as the names in the path show, and "" if there is none.
func syncProgram(folder string) string {
	found := ""
	isSeparator := func(r rune) bool { return r == '/' || r == '\\' }
	for name := range strings.FieldsFuncSeq(filepath.ToSlash(folder), isSeparator) {
		switch program := syncProgramOf(strings.ToLower(name)); program {
		case "":
		case anySyncProgram:
			found = program
		default:
			return program
		}
	}
	return found
}

func syncProgramOf(name string) string {
	for _, known := range syncPrograms {
		rest, found := strings.CutPrefix(name, known.folder)
		if found && (rest == "" || strings.ContainsAny(rest[:1], " -_")) {
			return known.program
		}
	}
	return ""
}
