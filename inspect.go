package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"firefighters/internal/osutil"
)

// What is found out about a database file before it is opened.

// smallFilePages is the size of the largest file that is read through before
// it is opened: some tenths of a second on a slow machine.
const smallFilePages = 4096

// resolve follows links, for SQLite names the files beside a database after
// the file itself.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	target, err := os.Readlink(path) // a link to what is not there yet
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(filepath.Dir(path), target)
}

// lockDatabase makes sure that no other process serves the database at path,
// until release. SQLite itself holds the lock, on an empty file beside the
// database, for it knows how to on every system.
func lockDatabase(path string) (release func() error, err error) {
	path = resolve(path)
	lock := path + "-lock"
	release, err = lockFile(lock)
	switch {
	case err == nil:
		return release, nil
	case mayNot(err):
		return nil, forbidden("locking", path)
	case errors.Is(err, errBusy):
		if exists(path + copySuffix) {
			return nil, hinted{fmt.Errorf("database %q is being restored", path), "again when that is done"}
		}
		return nil, hinted{fmt.Errorf("database %q %w", path, errInUse),
			"stop that one first, or give another file with --db"}
	}
	return nil, hinted{fmt.Errorf("locking database %q by %q: %w", path, lock, err),
		"if no other firefighters serves it, delete " + quoteArg(lock)}
}

var errInUse = errors.New("is in use: another firefighters serves it")

// lockFile locks by a file, which it makes, until release. The error is errBusy
// while another process does.
func lockFile(path string) (release func() error, err error) {
	for {
		if !exists(path) {
			if err := createFile(path); err != nil {
				return nil, err
			}
		}
		before, _ := os.Stat(path)
		c, err := openConn(lockDSN(path))
		if err == nil {
			if _, err = c.exec(`BEGIN EXCLUSIVE`); err != nil {
				c.Close()
			}
		}
		after, _ := os.Stat(path)
		switch {
		case before == nil || after == nil || !os.SameFile(before, after):
			if err == nil {
				c.Close() // it was removed by who had it: this lock is on nothing
			}
		case err != nil:
			return nil, err
		default:
			return c.Close, nil
		}
	}
}

// inspect gives the reason why there is no database of ours at path, and so
// nothing to open: errNoDatabase, also for an empty file, or what is there
// instead. It leaves SQLite out of it, which would tidy up a file that is not
// ours.
func inspect(path string) error {
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return hinted{fmt.Errorf("the folder of %q does not exist", path), "make it first: mkdir " + quoteArg(folder)}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return noDatabase(path)
	case err != nil:
		return explain("looking at", path, err)
	case !info.Mode().IsRegular():
		return notAFile(path, info)
	}
	header := make([]byte, 100)
	if err := readHeader(path, header); err != nil {
		return err
	}
	return judge(path, header, info.Size())
}

func readHeader(path string, header []byte) error {
	file, err := os.Open(path)
	if err != nil {
		return explain("reading", path, err)
	}
	defer file.Close()
	if _, err := io.ReadFull(file, header); err != nil {
		return notOurs(path)
	}
	return nil
}

// judge reads the header of a file (SQLite file format, section 1.3), which
// has held our id from its first transaction on. If it is blank, that one may
// not have come to its end, and SQLite is to undo it.
func judge(path string, header []byte, size int64) error {
	if exists(path+"-journal") && bytes.Count(header, []byte{0}) == len(header) {
		return nil
	}
	magic, id := string(header[:16]), binary.BigEndian.Uint32(header[68:])
	if magic != "SQLite format 3\x00" || id != applicationID {
		return notOurs(path)
	}
	pageSize := int64(binary.BigEndian.Uint16(header[16:]))
	version := int(int32(binary.BigEndian.Uint32(header[60:])))
	cut := pageSize > 1 && size%pageSize != 0 && !exists(path+"-wal") // SQLite mends a page half written from there
	switch {
	case version < 1 || cut:
		return damaged(path)
	case version > schemaVersion:
		return newer(path, version)
	}
	return nil
}

// headerVersion is the schema version in the header of a database of ours, 0
// for anything else. A newer one may stand in the -wal.
func headerVersion(path string) int {
	header := make([]byte, 100)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 ||
		readHeader(path, header) != nil || judge(path, header, info.Size()) != nil {
		return 0
	}
	return int(binary.BigEndian.Uint32(header[60:]))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// verify gives the schema version that SQLite sees, which may be in the -wal,
// and looks a small file through for damage. A file that was being made when
// the power failed is empty by then.
func verify(path string) (version int, err error) {
	c, err := openConn(verifyDSN(path))
	if err != nil {
		return 0, explain("reading", path, err)
	}
	defer c.Close()
	pages, err := c.queryNumber(`PRAGMA page_count`)
	if err != nil {
		return 0, explain("reading", path, err)
	}
	if pages == 0 {
		return 0, noDatabase(path)
	}
	found, err := c.queryNumber(`PRAGMA user_version`)
	if err != nil {
		return 0, explain("reading", path, err)
	}
	switch version = int(found); {
	case version > schemaVersion:
		return 0, newer(path, version)
	case pages > smallFilePages:
		return version, nil
	}
	verdict := ""
	if err := c.queryRow(`PRAGMA integrity_check(1)`, nil, func(row values) { verdict = text(row[0]) }); err != nil {
		return 0, explain("reading", path, err)
	}
	if verdict != "ok" {
		return 0, damaged(path)
	}
	return version, nil
}

// undoRestore tidies up after a restore that was cut off: the database that is
// there has all of its files and only one name again. Whoever calls it has
// locked the database.
func undoRestore(db string) error {
	if !exists(db + copySuffix) {
		return nil
	}
	folder := filepath.Dir(db)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		kept := filepath.Join(folder, e.Name())
		if !strings.HasPrefix(e.Name(), filepath.Base(db)+keptSuffix) || !sameFile(kept, db) {
			continue
		}
		for _, suffix := range sidecars {
			if err := rename(kept+suffix, db+suffix); err != nil {
				return err
			}
		}
		if err := os.Remove(kept); err != nil {
			return err
		}
	}
	return cmp.Or(osutil.SyncFolder(folder), removeCopy(db+halfSuffix), removeCopy(db+copySuffix))
}

// awaitRestore makes sure that no restore of the database is under way, and
// tidies up after one that was cut off.
func awaitRestore(db string) error {
	if !exists(db + copySuffix) {
		return nil
	}
	release, err := lockDatabase(db)
	if err != nil {
		return err
	}
	defer release()
	return undoRestore(db)
}

// oneName refuses a file that has another name, under which it could be served
// a second time: the locks lie beside the name. Whoever calls it has undone a
// restore, which gives a second name for a moment.
func oneName(path string) error {
	info, err := os.Stat(path)
	if err != nil || linkCount(info) <= 1 {
		return nil // or whoever opens it says what is wrong
	}
	return hinted{fmt.Errorf("database %q has another name as well (a hard link), by which it could be served twice and be damaged", path),
		"remove the other name, which this shows: find / -xdev -samefile " + quoteArg(path)}
}

// warnOfPlace warns of a folder in which a database is not safe while it is
// served.
func (p *program) warnOfPlace(path string) {
	folder, err := filepath.Abs(filepath.Dir(resolve(path)))
	if err != nil {
		return
	}
	const advice = "keep it on a disk of this computer, and its backups there"
	if kind := osutil.Network(folder); kind != "" {
		fmt.Fprintf(p.stderr, "Warning: the database is on a network disk (%s), where locks and a power cut can damage it;\n%s.\n", kind, advice)
	}
	if program := osutil.SyncProgram(folder); program != "" {
		fmt.Fprintf(p.stderr, "Warning: the database is in a folder of %s, which copies and replaces files in use and can damage it;\n%s.\n", program, advice)
	}
}

// createFile makes an empty file, or of an empty file one, that only its owner
// can read. SQLite gives the files that it puts beside it the same permissions.
func createFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o600), file.Close())
}

// verifyDSN reads only. With mode=rw SQLite would write what it finds in a
// -wal into the file; with mode=ro it would leave a -wal beside a file that
// has none, and not undo what a power cut left half done.
func verifyDSN(path string) string {
	if exists(path + "-wal") {
		return dsn(path, "mode=ro")
	}
	if !exists(path+"-journal") && !osutil.Writable(filepath.Dir(path)) { // nobody changes it, and SQLite can put nothing beside it
		return copyDSN(path)
	}
	return dsn(path, "mode=rw", "_query_only=1")
}

func lockDSN(path string) string {
	return dsn(path, "mode=rw", "_timeout=0", "_journal_mode=MEMORY")
}
