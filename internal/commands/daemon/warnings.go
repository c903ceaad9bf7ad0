package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Warnings of what a server may be started with all the same: a place, a disk or
// permissions that put the records at risk.

// warnOfExposure warns of records and keys that others on the network or on
// this machine can read. Without a keyFile the service has no TLS.
func warnOfExposure(env cli.Env, addr net.Addr, db, keyFile string) {
	if !isLoopback(addr) && keyFile == "" {
		env.Warn(fmt.Sprintf("listening on %s without TLS. Everybody on the network between can read\n"+
			"the keys and the records, and use the keys.", addr),
			"--tls-self-signed, or --tls-cert FILE --tls-key FILE, or --listen 127.0.0.1:8080 for this machine alone")
	}
	path := osutil.Resolve(db)
	warnOfModes(env, 0o077, path, path+"-wal", path+"-shm", path+"-lock")
	if keyFile != "" {
		warnOfModes(env, 0o007, keyFile) // a group may well share a certificate
	}
}

// sayTrust says how other machines come to trust a server's certificate: the file
// with that of its authority, the URL of the same, and the command that tells more.
func sayTrust(env cli.Env, addr net.Addr, file, url, db string) {
	if !isLoopback(addr) {
		env.Notef("Each machine that opens the page must trust this once: %s", cli.Quote(file))
		env.Notef("Phones find it at %s", url)
		env.Notef("How each system is told: firefighters cert --db %s", cli.Quote(db))
	}
}

// warnOfModes warns of files with permissions in mask. It does not change them:
// somebody may have meant it.
func warnOfModes(env cli.Env, mask os.FileMode, paths ...string) {
	var open []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&mask != 0 && runtime.GOOS != "windows" {
			open = append(open, cli.Quote(path))
		}
	}
	if len(open) > 0 {
		files := strings.Join(open, " ")
		env.Warn("other users of this machine may read or write "+files, "chmod 600 "+files)
	}
}

// warnOfPlace warns of a folder in which a database is not safe while it is
// served.
func warnOfPlace(env cli.Env, path string) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return
	}
	const advice = "keep it on a disk of this computer, and its backups there"
	if kind := osutil.NetworkFileSystem(folder); kind != "" {
		env.Warn(fmt.Sprintf("the database is on a network disk (%s), where locks and a power cut can damage it;\n%s.", kind, advice), "")
	}
	if service := syncProgram(folder); service != "" {
		env.Warn(fmt.Sprintf("the database is in a folder of %s, which copies and replaces files in use and can damage it;\n%s.", service, advice), "")
	}
}

// warnOfSchema warns of a database with tables, indexes, triggers or views that are
// not as the program makes them. It is served all the same: somebody may have added
// them.
func warnOfSchema(env cli.Env, format sqlite.Format, db *sqlite.DB, path string) {
	err := db.Read(format.CheckSchema)
	if wrong, ok := errors.AsType[*sqlite.SchemaError](err); ok {
		env.Warn(fmt.Sprintf("the database is not as this program makes it: %v;\nrestore refuses a backup of it as it is.", wrong),
			"if you have not changed that yourself: firefighters check --db "+cli.Quote(path))
	}
}

// warnOfFullDisk warns of a full disk, and reports whether err is about one. The
// database can be read.
func warnOfFullDisk(env cli.Env, err error) bool {
	full := errors.Is(err, sqlite.ErrFull)
	if full {
		env.Warn("the disk of the database is full: reading works, and nothing can be written",
			"make room on that disk; writing then works again by itself")
	}
	return full
}

// warnOfNewDatabase warns that a database is about to be made, although there
// are backups of one.
func warnOfNewDatabase(env cli.Env, content backup.Content, path, backupDir string) {
	if there := backup.Files(content, path, backupDir); len(there) > 0 {
		db := cli.Quote(path)
		env.Warn(fmt.Sprintf("there is no database at %s, but there are backups of it. A new one is made, without what they hold.", db),
			fmt.Sprintf("to have it back, stop this and type: firefighters restore %s --db %s", cli.Quote(there[0].Path), db))
	}
}

const encryptHint = "--backup-encrypt-to RECIPIENT, which firefighters backup-key makes"

// warnOfBackups warns that there are no backups, or that they are not safe where they
// are, from a loss or from readers.
func warnOfBackups(env cli.Env, o backup.Options, db string) {
	dir := o.Dir
	if program := syncProgram(dir); program != "" && len(o.EncryptTo) == 0 {
		env.Warn(fmt.Sprintf("the backups are in a folder of %s, which carries them elsewhere, and who gets them can read them.", program),
			encryptHint)
	}
	switch {
	case dir == "":
		env.Note("no backups are made. To have one every day, on another disk, add: --backup-dir DIR", "")
	case warnOfBackupFolder(env, dir, db):
	case osutil.SharedFolder(dir):
		hint := "a new folder in it, which this makes for itself: --backup-dir " + cli.Quote(filepath.Join(dir, "firefighters"))
		if runtime.GOOS != "windows" { // the disk has no owners
			hint = "sudo firefighters service backup-disk, which mounts the disk for the service, or " + encryptHint
		}
		env.Warn("every user of this PC may read or delete the backups in "+cli.Quote(dir), hint)
	case backup.CheckPlace(dir, db) != nil:
		env.Warn(backup.CheckPlace(dir, db).Error(), "connect it; or another folder: --backup-dir DIR")
	case osutil.SameDisk(dir, filepath.Dir(osutil.Resolve(db))):
		env.Warn("the backups are on the same disk as the database, and would be lost with it.", "--backup-dir DIR, on another disk")
	}
}

// warnOfBackupFolder warns of a folder in which no backups can be made, and
// reports whether it did. It makes the folder, as the first backup would.
func warnOfBackupFolder(env cli.Env, dir, db string) bool {
	err := backup.CheckFolder(dir, db)
	if err == nil {
		return false
	}
	env.Warn(fmt.Sprintf("no backups are made: the folder %s cannot be used: %s", cli.Quote(dir), backup.Reason(err)),
		"connect its disk, or start as the user who owns it, or name another folder: --backup-dir DIR")
	return true
}

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
	{"cloudstorage", "a sync program"}, // on macOS the folder of them all
}

// syncProgram returns the program that synchronizes a folder with other
// machines, as far as the names in the path show, and "" if there is none.
func syncProgram(folder string) string {
	isSeparator := func(r rune) bool { return r == '/' || r == '\\' }
	for name := range strings.FieldsFuncSeq(strings.ToLower(folder), isSeparator) {
		for _, known := range syncPrograms {
			rest, found := strings.CutPrefix(name, known.folder)
			if found && (rest == "" || strings.ContainsAny(rest[:1], " -_")) {
				return known.program
			}
		}
	}
	return ""
}
