-- The database of the service: one SQLite file for all departments. Schema version 1.
--
-- A department is a tenant. Times are whole milliseconds since 1970-01-01T00:00Z, unless a
-- comment states another unit. Folded text is the result of internal/text/fold, which ignores
-- case, accents, invisible characters and the kind of apostrophe or dash; the program sorts and
-- searches by it.
--
-- PRAGMA application_id identifies the file as a database of this program, and PRAGMA
-- user_version is the schema version. internal/data/sqlite sets both.

-- The state of the service: one row. The columns history, epoch, commits and nonce are the mark
-- of the database, which each commit of the program replaces. A mark that does not follow the
-- previous one shows that the file was set back to an earlier state.
CREATE TABLE service (
    only_row     INTEGER PRIMARY KEY CHECK (only_row = 1),
    latest_time  INTEGER NOT NULL,           -- latest time seen; the clock of the service never goes back before it
    keys_version INTEGER NOT NULL DEFAULT 0, -- incremented on each change to keys, so a running server can detect it
    history      INTEGER NOT NULL DEFAULT 0, -- random; replaced by a restore, after which the same version numbers occur again
    epoch        INTEGER NOT NULL DEFAULT 0, -- random; new each time the service starts
    commits      INTEGER NOT NULL DEFAULT 0, -- number of commits by the program; never reset
    nonce        INTEGER NOT NULL DEFAULT 0, -- random; new with each commit
    secret       BLOB    NOT NULL DEFAULT x'', -- key for entity tags, positions and cursors: 32 random bytes, renewed with history
    folding      INTEGER NOT NULL DEFAULT 0, -- version of the folding that computed the keys; a start with another one computes all again
    erasures     INTEGER NOT NULL DEFAULT 0, -- number of transactions that permanently deleted personal data; never reset
    rewritten    INTEGER NOT NULL DEFAULT 0, -- erasures that the last rewrite of the file covers; while it is lower, traces may be left
    address      TEXT    NOT NULL DEFAULT '', -- URL of the running service, then a space and its local URL if that differs; empty after a clean stop
    schema_hash  TEXT    NOT NULL DEFAULT ''  -- hash of the schema.sql that created or upgraded the file (internal/data/store/create.go)
) STRICT;

INSERT INTO service (only_row, latest_time) VALUES (1, 0);

-- What an admin has set on the page, if anything: one row. It applies only to the installed service.
CREATE TABLE settings (
    only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
    folder     TEXT    NOT NULL,  -- for backups, as chosen; empty: the folder of the service
    recipients TEXT    NOT NULL,  -- public keys that backups are encrypted to, separated by spaces
    network    INTEGER NOT NULL CHECK (network IN (0, 1)),  -- 1: other devices may connect
    machine    TEXT    NOT NULL   -- hash of the ID of the PC; empty after a restore, until an admin confirms the settings
) STRICT;

-- The last ten changes of settings.
CREATE TABLE setting_changes (
    id    INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    who   TEXT    NOT NULL,  -- label of the session
    what  TEXT    NOT NULL,  -- the setting (internal/web/site/settings.go)
    value TEXT    NOT NULL   -- the new value
) STRICT;

-- Departments. Triggers maintain last_seq, live_count and version.
CREATE TABLE tenants (
    id         INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 0x7fffffff),
    name       TEXT    NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
    created_at INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL DEFAULT 0,  -- sequence number of the newest record
    live_count INTEGER NOT NULL DEFAULT 0,  -- number of records that are not deleted
    version    INTEGER NOT NULL DEFAULT 0,  -- number of changes to its records
    steps_hidden INTEGER NOT NULL DEFAULT 0 CHECK (steps_hidden IN (0, 1)), -- 1: the office page hides the first steps
    country    TEXT    NOT NULL DEFAULT '' CHECK (length(country) IN (0, 2))  -- ISO 3166-1 alpha-2, such as HR; empty: unknown
) STRICT;

-- API keys, the keys of phones, and browser sessions. Only their hashes are stored. A session is
-- a row with a session_lifetime.
CREATE TABLE keys (
    id           INTEGER PRIMARY KEY,
    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the key or the session secret
    tenant_id    INTEGER NOT NULL REFERENCES tenants (id),
    label        TEXT    NOT NULL DEFAULT '' CHECK (length(label) <= 100),  -- purpose of the key, in the words of its creator
    scope        TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'phone', 'calendar')),  -- defined in internal/data/store/keys.go
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,  -- valid before this time; null: no expiry
    revoked_at   INTEGER,
    last_used_at INTEGER,  -- may lag behind the last use by a minute
    session_lifetime INTEGER CHECK (session_lifetime > 0),  -- milliseconds from the last use to the end of the session; null: not a session
    opened_by    INTEGER,  -- key that opened the session, or phone key of a calendar key: this key ends with it; null: none, or an invitation
    device       TEXT    NOT NULL DEFAULT '' CHECK (length(device) <= 100),  -- browser and system of the session, such as "Firefox, Windows"; empty: unknown
    login        TEXT    NOT NULL DEFAULT '' CHECK (length(login) <= 100),   -- login of the invitation that opened the session
    birthdays    INTEGER NOT NULL DEFAULT 0 CHECK (birthdays IN (0, 1))      -- 1: the phone receives dates of birth
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

-- Open invitations: of people to the office page, and of phones to the address book. Only the hash
-- of the code is stored. Using or withdrawing an invitation deletes its row.
CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the code
    tenant_id  INTEGER NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),  -- name of the person or phone
    scope      TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'phone')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    invited_by INTEGER,  -- key or session that created it; null: a command
    login      TEXT    NOT NULL DEFAULT '' CHECK (length(login) <= 100),  -- login name on the PC, if a command invites the person at the PC; otherwise empty
    birthdays  INTEGER NOT NULL DEFAULT 0 CHECK (birthdays IN (0, 1))     -- 1: the phone receives dates of birth
) STRICT;

-- Firefighters. The row number is tenant_id << 32 | sequence number, so the records of a
-- department are adjacent in the file, in order of creation.
CREATE TABLE firefighters (
    row           INTEGER PRIMARY KEY CHECK (row >> 32 = tenant_id),
    id            TEXT    NOT NULL UNIQUE CHECK (length(id) = 36),  -- UUIDv7, lower case
    tenant_id     INTEGER NOT NULL REFERENCES tenants (id),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted_at    INTEGER,  -- time of the soft delete, which removes the record from all lists; null: not deleted

    -- Fields that the department enters. Null means no value.
    first_name    TEXT NOT NULL CHECK (length(first_name) BETWEEN 1 AND 100),
    last_name     TEXT NOT NULL CHECK (length(last_name) BETWEEN 1 AND 100),
    phone_number  TEXT CHECK (length(phone_number) BETWEEN 1 AND 50),
    email         TEXT CHECK (length(email) BETWEEN 1 AND 254),
    date_of_birth TEXT,  -- RFC 3339, with the offset that the client sent

    -- Columns that the department's platform writes directly. The service only reads them.
    invitation_status TEXT,
    user_id           TEXT CHECK (length(user_id) = 36),  -- UUID

    -- Keys computed from the fields, for sorting and searching.
    first_key    TEXT NOT NULL,  -- first_name, folded
    last_key     TEXT NOT NULL,  -- last_name, folded
    email_key    TEXT CHECK ((email_key IS NULL) = (email IS NULL)),         -- email, folded
    phone_key    TEXT CHECK ((phone_key IS NULL) = (phone_number IS NULL)),  -- phone_number, folded
    born_at      INTEGER CHECK ((born_at IS NULL) = (date_of_birth IS NULL)),  -- nanoseconds since 1970
    search_text  TEXT NOT NULL,  -- first_key, last_key, email_key and phone_number, one per line
    phone_digits TEXT NOT NULL,  -- ASCII digits of phone_number

    -- CRC-32C of the tenant id, the record id and the fields (record.Checksum). It detects records
    -- that the disk or another program has changed. All bits are inverted for a deleted record.
    checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The sort keys have no indexes. Indexes would add five page writes to each create, most of its
-- work. SQLite sorts a small department for each list; the program keeps a large one sorted in
-- memory (internal/data/internal/index).

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
    DELETE FROM distinct_people WHERE tenant_id = OLD.tenant_id AND OLD.id IN (one, other);
END;

-- The row number, id and department of a record never change.
CREATE TRIGGER firefighter_stays
BEFORE UPDATE OF row, id, tenant_id ON firefighters
WHEN NEW.row <> OLD.row OR NEW.id <> OLD.id OR NEW.tenant_id <> OLD.tenant_id BEGIN
    SELECT RAISE(ABORT, 'a record keeps its id and its department');
END;

-- Pairs of records that someone called different people. They are no longer possible duplicates.
CREATE TABLE distinct_people (
    tenant_id INTEGER NOT NULL,
    one       TEXT    NOT NULL,  -- lower id of the two
    other     TEXT    NOT NULL CHECK (one < other),
    PRIMARY KEY (tenant_id, one, other)
) STRICT;

-- The change history: one row for each change to a record, written in the same transaction. The
-- table has no foreign keys, because an entry outlives its key and its record. The id is
-- tenant_id << 32 | number, so the history of a department is stored together and in order, and
-- needs no index, which each change would have to update. Numbers increase within a department and
-- are never reused, because clients store them as positions.
CREATE TABLE changes (
    id        INTEGER PRIMARY KEY CHECK (id >> 32 = tenant_id),
    at        INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    record_id TEXT    NOT NULL,
    action    TEXT    NOT NULL CHECK (action = 'create' OR action = 'replace' OR action = 'delete' OR action = 'undelete'
                                      OR action = 'purge'),  -- for IN, SQLite would fill a temporary index for each row
    key_id    INTEGER,  -- key that made the change; null: a command
    before    TEXT,     -- record before a replace or delete, in JSON; null for other actions
    version   INTEGER NOT NULL, -- version of the department right after the change
    merged_with TEXT  -- other record of a merge: for a delete, the one that has replaced this one; for a replace, the deleted one
) STRICT;

-- Imports of files into a department. Each import is one transaction, so its changes have
-- consecutive numbers in the history.
CREATE TABLE imports (
    tenant_id     INTEGER NOT NULL,
    number        INTEGER NOT NULL,  -- counts from 1 in each department
    at            INTEGER NOT NULL,
    key_id        INTEGER,  -- null: a command
    file          TEXT    NOT NULL CHECK (length(file) <= 200),  -- file name
    hash          BLOB    NOT NULL CHECK (length(hash) = 32),    -- SHA-256 of the file
    added         INTEGER NOT NULL,  -- number of people added
    changed       INTEGER NOT NULL,  -- number of people changed
    first_change  INTEGER NOT NULL,  -- number of its first change in the history
    last_change   INTEGER NOT NULL,  -- number of its last change
    taken_back_at INTEGER,           -- time of the undo; null: not undone
    PRIMARY KEY (tenant_id, number)
) STRICT;

-- Responses to creates and imports with an Idempotency-Key, stored for a day. A repeated request
-- receives the stored response and changes nothing. The form for a new person on the office page
-- also sends such a key.
CREATE TABLE replays (
    id              INTEGER PRIMARY KEY,
    key_id          INTEGER NOT NULL,  -- key that sent the request
    idempotency_key TEXT    NOT NULL,
    tenant_id       INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    request_hash    BLOB    NOT NULL,  -- SHA-256 of the request content
    record_id       TEXT    NOT NULL,  -- id of the created record, or of the import, such as "import/7"
    answer          TEXT    NOT NULL,  -- body of the response, in JSON
    UNIQUE (key_id, idempotency_key)
) STRICT;

CREATE INDEX replays_by_age ON replays (created_at);
