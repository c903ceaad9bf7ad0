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
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Warnings that service install repeats with another hint.
const (
	NoTLS = "other computers reach the service without TLS: everyone on the network can read and use the records, keys " +
		"and sign-in links"
	SameDisk = "the backups are on the same disk as the database and would be lost with it"
)

// SharedBackups returns the warning for a backup folder that every user can open.
func SharedBackups(dir string) string {
	return "every user of this computer can read and delete the backups in " + cli.Quote(dir)
}

// warnOfExposure warns if others can read the records and keys, on the network or on this computer.
// The service has no TLS if keyFile is empty.
func warnOfExposure(env cli.Env, addr net.Addr, db, keyFile string) {
	if !isLoopback(addr) && keyFile == "" {
		env.Warn(NoTLS, "--tls-self-signed, or --tls-cert FILE --tls-key FILE, or --listen 127.0.0.1:8080 for this computer only")
	}
	path := osutil.Resolve(db)
	warnOfModes(env, 0o077, path, path+"-wal", path+"-shm", path+"-lock")
	if keyFile != "" {
		warnOfModes(env, 0o007, keyFile) // a group may share the key
	}
}

// warnOfModes warns of files with permissions in mask, which may be intended.
func warnOfModes(env cli.Env, mask os.FileMode, paths ...string) {
	var open []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&mask != 0 && runtime.GOOS != "windows" {
			open = append(open, cli.Quote(path))
		}
	}
	if len(open) > 0 {
		files := strings.Join(open, " ")
		env.Warn("other users of this computer can read or write "+files, "chmod 600 "+files)
	}
}

// warnOfPlace warns of a folder where a served database can be damaged.
func warnOfPlace(env cli.Env, path string) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return
	}
	const hint = "keep the database on a disk of this computer, and its backups there"
	if kind := osutil.NetworkFileSystem(folder); kind != "" {
		env.Warn(fmt.Sprintf("the database is on a network disk (%s), where file locks and a power cut can damage it", kind), hint)
	}
	if program := syncProgram(folder); program != "" {
		env.Warn(fmt.Sprintf("the database is in a folder of %s, which copies and replaces files in use and can damage it", program), hint)
	}
}

// warnOfSchema warns of a database whose tables, indexes, triggers or views differ from those that
// the program creates, which may be intended.
func warnOfSchema(env cli.Env, format sqlite.Format, db *sqlite.DB, path string) {
	err := db.Read(format.CheckSchema)
	if wrong, ok := errors.AsType[*sqlite.SchemaError](err); ok {
		env.Warn(fmt.Sprintf("the database was modified: %v;\nrestore will reject a backup of it", wrong),
			"unless you changed the schema yourself: firefighters check --db "+cli.Quote(path))
	}
}

const encryptHint = "--backup-encrypt-to RECIPIENT (to create one: firefighters backup-key)"

// warnOfBackups warns if there are no backups, or if they are at risk of loss or unauthorized access.
func warnOfBackups(env cli.Env, o backup.Options, db string) {
	dir := o.Dir
	if program := syncProgram(dir); program != "" && len(o.EncryptTo) == 0 {
		env.Warn(fmt.Sprintf("the backups are in a folder of %s, and everyone who can open that can read them", program), encryptHint)
	}
	if dir == "" {
		env.Note("there are no backups. For a daily backup to another disk, add: --backup-dir DIR", "")
		return
	}
	if err := backup.CheckFolder(dir, db); err != nil { // also creates the folder
		env.Warn(fmt.Sprintf("no backups are made: %v", err), "")
		return
	}
	switch err := backup.CheckPlace(dir, db); {
	case osutil.SharedFolder(dir):
		hint := "a private new folder inside it: --backup-dir " + cli.Quote(filepath.Join(dir, "firefighters"))
		if runtime.GOOS != "windows" { // the disk has no owners
			hint = "sudo firefighters service backup-disk, which mounts the disk for the service, or " + encryptHint
		}
		env.Warn(SharedBackups(dir), hint)
	case err != nil:
		env.Warn(err.Error(), "")
	case osutil.SameDisk(dir, filepath.Dir(osutil.Resolve(db))):
		env.Warn(SameDisk, "--backup-dir DIR, on another disk")
	}
	if len(o.EncryptTo) > 0 {
		database.WarnOfPlain(env, db, dir)
	} else if newest, err := backup.Newest(db, dir, false); err == nil && newest.Encrypted {
		env.Warn("the newest backup is encrypted, but the next ones will not be", strings.TrimSpace(database.EncryptFlag(&newest)))
	}
}

// syncPrograms maps lower-case folder names to sync programs. A folder name may continue after a
// space, "-" or "_": "OneDrive - Fire Department".
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
	{"cloudstorage", "a sync program"}, // the folder of all sync programs on macOS
}

// syncProgram returns the program that synchronizes a folder with other computers, judging by its
// path, or "".
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
