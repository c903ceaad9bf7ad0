package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// The application ids in the header of a database: "FfR1", and before the first release "FfRs".
const (
	applicationID = 0x46665231
	unreleasedID  = 0x46665273
)

// Format returns the format of the databases that a version of schema.sql creates.
func Format(schema string, version int) sqlite.Format {
	return sqlite.Format{
		ApplicationID: applicationID, Unreleased: unreleasedID,
		Version: version, Schema: schema, Check: checkCreatedBy(schema),
	}
}

// Create creates the tables of an empty database.
func Create(c *sqlite.Conn, schema string) error {
	if _, err := c.Exec(schema); err != nil {
		return err
	}
	if err := NoteSchema(c, schema); err != nil {
		return err
	}
	return Renew(c)
}

// NoteSchema notes which schema a database has now: after it was created or upgraded.
func NoteSchema(c *sqlite.Conn, schema string) error {
	_, err := c.Exec(`UPDATE service SET schema_hash = ?`, hashOf(schema))
	return err
}

// checkCreatedBy returns a function that returns sqlite.ErrUnreleased for a database with a
// schema other than this one.
func checkCreatedBy(schema string) func(*sqlite.Conn) error {
	return func(c *sqlite.Conn) error {
		hash := ""
		err := c.QueryRow(`SELECT schema_hash FROM service`, nil, func(row sqlite.Row) { hash = row.Text(0) })
		if failure, ok := errors.AsType[sqlite.ResultError](err); ok && failure.IsSQL() || err == nil && hash != hashOf(schema) {
			return sqlite.ErrUnreleased
		}
		return err
	}
}

// hashOf returns a hash of a schema that ignores comments and white space.
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
