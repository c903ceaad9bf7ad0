package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"firefighters/internal/osutil"
)

//go:embed schema.sql
var schemaSQL string

// schemaVersion is that of schema.sql.
const schemaVersion = 2

// upgrades lead from a schema version to the next.
var upgrades = map[int]func(*conn) error{
	1: upgradeTo2,
}

// makeSchema makes an empty file a database.
func makeSchema(path string) error {
	return migrateOnce(path, 0, schemaVersion, func(c *conn) error {
		_, err := c.exec(schemaSQL)
		return err
	})
}

// upgrade takes the database at path, if it is of an older version, to ours,
// step by step, after a backup beside it. Nobody may serve it meanwhile: an
// older program would not know what to write.
func (p *program) upgrade(path string) error {
	path = resolve(path)
	if version := headerVersion(path); version < 1 || version >= schemaVersion {
		return nil // there is nothing to do, or the one who opens it says what is wrong
	}
	release, version, err := lockOld(path)
	if err != nil || version == schemaVersion {
		return err
	}
	defer release()
	was := version
	kept, made, err := p.keepOld(path, version)
	for err == nil && version < schemaVersion {
		if err = migrateOnce(path, version, version+1, upgrades[version]); err == nil {
			version++
		}
	}
	if err != nil && made && version == was {
		os.Remove(kept) // the database is as it was
	}
	if err != nil {
		return explain("upgrading", path, err)
	}
	return nil
}

// beforeUpgrade is what the copy of a database from before an upgrade has in
// its name.
const beforeUpgrade = ".before-upgrade-"

// keepOld gives the copy of a database that is about to be upgraded: the one
// of an upgrade that was cut off if there is one, or else one that it makes.
func (p *program) keepOld(path string, version int) (kept string, made bool, err error) {
	kept = p.keptOld(path, version)
	if made = kept == ""; made {
		kept = freeName(path, beforeUpgrade)
	}
	fmt.Fprintf(p.stderr, "Upgrading the database %s; as it is now it will stay in %s.\n", quoteArg(path), quoteArg(kept))
	if !made {
		return kept, false, nil
	}
	step, end := p.backupBar()
	defer end()
	_, err = (&backup{source: path, target: kept, room: roomFor(osutil.SpaceOf, 0), step: step}).make(p.ctx)
	return kept, err == nil, err
}

// keptOld looks for a copy beside a database that is whole and holds the same;
// there is none: empty.
func (p *program) keptOld(path string, version int) string {
	holds := contentMark(verifyDSN(path))
	entries, _ := os.ReadDir(filepath.Dir(path)) // what cannot be read holds none
	for _, e := range entries {
		kept := filepath.Join(filepath.Dir(path), e.Name())
		if !strings.HasPrefix(e.Name(), filepath.Base(path)+beforeUpgrade) || headerVersion(kept) != version {
			continue
		}
		_, err := checkCopy(p.ctx, kept)
		if err == nil && holds != "" && contentMark(copyDSN(kept)) == holds {
			return kept
		}
	}
	return ""
}

// contentMark differs between a database as it is now and as it was before its
// last change; it is empty if it cannot be read.
func contentMark(dsn string) (mark string) {
	c, err := openConn(dsn)
	if err != nil {
		return ""
	}
	defer c.Close()
	err = c.query(`SELECT concat_ws(' ', latest_time, keys_version, (SELECT count(*) FROM keys), (SELECT count(*) FROM firefighters),
		(SELECT max(updated_at) FROM firefighters), (SELECT group_concat(version) FROM tenants)) FROM service`,
		nil, func(row values) { mark = text(row[0]) })
	if err != nil {
		return ""
	}
	return mark
}

// lockOld locks a database that is to be upgraded, and gives its version. If
// another program is just upgrading it, it waits until that is done, and there
// is nothing to release.
func lockOld(path string) (release func() error, version int, err error) {
	for wait := 0; ; wait++ {
		release, err = lockDatabase(path)
		if err != nil && !errors.Is(err, errInUse) {
			return nil, 0, err
		}
		version, versionErr := verify(path)
		switch {
		case err == nil && (versionErr != nil || version == schemaVersion):
			return nil, version, errors.Join(versionErr, release())
		case err == nil:
			return release, version, nil
		case versionErr == nil && version == schemaVersion:
			return nil, version, nil
		case wait == 50:
			return nil, 0, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// migrateOnce takes the database from one version to another, all of it or
// nothing. A file that another process has just taken there is left alone.
func migrateOnce(path string, from, to int, change func(*conn) error) error {
	c, err := openConn(migrationDSN(path))
	if err != nil {
		return err
	}
	defer c.Close() // without a COMMIT, undoes everything
	if _, err := c.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	current, err := c.queryNumber(`PRAGMA user_version`)
	if err != nil || current > int64(from) {
		return err
	}
	if _, err := c.exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, to)); err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	_, err = c.exec(`COMMIT`)
	return err
}

// upgradeTo2 lets the indexes by sort field go, and adds the checksums of
// records and the tables of changes and replays, which begin empty.
func upgradeTo2(c *conn) error {
	_, err := c.exec(`
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

// checksummedAtOnce is how many records are read before they are written.
const checksummedAtOnce = 1000

const sumSQL = `
	SELECT row, tenant_id, deleted_at IS NOT NULL, concat_ws(char(10), id, first_name, last_name,
	       ifnull(phone_number, ''), ifnull(email, ''), ifnull(date_of_birth, ''))
	  FROM firefighters WHERE row > ? ORDER BY row LIMIT ?`

// addChecksums writes those of the records after a row, and gives the last.
func addChecksums(c *conn, after int64) (last int64, more bool, err error) {
	sums := map[int64]int64{}
	last = after
	err = c.query(sumSQL, values{after, int64(checksummedAtOnce)}, func(row values) {
		last = number(row[0])
		sums[last] = checksum(tenantID(number(row[1])), text(row[3]))
		if number(row[2]) == 1 {
			sums[last] = ^sums[last]
		}
	})
	for row, sum := range sums {
		if err == nil {
			_, err = c.exec(`UPDATE firefighters SET checksum = ? WHERE row = ?`, sum, row)
		}
	}
	return last, len(sums) == checksummedAtOnce, err
}
