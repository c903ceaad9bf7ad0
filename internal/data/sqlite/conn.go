package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Conn is a connection to a database, for one goroutine at a time. It prepares each SQL text once.
//
// It calls the driver directly. The locks, copies and goroutines of package database/sql take as
// long as a small query.
type Conn struct {
	driver     driver.Conn
	statements map[string]driver.Stmt
	wrote      bool // a statement that may write has run
}

// Args are the values for the placeholders of a statement: each is an int64, a string, a []byte or
// nil.
type Args = []driver.Value

// Row is a row of a result. It is valid until the function that scans it returns. Its strings and
// byte slices stay valid.
type Row []driver.Value

// Int returns an integer, or 0 for null.
func (r Row) Int(column int) int64 {
	n, _ := r[column].(int64)
	return n
}

// Text returns a string, or "" for null.
func (r Row) Text(column int) string {
	s, _ := r[column].(string)
	return s
}

// TextOrNil returns a string, or nil for null.
func (r Row) TextOrNil(column int) *string {
	if s, ok := r[column].(string); ok {
		return &s
	}
	return nil
}

// Time returns the UTC time of a number of milliseconds, or the zero time for null.
func (r Row) Time(column int) time.Time {
	if r.IsNull(column) {
		return time.Time{}
	}
	return time.UnixMilli(r.Int(column)).UTC()
}

// Bytes returns a blob, or nil for null.
func (r Row) Bytes(column int) []byte {
	b, _ := r[column].([]byte)
	return b
}

// IsNull reports whether the column is null.
func (r Row) IsNull(column int) bool { return r[column] == nil }

// engine holds the Go functions that SQL can call.
var engine sqlite.Driver

// Commits sync with fdatasync instead of fsync, because a commit needs no timestamps on disk. Where
// there is no fdatasync, the call fails and changes nothing.
func init() { sqlite.Fdatasync(true) }

// Function makes call available as a function of SQL on all connections opened later. call must
// always return the same result for the same arguments. Use Function before the rest of the package.
func Function(name string, arguments int, call func(arguments Row) driver.Value) {
	function := func(_ *sqlite.FunctionContext, values []driver.Value) (driver.Value, error) { return call(values), nil }
	engine.MustRegisterDeterministicScalarFunction(name, int32(arguments), function)
}

func open(dsn string) (*Conn, error) {
	c, err := engine.Open(dsn)
	if err != nil {
		return nil, translate(err)
	}
	return &Conn{driver: c, statements: map[string]driver.Stmt{}}, nil
}

// maxStatements limits the number of prepared statements. Only searches for many words have this
// many different texts.
const maxStatements = 200

func (c *Conn) prepare(text string) (driver.Stmt, error) {
	// Only a SELECT certainly writes nothing: even a WITH can contain an INSERT.
	c.wrote = c.wrote || !strings.HasPrefix(strings.TrimSpace(text), "SELECT")
	if statement := c.statements[text]; statement != nil {
		return statement, nil
	}
	if len(c.statements) >= maxStatements {
		c.closeStatements()
	}
	statement, err := c.driver.Prepare(text)
	if err != nil {
		return nil, translate(err)
	}
	c.statements[text] = statement
	return statement, nil
}

func named(args Args) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// Exec runs a statement and returns the number of rows that it changed.
func (c *Conn) Exec(text string, args ...driver.Value) (changed int64, err error) {
	statement, err := c.prepare(text)
	if err != nil {
		return 0, err
	}
	result, err := statement.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
	if err != nil {
		return 0, translate(err)
	}
	return result.RowsAffected() // costs no query
}

// Query calls scan for each row of the result. scan must not use the connection.
func (c *Conn) Query(text string, args Args, scan func(Row)) error {
	return c.QueryContext(context.Background(), text, args, scan)
}

// QueryContext is like Query, but stops when ctx ends.
func (c *Conn) QueryContext(ctx context.Context, text string, args Args, scan func(Row)) (err error) {
	statement, err := c.prepare(text)
	if err != nil {
		return err
	}
	rows, err := statement.(driver.StmtQueryContext).QueryContext(ctx, named(args))
	if err != nil {
		return translate(err)
	}
	defer func() { err = translate(cmp.Or(err, rows.Close())) }()
	row := make(Row, len(rows.Columns()))
	for ctx.Err() == nil {
		switch err := rows.Next(row); err {
		case nil:
			scan(row)
		case io.EOF:
			return nil
		default:
			return err
		}
	}
	return ctx.Err()
}

// QueryRow is like Query for a result of one row. It returns ErrNoRows if there is none.
func (c *Conn) QueryRow(text string, args Args, scan func(Row)) error {
	found := false
	err := c.Query(text, args, func(row Row) { found = true; scan(row) })
	if err == nil && !found {
		return ErrNoRows
	}
	return err
}

// QueryInt is like QueryRow for a single number.
func (c *Conn) QueryInt(text string, args ...driver.Value) (n int64, err error) {
	err = c.QueryRow(text, args, func(row Row) { n = row.Int(0) })
	return n, err
}

// Transaction runs do within one transaction, so that do reads a single state. If do returns an
// error or panics, the transaction is rolled back.
func (c *Conn) Transaction(do func() error) error {
	if _, err := c.Exec(`BEGIN`); err != nil {
		return err
	}
	committed := false
	defer func() { // runs after a panic as well
		if !committed {
			c.Exec(`ROLLBACK`) // fails if SQLite has already rolled back
		}
	}()
	if err := do(); err != nil {
		return err
	}
	_, err := c.Exec(`COMMIT`)
	committed = err == nil
	return err
}

func (c *Conn) closeStatements() error {
	var failures []error
	for _, statement := range c.statements {
		failures = append(failures, statement.Close())
	}
	clear(c.statements)
	return errors.Join(failures...)
}

// Close closes the connection and rolls back an open transaction.
func (c *Conn) Close() error { return errors.Join(c.closeStatements(), c.driver.Close()) }

// busyTimeout is how long a statement waits for another program's lock, and writerTimeout how long
// a write transaction waits. Importing 100,000 people with a command holds the lock for 3 s, or
// for 10 s on a busy machine. SQLite waits in steps of up to 100 ms, so the writer lets SQLite
// wait only for writerPatience and tries again: at once or, for a long job, after longPause.
const (
	busyTimeout    = 5 * time.Second
	writerTimeout  = 15 * time.Second
	writerPatience = 10 * time.Millisecond
	longPause      = 100 * time.Millisecond
)

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

const writerCache = 16_000 << 10 // bytes

// writerDSN makes every commit survive a power failure. In WAL mode this requires synchronous=FULL
// and, on macOS, fullfsync. The writer runs its own checkpoints.
func writerDSN(path string) string {
	return dsn(path, "mode=rw", "_journal_mode=WAL", "_synchronous=FULL", "_foreign_keys=1", "_pragma=fullfsync(1)",
		"_pragma=temp_store(memory)", fmt.Sprintf("_pragma=cache_size(-%d)", writerCache/1024), "_pragma=wal_autocheckpoint(0)",
		"_pragma=journal_size_limit(33554432)")
}

// readerDSN is for connections that read a database in WAL mode.
func readerDSN(path string) string {
	return dsn(path, "mode=ro", "_query_only=1", "_pragma=temp_store(memory)")
}

// migrationDSN does not change the journal mode, so that a power failure leaves either a complete
// new file or none.
func migrationDSN(path string) string {
	return dsn(path, "mode=rw", "_synchronous=FULL", "_foreign_keys=1", "_pragma=fullfsync(1)")
}

// peekDSN is for reading a file that other programs may use, or that a power failure interrupted.
// With mode=rw SQLite would copy an existing -wal into the file. With mode=ro it would create a
// -wal next to a file without one, and could not roll back an interrupted transaction.
func peekDSN(path string) string {
	if osutil.Exists(path + "-wal") {
		return dsn(path, "mode=ro")
	}
	if !osutil.Exists(path+"-journal") && !osutil.Writable(filepath.Dir(path)) {
		return immutableDSN(path) // no one changes it, and SQLite cannot create a -wal or -shm
	}
	return dsn(path, "mode=rw", "_query_only=1")
}

// immutableDSN is for reading a file that no one changes. It leaves no file next to it.
func immutableDSN(path string) string { return dsn(path, "mode=ro", "immutable=1", "_query_only=1") }

// privateDSN is for writing a copy that no other program uses yet and that is useless until it is
// complete. It needs no journal on disk and no locks, which some backup disks lack. A copy of a
// database in WAL mode leaves that mode here: nolock=1 could not open it, and SQLite would need a
// -shm without exclusive mode.
func privateDSN(path string) string {
	return dsn(path, "mode=rw", withoutLocks(), "_pragma=locking_mode(exclusive)", "_journal_mode=MEMORY", "_synchronous=OFF", "_foreign_keys=1")
}

// unnamedDSN is for reading a private file that has content only after the first connection to it.
// immutable=1 would take the size of the file at once.
func unnamedDSN(path string) string {
	return dsn(path, "mode=ro", withoutLocks(), "_query_only=1", "_pragma=temp_store(memory)")
}

func withoutLocks() string {
	if runtime.GOOS == "windows" {
		return "vfs=win32-none"
	}
	return "vfs=unix-none"
}
