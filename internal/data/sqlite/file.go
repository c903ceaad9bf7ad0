package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Format describes the databases of a program.
type Format struct {
	ApplicationID uint32 // in the header of every database of the program
	Unreleased    uint32 // the application ID of versions before the first release; 0 if there are none
	Version       int    // the version of Schema
	Schema        string // the SQL that creates an empty database

	// Check returns ErrUnreleased for a database of this version that an unreleased program
	// created from another schema. It may be nil.
	Check func(*Conn) error
}

// The size of the header, and the place in it of the write version, which the read version follows
// (SQLite file format, section 1.3).
const headerSize, writeVersion = 100, 18

// Inspect returns nil if the file at path is a database of this format. Otherwise it returns a
// FileError, which is ErrNotExist for a missing or empty file. It does not use SQLite, which
// would change other programs' files. Do not call it for a file that this process has open as a
// database: on Unix, closing any descriptor of a file releases SQLite's locks on it.
func (f Format) Inspect(path string) error {
	_, err := f.inspect(path)
	return Wrap("reading", path, err)
}

// HeaderVersion returns the schema version in the header of a database of this format, or 0 for
// any other file. The -wal may contain a newer version. The restriction of Inspect applies.
func (f Format) HeaderVersion(path string) int {
	version, _ := f.inspect(path)
	return version
}

// maxPath is the longest path in bytes that SQLite opens, less room for suffixes such as -wal.
const maxPath = 500

func (f Format) inspect(path string) (version int, err error) {
	if full, err := filepath.Abs(path); err == nil && len(full) > maxPath {
		return 0, ErrTooLong
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return 0, ErrNoFolder
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return 0, ErrNotExist
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, ErrNotRegular
	}
	header, err := readHeader(path)
	if err != nil {
		return 0, err
	}
	return f.judge(path, header, info.Size())
}

// judgeUnnamed is inspect for a file without sidecars. It ends WAL mode, which would need a -wal.
func (f Format) judgeUnnamed(file *os.File) error {
	header := make([]byte, headerSize)
	if _, err := file.ReadAt(header, 0); err != nil {
		return ErrForeign
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.judge(file.Name(), header, size)
	}
	if err == nil {
		_, err = file.WriteAt([]byte{1, 1}, writeVersion)
	}
	return err
}

func readHeader(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(file, header); err != nil {
		return nil, ErrForeign
	}
	return header, nil
}

// judge checks the header of a file. The first transaction sets the application ID. A blank header
// next to a journal means that this transaction was interrupted. SQLite then rolls it back.
func (f Format) judge(path string, header []byte, size int64) (version int, err error) {
	if osutil.Exists(path+"-journal") && bytes.Count(header, []byte{0}) == len(header) {
		return 0, nil
	}
	magic, id := string(header[:16]), binary.BigEndian.Uint32(header[68:])
	switch {
	case magic != "SQLite format 3\x00":
		return 0, ErrForeign
	case f.Unreleased != 0 && id == f.Unreleased:
		return 0, ErrUnreleased
	case id != f.ApplicationID:
		return 0, ErrForeign
	}
	pageSize := int64(binary.BigEndian.Uint16(header[16:]))
	version = int(int32(binary.BigEndian.Uint32(header[60:])))
	// A page may be incomplete in the file while the -wal contains it.
	cut := pageSize > 1 && size%pageSize != 0 && !osutil.Exists(path+"-wal")
	switch {
	case version < 1 || cut:
		return 0, ErrCorrupt
	case version > f.Version:
		return 0, &NewerError{version, f.Version}
	}
	return version, nil
}

// WasInUse reports whether the file at path is a database copied while in use, rather than one
// written by CopyTo: its header is in WAL mode, and the -wal is missing. The restriction of
// Inspect applies.
func WasInUse(path string) bool {
	header, err := readHeader(path)
	const wal = 2
	return err == nil && header[writeVersion] == wal && !osutil.Exists(path+"-wal")
}

// Sidecars are the suffixes of the files that SQLite creates next to a database.
var Sidecars = []string{"-wal", "-shm", "-journal"}

// unlockSidecars gives the owner of the sidecars of a writable database permission to write them.
// SQLite creates them with the permissions of the database, which may have been read-only then. After
// an error, opening the database fails.
func unlockSidecars(path string) {
	const ownerWrites = 0o200
	if info, err := os.Stat(path); err != nil || info.Mode()&ownerWrites == 0 {
		return
	}
	for _, suffix := range Sidecars {
		info, err := os.Lstat(path + suffix)
		if err == nil && info.Mode().IsRegular() && info.Mode()&ownerWrites == 0 {
			os.Chmod(path+suffix, info.Mode().Perm()|ownerWrites)
		}
	}
}

// Unwritable returns the file of the database at path that the current user cannot write: the
// database or a sidecar, or "" if there is none.
func Unwritable(path string) string {
	for _, suffix := range append([]string{""}, Sidecars...) {
		if file := path + suffix; osutil.Exists(file) && !osutil.Writable(file) {
			return file
		}
	}
	return ""
}

// smallFile is the size in pages of the largest file that Verify reads completely: 1 MB, or about
// 2,500 records, in 0.05 s. A longer check would noticeably delay the startup.
const smallFile = 256

// Small reports whether Verify reads the whole database.
func (db *DB) Small() (small bool, err error) {
	err = db.Read(func(c *Conn) error {
		pages, err := c.QueryInt(`PRAGMA page_count`)
		small = pages <= smallFile
		return err
	})
	return small, err
}

// Verify returns the schema version, including one that is only in the -wal, and checks the
// structure of a small file. Errors are FileErrors: ErrNotExist for a missing or empty file, and
// for one whose creation was interrupted.
func (f Format) Verify(path string) (version int, err error) {
	defer func() { err = Wrap("reading", path, err) }()
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, ErrNotExist // opening an empty file would delete its -wal
	}
	c, err := Peek(path)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	pages, err := c.QueryInt(`PRAGMA page_count`)
	if err != nil {
		return 0, err
	}
	if pages == 0 {
		return 0, ErrNotExist
	}
	version, err = f.versionOf(c)
	if err != nil || pages > smallFile {
		return version, err
	}
	return version, c.CheckStructure(context.Background())
}

// versionOf returns the schema version of a database. It returns a NewerError for a version that is
// not known, and the error of Check.
func (f Format) versionOf(c *Conn) (version int, err error) {
	found, err := c.QueryInt(`PRAGMA user_version`)
	switch version = int(found); {
	case err == nil && version > f.Version:
		err = &NewerError{version, f.Version}
	case err == nil && version == f.Version && f.Check != nil:
		err = f.Check(c)
	}
	return version, err
}

// CheckStructure returns ErrCorrupt if SQLite finds the structure of the database damaged. It
// stops when ctx ends.
func (c *Conn) CheckStructure(ctx context.Context) error {
	verdict := ""
	err := c.QueryContext(ctx, `PRAGMA integrity_check(1)`, nil, func(row Row) { verdict = row.Text(0) })
	if err == nil && verdict != "ok" {
		err = ErrCorrupt
	}
	return err
}
