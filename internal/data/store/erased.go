package store

import "github.com/firefighter-records/firefighters/internal/data/sqlite"

// erasedSQL returns the ids in the list and the purged ids in the history for which there is no
// record. A null stands for no list.
const erasedSQL = `
	SELECT id FROM (SELECT value AS id FROM json_each(?) WHERE type = 'text'
	                UNION SELECT record_id FROM changes WHERE action = 'purge') AS erased
	 WHERE NOT EXISTS (SELECT 1 FROM firefighters WHERE firefighters.id = erased.id) ORDER BY id`

// Erased returns the ids of permanently deleted records: ids in the list or in the history for
// which the database has no record.
func Erased(c *sqlite.Conn, listed []string) (ids []string, err error) {
	err = c.Query(erasedSQL, sqlite.Args{jsonList(listed)}, func(row sqlite.Row) { ids = append(ids, row.Text(0)) })
	return ids, err
}

// noteErasedSQL adds the history entries that Purge would add.
const noteErasedSQL = `
	INSERT INTO changes (id, at, tenant_id, record_id, action, version)
	SELECT (SELECT ifnull(max(changes.id), f.tenant_id << 32) FROM changes
	         WHERE changes.id BETWEEN f.tenant_id << 32 AND f.tenant_id << 32 | 0xffffffff) + row_number() OVER of_tenant,
	       (` + latestTimeSQL + `), f.tenant_id, f.id, 'purge',
	       (SELECT tenants.version FROM tenants WHERE tenants.id = f.tenant_id) + row_number() OVER of_tenant
	  FROM firefighters AS f WHERE f.id IN (SELECT value FROM json_each(?))
	WINDOW of_tenant AS (PARTITION BY f.tenant_id ORDER BY f.row)`

// Erase permanently deletes records, deleted or not, from a database that no one else uses, as
// Purge does. It also removes their traces from the file. It returns the number of records that
// existed.
func Erase(c *sqlite.Conn, ids []string) (erased int64, err error) {
	list := jsonList(ids)
	err = c.Transaction(func() error {
		for _, statement := range []string{
			noteErasedSQL,
			`DELETE FROM changes WHERE action <> 'purge' AND record_id IN (SELECT value FROM json_each(?))`,
			`DELETE FROM replays WHERE record_id IN (SELECT value FROM json_each(?))`,
		} {
			if _, err := c.Exec(statement, list); err != nil {
				return err
			}
		}
		erased, err = c.Exec(`DELETE FROM firefighters WHERE id IN (SELECT value FROM json_each(?))`, list)
		return err
	})
	if err == nil && erased > 0 {
		err = c.Query(`PRAGMA journal_mode = OFF`, nil, func(sqlite.Row) {}) // otherwise the journal holds the whole file in memory
	}
	if err == nil && erased > 0 {
		_, err = c.Exec(`VACUUM`)
	}
	return erased, err
}
