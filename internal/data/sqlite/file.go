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
	Unreleased    uint32 // the application id of its versions before the first release; 0: there are none
	Version       int    // of Schema
	Schema        string // creates an empty database; "" accepts any schema

	// Check returns ErrUnreleased for a database of this version that an unreleased program
	// created from another schema. It may be nil.
	Check func(*Conn) error
}

// headerSize is the length of the header of a database (SQLite file format,
// section 1.3).
const headerSize = 100

// Inspect returns nil if there is a database of this format at path. Else it
// returns a FileError: ErrNotExist, also for an empty file, or what is there
// instead. It works without SQLite, which would change a file that is not ours.
// This process must not have the file open as a database: on Unix, closing any
// descriptor of a file ends SQLite's locks on it.
func (f Format) Inspect(path string) error {
	_, err := f.inspect(path)
	return wrap("reading", path, err)
}

// HeaderVersion returns the schema version in the header of a database of
// this format, 0 for any other file. The -wal may hold a newer one. Like Inspect
// it must not read a file that this process has open as a database.
func (f Format) HeaderVersion(path string) int {
	version, _ := f.inspect(path)
	return version
}

// maxPath is the length of the longest path of a database that SQLite opens, with room for
// the endings of the names next to it.
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

// judge reads the header of a file. It has held our application id since its
// first transaction. A blank header beside a journal means that this
// transaction was interrupted, and SQLite will roll it back.
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
	// A page may be half written while there is a -wal, which holds the whole.
	cut := pageSize > 1 && size%pageSize != 0 && !osutil.Exists(path+"-wal")
	switch {
	case version < 1 || cut:
		return 0, ErrCorrupt
	case version > f.Version:
		return 0, &NewerError{version, f.Version}
	}
	return version, nil
}

// WasInUse reports whether the file at path was a database in use, as opposed
// to a copy that this package made: its header says WAL, and the -wal is missing.
// Like Inspect it must not read a file that this process has open as a database.
func WasInUse(path string) bool {
	header, err := readHeader(path)
	const writeVersion, wal = 18, 2
	return err == nil && header[writeVersion] == wal && !osutil.Exists(path+"-wal")
}

// smallFile is the size, in pages (1 MB, some 2,500 records), of the largest
// file that is looked through before it is served. That takes 0.05 s. A start
// that waits for more would be felt.
const smallFile = 256

// Small reports whether Verify checks the whole of this database.
func (db *DB) Small() (small bool, err error) {
	err = db.Read(func(c *Conn) error {
		pages, err := c.QueryInt(`PRAGMA page_count`)
		small = pages <= smallFile
		return err
	})
	return small, err
}

// Verify returns the schema version that SQLite sees, which may be in the
// -wal, and checks the structure of a small file. A missing or empty file and a file
// that was being made when the power failed are ErrNotExist. Errors are FileErrors.
func (f Format) Verify(path string) (version int, err error) {
	defer func() { err = wrap("reading", path, err) }()
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, ErrNotExist // SQLite would delete the -wal of an empty file
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
	found, err := c.QueryInt(`PRAGMA user_version`)
	switch version = int(found); {
	case err != nil:
		return 0, err
	case version > f.Version:
		return 0, &NewerError{version, f.Version}
	case version == f.Version && f.Check != nil:
		if err := f.Check(c); err != nil {
			return 0, err
		}
	}
	if pages > smallFile {
		return version, nil
	}
	return version, c.CheckStructure(context.Background())
}

// CheckStructure returns ErrCorrupt unless SQLite finds the structure of the
// file sound. It ends early when ctx does.
func (c *Conn) CheckStructure(ctx context.Context) error {
	verdict := ""
	err := c.QueryContext(ctx, `PRAGMA integrity_check(1)`, nil, func(row Row) { verdict = row.Text(0) })
	if err == nil && verdict != "ok" {
		err = ErrCorrupt
	}
	return err
}
