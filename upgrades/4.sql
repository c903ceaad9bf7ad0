-- Adds the table of imports.
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
) STRICT;
-- Gives an entry to each record of which the history does not know, because it was made
-- under version 1. These come before all others, as their records do.
CREATE TEMP TABLE unknown AS
SELECT row_number() OVER (ORDER BY created_at, row) AS number, created_at, tenant_id, id
  FROM firefighters WHERE deleted_at IS NULL AND id NOT IN (SELECT record_id FROM changes);
UPDATE changes SET id = -id WHERE EXISTS (SELECT * FROM unknown); -- so that no two rows ever have the same
UPDATE changes SET id = (SELECT count(*) FROM unknown) - id WHERE EXISTS (SELECT * FROM unknown);
INSERT INTO changes (id, at, tenant_id, record_id, action)
SELECT number, created_at, tenant_id, id, 'create' FROM unknown;
DROP TABLE unknown;
