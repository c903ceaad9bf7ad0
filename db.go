package main

import (
	"embed"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

//go:embed schema.sql
var schemaSQL string

// schemaVersion is that of schema.sql.
const schemaVersion = 7

// olderSQL are the files schema.sql of the versions before, and the step to each version
// from the one before it.
//
//go:embed schemas/*.sql upgrades/*.sql
var olderSQL embed.FS

// schema is that of our databases: "FfRs" in the header, the version, and the
// statements. An upgrade leaves the schema that a new database has.
var schema = database.Schema{
	Files:    sqlite.Format{ApplicationID: 0x46665273, Version: schemaVersion, Schema: schemaFor},
	Upgrades: map[int]func(*sqlite.Conn) error{1: upgradeTo2, 2: upgradeTo(3), 3: upgradeTo(4), 4: upgradeTo(5), 5: upgradeTo(6), 6: upgradeTo(7)},
}

func schemaFor(version int) string {
	if version == schemaVersion {
		return schemaSQL
	}
	return older(fmt.Sprintf("schemas/%d.sql", version))
}

func older(name string) string {
	text, err := olderSQL.ReadFile(name)
	if err != nil {
		panic(err) // a test reads all of them
	}
	return string(text)
}

// upgradeTo returns the step to a version from the one before it.
func upgradeTo(version int) func(*sqlite.Conn) error {
	return func(c *sqlite.Conn) error {
		_, err := c.Exec(older(fmt.Sprintf("upgrades/%d.sql", version)))
		return err
	}
}

// upgradeTo2 also writes the checksums of all records.
func upgradeTo2(c *sqlite.Conn) error {
	err := upgradeTo(2)(c)
	for last, more := int64(0), true; more && err == nil; {
		last, more, err = addChecksums(c, last)
	}
	return err
}

const unsummedSQL = `
	SELECT row, tenant_id, deleted_at, id, first_name, last_name, phone_number, email, date_of_birth
	  FROM firefighters WHERE row > ? ORDER BY row LIMIT 1000`

// addChecksums writes the checksums of the next records after a row, and
// returns the last of them.
func addChecksums(c *sqlite.Conn, after int64) (last int64, more bool, err error) {
	sums := map[int64]int64{}
	err = c.Query(unsummedSQL, sqlite.Args{after}, func(row sqlite.Row) {
		fields := record.Fields{FirstName: row.Text(4), LastName: row.Text(5), PhoneNumber: row.Text(6),
			Email: row.Text(7), DateOfBirth: row.Text(8)}
		last = row.Int(0)
		sums[last] = record.Checksum(record.TenantID(row.Int(1)), row.Text(3), &fields, !row.IsNull(2))
	})
	for row, sum := range sums {
		if err == nil {
			_, err = c.Exec(`UPDATE firefighters SET checksum = ? WHERE row = ?`, sum, row)
		}
	}
	return last, len(sums) > 0, err
}
