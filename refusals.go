package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"firefighters/internal/osutil"
)

// What is said of a database file that cannot be used, and what to type.

// explain says for people why SQLite could not work with the file at path.
func explain(doing, path string, err error) error {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return damaged(path)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return forbidden(doing, path)
	case sqlite3.SQLITE_BUSY:
		return hinted{fmt.Errorf("%s database %q: %w", doing, path, errBusy), "the same again, when that program has finished or is closed"}
	}
	switch {
	case mayNot(err):
		return forbidden(doing, path)
	case errors.Is(err, errFull):
		return hinted{fmt.Errorf("%s database %q: the disk is full", doing, path), "make room on the disk, then try again"}
	case sqliteCode(err) == sqlite3.SQLITE_IOERR:
		return hinted{fmt.Errorf("%s database %q: %w", doing, path, err), "look whether its disk fails, is full or is gone"}
	}
	return fmt.Errorf("%s database %q: %w", doing, path, err)
}

// mayNot tells whether the system does not let us.
func mayNot(err error) bool { return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) }

func forbidden(doing, path string) error {
	if osutil.ReadOnly(filepath.Dir(path)) {
		return hinted{fmt.Errorf("%s database %q: %w", doing, path, errReadOnly), readOnlyHint}
	}
	return hinted{fmt.Errorf("%s database %q: %w", doing, path, errForbidden),
		"start as the user who owns both, or give another file with --db"}
}

// readOnlyHint is for a disk from which SQLite cannot even read a -wal.
const readOnlyHint = "copy the file, and its -wal if there is one, to a folder on another disk, and name it there"

var (
	errNotOurs   = errors.New("is not a database of this program")
	errDamaged   = errors.New("is damaged")
	errForbidden = errors.New("the file or its folder may not be read and written")
	errReadOnly  = errors.New("it is on a disk that is read-only")
)

// notAFile says of a folder what to name instead.
func notAFile(path string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%q is not a file", path)
	}
	return hinted{fmt.Errorf("%q is a folder", path), "name the file in it: --db " + quoteArg(filepath.Join(path, "firefighters.db"))}
}

func noDatabase(path string) error {
	return hinted{fmt.Errorf("%w at %q", errNoDatabase, path),
		"name the right file with --db, or bring back a backup: firefighters restore FILE --db " + quoteArg(path)}
}

func newer(path string, version int) error {
	return hinted{fmt.Errorf("%q was made by a newer version of this program (schema %d, this one knows %d)",
		path, version, schemaVersion), "install the newer version; the file was left as it is"}
}

func notOurs(path string) error {
	return hinted{fmt.Errorf("%q %w", path, errNotOurs),
		"give another file with --db, or, if it was one and is damaged: firefighters restore FILE --db " + quoteArg(path) + "; it was left as it is"}
}

func damaged(path string) error {
	return hinted{fmt.Errorf("database %q %w", path, errDamaged),
		"put a backup in its place: firefighters restore FILE --db " + quoteArg(path) + "; this file was left as it is"}
}
