package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// The application ids in the header of a database. unreleasedID was in use before the first release.
const (
	applicationID = 0x46665231 // "FfR1"
	unreleasedID  = 0x46665273 // "FfRs"
)

// Format returns the format of databases created by a version of schema.sql.
func Format(schema string, version int) sqlite.Format {
	return sqlite.Format{
		ApplicationID: applicationID, Unreleased: unreleasedID,
		Version: version, Schema: schema,
		Check: func(c *sqlite.Conn) error { // fails for a database with another schema
			hash := ""
			err := c.QueryRow(`SELECT schema_hash FROM service`, nil, func(row sqlite.Row) { hash = row.Text(0) })
			if failure, ok := errors.AsType[sqlite.ResultError](err); ok && failure.IsSQL() || err == nil && hash != hashOf(schema) {
				return sqlite.ErrUnreleased
			}
			return err
		},
	}
}

// Create creates the tables in an empty database.
func Create(c *sqlite.Conn, schema string) error {
	if _, err := c.Exec(schema); err != nil {
		return err
	}
	if err := NoteSchema(c, schema); err != nil {
		return err
	}
	if _, err := c.Exec(`UPDATE service SET folding = ?`, int64(fold.Version)); err != nil {
		return err
	}
	return Renew(c)
}

// NoteSchema stores the hash of the schema that a database now has, after it was created or
// upgraded.
func NoteSchema(c *sqlite.Conn, schema string) error {
	_, err := c.Exec(`UPDATE service SET schema_hash = ?`, hashOf(schema))
	return err
}

// hashOf returns the hash of a schema. It ignores comments and white space.
func hashOf(schema string) string {
	hash := sha256.New()
	for line := range strings.Lines(schema) {
		statement, _, _ := strings.Cut(line, "--")
		for _, word := range strings.Fields(statement) {
			hash.Write([]byte(word + " "))
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
