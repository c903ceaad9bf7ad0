package main

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// conn is one connection to the database, for one goroutine at a time, with
// each SQL text prepared once. It speaks to the driver without package
// database/sql between them, whose locks, copies and goroutines cost as much
// as a small query itself.
type conn struct {
	driver.Conn
	statements map[string]driver.Stmt
	dsn        string
	broken     bool // SQLite was torn out of its work; it is not to be called again
}

// The names of the driver's values, which are int64, string, []byte and nil.
type (
	value  = driver.Value
	values = []driver.Value
)

func openConn(dsn string) (*conn, error) {
	c, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, translate(err)
	}
	return &conn{c, map[string]driver.Stmt{}, dsn, false}, nil
}

// prepare gives the statement for an SQL text, and its arguments as the driver
// wants them.
func (c *conn) prepare(text string, args values) (driver.Stmt, []driver.NamedValue, error) {
	if c.broken {
		fresh, err := openConn(c.dsn)
		if err != nil {
			return nil, nil, err
		}
		*c = *fresh
	}
	statement := c.statements[text]
	if statement == nil {
		var err error
		if statement, err = c.Conn.Prepare(text); err != nil {
			return nil, nil, translate(err)
		}
		c.statements[text] = statement
	}
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return statement, named, nil
}

// exec gives the number of rows changed.
func (c *conn) exec(text string, args ...value) (changed int64, err error) {
	changed, _, err = c.insert(text, args...)
	return changed, err
}

// insert is exec that gives the newest row, too.
func (c *conn) insert(text string, args ...value) (changed, row int64, err error) {
	statement, named, err := c.prepare(text, args)
	if err != nil {
		return 0, 0, err
	}
	result, err := statement.(driver.StmtExecContext).ExecContext(context.Background(), named)
	if err != nil {
		return 0, 0, translate(err)
	}
	row, _ = result.LastInsertId() // the driver knows both
	changed, _ = result.RowsAffected()
	return changed, row, nil
}

// atOnce has everything that it reads be of one moment.
func (c *conn) atOnce(do func() error) error {
	if _, err := c.exec(`BEGIN`); err != nil {
		return err
	}
	err := do() // after a panic the connection is not used again
	_, endErr := c.exec(`COMMIT`)
	return cmp.Or(err, endErr)
}

// query calls scan for each row of the answer. The row is good until scan
// returns, its values for longer.
func (c *conn) query(text string, args values, scan func(row values)) (err error) {
	statement, named, err := c.prepare(text, args)
	if err != nil {
		return err
	}
	rows, err := statement.(driver.StmtQueryContext).QueryContext(context.Background(), named)
	if err != nil {
		return translate(err)
	}
	defer func() { err = translate(cmp.Or(err, rows.Close())) }()
	row := make(values, len(rows.Columns()))
	for {
		switch err := rows.Next(row); err {
		case nil:
			scan(row)
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// queryRow is query for an answer of one row; if there is none the error is
// errNotFound.
func (c *conn) queryRow(text string, args values, scan func(row values)) error {
	found := false
	err := c.query(text, args, func(row values) { found = true; scan(row) })
	if err == nil && !found {
		return errNotFound
	}
	return err
}

// queryNumber is queryRow for a single number.
func (c *conn) queryNumber(text string, args ...value) (n int64, err error) {
	err = c.queryRow(text, args, func(row values) { n = number(row[0]) })
	return n, err
}

func (c *conn) Close() error {
	if c.broken {
		return nil
	}
	var failures []error
	for _, statement := range c.statements {
		failures = append(failures, statement.Close())
	}
	return errors.Join(append(failures, c.Conn.Close())...)
}

// text gives a text, empty for null.
func text(v value) string {
	s, _ := v.(string)
	return s
}

// textOrNil gives a text, nil for null.
func textOrNil(v value) *string {
	if s, ok := v.(string); ok {
		return &s
	}
	return nil
}

// number gives an integer, 0 for null.
func number(v value) int64 {
	n, _ := v.(int64)
	return n
}

// orNull makes the empty text null.
func orNull(s string) value {
	if s == "" {
		return nil
	}
	return s
}

// sqliteError is what went wrong in SQLite, by its extended result code. Its
// text is SQLite's general one, without the table, statement or file, for it
// is for the log.
type sqliteError int

func (e sqliteError) Error() string {
	text, known := sqlite.ErrorCodeString[int(e)]
	if !known {
		text = sqlite.ErrorCodeString[int(e)&0xff]
	}
	return fmt.Sprintf("SQLite result %d: %s", int(e), text)
}

// Is matches the errors of the store that SQLite is the source of.
func (e sqliteError) Is(target error) bool {
	switch e & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return target == errBusy
	case sqlite3.SQLITE_FULL:
		return target == errFull
	}
	return e == sqlite3.SQLITE_IOERR_SHMSIZE && target == errFull // no room for the -shm
}

// translate turns the driver's errors into our own, and leaves others as they
// are.
func translate(err error) error {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return sqliteError(failure.Code())
	}
	return err
}

// sqliteCode is the primary result code in err, 0 if there is none.
func sqliteCode(err error) int {
	var failure sqliteError
	if errors.As(err, &failure) {
		return int(failure) & 0xff
	}
	return 0
}
