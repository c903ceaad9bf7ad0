-- Adds the scopes phone and calendar, and who gets dates of birth. Both tables are made
-- again, because a CHECK cannot be changed. A key whose department is missing stays as it
-- is.
PRAGMA defer_foreign_keys = on;
ALTER TABLE keys RENAME TO keys6;
CREATE TABLE keys (
    id           INTEGER PRIMARY KEY,
    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    tenant_id    INTEGER NOT NULL REFERENCES tenants (id),
    label        TEXT    NOT NULL DEFAULT '' CHECK (length(label) <= 100),
    scope        TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'phone', 'calendar')),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    session_lifetime INTEGER CHECK (session_lifetime > 0),
    opened_by    INTEGER,
    device       TEXT    NOT NULL DEFAULT '' CHECK (length(device) <= 100),
    login        TEXT    NOT NULL DEFAULT '' CHECK (length(login) <= 100),
    birthdays    INTEGER NOT NULL DEFAULT 0 CHECK (birthdays IN (0, 1))
) STRICT;
INSERT INTO keys (id, hash, tenant_id, label, scope, created_at, expires_at, revoked_at, last_used_at, session_lifetime, opened_by, device, login)
SELECT id, hash, tenant_id, label, scope, created_at, expires_at, revoked_at, last_used_at, session_lifetime, opened_by, device, login FROM keys6;
DROP TABLE keys6;
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
ALTER TABLE invitations RENAME TO invitations6;
CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    tenant_id  INTEGER NOT NULL REFERENCES tenants (id),
    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    scope      TEXT    NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'phone')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    invited_by INTEGER,
    login      TEXT    NOT NULL DEFAULT '' CHECK (length(login) <= 100),
    birthdays  INTEGER NOT NULL DEFAULT 0 CHECK (birthdays IN (0, 1))
) STRICT;
INSERT INTO invitations (id, hash, tenant_id, name, scope, created_at, expires_at, invited_by, login)
SELECT id, hash, tenant_id, name, scope, created_at, expires_at, invited_by, login FROM invitations6;
DROP TABLE invitations6;
