-- Adds the scope admin, sessions and invitations, the versions of changes, and a random
-- number that tells histories apart. The table of keys is made again, because a CHECK
-- cannot be changed. A key whose department is missing stays as it is.
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
UPDATE service SET history = random();
