package store

import "github.com/firefighter-records/firefighters/internal/data/sqlite"

// The functions of this file work for every version of the schema, as those of content.go.

// hasHistorySQL answers 1 if there is a history, as there is since schema version 2.
const hasHistorySQL = `SELECT count(*) FROM pragma_table_list('changes')`

// Erased returns the ids of the records that were erased: of those the history says so, or
// they are listed, and the database does not have them.
func Erased(c *sqlite.Conn, listed []string) (ids []string, err error) {
	has, err := c.QueryInt(hasHistorySQL)
	if err != nil {
		return nil, err
	}
	all := `SELECT value AS id FROM json_each(?) WHERE type = 'text'` // no list is a null
	if has != 0 {
		all += ` UNION SELECT record_id FROM changes WHERE action = 'purge'`
	}
	err = c.Query(`SELECT id FROM (`+all+`) AS erased WHERE NOT EXISTS (SELECT 1 FROM firefighters WHERE firefighters.id = erased.id) ORDER BY id`,
		sqlite.Args{jsonList(listed)}, func(row sqlite.Row) { ids = append(ids, row.Text(0)) })
	return ids, err
}

// noteErasedSQL writes what Purge leaves in the history. An older schema, which has
// another history, gets no entry: it is not that of a database that was ever released.
const noteErasedSQL = `
	INSERT INTO changes (id, at, tenant_id, record_id, action, version)
	SELECT (SELECT ifnull(max(changes.id), f.tenant_id << 32) FROM changes
	         WHERE changes.id BETWEEN f.tenant_id << 32 AND f.tenant_id << 32 | 0xffffffff) + row_number() OVER of_tenant,
	       (` + latestTimeSQL + `), f.tenant_id, f.id, 'purge',
	       (SELECT tenants.version FROM tenants WHERE tenants.id = f.tenant_id) + row_number() OVER of_tenant
	  FROM firefighters AS f WHERE f.id IN (SELECT value FROM json_each(?))
	WINDOW of_tenant AS (PARTITION BY f.tenant_id ORDER BY f.row)`

// firstOwnHistory is the schema version since which each department has a history of its own.
const firstOwnHistory = 5

// Erase erases records from a database that nobody else uses, deleted or not, as Purge
// does. It returns the number of those that were there. What was erased is no longer in the
// file.
func Erase(c *sqlite.Conn, ids []string) (erased int64, err error) {
	list := jsonList(ids)
	has, err := c.QueryInt(hasHistorySQL)
	if err != nil {
		return 0, err
	}
	err = c.Transaction(func() error {
		if has != 0 {
			if version, err := c.QueryInt(`PRAGMA user_version`); err != nil {
				return err
			} else if version >= firstOwnHistory {
				if _, err := c.Exec(noteErasedSQL, list); err != nil {
					return err
				}
			}
			for _, statement := range []string{
				`DELETE FROM changes WHERE action <> 'purge' AND record_id IN (SELECT value FROM json_each(?))`,
				`DELETE FROM replays WHERE record_id IN (SELECT value FROM json_each(?))`,
			} {
				if _, err := c.Exec(statement, list); err != nil {
					return err
				}
			}
		}
		erased, err = c.Exec(`DELETE FROM firefighters WHERE id IN (SELECT value FROM json_each(?))`, list)
		return err
	})
	if err == nil && erased > 0 {
		err = c.Query(`PRAGMA journal_mode = OFF`, nil, func(sqlite.Row) {}) // else it is as large as the file, in memory
	}
	if err == nil && erased > 0 {
		_, err = c.Exec(`VACUUM`)
	}
	return erased, err
}
