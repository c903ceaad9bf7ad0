-- All records of all departments in one SQLite file: schema version 1.
--
-- Times are whole milliseconds since 1970-01-01T00:00Z, unless said otherwise.
-- "Folded" text is what internal/text/fold makes of a text, to search and sort by.
--
-- PRAGMA application_id marks a file as a database of this program, PRAGMA
-- user_version is the version of its schema. db.go sets both.

-- The state of the service itself: one row. The columns history, epoch, commits and nonce are the
-- mark of the database: each commit of the program replaces it. A mark that does not follow the
-- last one shows that the file was set back to an earlier state.
CREATE TABLE service (
    only_row     INTEGER PRIMARY KEY CHECK (only_row = 1),
    latest_time  INTEGER NOT NULL,           -- the latest time seen; the service never goes back behind it
    keys_version INTEGER NOT NULL DEFAULT 0, -- number of changes of keys, so that a running server notices them
    history      INTEGER NOT NULL DEFAULT 0, -- random, and another after each restore: it counts the same versions again
    epoch        INTEGER NOT NULL DEFAULT 0, -- random; new at each start of the service
    commits      INTEGER NOT NULL DEFAULT 0, -- number of commits of the program, never reset
    nonce        INTEGER NOT NULL DEFAULT 0, -- random; new with each commit
    secret       BLOB    NOT NULL DEFAULT x'', -- 32 random bytes, the key of entity tags and positions; renewed with the history
    address      TEXT    NOT NULL DEFAULT '', -- the URL at which the service listens; empty after a clean stop
    schema_hash  TEXT    NOT NULL DEFAULT ''  -- of the schema.sql that created or upgraded the file (internal/data/store/create.go)
) STRICT;

INSERT INTO service (only_row, latest_time) VALUES (1, 0);

-- Departments.
CREATE TABLE tenants (
    id         INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 0x7fffffff),
    name       TEXT    NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
    created_at INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL DEFAULT 0,  -- sequence number of the newest record; kept by trigger
    live_count INTEGER NOT NULL DEFAULT 0,  -- records not deleted; kept by trigger
    version    INTEGER NOT NULL DEFAULT 0,  -- number of changes of its records; kept by trigger
    steps_hidden INTEGER NOT NULL DEFAULT 0 CHECK (steps_hidden IN (0, 1))  -- 1: the office page shows no first steps
) STRICT;

-- API keys, and the sessions of browsers, which have a lifetime. The key or the
-- secret itself is stored nowhere.
CREATE TABLE keys (
    id           INTEGER PRIMARY KEY,
    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the key, or of the session's secret
    tenant_id    INTEGER NOT NULL REFERENCES tenants (id),
    label        TEXT    NOT NULL DEFAULT '' CHECK (length(label) <= 100),  -- what it is for, for people
    scope        TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'phone', 'calendar')),  -- internal/data/store/keys.go says what each may do
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,  -- valid before this time; null: for good
    revoked_at   INTEGER,
    last_used_at INTEGER,  -- to the minute
    session_lifetime INTEGER CHECK (session_lifetime > 0),  -- milliseconds after the last use; null: an API key
    opened_by    INTEGER,  -- the key that opened the session, or the phone's of a calendar, and ends it; null: none, or an invitation
    device       TEXT    NOT NULL DEFAULT '' CHECK (length(device) <= 100),  -- what the session is on, as "Firefox, Windows"; empty: not known
    login        TEXT    NOT NULL DEFAULT '' CHECK (length(login) <= 100),   -- that of the invitation that opened the session
    birthdays    INTEGER NOT NULL DEFAULT 0 CHECK (birthdays IN (0, 1))      -- 1: of a phone that gets the dates of birth, too
) STRICT;

CREATE TRIGGER key_made AFTER INSERT ON keys BEGIN
    UPDATE service SET keys_version = keys_version + 1;
END;

CREATE TRIGGER key_changed
AFTER UPDATE OF hash, tenant_id, label, scope, expires_at, revoked_at, session_lifetime, opened_by, birthdays ON keys BEGIN
    UPDATE service SET keys_version = keys_version + 1;
END;

CREATE TRIGGER key_erased AFTER DELETE ON keys BEGIN
    UPDATE service SET keys_version = keys_version + 1;
END;

-- Open invitations of people to the office page, and of phones to the address book.
-- The code itself is stored nowhere. One that was used or withdrawn has no row.
CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the code
    tenant_id  INTEGER NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),  -- of the person or the phone
    scope      TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'phone')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    invited_by INTEGER,  -- the key; null: a command did it
    login      TEXT    NOT NULL DEFAULT '' CHECK (length(login) <= 100),  -- who is logged in on the PC, for whom a command made it; empty: for somebody else
    birthdays  INTEGER NOT NULL DEFAULT 0 CHECK (birthdays IN (0, 1))     -- 1: the phone gets the dates of birth, too
) STRICT;

-- Firefighters. The row number is tenant_id << 32 | sequence number. So the
-- records of a department are next to each other in the file, in the order in
-- which they were created.
CREATE TABLE firefighters (
    row           INTEGER PRIMARY KEY CHECK (row >> 32 = tenant_id),
    id            TEXT    NOT NULL UNIQUE CHECK (length(id) = 36),  -- UUIDv7, lower case
    tenant_id     INTEGER NOT NULL REFERENCES tenants (id),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER,  -- soft delete: from then on the record is in no answer

    -- What the department enters; null is no value.
    first_name    TEXT NOT NULL CHECK (length(first_name) BETWEEN 1 AND 100),
    last_name     TEXT NOT NULL CHECK (length(last_name) BETWEEN 1 AND 100),
    phone_number  TEXT CHECK (length(phone_number) BETWEEN 1 AND 50),
    email         TEXT CHECK (length(email) BETWEEN 1 AND 254),
    date_of_birth TEXT,  -- RFC 3339, with the offset that was sent

    -- What the department's platform writes, directly here; the service only reads it.
    invitation_status TEXT,
    user_id           TEXT CHECK (length(user_id) = 36),  -- UUID

    -- Computed from the fields above, to sort and search by.
    first_key    TEXT NOT NULL,  -- first_name folded
    last_key     TEXT NOT NULL,  -- last_name folded
    email_key    TEXT CHECK ((email_key IS NULL) = (email IS NULL)),         -- email folded
    phone_key    TEXT CHECK ((phone_key IS NULL) = (phone_number IS NULL)),  -- phone_number folded
    born_at      INTEGER CHECK ((born_at IS NULL) = (date_of_birth IS NULL)),  -- nanoseconds since 1970
    search_text  TEXT NOT NULL,  -- first_key, last_key, email_key, phone_number: a line each
    phone_digits TEXT NOT NULL,  -- the ASCII digits of phone_number

    -- CRC-32C of the department's number, the id and the fields (record.Checksum).
    -- It shows that the disk or another program has changed a record. All bits
    -- are inverted for a deleted record.
    checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- There is no index by a sort field. Each record would write five more pages,
-- most of the work of a create. A small department is sorted when it is listed,
-- and a large one is kept sorted in memory (internal/data/internal/index).

CREATE TRIGGER firefighter_made AFTER INSERT ON firefighters BEGIN
    UPDATE tenants
       SET last_seq   = max(last_seq, NEW.row & 0xffffffff),
           live_count = live_count + (NEW.deleted_at IS NULL),
           version    = version + 1
     WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER firefighter_changed AFTER UPDATE ON firefighters BEGIN
    UPDATE tenants
       SET live_count = live_count + (NEW.deleted_at IS NULL) - (OLD.deleted_at IS NULL),
           version    = version + 1
     WHERE id = NEW.tenant_id;
END;

CREATE TRIGGER firefighter_erased AFTER DELETE ON firefighters BEGIN
    UPDATE tenants
       SET live_count = live_count - (OLD.deleted_at IS NULL),
           version    = version + 1
     WHERE id = OLD.tenant_id;
END;

-- A record stays in its department, under its number.
CREATE TRIGGER firefighter_stays
BEFORE UPDATE OF row, id, tenant_id ON firefighters
WHEN NEW.row <> OLD.row OR NEW.id <> OLD.id OR NEW.tenant_id <> OLD.tenant_id BEGIN
    SELECT RAISE(ABORT, 'a record keeps its id and its department');
END;

-- The history of records: a row for each change, written in the same
-- transaction. It refers to no other table, because it stays true when a key or
-- a record is gone. The id is tenant_id << 32 | number. So the history of a
-- department is in one place in the file, in its order, and reading it does not
-- depend on the others. An index would be written by each change. A department
-- never has the same number twice, nor one below those it had: clients keep them
-- as positions.
CREATE TABLE changes (
    id        INTEGER PRIMARY KEY CHECK (id >> 32 = tenant_id),
    at        INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    record_id TEXT    NOT NULL,
    action    TEXT    NOT NULL CHECK (action IN ('create', 'replace', 'delete', 'undelete', 'purge')),
    key_id    INTEGER,  -- null: a command did it
    before    TEXT,     -- the record before the change, in JSON; null if there was none
    version   INTEGER NOT NULL  -- of the department, right after the change
) STRICT;

-- Imports: files with people that were taken into a department. Each was one
-- transaction, so its changes are next to each other in the history.
CREATE TABLE imports (
    tenant_id     INTEGER NOT NULL,
    number        INTEGER NOT NULL,  -- counts from 1 in each department
    at            INTEGER NOT NULL,
    key_id        INTEGER,  -- null: a command did it
    file          TEXT    NOT NULL CHECK (length(file) <= 200),  -- its name
    hash          BLOB    NOT NULL CHECK (length(hash) = 32),    -- SHA-256 of its content
    added         INTEGER NOT NULL,  -- people
    changed       INTEGER NOT NULL,
    first_change  INTEGER NOT NULL,  -- the numbers of its first and last row in the history
    last_change   INTEGER NOT NULL,
    taken_back_at INTEGER,
    PRIMARY KEY (tenant_id, number)
) STRICT;

-- Responses to creates and imports with an Idempotency-Key, stored for a day. A
-- request that is sent again is answered by them and makes nothing a second time.
-- A form of the office page for a new person has such a key, too.
CREATE TABLE replays (
    id              INTEGER PRIMARY KEY,
    key_id          INTEGER NOT NULL,  -- who sent it
    idempotency_key TEXT    NOT NULL,
    tenant_id       INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    request_hash    BLOB    NOT NULL,  -- SHA-256 of the body
    record_id       TEXT    NOT NULL,  -- or that of an import, as "import/7"
    answer          TEXT    NOT NULL,  -- the body of the response, in JSON
    UNIQUE (key_id, idempotency_key)
) STRICT;

CREATE INDEX replays_by_age ON replays (created_at);
