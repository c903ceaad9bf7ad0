-- Drops the indexes by sort field. Adds the checksums of records, which db.go fills in,
-- and the tables of changes and of stored responses, which are empty at first.
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
CREATE INDEX replays_by_age ON replays (created_at);
