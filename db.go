package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema.sql
var schemaSQL string

// migrations lead from one schema version to the next, from an empty file on:
// each runs in one transaction with the PRAGMA user_version that it reaches.
var migrations = []string{schemaSQL}

// applicationID is "FfRs", in the header of every database that we made.
const applicationID = 0x46665273

// busyTimeout is how long a statement waits for another program's lock.
const busyTimeout = 5 * time.Second

// quickCheckSize is the largest file that is read through before it is
// opened: some tenths of a second on a slow machine.
const quickCheckSize = 16 << 20

// What the methods of the store answer beside success. Everything else is a
// failure whose text is for the log alone.
var (
	errNotFound = errors.New("no such record")
	errBusy     = errors.New("the database is locked by another program")
	errFull     = errors.New("the disk is full")
	errClosed   = errors.New("the database is closed")
)

var errNoDatabase = errors.New("there is no database")

// hinted is an error for the person at the keyboard, with what to type.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// tenantID is the department that a request, and so every method on its
// records, is for.
type tenantID int64

// store is an open database: one connection that writes, a few that read.
type store struct {
	path    string
	clock   *clock
	reader  *statements
	writer  *writer
	closers []io.Closer
}

// openStore opens the database at path. Where there is none it makes one, if
// create is set; made says so. A file that is not ours, newer than we are or
// damaged is refused and left as it is.
func openStore(path string, create bool, now func() time.Time) (s *store, made bool, err error) {
	version, err := inspect(path)
	switch {
	case errors.Is(err, errNoDatabase) && create:
		made = true
		if err = createFile(path); err != nil {
			return nil, false, err
		}
	case err != nil:
		return nil, false, err
	}
	for ; version < len(migrations); version++ {
		if err := migrate(path, version); err != nil {
			return nil, false, fmt.Errorf("setting up database %q: %w", path, err)
		}
	}
	s, err = connect(path, now)
	if err != nil {
		return nil, false, fmt.Errorf("opening database %q: %w", path, err)
	}
	return s, made, nil
}

// connect opens the connections of a store on a database that is in order.
func connect(path string, now func() time.Time) (*store, error) {
	writing, err := openConnections(writerDSN(path), 1)
	if err != nil {
		return nil, err
	}
	reading, err := openConnections(readerDSN(path), max(4, runtime.NumCPU()))
	if err != nil {
		return nil, errors.Join(err, writing.Close())
	}
	s := &store{path: path, clock: &clock{system: now}, reader: &statements{on: reading}}
	var latest int64
	err = s.reader.queryRow(`SELECT latest_time FROM service`, nil, &latest)
	if err != nil {
		return nil, errors.Join(err, reading.Close(), writing.Close())
	}
	conn, err := writing.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, reading.Close(), writing.Close())
	}
	s.clock.latest.Store(latest)
	s.clock.saved.Store(latest)
	s.writer = startWriter(&statements{on: conn}, s.clock)
	// The last connection to close tidies up, if no statement holds it open.
	s.closers = []io.Closer{s.reader, reading, s.writer.statements, conn, writing}
	return s, nil
}

// close waits for the writes under way and closes the database.
func (s *store) close() error {
	s.writer.stop()
	var failures []error
	for _, c := range s.closers {
		failures = append(failures, c.Close())
	}
	return errors.Join(failures...)
}

// ping reports whether the database answers.
func (s *store) ping() error {
	var one int
	return s.reader.queryRow(`SELECT only_row FROM service`, nil, &one)
}

// isEmpty reports whether the database has no department yet.
func (s *store) isEmpty() (empty bool, err error) {
	err = s.reader.queryRow(`SELECT NOT EXISTS (SELECT 1 FROM tenants)`, nil, &empty)
	return empty, err
}

// lockDatabase makes sure that no other process serves the database at path,
// until release. SQLite itself holds the lock, on an empty file beside the
// database, for it knows how to on every system.
func lockDatabase(path string) (release func() error, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	lock := path + "-lock"
	if err := createFile(lock); err != nil {
		return nil, err
	}
	db, err := openConnections(lockDSN(lock), 1)
	if err == nil {
		_, err = db.Exec(`BEGIN EXCLUSIVE`)
	}
	switch {
	case err == nil:
		return db.Close, nil
	case errors.Is(translate(err), errBusy):
		return nil, hinted{fmt.Errorf("database %q is in use: another firefighters serves it", path),
			"stop that one first, or give another file with --db"}
	}
	return nil, fmt.Errorf("locking database %q: %w", path, err)
}

// inspect gives the schema version of the database at path, or the reason
// why it is not ours to open, errNoDatabase among them; an empty file is none.
// It changes nothing.
func inspect(path string) (version int, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Size() == 0:
		return 0, hinted{fmt.Errorf("%w at %q", errNoDatabase, path),
			"firefighters serve --db " + quoteArg(path) + ", which makes one"}
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%q is not a file", path)
	}
	db, err := sql.Open("sqlite", inspectDSN(path))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var id int
	if err := db.QueryRow(`SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`).
		Scan(&id, &version); err != nil {
		return 0, inspectError(path, err)
	}
	return version, judge(db, path, info.Size(), id, version)
}

// judge refuses a file that is readable as a database but not to be opened.
func judge(db *sql.DB, path string, size int64, id, version int) error {
	switch {
	case id != applicationID:
		return hinted{fmt.Errorf("%q is not a database of this program", path),
			"give another file with --db; this one was left as it is"}
	case version > len(migrations):
		return hinted{fmt.Errorf("%q was made by a newer version of this program (schema %d, this one knows %d)",
			path, version, len(migrations)), "install the newer version; the file was left as it is"}
	case size > quickCheckSize:
		return nil
	}
	var verdict string
	if err := db.QueryRow(`PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return inspectError(path, err)
	}
	if verdict != "ok" {
		return damaged(path)
	}
	return nil
}

// inspectError says for people why SQLite could not read the file at path.
func inspectError(path string, err error) error {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_NOTADB:
		return hinted{fmt.Errorf("%q is not a database, or its first page is damaged", path),
			"give another file with --db, or put a backup in its place; this one was left as it is"}
	case sqlite3.SQLITE_CORRUPT:
		return damaged(path)
	}
	return fmt.Errorf("reading database %q: %w", path, translate(err))
}

func damaged(path string) error {
	return hinted{fmt.Errorf("database %q is damaged", path), "put a backup in its place; this file was left as it is"}
}

// createFile makes an empty file that only its owner can read. SQLite gives
// the files that it puts beside it the same permissions.
func createFile(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return hinted{fmt.Errorf("the folder of %q does not exist", path),
			"make it first: mkdir " + quoteArg(filepath.Dir(path))}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("making database: %w", err)
	}
	return file.Close()
}

// migrate takes the database from schema version to the next. A file that
// another process has just taken there is left alone.
func migrate(path string, version int) error {
	db, err := openConnections(migrationDSN(path), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return translate(err)
	}
	defer tx.Rollback()
	var current int
	if err := tx.QueryRow(`PRAGMA user_version`).Scan(&current); err != nil || current > version {
		return err
	}
	marks := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, version+1)
	if _, err := tx.Exec(migrations[version] + marks); err != nil {
		return translate(err)
	}
	return translate(tx.Commit())
}

// Settings are part of the data source name, for then every connection of a
// pool has them.

func dsn(path string, settings ...string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/x is /C:/x in a URL
	}
	settings = append(settings, "_error_rc=1", "_dqs=0", "_defensive=1",
		fmt.Sprintf("_busy_timeout=%d", busyTimeout.Milliseconds()))
	return (&url.URL{Scheme: "file", Path: path, RawQuery: strings.Join(settings, "&")}).String()
}

// inspectDSN reads only. With mode=ro SQLite would leave a -wal and a -shm
// beside a file that has none; with mode=rw it would write what it finds in a
// -wal into the file.
func inspectDSN(path string) string {
	if _, err := os.Stat(path + "-wal"); err == nil {
		return dsn(path, "mode=ro")
	}
	return dsn(path, "mode=rw", "_query_only=1")
}

// migrationDSN leaves the journal mode alone, so that a new file is made
// whole or, when the power fails, not at all.
func migrationDSN(path string) string {
	return dsn(path, "mode=rw", "_txlock=immediate", "_synchronous=FULL", "_foreign_keys=1")
}

// writerDSN makes every commit survive a power cut: in WAL mode that takes
// synchronous=FULL, and on macOS fullfsync too.
func writerDSN(path string) string {
	return dsn(path, "mode=rw", "_txlock=immediate", "_journal_mode=WAL", "_synchronous=FULL", "_foreign_keys=1",
		"_pragma=fullfsync(1)", "_pragma=temp_store(memory)", "_pragma=journal_size_limit(16777216)")
}

func readerDSN(path string) string {
	return dsn(path, "mode=ro", "_query_only=1", "_pragma=temp_store(memory)")
}

func lockDSN(path string) string {
	return dsn(path, "mode=rw", "_timeout=0", "_journal_mode=MEMORY")
}

// openConnections opens a pool of n connections that stay open.
func openConnections(dsn string, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	if err := db.Ping(); err != nil {
		return nil, errors.Join(translate(err), db.Close())
	}
	return db, nil
}

// statements prepares each SQL text once, on one connection or on those of a
// pool. None of its methods takes a context: a statement is short, and to
// watch for the end of a context would cost a goroutine each time.
type statements struct {
	on interface {
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}
	mu     sync.RWMutex
	byText map[string]*sql.Stmt
}

func (s *statements) prepare(text string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt := s.byText[text]
	s.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt := s.byText[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, translate(err)
	}
	if s.byText == nil {
		s.byText = map[string]*sql.Stmt{}
	}
	s.byText[text] = stmt
	return stmt, nil
}

// exec gives the number of rows changed.
func (s *statements) exec(text string, args ...any) (int64, error) {
	stmt, err := s.prepare(text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.Exec(args...)
	if err != nil {
		return 0, translate(err)
	}
	return result.RowsAffected()
}

// query calls scan for each row of the answer.
func (s *statements) query(text string, args []any, scan func(*sql.Rows) error) error {
	stmt, err := s.prepare(text)
	if err != nil {
		return err
	}
	rows, err := stmt.Query(args...)
	if err != nil {
		return translate(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}

// queryRow scans the only row of the answer; where there is none the error is
// errNotFound.
func (s *statements) queryRow(text string, args []any, dest ...any) error {
	stmt, err := s.prepare(text)
	if err != nil {
		return err
	}
	return translate(stmt.QueryRow(args...).Scan(dest...))
}

// Close closes the statements, and not what they were prepared on.
func (s *statements) Close() error {
	var failures []error
	for _, stmt := range s.byText {
		failures = append(failures, stmt.Close())
	}
	return errors.Join(failures...)
}

// translate turns the driver's codes into our own errors, and leaves others
// as they are.
func translate(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errNotFound
	}
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errBusy
	case sqlite3.SQLITE_FULL:
		return errFull
	}
	return err
}

// sqliteCode is the primary result code in err, 0 if there is none.
func sqliteCode(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code() & 0xff
	}
	return 0
}

// clock never goes back, not even across restarts: what has once expired
// stays so on a machine that starts in 1970.
type clock struct {
	system func() time.Time
	latest atomic.Int64 // milliseconds
	saved  atomic.Int64 // what the database has of it; set by the writer
}

// now is the system's time, or the latest time seen if that is later.
func (c *clock) now() time.Time {
	now := c.system()
	for {
		latest := c.latest.Load()
		if now.UnixMilli() <= latest {
			return time.UnixMilli(latest).UTC()
		}
		if c.latest.CompareAndSwap(latest, now.UnixMilli()) {
			return now.UTC()
		}
	}
}
