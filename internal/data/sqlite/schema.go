package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// SchemaError lists the differences between the schema of a database and the schema of its version.
type SchemaError struct {
	Version int
	Faults  []string // such as: the table "x" is missing
}

func (e *SchemaError) Error() string {
	text := fmt.Sprintf("its schema differs from version %d: %s", e.Version, e.Faults[0])
	if more := len(e.Faults) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// CheckSchema returns a SchemaError if the schema of a database differs from Schema, because a
// foreign trigger or view could change or hide records. It accepts tables of SQLite and Litestream,
// and any older version, which an upgrade checks. Errors of Check come first.
func (f Format) CheckSchema(c *Conn) error {
	version, err := f.versionOf(c)
	switch {
	case err != nil:
		return err
	case version < 1:
		return ErrCorrupt
	case version < f.Version:
		return nil
	}
	want, err := schemaOf(f.Schema)
	if err != nil {
		return err
	}
	got, err := c.schema()
	if err != nil {
		return err
	}
	if faults := compare(got, want); len(faults) > 0 {
		return &SchemaError{version, faults}
	}
	return nil
}

// part is a table, an index, a trigger or a view.
type part struct{ kind, name, table string }

func (p part) String() string { return "the " + p.kind + " " + osutil.InQuotes(p.name) }

// externalTables has the statements of tables that SQLite and Litestream may add to any database.
// A table with one of these names but another statement, for example with a foreign key, could
// block writes.
var externalTables = map[string]string{
	"sqlite_sequence":  `CREATE TABLE sqlite_sequence(name,seq)`,
	"sqlite_stat1":     `CREATE TABLE sqlite_stat1(tbl,idx,stat)`,
	"sqlite_stat4":     `CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)`,
	"_litestream_seq":  `CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)`,
	"_litestream_lock": `CREATE TABLE _litestream_lock (id INTEGER)`,
}

func (c *Conn) schema() (map[part]string, error) {
	parts := map[part]string{}
	err := c.Query(`SELECT type, name, tbl_name, sql FROM sqlite_schema`, nil, func(row Row) {
		p, statement := part{row.Text(0), row.Text(1), row.Text(2)}, row.Text(3)
		external, isKnown := externalTables[p.name]
		if p.kind != "table" || !isKnown || !isSame(statement, external) {
			parts[p] = statement
		}
	})
	return parts, err
}

func schemaOf(text string) (parts map[part]string, err error) {
	c, err := open("file:schema?mode=memory&_error_rc=1&_dqs=0")
	if err != nil {
		return nil, err
	}
	if _, err = c.Exec(text); err == nil {
		parts, err = c.schema()
	}
	return parts, errors.Join(err, c.Close())
}

func compare(got, want map[part]string) (faults []string) {
	order := func(a, b part) int { return cmp.Compare(a.kind+"\x00"+a.name, b.kind+"\x00"+b.name) }
	for _, p := range slices.SortedFunc(maps.Keys(got), order) {
		if statement, ours := want[p]; !ours {
			faults = append(faults, p.String()+" is not part of this program's schema")
		} else if !isSame(got[p], statement) {
			faults = append(faults, p.String()+" differs from this program's schema")
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(want), order) {
		if _, exists := got[p]; !exists {
			faults = append(faults, p.String()+" is missing")
		}
	}
	return faults
}

var token = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|[ \t\n\f\r]+|'[^']*'|[\w$\x{80}-\x{10FFFF}]+|.`)
})

// isSame reports whether two statements differ at most in what normalize ignores.
func isSame(a, b string) bool { return a == b || normalize(a) == normalize(b) }

// normalize returns the tokens of a statement, separated by spaces. It ignores comments and
// whitespace, which ALTER TABLE changes. SQLite stops reading at a NUL.
func normalize(statement string) string {
	statement, _, _ = strings.Cut(statement, "\x00")
	var tokens []string
	for _, t := range token().FindAllString(statement, -1) {
		if strings.Trim(t, " \t\n\f\r") != "" && !strings.HasPrefix(t, "--") && !strings.HasPrefix(t, "/*") {
			tokens = append(tokens, t)
		}
	}
	return strings.Join(tokens, " ")
}

// Migrate upgrades the database at path from one schema version to another in one transaction that
// calls change. It does nothing if another process has already upgraded the file. Version 0 is an
// empty file.
func (f Format) Migrate(path string, from, to int, change func(*Conn) error) error {
	c, err := open(migrationDSN(path))
	if err != nil {
		return err
	}
	defer c.Close() // rolls back an open transaction
	if _, err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	current, err := c.QueryInt(`PRAGMA user_version`)
	if err != nil || current > int64(from) {
		return err
	}
	if _, err := c.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", int32(f.ApplicationID), to)); err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	_, err = c.Exec(`COMMIT`)
	return err
}
