-- Makes the table of changes again, ordered by department. The numbers of changes stay,
-- because clients keep them as positions. Changes of no department, which nobody can
-- read, are left out.
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
DROP TABLE changes4;
