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
const schemaVersion = 5

// oldSchemas are the files schema.sql of the versions before.
//
//go:embed schemas/*.sql
var oldSchemas embed.FS

// schema is that of our databases: "FfRs" in the header, the version, and the
// statements. An upgrade leaves the schema that a new database has.
var schema = database.Schema{
	Format:   sqlite.Format{ApplicationID: 0x46665273, Version: schemaVersion, Schema: schemaFor},
	Upgrades: map[int]func(*sqlite.Conn) error{1: upgradeTo2, 2: upgradeTo3, 3: upgradeTo4, 4: upgradeTo5},
}

func schemaFor(version int) string {
	if version == schemaVersion {
		return schemaSQL
	}
	text, err := oldSchemas.ReadFile(fmt.Sprintf("schemas/%d.sql", version))
	if err != nil {
		panic(err) // a test reads all of them
	}
	return string(text)
}

// upgradeTo2 drops the indexes by sort field. It adds the checksums of records
// and the tables of changes and of stored responses, which are empty at first.
func upgradeTo2(c *sqlite.Conn) error {
	_, err := c.Exec(`
		DROP INDEX IF EXISTS by_first_name;
		DROP INDEX IF EXISTS by_last_name;
		DROP INDEX IF EXISTS by_email;
		DROP INDEX IF EXISTS by_phone;
		DROP INDEX IF EXISTS by_birth;
		DROP TRIGGER firefighter_made;
		CREATE TRIGGER firefighter_made AFTER INSERT ON firefighters BEGIN
		    UPDATE tenants
		       SET last_seq   = max(last_seq, NEW.row & 0xffffffff),
		           live_count = live_count + (NEW.deleted_at IS NULL),
		           version    = version + 1
		     WHERE id = NEW.tenant_id;
		END;
		ALTER TABLE firefighters ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
		CREATE TABLE changes (
		    id        INTEGER PRIMARY KEY,
		    at        INTEGER NOT NULL,
		    tenant_id INTEGER NOT NULL,
		    record_id TEXT    NOT NULL,
		    action    TEXT    NOT NULL CHECK (action IN ('create', 'replace', 'delete', 'undelete', 'purge')),
		    key_id    INTEGER,
		    before    TEXT
		) STRICT;
		CREATE TABLE replays (
		    id              INTEGER PRIMARY KEY,
		    key_id          INTEGER NOT NULL,
		    idempotency_key TEXT    NOT NULL,
		    tenant_id       INTEGER NOT NULL,
		    created_at      INTEGER NOT NULL,
		    request_hash    BLOB    NOT NULL,
		    record_id       TEXT    NOT NULL,
		    answer          TEXT    NOT NULL,
		    checksum        INTEGER NOT NULL,
		    UNIQUE (key_id, idempotency_key)
		) STRICT;
		CREATE INDEX replays_by_age ON replays (created_at)`)
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
		sums[last] = record.Checksum(record.TenantID(row.Int(1)), row.Text(3), fields, !row.IsNull(2))
	})
	for row, sum := range sums {
		if err == nil {
			_, err = c.Exec(`UPDATE firefighters SET checksum = ? WHERE row = ?`, sum, row)
		}
	}
	return last, len(sums) > 0, err
}

// upgradeTo3 adds the scope admin, sessions and invitations, the versions of
// changes, and a random number that tells histories apart. The table of keys is made again,
// because a CHECK cannot be changed. A key whose department is missing stays as it is.
func upgradeTo3(c *sqlite.Conn) error {
	_, err := c.Exec(`
		PRAGMA defer_foreign_keys = on;
		ALTER TABLE keys RENAME TO keys2;
		CREATE TABLE keys (
		    id           INTEGER PRIMARY KEY,
		    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
		    tenant_id    INTEGER NOT NULL REFERENCES tenants (id),
		    label        TEXT    NOT NULL DEFAULT '' CHECK (length(label) <= 100),
		    scope        TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
		    created_at   INTEGER NOT NULL,
		    expires_at   INTEGER,
		    revoked_at   INTEGER,
		    last_used_at INTEGER,
		    session_lifetime INTEGER CHECK (session_lifetime > 0),
		    opened_by    INTEGER
		) STRICT;
		INSERT INTO keys (id, hash, tenant_id, label, scope, created_at, expires_at, revoked_at, last_used_at)
		SELECT id, hash, tenant_id, label, scope, created_at, expires_at, revoked_at, last_used_at FROM keys2;
		DROP TABLE keys2;
		CREATE TRIGGER key_made AFTER INSERT ON keys BEGIN
		    UPDATE service SET keys_version = keys_version + 1;
		END;
		CREATE TRIGGER key_changed
		AFTER UPDATE OF hash, tenant_id, label, scope, expires_at, revoked_at, session_lifetime, opened_by ON keys BEGIN
		    UPDATE service SET keys_version = keys_version + 1;
		END;
		CREATE TRIGGER key_erased AFTER DELETE ON keys BEGIN
		    UPDATE service SET keys_version = keys_version + 1;
		END;
		CREATE TABLE invitations (
		    id         INTEGER PRIMARY KEY,
		    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
		    tenant_id  INTEGER NOT NULL REFERENCES tenants (id),
		    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
		    scope      TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
		    created_at INTEGER NOT NULL,
		    expires_at INTEGER NOT NULL,
		    invited_by INTEGER
		) STRICT;
		ALTER TABLE changes ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
		ALTER TABLE service ADD COLUMN history INTEGER NOT NULL DEFAULT 0;
		ALTER TABLE service ADD COLUMN address TEXT NOT NULL DEFAULT '';
		UPDATE service SET history = random()`)
	return err
}

// upgradeTo4 adds the table of imports. It also gives an entry to each record of
// which the history does not know, because it was made under version 1. These come
// before all others, as their records do.
func upgradeTo4(c *sqlite.Conn) error {
	_, err := c.Exec(`
		CREATE TABLE imports (
		    tenant_id     INTEGER NOT NULL,
		    number        INTEGER NOT NULL,
		    at            INTEGER NOT NULL,
		    key_id        INTEGER,
		    file          TEXT    NOT NULL CHECK (length(file) <= 200),
		    hash          BLOB    NOT NULL CHECK (length(hash) = 32),
		    added         INTEGER NOT NULL,
		    changed       INTEGER NOT NULL,
		    first_change  INTEGER NOT NULL,
		    last_change   INTEGER NOT NULL,
		    taken_back_at INTEGER,
		    PRIMARY KEY (tenant_id, number)
		) STRICT`)
	if err != nil {
		return err
	}
	const unknown = ` FROM firefighters WHERE deleted_at IS NULL AND id NOT IN (SELECT record_id FROM changes)`
	added, err := c.QueryInt(`SELECT count(*)` + unknown)
	if err != nil || added == 0 {
		return err
	}
	_, err = c.Exec(`UPDATE changes SET id = -id`) // so that no two rows ever have the same
	if err == nil {
		_, err = c.Exec(`UPDATE changes SET id = ? - id`, added)
	}
	if err == nil {
		_, err = c.Exec(`
			INSERT INTO changes (id, at, tenant_id, record_id, action)
			SELECT row_number() OVER (ORDER BY created_at, row), created_at, tenant_id, id, 'create'` + unknown)
	}
	return err
}

// upgradeTo5 makes the table of changes again, ordered by department. The numbers
// of changes stay, because clients keep them as positions. Changes of no department,
// which nobody can read, are left out.
func upgradeTo5(c *sqlite.Conn) error {
	_, err := c.Exec(`
		ALTER TABLE changes RENAME TO changes4;
		CREATE TABLE changes (
		    id        INTEGER PRIMARY KEY CHECK (id >> 32 = tenant_id),
		    at        INTEGER NOT NULL,
		    tenant_id INTEGER NOT NULL,
		    record_id TEXT    NOT NULL,
		    action    TEXT    NOT NULL CHECK (action IN ('create', 'replace', 'delete', 'undelete', 'purge')),
		    key_id    INTEGER,
		    before    TEXT,
		    version   INTEGER NOT NULL DEFAULT 0
		) STRICT;
		INSERT INTO changes (id, at, tenant_id, record_id, action, key_id, before, version)
		SELECT tenant_id << 32 | id, at, tenant_id, record_id, action, key_id, before, version
		  FROM changes4 WHERE tenant_id IN (SELECT id FROM tenants) ORDER BY tenant_id, id;
		DROP TABLE changes4`)
	return err
}
